package balance

import (
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// Observation is the state of all spaces and CellApps at one time. A Policy must not change or keep
// any of it.
type Observation struct {
	// Now is the time since some fixed start.
	Now time.Duration
	// Apps are all CellApps, in any order.
	Apps []App
	// Spaces are all spaces that have a cell, in any order.
	Spaces []Space
}

// App is what is known of a CellApp. Loads are in nanoseconds of work per second.
type App struct {
	// ID orders apps that are otherwise equal; it is unique.
	ID   uint32
	Addr netip.AddrPort
	Salt uint32
	// AppLoad is the reported load, raw and smoothed.
	AppLoad
	// Retiring means that the whole app is being shut down: it gets no cells, and the retirement of
	// its cells is not cancelled.
	Retiring bool
}

// Space is one space with the last reports of its cells.
type Space struct {
	ID uint32
	// Tree is how the space is divided now. Pass the same Tree, or Clones of it, so that a line
	// keeps its id.
	Tree *bsp.Tree
	// Cells are the last reports of its cells, in any order; a cell without a report is left out.
	Cells []Cell
	// Bounds is where the space's entities can be. It decides where to cut empty cells; load
	// outside of it counts, too. The zero Rect means unknown.
	Bounds bsp.Rect
	// Geometry is what has to be loaded for the space; Cell.Loaded says how far that has come. The
	// zero Rect means nothing.
	Geometry bsp.Rect
	// MinCells is how many cells it has at least, once there are apps for them, and MaxCells how
	// many at most. 0 means as Config says.
	MinCells, MaxCells int
	// MinLoad is an artificial least load of the space, spread evenly over its cells, in
	// nanoseconds per second. What a cell lacks of its share also counts for its CellApp.
	MinLoad int64
	// Preferred is the machine whose BaseApp asked for the space, for the scorer baseCellTraffic.
	Preferred netip.Addr
}

// Cell is the last report of a cell.
type Cell struct {
	ID bsp.CellID
	// App is the ID of the app that runs it.
	App uint32
	// Load is the load of its reals and of the cell itself, in nanoseconds per second, without
	// migration.
	Load int64
	// Reals and Ghosts are how many entities of each kind it holds, Handoffs how many it is handing
	// over.
	Reals, Ghosts, Handoffs int
	// Gained is the load of the reals that have come to the cell since it was made, less the load
	// of those that have left. It changes when Load does. Only differences count.
	Gained int64
	// Profile says where the load of its reals lies. Edges says how far from its edges the small
	// loads lie that Classic moves.
	Profile load.Profile
	Edges   load.Edges
	// Loaded is the part of Space.Geometry that the cell has loaded.
	Loaded bsp.Rect
	// Created says that the app has confirmed the cell; the same flag in the tree's leaf does as
	// well.
	Created bool
}

// AppLoad follows the load of one CellApp between its reports. The zero AppLoad is that of an app
// that has not reported.
type AppLoad struct {
	// Load is the last reported load, and Smoothed its moving average.
	Load, Smoothed int64
	// Estimated is Smoothed plus, until the next report, what new cells will bring.
	Estimated int64
	primed    bool
}

// Report takes a load that the app reported. smoothing is the weight of a new report,
// Config.Smoothing; the first counts fully.
func (l *AppLoad) Report(now int64, smoothing float64) {
	l.Load = load.Clamp(now)
	if !l.primed {
		l.Smoothed, l.primed = l.Load, true
	}
	l.Smoothed += int64(float64(l.Load-l.Smoothed) * smoothing)
	l.Estimated = l.Smoothed
}

// Given adds the assumed load of a new cell, Config.InitialCellLoad, so that further cells go
// elsewhere until the real load shows.
func (l *AppLoad) Given(fraction float64) {
	l.Estimated = load.Clamp(l.Estimated + int64(nanos(fraction)))
}

// nanos turns a fraction of a core into load. The conversion rounds before use on every processor;
// otherwise some would fuse it, when inlined, with the next operation.
func nanos(fraction float64) float64 { return float64(fraction * float64(load.Core)) }
