package cellappmgr

import (
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// withLand gives space 1 a geometry of a kilometre.
func withLand(c *Config) {
	c.Spaces[0].Geometry = c.Spaces[0].Bounds
	c.Border.GhostDistance = 100
	c.Balance.MaxLoadingCells = -1
}

// says is the report of a cell that has loaded something.
func says(cell bsp.CellID, v bsp.Version, load float64, loaded bsp.Rect) wire.CellReport {
	r := cellReport(1, cell, v, load, -100, 100)
	r.Loaded = loaded
	return r
}

// leafTold is a leaf as it was last told to a CellApp.
func (r *rig) leafTold(id bsp.CellID) *bsp.Leaf {
	l, _, _ := r.m.spaces[0].publisher.Tree().Leaf(id)
	return l
}

// located is where a base is sent with an entity; the zero Address is nowhere.
func (p *peer) located(x, z float32) mercury.Address {
	p.r.t.Helper()
	p.send(&wire.Locate{ID: 1, Space: 1, Position: property.Vector3{X: x, Z: z}})
	return one[wire.Located](p).App
}

// TestLoadingIsTold: a cell counts as loading until it has loaded its part of the geometry.
// CellApps are told so with the report that says so, even while the world stands still.
func TestLoadingIsTold(t *testing.T) {
	for _, frozen := range []bool{false, true} {
		r := newRig(t, withLand)
		a, watch := r.join(wire.CellApp, 10), r.join(wire.Observer, 30)
		cell := a.confirm()[0].Cell
		if l := r.leafTold(cell); !l.Created || !l.Loading {
			t.Errorf("a new cell: %+v", l)
		}
		watch.send(&wire.Freeze{On: frozen})
		a.reportCells(says(cell, r.m.spaces[0].version(), 0, bsp.Rect{MinX: -500, MinZ: -500, MaxX: 500, MaxZ: 499}))
		if l := r.leafTold(cell); !l.Loading {
			t.Error("a strip is not loaded, and it does not count as loading")
		}
		take[wire.Geometry](a)
		a.reportCells(says(cell, r.m.spaces[0].version(), 0, bsp.Rect{MinX: -500, MinZ: -500, MaxX: 500, MaxZ: 500}))
		if l := r.leafTold(cell); l.Loading {
			t.Error("all is loaded, and it counts as loading")
		}
		one[wire.Geometry](a)
		if r.m.Status().Spaces[0].Cells[0].Loading {
			t.Error("the status has it as loading")
		}
		a.reportCells(says(cell, r.m.spaces[0].version(), 0, bsp.Rect{}))
		if l := r.leafTold(cell); !l.Loading {
			t.Error("the land was given up, and it does not count as loading")
		}
		if !r.m.Status().Spaces[0].Cells[0].Loading {
			t.Error("the status does not have it as loading")
		}
	}
}

// TestNobodyIsLocatedOnLandThatIsNotThere: a base is sent to a cell that has loaded the land at the
// entity's place, even if that is not the cell of the place; beyond the geometry any cell will do.
func TestNobodyIsLocatedOnLandThatIsNotThere(t *testing.T) {
	r := newRig(t, withLand)
	base := r.join(wire.BaseApp, 30)
	a, b := r.join(wire.CellApp, 10), r.join(wire.CellApp, 11)
	first := a.confirm()[0].Cell
	nowhere := mercury.Address{}
	report := func(cell bsp.CellID, p *peer, loaded bsp.Rect) {
		p.reportCells(says(cell, r.m.spaces[0].version(), 0.6, loaded))
	}
	expect := func(what string, x, z float32, want mercury.Address) {
		t.Helper()
		if got := base.located(x, z); got != want {
			t.Errorf("%s: (%g, %g) is located at %v, want %v", what, x, z, got, want)
		}
	}
	expect("nothing heard", 0, 0, nowhere)
	expect("nothing heard", 600, 0, a.addr)
	report(first, a, bsp.Around(0, 0, 200))
	expect("loaded about the middle", 100, -100, a.addr)
	expect("loaded about the middle", 300, 0, nowhere)
	report(first, a, bsp.Around(0, 0, 500))
	expect("all loaded", 300, 0, a.addr)

	var second bsp.CellID
	for range 30 {
		report(first, a, bsp.Around(0, 0, 500))
		b.reportCells()
		r.pass(100 * time.Millisecond)
		if added := b.confirm(); len(added) > 0 {
			second = added[0].Cell
			break
		}
	}
	_, rect, ok := r.m.spaces[0].tree.Leaf(second)
	if !ok {
		t.Fatalf("a loaded cell was not split; log:\n%s", r.log.String())
	}
	rect = cut(rect, r.m.spaces[0].cfg.Bounds)
	x, z := float32((rect.MinX+rect.MaxX)/2), float32((rect.MinZ+rect.MaxZ)/2)
	expect("the new cell loads", x, z, a.addr)
	b.reportCells(says(second, r.m.spaces[0].version(), 0, rect))
	expect("the new cell has loaded", x, z, b.addr)
	if r.leafTold(second).Loading {
		t.Error("the new cell still counts as loading")
	}
	b.drop(mercury.ErrPeerRestarted)
	report(first, a, bsp.Around(-900, 0, 450))
	expect("its heir has not loaded it", x, z, nowhere)
	if !r.leafTold(first).Loading {
		t.Error("the heir does not count as loading")
	}
}

// TestIgnoredGeometryHoldsNobodyBack: nobody waits in a space without a geometry, or where the
// configuration ignores it.
func TestIgnoredGeometryHoldsNobodyBack(t *testing.T) {
	for _, change := range []func(*Config){nil, func(c *Config) { withLand(c); c.Balance.IgnoreGeometry = true }} {
		r := newRig(t, change)
		base, a := r.join(wire.BaseApp, 30), r.join(wire.CellApp, 10)
		cell := a.confirm()[0].Cell
		if base.located(0, 0) != a.addr || r.leafTold(cell).Loading {
			t.Error("held back")
		}
	}
}

// TestCellThatDoesNotLoadIsNamed: the cell is named once, after a minute, under both policies.
func TestCellThatDoesNotLoadIsNamed(t *testing.T) {
	for _, policy := range []balance.PolicyConfig{balance.ProfileConfig{}, balance.ClassicConfig{}} {
		r := newRig(t, func(c *Config) { withLand(c); c.Policy = policy })
		a := r.join(wire.CellApp, 10)
		cell := a.confirm()[0].Cell
		named := func() int { return strings.Count(r.log.String(), "a cell does not load the geometry") }
		wait := func(d time.Duration, loaded bsp.Rect) {
			for end := r.now + d; r.now < end; {
				a.reportCells(says(cell, r.m.spaces[0].version(), 0, loaded))
				r.pass(time.Second)
			}
		}
		wait(55*time.Second, bsp.Rect{})
		if named() != 0 {
			t.Errorf("%s: named before a minute was over", policy.Name())
		}
		wait(60*time.Second, bsp.Rect{})
		if named() != 1 {
			t.Errorf("%s: named %d times, want once", policy.Name(), named())
		}
		wait(5*time.Second, bsp.Around(0, 0, 500))
		wait(55*time.Second, bsp.Rect{})
		if named() != 1 {
			t.Errorf("%s: the minute does not begin anew: named %d times", policy.Name(), named())
		}
	}
}
