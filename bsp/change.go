package bsp

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// What a change is refused with. The errors that are returned wrap one of these.
var (
	ErrNoCell    = errors.New("bsp: no such cell in the tree")
	ErrNoNode    = errors.New("bsp: no such line in the tree")
	ErrCellTaken = errors.New("bsp: cell is in the tree already")
	ErrLine      = errors.New("bsp: line not allowed there")
	ErrFull      = errors.New("bsp: tree is as large as it may be")
	ErrLastLeaf  = errors.New("bsp: the last leaf cannot be removed")
)

// Split cuts a cell's leaf in two with a line of the given axis. The new leaf takes the higher side if
// newOnHigherSide, else the lower; the old one keeps the rest.
//
// It returns ErrNoCell, ErrCellTaken, ErrFull, or ErrLine if the line is not finite or would leave either side
// narrower than MinSize.
func (t *Tree) Split(cell CellID, axis Axis, at float64, newLeaf Leaf, newOnHigherSide bool) error {
	old := t.find(cell)
	switch {
	case old == none:
		return fmt.Errorf("%w: %v", ErrNoCell, cell)
	case axis > AxisZ:
		return fmt.Errorf("%w: %v", ErrLine, axis)
	case newLeaf.Cell.IsZero():
		return fmt.Errorf("%w: the new leaf has the zero cell id", ErrNoCell)
	case t.find(newLeaf.Cell) != none:
		return fmt.Errorf("%w: %v", ErrCellTaken, newLeaf.Cell)
	case len(t.index) >= MaxLeaves:
		return fmt.Errorf("%w: %d leaves", ErrFull, len(t.index))
	case t.depth(old) >= MaxDepth:
		return fmt.Errorf("%w: cell %v is %d deep", ErrFull, cell, MaxDepth)
	}
	rect := t.nodes[old].rect
	if err := checkLine(rect, axis, at); err != nil {
		return err
	}

	parent := t.nodes[old].parent
	inner := t.alloc()
	added := t.addLeaf(newLeaf, inner, rect)
	n := &t.nodes[inner]
	n.axis, n.line, n.parent, n.rect = axis, at, parent, rect
	n.left, n.right = old, added
	if !newOnHigherSide {
		n.left, n.right = added, old
	}
	t.nodes[old].parent = inner
	t.relink(parent, old, inner)
	t.refresh(inner)
	return nil
}

// Remove takes a cell out of the tree; what was on the other side of its line takes over its rectangle. It returns
// ErrNoCell or ErrLastLeaf.
func (t *Tree) Remove(cell CellID) error {
	i, ok := t.search(cell)
	if !ok {
		return fmt.Errorf("%w: %v", ErrNoCell, cell)
	}
	slot := t.index[i].slot
	parent := t.nodes[slot].parent
	if parent == none {
		return fmt.Errorf("%w: %v", ErrLastLeaf, cell)
	}
	p := t.nodes[parent]
	sibling := p.left
	if sibling == slot {
		sibling = p.right
	}
	t.index = slices.Delete(t.index, i, i+1)
	t.nodes[sibling].parent = p.parent
	t.nodes[sibling].rect = p.rect
	t.relink(p.parent, parent, sibling)
	t.release(slot)
	t.release(parent)
	t.refresh(sibling)
	return nil
}

// MoveLine moves a line. It returns ErrNoNode, or ErrLine if the line would leave what LineLimits gives.
func (t *Tree) MoveLine(id NodeID, to float64) error {
	slot := t.inner(id)
	if slot == none {
		return fmt.Errorf("%w: %d", ErrNoNode, id)
	}
	lo, hi, _ := t.LineLimits(id)
	if !(lo <= to && to <= hi) { // so that a NaN is refused as well
		return fmt.Errorf("%w: %v = %g is not within %g to %g", ErrLine, t.nodes[slot].axis, to, lo, hi)
	}
	t.nodes[slot].line = to
	t.refresh(slot)
	return nil
}

// LineLimits returns the lowest and the highest value that a line may be moved to: all leaves that touch it stay at
// least MinSize wide, hence it also stays clear of the parallel lines nested beside it. Both are finite. It reports
// false for a line that does not exist.
func (t *Tree) LineLimits(id NodeID) (lo, hi float64, ok bool) {
	slot := t.inner(id)
	if slot == none {
		return 0, 0, false
	}
	n := &t.nodes[slot]
	below := t.nearest(n.left, n.axis, true)
	above := t.nearest(n.right, n.axis, false)
	return lowest(below), highest(above), true
}

// nearest walks the subtree along the line's side and returns the edge, parallel to the line, that the line would
// meet first.
func (t *Tree) nearest(slot int32, axis Axis, subtreeIsBelow bool) float64 {
	n := &t.nodes[slot]
	if n.leaf != nil {
		lo, hi := n.rect.Span(axis)
		if subtreeIsBelow {
			return lo
		}
		return hi
	}
	if n.axis == axis {
		if subtreeIsBelow {
			return t.nearest(n.right, axis, true)
		}
		return t.nearest(n.left, axis, false)
	}
	a, b := t.nearest(n.left, axis, subtreeIsBelow), t.nearest(n.right, axis, subtreeIsBelow)
	if subtreeIsBelow {
		return math.Max(a, b)
	}
	return math.Min(a, b)
}

// SplitLimits returns between which values of the axis a leaf of this rectangle can be cut; ok is false if it is too
// narrow.
func (r Rect) SplitLimits(axis Axis) (lo, hi float64, ok bool) {
	from, to := r.Span(axis)
	lo, hi = lowest(from), highest(to)
	return lo, hi, lo <= hi
}

// lowest is the lowest line that leaves MinSize above an edge, in the very form that wideEnough checks.
func lowest(edge float64) float64 {
	v := math.Max(edge+MinSize, -MaxCoord)
	for !wideEnough(edge, v) {
		v = math.Nextafter(v, math.Inf(1))
	}
	return v
}

func highest(edge float64) float64 {
	v := math.Min(edge-MinSize, MaxCoord)
	for !wideEnough(v, edge) {
		v = math.Nextafter(v, math.Inf(-1))
	}
	return v
}

func checkLine(r Rect, axis Axis, at float64) error {
	lo, hi := r.Span(axis)
	if !(-MaxCoord <= at && at <= MaxCoord) || !wideEnough(lo, at) || !wideEnough(at, hi) {
		return fmt.Errorf("%w: %v = %g in %v (least width %g)", ErrLine, axis, at, r, MinSize)
	}
	return nil
}

func (t *Tree) relink(parent, from, to int32) {
	switch {
	case parent == none:
		t.root = to
	case t.nodes[parent].left == from:
		t.nodes[parent].left = to
	default:
		t.nodes[parent].right = to
	}
}

// refresh recomputes the rectangles below a node whose own rectangle is right.
func (t *Tree) refresh(slot int32) {
	n := &t.nodes[slot]
	if n.leaf != nil {
		return
	}
	t.nodes[n.left].rect, t.nodes[n.right].rect = n.rect.cut(n.axis, n.line)
	t.refresh(n.left)
	t.refresh(n.right)
}

func (t *Tree) depth(slot int32) int {
	d := 0
	for p := t.nodes[slot].parent; p != none; p = t.nodes[p].parent {
		d++
	}
	return d
}

// inner returns the slot of a live inner node.
func (t *Tree) inner(id NodeID) int32 {
	slot := id.slot()
	if slot < 0 || int(slot) >= len(t.nodes) {
		return none
	}
	n := &t.nodes[slot]
	if !n.used || n.leaf != nil || makeNodeID(slot, n.generation) != id {
		return none
	}
	return slot
}
