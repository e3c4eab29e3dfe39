package bsp

import (
	"math"
	"testing"
)

func TestPlace(t *testing.T) {
	tests := []struct {
		name, text string
		cell       CellID
		axis       Axis
	}{
		{"the only leaf", "cell 1.1", cell(1), AxisZ},
		{"fewer cells", "x 0 \n cell 1.1 \n z 0 \n cell 1.2 \n cell 1.3", cell(1), AxisZ},
		{"the lower side is narrower", "x -5 \n cell 1.1 \n cell 1.2", cell(1), AxisZ},
		{"the higher side is narrower", "z 5 \n cell 1.1 \n cell 1.2", cell(2), AxisX},
		{"not a retiring leaf", "x -5 \n cell 1.1 - 0 retiring \n cell 1.2", cell(2), AxisZ},
		{"not a retiring leaf on the higher side", "x 5 \n cell 1.1 \n cell 1.2 - 0 retiring", cell(1), AxisZ},
		{"fewer cells, but they retire", "x 0 \n cell 1.1 - 0 retiring \n z 1 \n cell 1.2 \n cell 1.3", cell(3), AxisX},
		{"the other axis where there is no room", `x 0
			x -40
				cell 1.1 - 0 retiring
				z 0
					cell 1.2
					cell 1.3
			z 0
				cell 1.4
				z 50
					cell 1.5
					x 50
						cell 1.6
						cell 1.7`, cell(3), AxisZ},
	}
	for _, tt := range tests {
		c, axis, ok := mustParse(t, tt.text).Place()
		if !ok || c != tt.cell || axis != tt.axis {
			t.Errorf("%s: %v on %v (%v), want %v on %v", tt.name, c, axis, ok, tt.cell, tt.axis)
		}
	}
}

func TestPlaceFillsATreeUntilItIsFull(t *testing.T) {
	tree := New(Version{}, leaf(1))
	bounds := Rect{MinX: -1000, MinZ: -1000, MaxX: 1000, MaxZ: 1000}
	for n := uint32(2); n <= 300; n++ {
		c, axis, ok := tree.Place()
		if !ok {
			t.Fatalf("no place for cell %d", n)
		}
		_, r, _ := tree.Leaf(c)
		lo, hi, _ := r.SplitLimits(axis)
		in := r.Intersect(bounds)
		from, to := in.Span(axis)
		if err := tree.Split(c, axis, math.Min(math.Max(from/2+to/2, lo), hi), leaf(n), true); err != nil {
			t.Fatal(err)
		}
	}
	deepest := 0
	for _, e := range tree.index {
		deepest = max(deepest, tree.depth(e.slot))
	}
	if deepest > 12 {
		t.Errorf("300 cells are %d deep: the sides are not kept balanced", deepest)
	}
	for _, e := range tree.index {
		tree.nodes[e.slot].leaf.Retiring = true
	}
	if _, _, ok := tree.Place(); ok {
		t.Error("a place under a retiring cell")
	}
}

// TestSplitLimitsOfNoRectangle: no search for a line would end in a rectangle that has no inside,
// so none must begin.
func TestSplitLimitsOfNoRectangle(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, edges := range [][2]float64{{nan, 1}, {0, nan}, {nan, nan}, {inf, inf}, {-inf, -inf}, {inf, -inf}, {5, 5}, {100, 0}} {
		r := Rect{MinX: edges[0], MaxX: edges[1], MaxZ: 1000}
		if lo, hi, ok := r.SplitLimits(AxisX); ok {
			t.Errorf("%v: %v to %v", r, lo, hi)
		}
	}
}
