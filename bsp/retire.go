package bsp

import "fmt"

// Retire marks a cell's leaf: the line above it is to sweep its area away, its entities leave, and
// then the leaf is removed. A retiring leaf is never split, and may become narrower than MinSize,
// down to no width at all: a cell that everyone must leave has no border band. Retiring a leaf that
// already retires changes nothing.
//
// It returns ErrNoCell; ErrLastLeaf for the only cell (split it first, then retire it); or
// ErrRetiring if the leaf on the other side of the line retires: of two such siblings neither could
// take the other's area, so one must be cancelled first, or another leaf taken.
func (t *Tree) Retire(cell CellID) error {
	slot := t.find(cell)
	if slot == none {
		return fmt.Errorf("%w: %v", ErrNoCell, cell)
	}
	if t.nodes[slot].leaf.Retiring {
		return nil
	}
	if err := t.heir(slot); err != nil {
		return err
	}
	t.nodes[slot].leaf.Retiring = true
	return nil
}

// heir says why no one could take over from a leaf, nil if someone can.
func (t *Tree) heir(slot int32) error {
	l := t.nodes[slot].leaf
	if t.nodes[slot].parent == none {
		return fmt.Errorf("%w: %v has no one to retire to", ErrLastLeaf, l.Cell)
	}
	if s := t.nodes[t.sibling(slot)].leaf; s != nil && s.Retiring {
		return fmt.Errorf("%w: %v, the sibling of %v; cancel it or take another", ErrRetiring, s.Cell, l.Cell)
	}
	return nil
}

// Unretire cancels the retirement of a cell. It returns ErrNoCell, or ErrLine if the leaf is by now
// narrower than MinSize: the line must be moved back first, or the retirement runs to its end.
func (t *Tree) Unretire(cell CellID) error {
	slot := t.find(cell)
	if slot == none {
		return fmt.Errorf("%w: %v", ErrNoCell, cell)
	}
	n := &t.nodes[slot]
	if n.leaf.Retiring && !(wideEnough(n.rect.MinX, n.rect.MaxX) && wideEnough(n.rect.MinZ, n.rect.MaxZ)) {
		return fmt.Errorf("%w: %v is swept down to %v; move its line back first", ErrLine, cell, n.rect)
	}
	n.leaf.Retiring = false
	return nil
}

// Swept reports whether a cell has no place left where an entity can stand: its leaf has no width,
// or lies wholly beyond MaxCoord. Such a cell is to be removed once its reals and ghosts are gone.
// It is false for an unknown cell.
func (t *Tree) Swept(cell CellID) bool {
	_, r, ok := t.Leaf(cell)
	return ok && r.Intersect(Rect{MinX: -MaxCoord, MinZ: -MaxCoord, MaxX: MaxCoord, MaxZ: MaxCoord}).Empty()
}
