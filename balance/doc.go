// Package balance decides how the cells of a cluster follow its crowd: figures in, a plan out.
//
// # Purpose
//
// A manager of spaces gives a [Policy] an [Observation]: the partition trees, and the last reports
// of the cells and CellApps. The policy returns a [Plan]: lines to move, and cells to add, to
// retire and to remove. It changes nothing itself.
//
//	CellApps --reports--> Observation --> Policy.Balance, each Period     --> Plan --> manager: its trees,
//	            ^                     --> Policy.Meta,    each MetaPeriod -->           cells made and removed
//	            |                                                                        |
//	            +------------------------- new geometry, orders -------------------------+
//
// Balance moves lines and removes cells that have shrunk to nothing; Meta spreads spaces over more
// or fewer CellApps.
//
//	+-----------+-------+      +-------+-----------+    The line between 1.1 and the others has moved into the
//	|           |  1.2  |      |       |    1.2    |    busier side. Whoever stands between its old and its
//	|    1.1    +-------+  ->  |  1.1  +-----------+    new place is handed over. Its aggression is the share
//	|   busy    |  1.3  |      |       |    1.3    |    of the wanted step that it takes.
//	+-----------+-------+      +-------+-----------+
//
// # Vocabulary
//
//   - Real, ghost: an entity is real in the one cell that runs it, and a ghost where a neighbour
//     must see it. Load is that of reals and of the cell itself, without the work of migration; see
//     package load.
//   - Cell, line: a cell is a leaf of the space's tree, a line is an inner node; see package bsp. A
//     line has two sides. The giving side becomes smaller, the growing side larger.
//   - Group: CellApps that are connected by spaces with cells on more than one of them. Moving
//     lines can even out the load within a group, but not beyond it.
//   - Created, known: a cell is created once its CellApp has confirmed it, and known once it has
//     also reported.
//   - Retiring: a cell on its way out. Lines move over it, and its entities go to the sibling.
//   - Swept: a retiring cell that has no place left for an entity.
//   - Safety bound: the load from which a cell must not grow, the higher of [Config.SafetyBound]
//     and the space's average times [Config.SafetyRatio].
//
// # Contract
//
// These hold for the plans of both built-in policies:
//
//   - A plan fits: [Plan.Apply] on the observed trees is never refused, and every line in it is
//     finite. Its parts go in the order of its fields.
//   - Nothing is taken from a cell that is not created: a line moves only while all cells below it
//     are known, and only a created cell is cut for a new one.
//   - A side with a cell at its safety bound does not grow. The load of one step counts only
//     afterwards, so a cell just below the bound can end above it by one step, or by a heavy clump
//     that cannot be divided.
//   - A space keeps a cell that does not retire. Meta also retires none unless a created one stays.
//   - Removals are swept, and by their own report hold no real, no ghost and no handoff.
//   - No CellApp gets two cells of a space, and one that is being shut down gets none.
//   - A plan is a function of the observations so far, to the bit and on every processor, without
//     random numbers, clocks or the order of a map. Ids break ties. Of two entries with one id the
//     first counts.
//   - Impossible figures (a negative or huge load, a NaN, the report of an unknown cell, a second
//     report) are left out, counted in [Plan.Ignored] and named in [Plan.Faults].
//
// A plan also says what the policy cannot help: [Plan.Blocked], [Plan.Crowded] and [Plan.Wanting].
//
// A space may have an artificial load, [Space.MinLoad]. Each of its cells counts at least an even
// share of it, for lines, for groups and for the choice of CellApps.
//
// Both built-in policies stand in this package, Classic in the files classic*.go and Profile in
// profile*.go. They share how figures are read and judged, what a line may do, retiring and sweeping,
// and the choice of CellApps: some 110 names. In packages of their own they would have to export all of
// these, and a game programmer who looks for a policy would meet them first.
//
// # Policy Classic
//
// [Classic] has the rules of BigWorld as seed S0 describes them; section by section:
//
//   - Adjusting the borders of cells: at each line, from the root down, the difference of the
//     heavier side from the average of both, times the line's aggression, is compared with the
//     slices of load that cells report for their edges (load.Edges, five levels, each half the one
//     before). The line goes to the largest slice that does not exceed it, and no farther than a
//     ghost distance before the end of the growing side's loaded geometry. If some geometry is
//     missing, lines even out the area to load instead. Aggression is halved when a line turns, and
//     grows back.
//   - Creating cells, in one Meta: groups above the average of all CellApps by
//     [ClassicConfig.MetaTolerance] take back what retires, or are connected with a CellApp
//     outside, through the space that [Config.Scheme] chooses; then spaces that load geometry get
//     helpers. The CellApp is chosen by [Config.Scorers].
//   - Removing cells: unless a space is loading, a group that would stay below
//     [ClassicConfig.LowerBound] without its least loaded CellApp retires all cells of that one.
//
// It differs from the seed where the seed is silent or can do harm:
//
//   - No cell that stays is narrower than bsp.MinSize. One that was squeezed to that, without
//     reals, first retires. A new one begins at the far edge with that width, or just past the last
//     entity if the edge is infinite.
//   - Lines rest over cells without a report, not only over cells that are not created. Meta cuts
//     only created cells.
//   - The geometry limit does not hold back a line that sweeps a retiring cell. In the seed's code
//     it does, so a retirement waits until the heir has loaded more.
//   - A CellApp with one cell counts with its cell's load, which reflects a handover at once; only
//     one with more cells counts with its own load.
//   - Of two siblings only one retires, the last cell never does, and none does below
//     [Config.MinCells]. A retirement is not cancelled once the cell is too narrow. An app that has
//     begun to give back its cells goes on before another begins.
//   - Spaces below their least number of cells come first in Meta, and those at [Config.MaxCells]
//     are skipped in favour of the scheme's next.
//   - Lines go beyond a slice by [Border.Band], since cells of package space keep reals within it.
//     The seed has no band.
//   - A CellApp's first report counts fully. For a new cell, loads are compared by the hundredth of
//     a core.
//
// # Policy Profile
//
// [Profile], the default, follows the same outline, but places lines by load profiles of the whole
// cell (load.Profile) rather than by slices at its edges, twice as often, and takes account of
// where the crowd walks. New cells are cut at the median of a cell's load, several at once if
// needed. It rests while loads swing by no more than they do as a rule, and beside cells that are
// still at the handovers of its last moves. [ProfileConfig.TargetLoad] decides when cells are added
// and given back. If all the load is on one spot, so that no line divides it, the cell is
// [Plan.Crowded].
//
// # Geometry
//
// A cell has its land when it has loaded the part of [Space.Geometry] in its rectangle. The manager
// lets nobody into a cell that has not: entities stay where they were, or wait. Both policies take
// account of that, unless [Config.IgnoreGeometry] is set:
//
//   - A line follows a crowd no farther than the growing side has loaded, less
//     [Border.GhostDistance]. That does not apply to a retiring cell: its line sweeps it at once,
//     and its entities go when the heir has loaded.
//   - A line rests beside a cell that does not have its land, since it would see no effect of its
//     moves, and go on.
//   - A loading space gets cells to share the work, up to [Config.MaxLoadingCells]. It gives back
//     none, and neither do spaces that share CellApps with it. Profile halves the land to load;
//     Classic cuts a sliver, and lets lines even out what the cells have to load.
//   - Profile does not cut a cell beside one without its land, since it still has entities that
//     belong there.
//
// [Plan.Unloaded] names the cells that others wait for.
//
// # Where cells are placed
//
// One function chooses the CellApp for every new cell, by [Config.Scorers]: for cells that a policy
// adds and, through a [Placer], for a space that has no cell, because it is new or has lost its
// last. What the scorers refuse is refused in both cases.
//
// # Settings
//
// [Config] has the settings that all policies share. [ClassicConfig] and [ProfileConfig] have those
// of one policy, and make it; see [PolicyConfig]. [Border] has what both cells and policies use, so
// give the cells (package space) and the policy the same one.
//
// # Concurrency
//
// A policy has no lock and must be used on one goroutine. It keeps nothing of an Observation, whose
// memory can be used again each time. The caller owns the Plan.
//
// # Caller's duties
//
//   - Call Balance each [Config.Period] and Meta each [Config.MetaPeriod], with times that do not
//     decrease; not before the world has started, nor while the manager recovers or shuts down.
//     Apply a plan, or leave it out, before the next call.
//   - Pass the same trees, or Clones of them, so that lines keep their ids; and for each cell its
//     last report.
//   - Pass Cell.Gained on. Without it each handover comes as a surprise, and lines that move many
//     reals answer one another.
//   - Follow each CellApp's load with [AppLoad.Report], and add a new cell's load with
//     [AppLoad.Given].
//   - Let the cells report their Edges by [Border.MaxSlice] and, for a space with a Geometry, what
//     they have loaded. Until they do, the space counts as loading.
//   - Log the troubles that plans name.
package balance
