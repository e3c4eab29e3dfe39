// Package balance decides how the cells of a cluster follow its crowd: figures in, a plan out.
//
// # Purpose
//
// A manager of spaces gives a [Policy] an [Observation]: the partition trees, and what the cells and CellApps reported
// last. The policy answers with a [Plan]: lines to move, cells to add, to retire and to remove. It changes nothing
// itself.
//
//	CellApps --reports--> Observation --> Policy.Balance, each Period     --> Plan --> manager: its trees,
//	            ^                     --> Policy.Meta,    each MetaPeriod -->           cells made and removed
//	            |                                                                        |
//	            +------------------------- new geometry, orders -------------------------+
//
// Balance moves lines and takes out cells that have become nothing; Meta spreads spaces over more CellApps or fewer.
//
//	+-----------+-------+      +-------+-----------+    The line between 1.1 and the others has moved into the
//	|           |  1.2  |      |       |    1.2    |    busier side. Whoever stands between its old and its
//	|    1.1    +-------+  ->  |  1.1  +-----------+    new place is handed over. Its aggression is the share
//	|   busy    |  1.3  |      |       |    1.3    |    of the wanted step that it takes.
//	+-----------+-------+      +-------+-----------+
//
// # Vocabulary
//
//   - Real, ghost: an entity is real in the one cell that runs it, and a ghost where a neighbour must see it. Load is
//     that of reals and of the cell itself, without the work of migration; see package load.
//   - Cell, line: a cell is a leaf of the space's tree, a line is an inner node; see package bsp. A line has two sides.
//     The giving side becomes smaller, the growing side larger.
//   - Group: the CellApps that are joined by spaces with cells on more than one of them. Moved lines can even out the
//     load within a group, and not beyond it.
//   - Created, known: a cell is created once its CellApp has confirmed it, and known when it has reported as well.
//   - Retiring: a cell on its way out. Lines move over it, its entities go to the sibling.
//   - Swept: a retiring cell without any place left in which an entity could stand.
//   - Safety bound: the load from which a cell must not grow, the higher of [Config.SafetyBound] and the space's average
//     times [Config.SafetyRatio].
//
// # Contract
//
// These hold for the plans of both built-in policies:
//
//   - A plan fits: [Plan.Apply] on the observed trees is never refused, and every line in it is finite. Its parts go in
//     the order of its fields.
//   - Nothing is taken from a cell that is not created: a line moves only while all cells below it are known, and no
//     other is cut for a new cell.
//   - No side grows in which a cell is at its safety bound. What one step carries counts afterwards: a cell just under
//     the bound can end above it by that, and by a heavy clump that cannot be parted.
//   - A space keeps a cell that does not retire. Meta, too, lets none retire unless a created one stays.
//   - Removals are swept, and hold no real, no ghost and no handoff, by their own report.
//   - No CellApp is given two cells of a space, and none that is being shut down is given any.
//   - A plan is a function of the observations so far, to the bit and on every processor: no chance, no clock, no order
//     of a map. Equal figures are told apart by id. Of two entries with one id the first counts.
//   - Figures that cannot be true (a negative or huge load, a NaN, the report of an unknown cell, a second one) are left
//     out, counted in [Plan.Ignored] and named in [Plan.Faults].
//
// What a policy cannot help is told as well: [Plan.Blocked], [Plan.Crowded] and [Plan.Wanting].
//
// A space may have an artificial load, [Space.MinLoad]: an even part of it is the least that each of its cells counts
// with, for lines as for groups and the choice of CellApps.
//
// # Policy Classic
//
// [Classic] has the rules of BigWorld as seed S0 describes them; section by section:
//
//   - Adjusting the borders of cells: at each line, from the root down, the difference of the heavier side from the
//     average of both, times the line's aggression, is compared with the slices of load that cells report for their
//     edges (load.Edges, five levels, each half the one before). The line goes to the largest that does not exceed it,
//     and no farther than ghost distance before the end of the growing side's loaded geometry. Where some is missing,
//     lines even out the area to be loaded instead. Aggression is halved when a line turns, and regained.
//   - Creating cells, in one Meta: groups above the average of all CellApps by [ClassicConfig.MetaTolerance] take back what
//     retires, or are connected with a CellApp outside, through the space that [Config.Scheme] chooses; then spaces that
//     load geometry get helpers. The CellApp is chosen by [Config.Scorers].
//   - Removing cells: unless a space is loading, a group that would stay under [ClassicConfig.LowerBound] without its least
//     loaded CellApp lets all cells of that one retire.
//
// It differs from the seed where that is silent or can do harm:
//
//   - No cell that stays is narrower than bsp.MinSize. One that is squeezed to that, without reals, retires first; a new
//     one begins at the far edge with that width, or just past the last entity if the edge is infinite.
//   - Lines rest over cells without a report, not only over those not created. Meta cuts no cell that is not created.
//   - The geometry limit does not hold back a line that sweeps a retiring cell. The seed's code has it there as well, so
//     that a retirement waits until the heir has loaded on.
//   - A CellApp of one cell is as loaded as the cell says, which knows of a handover at once; only one with more cells
//     counts with its own load.
//   - Of two siblings only one retires, no last cell does, and none below [Config.MinCells]. A cell that is swept too
//     narrow is not called back. An app that has begun to give back its cells goes on before another begins.
//   - Spaces short of their least cells come first in Meta, and those at [Config.MaxCells] are passed over for the next
//     of the scheme.
//   - Lines pass a slice by [Border.Band], since cells of package space keep who is within it. The seed knows none.
//   - A CellApp's first report counts whole. Loads are compared for a new cell by the hundredth of a core.
//
// # Policy Profile
//
// [Profile], the default, follows the same outline but places lines by load profiles of the whole cell (load.Profile)
// rather than by slices at its edges, twice as often, and reckons with where the crowd walks; its type tells how. New
// cells are cut at the median of a cell's load, several at once if the load asks for that, and both added and given back
// by [ProfileConfig.TargetLoad]. Where no line divides the load, all on one spot, the cell is [Plan.Crowded].
//
// # Geometry
//
// A cell has its land when it has loaded what of [Space.Geometry] lies in its rectangle. The manager lets nobody into a cell
// that has not: entities stay where they were, or wait. Both policies go by that, unless [Config.IgnoreGeometry] is set:
//
//   - A line follows a crowd no farther than the growing side has loaded, less [Border.GhostDistance]. That is off for a
//     cell that retires: its line is swept at once, and its entities go when the heir has loaded.
//   - A line rests beside a cell that has not its land. It would see nothing of what it does, and go on.
//   - A space that is loading is given cells to share that, up to [Config.MaxLoadingCells]; it gives back none, nor do those
//     that share CellApps with it. Profile halves what is to be loaded; Classic cuts a sliver, and lets lines even out what
//     the cells have to load.
//   - Profile does not cut a cell beside one that has not its land, since it has entities of that.
//
// Who is waited for is named: [Plan.Unloaded].
//
// # Where cells are placed
//
// One function chooses the CellApp for every new cell, by [Config.Scorers]: for those that a policy adds, and by way of a
// [Placer] for a space that has none, be it new or bereft. What the scorers refuse is refused on every way.
//
// # Settings
//
// [Config] is what all policies share, [ClassicConfig] and [ProfileConfig] what only one has: each makes its policy, see
// [PolicyConfig]. [Border] is what cells act by and policies reckon with: the cells (package space) and the policy are
// given the same one.
//
// # Concurrency
//
// A policy remembers its lines and belongs to one goroutine; it has no lock. It keeps nothing of an Observation, which
// may be made in the same memory each time. A Plan is the caller's.
//
// # Caller's duties
//
//   - Call Balance each [Config.Period] and Meta each [Config.MetaPeriod], with times that do not decrease; not before
//     the world has started, nor while the manager recovers or shuts down. Apply a plan, or leave it out, before the
//     next call.
//   - Pass the same trees, or Clones of them, so that lines keep their ids; and for each cell its last report.
//   - Pass Cell.Gained on. Without it each hand-over comes as a surprise, and lines that move many reals answer one another.
//   - Follow each CellApp's load with [AppLoad.Report], and pencil in a cell that it is given with [AppLoad.Given].
//   - Have the cells report their Edges by [Border.MaxSlice], and what they have loaded where a space has a
//     Geometry: while they do not, the space counts as loading.
//   - Log what plans say of troubles.
package balance
