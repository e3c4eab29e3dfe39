package balance

import (
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// Observation is the state of all spaces and CellApps at one time. A Policy does not change any of it, and keeps
// nothing of it.
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
	// AppLoad is what it reported, as it is and smoothed.
	AppLoad
	// Retiring says that the whole app is being shut down: it gets no cells, and the retirement of those that it has
	// is not cancelled.
	Retiring bool
}

// Space is one space with the last reports of its cells.
type Space struct {
	ID uint32
	// Tree is how the space is divided now. Pass the same Tree, or Clones of it, so that a line keeps its id.
	Tree *bsp.Tree
	// Cells are the last reports of its cells, in any order; a cell without a report is left out.
	Cells []Cell
	// Bounds is where the space's entities can be. It places cuts of cells that hold no one; load is followed outside
	// of it too. The zero Rect means not known.
	Bounds bsp.Rect
	// Geometry is what has to be loaded for the space, where Cell.Loaded says how far that has come. The zero Rect is a
	// space that loads nothing.
	Geometry bsp.Rect
	// MinCells and MaxCells are how many cells it has at least, as soon as there are apps for them, and at most. 0 is
	// what Config says.
	MinCells, MaxCells int
	// MinLoad is an artificial least load of the space, spread evenly over its cells, in nanoseconds per second. What a
	// cell lacks of its part is counted for its CellApp as well.
	MinLoad int64
	// Preferred is the machine whose BaseApp asked for the space, for the scorer baseCellTraffic.
	Preferred netip.Addr
}

// Cell is what a cell reported last.
type Cell struct {
	ID bsp.CellID
	// App is the ID of the app that runs it.
	App uint32
	// Load is what its reals and the cell itself cost, in nanoseconds per second, without the work of migration.
	Load int64
	// Reals and Ghosts are how many entities of each kind it holds, Handoffs how many it is handing over.
	Reals, Ghosts, Handoffs int
	// Gained is the load of the reals that have come to the cell, by whatever way, less that of those that left, since it
	// was made. It changes when Load does. Only differences count.
	Gained int64
	// Profile tells where the load of its reals lies, Edges how deep from its edges the small loads lie that Classic
	// moves.
	Profile load.Profile
	Edges   load.Edges
	// Loaded is the part of Space.Geometry that the cell has loaded.
	Loaded bsp.Rect
	// Created says that the app has confirmed the cell; the same flag in the tree's leaf does as well.
	Created bool
}

// AppLoad follows the load of one CellApp between its reports. The zero AppLoad is that of an app that has not
// reported.
type AppLoad struct {
	// Load is what it reported last, Smoothed its moving average.
	Load, Smoothed int64
	// Estimated is Smoothed, and until the next report what the cells will bring that it was given since.
	Estimated int64
	primed    bool
}

// Report takes a load that the app reported. smoothing is the weight of a new one, Config.Smoothing; the first counts
// whole.
func (l *AppLoad) Report(now int64, smoothing float64) {
	l.Load = load.Clamp(now)
	if !l.primed {
		l.Smoothed, l.primed = l.Load, true
	}
	l.Smoothed += int64(float64(l.Load-l.Smoothed) * smoothing)
	l.Estimated = l.Smoothed
}

// Given pencils in the load of a new cell, Config.InitialCellLoad, so that further cells go elsewhere until it shows.
func (l *AppLoad) Given(fraction float64) {
	l.Estimated = load.Clamp(l.Estimated + int64(nanos(fraction)))
}

// nanos turns a fraction of a core into load. It rounds before it is used, on every processor: inlined, even twice it
// would else become one fused step on some.
func nanos(fraction float64) float64 { return float64(fraction * float64(load.Core)) }
