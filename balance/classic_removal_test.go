package balance

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// TestCellDataBalance is CellData::balance: which cells are removed, and which begin to be.
func TestCellDataBalance(t *testing.T) {
	const narrow = "version 1.1 \n x 0 \n x -25 \n cell 1.1 - 0 created \n cell 1.2 - 0 created \n cell 1.3 - 0 created"
	const wide = "version 1.1 \n x 0 \n x -100 \n cell 1.1 - 0 created \n cell 1.2 - 0 created \n cell 1.3 - 0 created"
	// Without 1.1 the outer line stays, so that only the inner one squeezes the cell.
	above := func(low float64) string {
		return fmt.Sprintf("version 1.1 \n x %g \n cell 1.1 - 0 \n x 0 \n cell 1.2 - 0 created \n cell 1.3 - 0 created", low)
	}
	type world struct {
		name    string
		tree    string
		second  Cell // in the middle
		edit    func(*Observation)
		removed int
		retires int
	}
	busy := func(c Cell) Cell { c.Load = 500e6; return c }
	swept := "version 1.1 \n x 0 \n x 0 \n cell 1.1 - 0 created \n cell 1.2 - 0 created retiring \n cell 1.3 - 0 created"
	someGhosts := cellOf(2, nil)
	someGhosts.Ghosts = 1
	handing := cellOf(2, nil)
	handing.Handoffs = 1
	tests := []world{
		{name: "swept and empty", tree: swept, second: cellOf(2, nil), removed: 1},
		{name: "swept, with a ghost", tree: swept, second: someGhosts},
		{name: "swept, handing over", tree: swept, second: handing},
		{name: "swept, no report", tree: swept, second: Cell{ID: bsp.CellID{Term: 1, N: 9}}},
		{name: "retiring, not swept", tree: "version 1.1 \n x 0 \n x -30 \n cell 1.1 - 0 created \n cell 1.2 - 0 created retiring \n cell 1.3 - 0 created", second: cellOf(2, nil)},
		{name: "squeezed", tree: narrow, second: busy(cellOf(2, nil)), retires: 1},
		{name: "squeezed from above", tree: above(-25), second: busy(cellOf(2, nil)), retires: 1},
		{name: "squeezed, but handing over", tree: narrow, second: busy(handing)},
		{name: "becoming narrow in this period", tree: wide, second: busy(cellOf(2, nil))},
		{name: "becoming narrow from above in this period", tree: above(-100), second: busy(cellOf(2, nil))},
		{name: "squeezed, but with reals", tree: narrow, second: busy(cellOf(2, row(-20, 0, 1, 2, 0.001)))},
		{name: "narrow, but growing", tree: narrow, second: cellOf(2, nil)},
		{name: "squeezed, the space wants it", tree: narrow, second: busy(cellOf(2, nil)), edit: func(o *Observation) { o.Spaces[0].MinCells = 3 }},
		{name: "squeezed, not created", tree: narrow, second: busy(cellOf(2, nil)), edit: func(o *Observation) { leafOf(o, 2).Created = false }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			known := tt.second.ID.N == 2
			second := tt.second
			if !known {
				second = cellOf(2, nil)
			}
			o := observed(t, tt.tree, cellOf(1, row(-995, 0, 10, 90, 0.1)), second, cellOf(3, row(5, 0, 10, 100, 0.3)))
			if !known {
				o.Spaces[0].Cells[1] = tt.second
			}
			if tt.edit != nil {
				tt.edit(o)
			}
			p := newClassic(t, knobs{}).Balance(o)
			if len(p.Removals) != tt.removed || len(p.Retires) != tt.retires {
				t.Errorf("removals %v, retires %v; want %d and %d", p.Removals, p.Retires, tt.removed, tt.retires)
			}
			if err := apply(o, &p); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRetirementRunsToItsEnd plays a retirement with cells that hand over what stands outside of
// them.
func TestRetirementRunsToItsEnd(t *testing.T) {
	for _, cell := range []uint32{1, 2} {
		reals := [][]load.Sample{row(-995, 0, 10, 100, 0.1), row(5, 0, 10, 100, 0.3)}
		o := pair(t, 0.1, 0.3)
		if err := o.Spaces[0].Tree.Retire(bsp.CellID{Term: 1, N: cell}); err != nil {
			t.Fatal(err)
		}
		c := newClassic(t, knobs{})
		for second := 0; o.Spaces[0].Tree.Len() > 1; second++ {
			if second == 60 {
				t.Fatalf("cell %d has not gone after a minute\n%v", cell, o.Spaces[0].Tree)
			}
			p := c.Balance(o)
			if err := apply(o, &p); err != nil {
				t.Fatal(err)
			}
			all := slices.Concat(reals...)
			reals = [][]load.Sample{nil, nil}
			for _, s := range all {
				n := o.Spaces[0].Tree.At(float64(s.X), float64(s.Z)).Cell.N
				reals[n-1] = append(reals[n-1], s)
			}
			o.Spaces[0].Cells = []Cell{cellOf(1, reals[0]), cellOf(2, reals[1])}
		}
	}
}
