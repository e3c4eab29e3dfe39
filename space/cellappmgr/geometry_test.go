package cellappmgr

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/wire"
)

func version(n uint32) bsp.Version { return bsp.Version{Term: 1, N: n} }

// A delta that was lost, and was the last, shows in the reports: the CellApp is told again, from
// the version that it has.
func TestLostDeltaIsRepairedByReport(t *testing.T) {
	for _, tt := range []struct {
		name string
		has  bsp.Version
		want bsp.Head
	}{
		{"one behind", version(1), bsp.Head{Delta: true, Base: version(1), Version: version(2)}},
		{"in doubt", bsp.Version{}, bsp.Head{Version: version(2)}},
		{"of a term that is not kept", bsp.Version{Term: 0, N: 9}, bsp.Head{Version: version(2)}},
	} {
		r := newRig(t, nil)
		a := r.join(wire.CellApp, 10)
		cell := a.confirm()[0].Cell
		one[wire.Geometry](a) // lost
		old := cellReport(1, cell, tt.has, 0.01, 0, 1)
		a.reportCells(old)
		r.pass(900 * time.Millisecond)
		a.reportCells(old)
		none[wire.Geometry](a) // it may be on its way
		r.pass(300 * time.Millisecond)
		a.reportCells(old)
		if h := r.head(one[wire.Geometry](a).Tree); h != tt.want {
			t.Errorf("%s: sent %v, want %v", tt.name, h, tt.want)
		}
		a.reportCells(old)
		none[wire.Geometry](a)
		r.pass(1500 * time.Millisecond)
		a.reportCells(cellReport(1, cell, version(2), 0.01, 0, 1))
		none[wire.Geometry](a)
		r.logged("old geometry", "has="+tt.has.String(), "current=1.2")
	}
}

func TestGeometryLackedIsAnswered(t *testing.T) {
	r := newRig(t, nil)
	a, idle, base := r.join(wire.CellApp, 10), r.join(wire.CellApp, 11), r.join(wire.BaseApp, 12)
	a.confirm()
	one[wire.Geometry](a)
	for _, tt := range []struct {
		from bsp.Version
		want bsp.Head
	}{
		{version(1), bsp.Head{Delta: true, Base: version(1), Version: version(2)}},
		{bsp.Version{}, bsp.Head{Version: version(2)}},
		{bsp.Version{N: 77}, bsp.Head{Version: version(2)}},
	} {
		a.send(&wire.GeometryLacked{Space: 1, From: tt.from})
		if h := r.head(one[wire.Geometry](a).Tree); h != tt.want {
			t.Errorf("an app that lacks something from %v on is sent %v, want %v", tt.from, h, tt.want)
		}
	}
	a.send(&wire.GeometryLacked{Space: 1, From: version(2)}) // it has everything
	a.send(&wire.GeometryLacked{Space: 1, From: bsp.Version{Term: 2}})
	a.send(&wire.GeometryLacked{Space: 9})
	none[wire.Geometry](a)
	idle.send(&wire.GeometryLacked{Space: 1})
	none[wire.Geometry](idle)
	base.send(&wire.GeometryLacked{Space: 1})
	none[wire.Geometry](base)
	if n := r.m.Counts(); n.UnknownCells != 2 || n.Misplaced != 1 {
		t.Errorf("%d of no cell of the sender, %d misplaced", n.UnknownCells, n.Misplaced)
	}
}

// Loads alone are told with the balance, not with each report, and not in a frozen world.
func TestLoadsAreToldWithTheBalance(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Balance.NoBalance = true })
	watch := r.join(wire.Observer, 30)
	a, b, first, second := r.split()
	r.pass(3 * time.Second)
	take[wire.Geometry](a)
	was := r.m.spaces[0].version().N
	report := func(l float64) {
		v := r.m.spaces[0].version()
		a.reportCells(cellReport(1, first, v, l, 0, 1))
		b.reportCells(cellReport(1, second, v, 0.3, 0, 1))
	}
	told := func() []wire.Geometry {
		for range 10 {
			report(0.3) // within a period they go up and down
			report(0.4)
			none[wire.Geometry](a)
			r.m.Message(r.now, a.ch, true, wire.Encode(nil, &wire.Report{}))
			r.now += 100 * time.Millisecond
			r.m.Tick(r.now)
		}
		return take[wire.Geometry](a)
	}
	watch.send(&wire.Freeze{On: true})
	if got := told(); len(got) != 0 {
		t.Errorf("told %d times while frozen", len(got))
	}
	watch.send(&wire.Freeze{})
	newest := take[wire.Geometry](a)
	for len(newest) == 0 && r.now < time.Minute {
		report(0.4)
		r.pass(100 * time.Millisecond)
		newest = take[wire.Geometry](a)
	}
	if len(newest) != 1 || r.tree(newest[0].Tree).Version() != version(was+1) {
		t.Fatalf("told %d times", len(newest))
	}
	if leaf, _, _ := r.tree(newest[0].Tree).Leaf(first); leaf.Load != load.Core/5*2 {
		t.Errorf("told a load of %d", leaf.Load)
	}
	report(0.4 + 0.04) // within the band
	r.pass(3 * time.Second)
	none[wire.Geometry](a)
	report(0.4 + 0.06)
	none[wire.Geometry](a)
	r.pass(3 * time.Second)
	if v := r.tree(one[wire.Geometry](a).Tree).Version(); v != version(was+2) {
		t.Errorf("version %v", v)
	}
}

// The only cell of a space knows its load itself: no version is made to tell it.
func TestTheOnlyCellIsNotToldItsLoad(t *testing.T) {
	r := newRig(t, nil)
	a := r.join(wire.CellApp, 10)
	cell := a.confirm()[0].Cell
	one[wire.Geometry](a)
	a.reportCells(cellReport(1, cell, version(2), 0.2, 0, 1))
	r.pass(5 * time.Second)
	none[wire.Geometry](a)
}

// When a line moves, every CellApp gets a delta from what it was told before, and that is a
// fraction of the tree.
func TestMovedLineIsADelta(t *testing.T) {
	const cells = 16
	r := newRig(t, func(c *Config) { c.Spaces[0].MinCells = cells })
	for i := range cells {
		r.join(wire.CellApp, 10+i)
	}
	for len(r.m.spaces[0].cells) < cells || r.m.spaces[0].dirty {
		for _, p := range r.peers {
			p.confirm()
		}
		if r.pass(100 * time.Millisecond); r.now > time.Minute {
			t.Fatal("the cells were not made")
		}
	}
	for _, p := range r.peers {
		p.confirm()
	}
	r.pass(time.Second)
	for _, p := range r.peers {
		p.ids()
	}
	s := r.m.spaces[0]
	before := s.version()
	for n := range s.tree.Nodes() {
		lo, hi, _ := s.tree.LineLimits(n.ID)
		if err := s.tree.MoveLine(n.ID, (lo+hi)/2+1); err != nil {
			t.Fatal(err)
		}
		break
	}
	r.m.touch(s)
	r.m.publish(r.now)
	want := bsp.Head{Delta: true, Base: before, Version: version(before.N + 1)}
	whole := len(s.publisher.Tree().Append(nil))
	for _, p := range r.peers {
		msg := one[wire.Geometry](p).Tree
		if h := r.head(msg); h != want || len(msg) >= whole/10 {
			t.Errorf("%v was sent %v in %d bytes, want %v; the tree has %d", p.addr, h, len(msg), want, whole)
		}
	}
}
