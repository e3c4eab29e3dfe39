package cellappmgr

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/wire"
)

// There is no balancing before the start or in a frozen world, and with both balances off there is
// none at all; the loads that there are are told nevertheless.
func TestNoBalance(t *testing.T) {
	loaded := func(r *rig, a, b *peer, cell bsp.CellID) {
		for range 20 {
			a.reportCells(cellReport(1, cell, r.m.spaces[0].version(), 0.9, -100, 100))
			b.reportCells()
			r.pass(200 * time.Millisecond)
		}
	}
	t.Run("before the start", func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.MinCellApps, c.Spaces[0].MinCells = 3, 2 })
		a, b := r.join(wire.CellApp, 10), r.join(wire.CellApp, 11)
		r.pass(10 * time.Second)
		none[wire.AddCell](a)
		none[wire.AddCell](b)
	})
	t.Run("frozen", func(t *testing.T) {
		r := newRig(t, nil)
		a, b, watch := r.join(wire.CellApp, 10), r.join(wire.CellApp, 11), r.join(wire.Observer, 30)
		cell := a.confirm()[0].Cell
		watch.send(&wire.Freeze{On: true})
		loaded(r, a, b, cell)
		none[wire.AddCell](b)
	})
	t.Run("no meta balance", func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.Balance.NoMeta = true })
		a, b := r.join(wire.CellApp, 10), r.join(wire.CellApp, 11)
		loaded(r, a, b, a.confirm()[0].Cell)
		none[wire.AddCell](b)
	})
	t.Run("lines stand", func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.Balance = balance.Config{NoBalance: true, MetaPeriod: time.Second} })
		a, b, first, _ := r.split()
		take[wire.Geometry](b)
		line := func() bsp.Node { n, _ := r.m.spaces[0].publisher.Tree().Parent(first); return n }
		was := line().Line
		loaded(r, a, b, first)
		if line().Line != was || r.m.linesMoved != 0 {
			t.Errorf("a line moved from %v to %v", was, line().Line)
		}
		told := take[wire.Geometry](b)
		if len(told) == 0 {
			t.Fatal("the geometry does not flow")
		}
		if leaf, _, _ := r.tree(told[len(told)-1].Tree).Leaf(first); leaf.Load < 8e8 {
			t.Errorf("told a load of %d", leaf.Load)
		}
	})
}
