// Package balance decides how the cells of a space follow its crowd: figures in, a plan out.
//
// # Purpose
//
// The manager of a space gives a [Balancer] an [Observation] once per balance period: the partition tree, what each
// cell and each CellApp reported. The Balancer answers with a [Plan]: lines to move, and at most one leaf to split for
// a new cell. It changes nothing itself.
//
//	reports --> Observation --> Balancer.Plan --> Plan --> manager changes its tree, tells the CellApps
//
// # Contract
//
// Lines. A line moves towards the side whose cells are, on average, more loaded, so that this side hands over load:
//
//   - only when every cell below the line is created and has reported: nothing is sent to a cell that is not there;
//   - only beyond a dead band ([Config.MinDifference]), and never into a side of which a cell is loaded to the safety
//     bound;
//   - by no more than evens out the difference, than [Config.MaxMove], and than [Config.OffloadBudget] reals of each
//     cell that gives. Reals that stand beyond the line already, and have only not been handed over yet, are counted as
//     gone: otherwise the line would run on after a crowd that is on its way;
//   - by a step that is halved when the line turns round, and regained over ten periods;
//   - to where the cells' load profiles say that the load lies. Entities that stand on one spot cross together or not
//     at all; they do so only if that at least halves the difference. So a still crowd comes to rest.
//
// Cells. One is added when the average load of the space's apps exceeds [Config.AddAbove], or there are fewer than
// [Config.MinCells], and an app without a cell of the space is free. The heaviest leaf that can be cut is cut, at the
// median of its load profile, across the axis along which its load spreads farther: both sides carry about half from
// the start. A crowd on one spot cannot be cut; [Plan.Crowded] names its cell. Cells are not retired by this package.
//
// The plan is a function of the observations so far: no chance, no clock. Every line in a plan is finite and within
// [bsp.Tree.LineLimits]; applying Moves in order to the observed tree, then Split, is never refused. Figures that cannot
// be true are counted in [Plan.Ignored] and left out.
//
// The scheme is BigWorld's, as seed S0 describes it, except that a new cell does not start with zero area, that load
// profiles replace the five load levels of a cell's edges, and that a turn is remembered across periods of rest.
//
// # Concurrency
//
// A Balancer remembers its lines' directions and belongs to one goroutine and one space.
//
// # Caller's duties
//
// Call Plan once per [Config.Period], with times that do not decrease; not before the space has started, nor while the
// manager recovers or shuts down. Keep a cell's last report until the next. Pass the same Tree, or Clones of it, so
// that a line keeps its id.
package balance
