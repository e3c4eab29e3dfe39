package bsp

import "math"

// Place chooses the leaf from which to cut a new cell when there are no loads to go by. It goes
// down the tree to the side with fewer cells and, where both have as many, to the narrower one:
// lines gather where the crowd is, so narrow leaves are the busy ones. If CanSplit refuses a leaf,
// or it is too narrow for a line, the next best is taken. The axis is that of Alternate, or the
// other one if the leaf has room only that way.
//
// It returns false if no leaf can be split.
func (t *Tree) Place() (c CellID, axis Axis, ok bool) {
	counts := make([]int32, len(t.nodes))
	t.count(t.root, counts)
	return t.place(t.root, counts)
}

// count fills in the number of leaves under each node.
func (t *Tree) count(slot int32, counts []int32) int32 {
	n := &t.nodes[slot]
	counts[slot] = 1
	if n.leaf == nil {
		counts[slot] = t.count(n.left, counts) + t.count(n.right, counts)
	}
	return counts[slot]
}

func (t *Tree) place(slot int32, counts []int32) (CellID, Axis, bool) {
	n := &t.nodes[slot]
	if n.leaf != nil {
		return t.placeIn(n)
	}
	first, second := n.left, n.right
	if l, r := counts[n.left], counts[n.right]; r < l || (l == r && n.line >= middle(n.rect.Span(n.axis))) {
		first, second = second, first
	}
	if c, axis, ok := t.place(first, counts); ok {
		return c, axis, true
	}
	return t.place(second, counts)
}

func (t *Tree) placeIn(n *node) (CellID, Axis, bool) {
	c := n.leaf.Cell
	if t.CanSplit(c) != nil {
		return CellID{}, 0, false
	}
	first := t.Alternate(c)
	for _, axis := range [...]Axis{first, first.Other()} {
		if _, _, ok := n.rect.SplitLimits(axis); ok {
			return c, axis, true
		}
	}
	return CellID{}, 0, false
}

// middle is halfway between two edges; an edge at infinity counts as MaxCoord.
func middle(lo, hi float64) float64 {
	return math.Max(lo, -MaxCoord)/2 + math.Min(hi, MaxCoord)/2
}

// Alternate returns the axis on which a cell's leaf should be cut so that lines alternate on the
// way down: the axis that the line above it does not have, and AxisZ for a leaf that is the whole
// tree or is not in it.
func (t *Tree) Alternate(c CellID) Axis {
	slot := t.find(c)
	if slot == none || t.nodes[slot].parent == none {
		return AxisZ
	}
	return t.nodes[t.nodes[slot].parent].axis.Other()
}
