package bsp

import (
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/internal/invariant"
)

// settle takes an arena that a decoder has linked together, gives every node its rectangle, fills
// the index, and checks everything that the package promises of a tree. It is the only entrance for
// trees from outside: full ones, deltas and text. The decoders bound the depth and the number of
// nodes on their way, so that settle itself is bounded.
func (t *Tree) settle() error {
	t.index = make([]indexed, 0, len(t.nodes)/2+1)
	if err := t.settleNode(t.root, Everything(), 0); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	slices.SortFunc(t.index, func(a, b indexed) int { return a.cell.Compare(b.cell) })
	for i := 1; i < len(t.index); i++ {
		if c := t.index[i].cell; c == t.index[i-1].cell {
			return fmt.Errorf("%w: %w: %v", ErrFormat, ErrCellTaken, c)
		}
	}
	if len(t.index) > MaxLeaves {
		return fmt.Errorf("%w: %w: %d leaves", ErrFormat, ErrFull, len(t.index))
	}
	if n := &t.nodes[t.root]; n.leaf != nil && n.leaf.Retiring {
		return fmt.Errorf("%w: %w: %v is the only cell", ErrFormat, ErrRetiring, n.leaf.Cell)
	}
	if invariant.On {
		t.assert()
	}
	return nil
}

func (t *Tree) settleNode(slot int32, r Rect, depth int) error {
	n := &t.nodes[slot]
	n.rect = r
	if depth > MaxDepth {
		return fmt.Errorf("%w: more than %d deep", ErrFull, MaxDepth)
	}
	if n.leaf != nil {
		t.index = append(t.index, indexed{n.leaf.Cell, slot})
		return checkLeaf(n.leaf, r)
	}
	lo, hi := r.Span(n.axis)
	if n.axis > AxisZ || !(-MaxCoord <= n.line && n.line <= MaxCoord && lo <= n.line && n.line <= hi) {
		return fmt.Errorf("%w: %v = %g in %v", ErrLine, n.axis, n.line, r)
	}
	if a, b := t.nodes[n.left].leaf, t.nodes[n.right].leaf; a != nil && b != nil && a.Retiring && b.Retiring {
		return fmt.Errorf("%w: both %v and %v, on either side of one line", ErrRetiring, a.Cell, b.Cell)
	}
	left, right := r.cut(n.axis, n.line)
	if err := t.settleNode(n.left, left, depth+1); err != nil {
		return err
	}
	return t.settleNode(n.right, right, depth+1)
}

// checkLeaf checks what must hold for a leaf by itself.
func checkLeaf(l *Leaf, r Rect) error {
	switch {
	case l.Cell.IsZero():
		return fmt.Errorf("%w: a leaf with the zero cell id", ErrNoCell)
	case l.Load < 0:
		return fmt.Errorf("bsp: cell %v has the load %d", l.Cell, l.Load)
	case !l.Retiring && !(wideEnough(r.MinX, r.MaxX) && wideEnough(r.MinZ, r.MaxZ)):
		return fmt.Errorf("%w: cell %v is left with %v (least width %g)", ErrLine, l.Cell, r, MinSize)
	}
	return nil
}
