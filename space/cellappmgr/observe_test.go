package cellappmgr

import (
	"math"
	"testing"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/wire"
)

// The balance sees the figures of a cell as its CellApp last reported them; any gain is plausible.
func TestObservedFigures(t *testing.T) {
	r := newRig(t, nil)
	a := r.join(wire.CellApp, 10)
	id := a.confirm()[0].Cell
	for _, gained := range []int64{7, -7, math.MaxInt64, math.MinInt64} {
		a.reportCells(wire.CellReport{Space: 1, Cell: id, Version: bsp.Version{Term: 1, N: 2}, Load: 4e8, Gained: gained, Reals: 3, Ghosts: 4, Handoffs: 5})
		o := r.m.observe(r.now)
		if len(o.Spaces) != 1 || len(o.Spaces[0].Cells) != 1 {
			t.Fatalf("observed: %+v", o.Spaces)
		}
		got := o.Spaces[0].Cells[0]
		want := balance.Cell{ID: id, App: 1, Load: 4e8, Gained: gained, Reals: 3, Ghosts: 4, Handoffs: 5, Created: true}
		if got != want {
			t.Errorf("observed %+v, want %+v", got, want)
		}
	}
	if r.m.counts.Implausible != 0 {
		t.Errorf("%d figures are implausible", r.m.counts.Implausible)
	}
}
