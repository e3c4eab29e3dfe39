package cellappmgr

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/wire"
)

// planned is a policy that gives out plans made by a test, each once.
type planned struct{ next balance.Plan }

func (p *planned) Balance(*balance.Observation) balance.Plan {
	plan := p.next
	p.next = balance.Plan{}
	return plan
}

func (p *planned) Meta(*balance.Observation) balance.Plan { return balance.Plan{} }

func (p *planned) Line(uint32, bsp.NodeID) (l balance.LineState, ok bool) { return l, false }

// Two CellApps that are shut down at once may be swept by the same balance.
func TestTwoCellsAreRemovedAtOnce(t *testing.T) {
	policy := &planned{}
	r := newRig(t, func(c *Config) { c.Policy = policy })
	a, b, c := r.join(wire.CellApp, 10), r.join(wire.CellApp, 11), r.join(wire.CellApp, 12)
	first := a.confirm()[0].Cell
	for i := range 2 {
		policy.next.Adds = []balance.Add{{Space: 1, Cell: first, Axis: bsp.AxisX, At: 100 - 100*float64(i), NewOnHigherSide: true, App: uint32(2 + i)}}
		r.pass(time.Second)
	}
	second, third := b.confirm()[0].Cell, c.confirm()[0].Cell
	policy.next.Retires = []balance.Ref{{Space: 1, Cell: second}}
	r.pass(time.Second)
	policy.next.Removals = []balance.Ref{{Space: 1, Cell: second}, {Space: 1, Cell: third}}
	r.pass(time.Second)
	if x, y := take[wire.RemoveCell](b), take[wire.RemoveCell](c); len(x) == 0 || len(y) == 0 || x[0].Cell != second || y[0].Cell != third {
		t.Errorf("removed %+v and %+v", x, y)
	}
	if n := len(r.m.spaces[0].cells); n != 1 {
		t.Errorf("%d cells are left", n)
	}
}
