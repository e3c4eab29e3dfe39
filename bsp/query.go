package bsp

import (
	"iter"
	"net/netip"
	"slices"
)

// At returns the leaf that owns the point. It answers for every value; a NaN counts as higher than
// any line.
func (t *Tree) At(x, z float64) *Leaf {
	nodes := t.nodes
	n := &nodes[t.root]
	for n.leaf == nil {
		p := x
		if n.axis == AxisZ {
			p = z
		}
		next := n.right
		if p < n.line {
			next = n.left
		}
		n = &nodes[next]
	}
	return n.leaf
}

// Leaf finds a cell's leaf and rectangle.
func (t *Tree) Leaf(c CellID) (*Leaf, Rect, bool) {
	slot := t.find(c)
	if slot == none {
		return nil, Rect{}, false
	}
	return t.nodes[slot].leaf, t.nodes[slot].rect, true
}

// OfApp finds the leaf that a start of a CellApp runs, the one with the lowest cell if there are
// several. It looks at every leaf.
func (t *Tree) OfApp(app netip.AddrPort, salt uint32) (*Leaf, Rect, bool) {
	for _, e := range t.index {
		if n := &t.nodes[e.slot]; n.leaf.Salt == salt && n.leaf.App == app {
			return n.leaf, n.rect, true
		}
	}
	return nil, Rect{}, false
}

// Vanished walks the leaves of t whose cells next does not have, in the order of cells. Any number
// may vanish from one version to the next.
func (t *Tree) Vanished(next *Tree) iter.Seq[*Leaf] {
	return func(yield func(*Leaf) bool) {
		for _, e := range t.index {
			if next.find(e.cell) == none && !yield(t.nodes[e.slot].leaf) {
				return
			}
		}
	}
}

// Leaves walks all leaves with their rectangles, the lower side of each line first. It includes
// those that are swept to no width. The tree must not be changed during the walk.
func (t *Tree) Leaves() iter.Seq2[Rect, *Leaf] {
	return func(yield func(Rect, *Leaf) bool) { t.walkUnder(t.root, yield) }
}

// Overlapping walks the leaves whose rectangle shares a point with r, in the order of Leaves. It
// does not allocate. The tree must not be changed during the walk.
func (t *Tree) Overlapping(r Rect) iter.Seq2[Rect, *Leaf] {
	return func(yield func(Rect, *Leaf) bool) { t.walk(r, yield) }
}

func (t *Tree) walk(r Rect, yield func(Rect, *Leaf) bool) {
	if r.Empty() {
		return
	}
	var stack [MaxDepth + 1]int32 // one pending right child for each line above the current node
	depth, slot := 0, t.root
	for {
		n := &t.nodes[slot]
		if n.leaf != nil {
			// Only a leaf that is swept to no width can be met here without sharing a point with r.
			if met := !n.leaf.Retiring || !n.rect.Empty(); (met && !yield(n.rect, n.leaf)) || depth == 0 {
				return
			}
			depth--
			slot = stack[depth]
			continue
		}
		lo, hi := r.Span(n.axis)
		switch {
		case hi <= n.line:
			slot = n.left
		case lo >= n.line:
			slot = n.right
		default:
			stack[depth] = n.right
			depth++
			slot = n.left
		}
	}
}

func (t *Tree) find(c CellID) int32 {
	i, ok := t.search(c)
	if !ok {
		return none
	}
	return t.index[i].slot
}

func (t *Tree) search(c CellID) (int, bool) {
	return slices.BinarySearchFunc(t.index, c, func(e indexed, c CellID) int { return e.cell.Compare(c) })
}
