package main

import (
	"fmt"
	"math"
	"net/netip"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// cellApp is a CellApp with the cell that it runs, if any: there is one space, of which it has at
// most one cell.
type cellApp struct {
	cell  bsp.CellID // zero for none
	ready bool       // the cell is created
	rect  bsp.Rect   // as the CellApp knows it; empty before it knows any
	retiring,
	known bool // the cell is in the geometry that the CellApps have

	reals, ghosts int
	// smoothed is the sum of the meters of its reals, remainder what its ghosts cost.
	smoothed  int64
	remainder load.Meter
	// gained is what it reports of the load of reals that came, less that of those that left.
	gained int64
	// raw is the true load of the last second.
	raw int64
	// over is the number of seconds in a row, up to the last, in which that was more than overAt
	// times the average.
	over int
	// reported is what it last told the manager; told is the version of the geometry that it was
	// last sent.
	reported int64
	told     bsp.Version
	left     int   // reals that it may still offload in this check
	share    int64 // each real's part of the remainder
}

// hold starts a cell on the app.
func (a *cellApp) hold(c bsp.CellID) { *a = cellApp{cell: c} }

// firstPort is the port of the first CellApp's address. The addresses only tell the apps apart.
const firstPort = 1024

// address is the address of the app of an index.
func address(app int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, 1}), uint16(firstPort+app))
}

// appOf is the index of the app that runs a leaf.
func appOf(l *bsp.Leaf) int32 { return int32(l.App.Port()) - firstPort }

// receive takes the new geometry, which reaches all CellApps.
func (l *lab) receive(t *bsp.Tree) {
	l.tree = t
	for i := range l.apps {
		l.apps[i].rect, l.apps[i].known = bsp.Rect{}, false
	}
	for r, leaf := range t.Leaves() {
		a := &l.apps[appOf(leaf)]
		if a.cell != leaf.Cell {
			continue // it has given that cell back by now
		}
		a.rect, a.retiring, a.ready, a.known = r, leaf.Retiring, leaf.Created, true
	}
}

// oldest is an app whose cell is created. It serves an entity that comes into the world where the
// new cell is not there yet.
func (l *lab) oldest() int32 {
	for i := range l.apps {
		if l.apps[i].ready && !l.apps[i].retiring {
			return int32(i)
		}
	}
	return 0
}

// check hands over the reals that have left their cells, as package space does: those beyond the
// border band and, from a retiring cell, all of them. What is handed over arrives at once.
func (l *lab) check() {
	for i := range l.apps {
		l.apps[i].left = offloadBudget
	}
	for i := range l.present() {
		e := &l.present()[i]
		a := &l.apps[e.app]
		if a.rect.Contains(e.at.x, e.at.z) {
			continue
		}
		to := l.tree.At(e.at.x, e.at.z)
		if !to.Created || a.left == 0 || to.Cell == a.cell {
			continue
		}
		if a.retiring || !a.rect.Keeps(e.at.x, e.at.z, borderBand) {
			a.left--
			l.handOver(e, appOf(to))
		}
	}
}

// handOver gives a real, with its measured load, to another app.
func (l *lab) handOver(e *entity, to int32) {
	from, next := &l.apps[e.app], &l.apps[to]
	weight := e.meter.Load()
	from.reals--
	from.smoothed -= weight
	next.reals++
	told := int64(float64(weight) * l.shaken(math.Sqrt(float64(max(1, from.reals)))))
	from.gained -= told
	next.gained += told
	next.smoothed += weight
	e.app = to
	l.offload++
}

// vacate takes the cell from an app when the cell is out of the tree.
func (l *lab) vacate(c bsp.CellID) error {
	for i := range l.apps {
		a := &l.apps[i]
		if a.cell != c {
			continue
		}
		if a.reals > 0 {
			return fmt.Errorf("cell %v was removed with %d reals in it", c, a.reals)
		}
		a.hold(bsp.CellID{})
		return nil
	}
	return fmt.Errorf("cell %v was removed, but no CellApp has it", c)
}
