package bsp

import (
	"fmt"
	"math"

	"github.com/cellscape/cellscape/internal/invariant"
)

// MoveLine moves a line. It returns ErrNoNode, or ErrLine if the line would leave what LineLimits
// gives.
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
	if invariant.On {
		t.assert()
	}
	return nil
}

// LineLimits returns the lowest and the highest value to which a line may be moved: all leaves that
// touch it stay at least MinSize wide, so it also stays clear of the parallel lines nested beside
// it. A retiring leaf may be swept away whole, until nothing is left between the line and the next.
// Both limits are finite. It returns false for a line that does not exist.
func (t *Tree) LineLimits(id NodeID) (lo, hi float64, ok bool) {
	slot := t.inner(id)
	if slot == none {
		return 0, 0, false
	}
	n := &t.nodes[slot]
	// Its present place is allowed, even if rounding in lowest or highest would put it a step
	// farther.
	lo = math.Min(n.line, t.bound(n.left, n.axis, true))
	hi = math.Max(n.line, t.bound(n.right, n.axis, false))
	return lo, hi, true
}

// bound walks the subtree along the line's side and returns how far into it the line may go.
func (t *Tree) bound(slot int32, axis Axis, subtreeIsBelow bool) float64 {
	n := &t.nodes[slot]
	if n.leaf != nil {
		return leafBound(n, axis, subtreeIsBelow)
	}
	if n.axis == axis {
		if subtreeIsBelow {
			return t.bound(n.right, axis, true)
		}
		return t.bound(n.left, axis, false)
	}
	a, b := t.bound(n.left, axis, subtreeIsBelow), t.bound(n.right, axis, subtreeIsBelow)
	if subtreeIsBelow {
		return math.Max(a, b)
	}
	return math.Min(a, b)
}

func leafBound(n *node, axis Axis, leafIsBelow bool) float64 {
	lo, hi := n.rect.Span(axis)
	switch {
	case n.leaf.Retiring && leafIsBelow:
		return math.Max(lo, -MaxCoord)
	case n.leaf.Retiring:
		return math.Min(hi, MaxCoord)
	case leafIsBelow:
		return lowest(lo)
	}
	return highest(hi)
}

// SplitLimits returns between which values of the axis a leaf of this rectangle can be cut; ok is
// false if it is too narrow, as is one without an inside.
func (r Rect) SplitLimits(axis Axis) (lo, hi float64, ok bool) {
	from, to := r.Span(axis)
	if !(from < to) { // with a NaN or the wrong infinity, lowest and highest would search for ever
		return 0, 0, false
	}
	lo, hi = lowest(from), highest(to)
	return lo, hi, lo <= hi
}

// lowest is the lowest line that leaves MinSize above an edge, in the very form that wideEnough
// checks.
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
