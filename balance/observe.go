package balance

import (
	"net/netip"
	"slices"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// App is what is known of a CellApp.
type App struct {
	// ID orders apps that are otherwise equal; it is unique.
	ID   uint32
	Addr netip.AddrPort
	Salt uint32
	// Load is the app's whole load, in nanoseconds per second.
	Load int64
	// Cells is how many cells it runs, of all spaces.
	Cells int
}

// Cell is what a cell reported last.
type Cell struct {
	ID bsp.CellID
	// App is the ID of the app that runs it.
	App uint32
	// Load is what its reals and the cell itself cost, in nanoseconds per second, without the work of migration.
	Load int64
	// Reals and Ghosts are how many entities of each kind it holds.
	Reals, Ghosts int
	// Profile tells where the load of its reals lies.
	Profile load.Profile
	// Created says that the app has confirmed the cell; the same flag in the tree's leaf does as well.
	Created bool
}

// Observation is the state of a space at one time. Plan does not keep or change any of it.
type Observation struct {
	// Now is the time since some fixed start.
	Now  time.Duration
	Tree *bsp.Tree
	// Cells are the last reports of the cells, in any order.
	Cells []Cell
	// Apps are the apps that may run cells of the space, and those that do, in any order.
	Apps []App
}

// figure is a leaf with what is known of it.
type figure struct {
	leaf *bsp.Leaf
	rect bsp.Rect
	cell *Cell // nil if there is no usable report
	// level is what is compared between cells. An app that runs nothing else is as loaded as its cell says, which
	// knows at once of a handed-over entity; the load of an app with further cells comes on top.
	level   int64
	created bool
	// given is how many reals the lines moved by this plan take from the cell.
	given float64
}

// figures is an Observation without what cannot be true, in the order of the tree's leaves.
type figures struct {
	leaves  []figure
	byCell  []*figure // sorted by cell
	apps    []App     // sorted by ID
	ignored int
}

func (f *figures) find(c bsp.CellID) *figure {
	i, ok := slices.BinarySearchFunc(f.byCell, c, func(x *figure, c bsp.CellID) int { return x.leaf.Cell.Compare(c) })
	if !ok {
		return nil
	}
	return f.byCell[i]
}

func (f *figures) app(id uint32) *App {
	i, ok := slices.BinarySearchFunc(f.apps, id, func(a App, id uint32) int { return compare(a.ID, id) })
	if !ok {
		return nil
	}
	return &f.apps[i]
}

func observe(o Observation) *figures {
	f := &figures{leaves: make([]figure, 0, o.Tree.Len())}
	for rect, leaf := range o.Tree.Leaves() {
		f.leaves = append(f.leaves, figure{leaf: leaf, rect: rect, created: leaf.Created})
	}
	for i := range f.leaves {
		f.byCell = append(f.byCell, &f.leaves[i])
	}
	slices.SortFunc(f.byCell, func(a, b *figure) int { return a.leaf.Cell.Compare(b.leaf.Cell) })

	f.takeApps(o.Apps)
	for i := range o.Cells {
		c := &o.Cells[i]
		x := f.find(c.ID)
		if x == nil || x.cell != nil || !plausible(c) {
			f.ignored++
			continue
		}
		x.cell = c
		x.created = x.created || c.Created
		x.level = c.Load
		if a := f.app(c.App); a != nil && a.Cells > 1 {
			x.level = max(a.Load, c.Load)
		}
	}
	return f
}

func (f *figures) takeApps(apps []App) {
	for _, a := range apps {
		if a.Load < 0 || a.Load > load.Max {
			f.ignored++
			continue
		}
		f.apps = append(f.apps, a)
	}
	// Two entries of one id are a fault of the caller; the order below makes the same one win every time.
	slices.SortFunc(f.apps, func(a, b App) int {
		if d := compare(a.ID, b.ID); d != 0 {
			return d
		}
		return compare(a.Load, b.Load)
	})
	n := len(f.apps)
	f.apps = slices.CompactFunc(f.apps, func(a, b App) bool { return a.ID == b.ID })
	f.ignored += n - len(f.apps)
}

// plausible reports whether a report can be true. A profile with a NaN would else become a line at NaN.
func plausible(c *Cell) bool {
	return c.Load >= 0 && c.Load <= load.Max && c.Reals >= 0 && c.Ghosts >= 0 &&
		c.Profile.X.Valid() && c.Profile.Z.Valid()
}

// average is the mean level of all leaves, 0 for those that have not reported.
func (f *figures) average() int64 {
	var sum int64
	for i := range f.leaves {
		sum += f.leaves[i].level
	}
	return sum / int64(len(f.leaves))
}

func compare[T uint32 | int64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func quantiles(c *Cell, a bsp.Axis) *load.Quantiles {
	if a == bsp.AxisX {
		return &c.Profile.X
	}
	return &c.Profile.Z
}
