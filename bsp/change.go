package bsp

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/internal/invariant"
)

// A change is refused with an error that wraps one of these.
var (
	ErrNoCell    = errors.New("bsp: no such cell in the tree")
	ErrNoNode    = errors.New("bsp: no such line in the tree")
	ErrCellTaken = errors.New("bsp: cell is in the tree already")
	ErrAppTaken  = errors.New("bsp: the CellApp runs a cell of the tree already")
	ErrLine      = errors.New("bsp: line not allowed there")
	ErrFull      = errors.New("bsp: tree is as large as it may be")
	ErrLastLeaf  = errors.New("bsp: the last leaf cannot be removed")
	ErrRetiring  = errors.New("bsp: retiring cell")
)

// Split cuts a cell's leaf in two with a line of the given axis. The new leaf takes the higher side
// if newOnHigherSide, else the lower; the old one keeps the rest.
//
// It returns what CanSplit finds, or what is wrong with the new leaf (ErrNoCell, ErrCellTaken,
// ErrAppTaken, or ErrRetiring if it is marked), or ErrLine if the line is not finite or would leave
// either side narrower than MinSize.
func (t *Tree) Split(cell CellID, axis Axis, at float64, newLeaf Leaf, newOnHigherSide bool) error {
	if err := t.CanSplit(cell); err != nil {
		return err
	}
	if err := t.checkNew(&newLeaf, none); err != nil {
		return err
	}
	if newLeaf.Retiring {
		return fmt.Errorf("%w: %v is to be added", ErrRetiring, newLeaf.Cell)
	}
	if axis > AxisZ {
		return fmt.Errorf("%w: %v", ErrLine, axis)
	}
	old := t.find(cell)
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
	if invariant.On {
		t.assert()
	}
	return nil
}

// CanSplit says whether a cell's leaf may be cut: a new cell is never added under a retiring child.
// Rect.SplitLimits says whether there is room for a line. It returns ErrNoCell, ErrRetiring or
// ErrFull.
func (t *Tree) CanSplit(cell CellID) error {
	slot := t.find(cell)
	switch {
	case slot == none:
		return fmt.Errorf("%w: %v", ErrNoCell, cell)
	case t.nodes[slot].leaf.Retiring:
		return fmt.Errorf("%w: %v cannot be split; take another, or cancel with Unretire", ErrRetiring, cell)
	case len(t.index) >= MaxLeaves:
		return fmt.Errorf("%w: %d leaves", ErrFull, len(t.index))
	case t.depth(slot) >= MaxDepth:
		return fmt.Errorf("%w: cell %v is %d deep", ErrFull, cell, MaxDepth)
	}
	return nil
}

// checkNew says whether a leaf may come into the tree, in place of the one in the slot old unless
// that is none. A CellApp has at most one cell of a space: a second leaf with its address would
// receive the ghosts and offloads of the first.
func (t *Tree) checkNew(l *Leaf, old int32) error {
	if l.Cell.IsZero() {
		return fmt.Errorf("%w: the new leaf has the zero cell id", ErrNoCell)
	}
	if s := t.find(l.Cell); s != none && s != old {
		return fmt.Errorf("%w: %v", ErrCellTaken, l.Cell)
	}
	if l.App.IsValid() {
		if has, _, ok := t.OfApp(l.App, l.Salt); ok && t.find(has.Cell) != old {
			return fmt.Errorf("%w: %v/%d runs %v", ErrAppTaken, l.App, l.Salt, has.Cell)
		}
	}
	return nil
}

// Replace gives the place of a cell, with its rectangle and its retiring mark, to another cell. It
// serves a CellApp that is given a cell back before its old one died, and a CellApp that stands in
// for a dead one. The new leaf's own Retiring does not count. Replace returns ErrNoCell,
// ErrCellTaken or ErrAppTaken.
func (t *Tree) Replace(cell CellID, newLeaf Leaf) error {
	i, ok := t.search(cell)
	if !ok {
		return fmt.Errorf("%w: %v", ErrNoCell, cell)
	}
	slot := t.index[i].slot
	if err := t.checkNew(&newLeaf, slot); err != nil {
		return err
	}
	newLeaf.Retiring = t.nodes[slot].leaf.Retiring
	t.nodes[slot].leaf = &newLeaf
	t.index = slices.Delete(t.index, i, i+1)
	i, _ = t.search(newLeaf.Cell)
	t.index = slices.Insert(t.index, i, indexed{newLeaf.Cell, slot})
	return nil
}

// Remove takes a cell out of the tree; what was on the other side of its line takes over its
// rectangle. If that is a retiring cell that now has no one to retire to, its retirement is
// cancelled: it was beside a cell that did not retire, and so has become wide enough to stay.
// Remove returns ErrNoCell or ErrLastLeaf.
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
	sibling := t.sibling(slot)
	p := t.nodes[parent]
	t.index = slices.Delete(t.index, i, i+1)
	t.nodes[sibling].parent = p.parent
	t.nodes[sibling].rect = p.rect
	t.relink(p.parent, parent, sibling)
	t.release(slot)
	t.release(parent)
	t.refresh(sibling)
	if l := t.nodes[sibling].leaf; l != nil && l.Retiring && t.heir(sibling) != nil {
		l.Retiring = false
	}
	if invariant.On {
		t.assert()
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

// sibling returns what is on the other side of a node's line; the node is not the root.
func (t *Tree) sibling(slot int32) int32 {
	p := &t.nodes[t.nodes[slot].parent]
	if p.left == slot {
		return p.right
	}
	return p.left
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
