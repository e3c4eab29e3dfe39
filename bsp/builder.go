package bsp

import "fmt"

// builder makes a tree from its nodes in the order of the wire and text forms, each before its children, without
// recursion: a hostile input cannot make it deeper than MaxDepth.
type builder struct {
	tree *Tree
	// open holds the inner nodes that still miss a child, the one to be filled next last.
	open  []int32
	ended bool
	limit int
}

func newBuilder(v Version, leaves int) *builder {
	return &builder{tree: &Tree{version: v, root: none}, limit: leaves}
}

func (b *builder) done() bool { return b.ended }

// place returns where the next node goes.
func (b *builder) place() (parent int32, r Rect) {
	if len(b.open) == 0 {
		return none, Everything()
	}
	parent = b.open[len(b.open)-1]
	n := &b.tree.nodes[parent]
	left, right := n.rect.cut(n.axis, n.line)
	if n.left == none {
		return parent, left
	}
	return parent, right
}

func (b *builder) link(parent, slot int32) {
	if parent == none {
		b.tree.root = slot
		return
	}
	n := &b.tree.nodes[parent]
	if n.left == none {
		n.left = slot
		return
	}
	n.right = slot
	b.open = b.open[:len(b.open)-1]
}

func (b *builder) inner(axis Axis, line float64) error {
	parent, r := b.place()
	switch {
	case b.ended:
		return fmt.Errorf("%w: a node after the last", ErrFormat)
	case parent != none && b.tree.depth(parent)+1 >= MaxDepth:
		return fmt.Errorf("%w: more than %d deep", ErrFormat, MaxDepth)
	case len(b.tree.nodes) >= 2*b.limit-1:
		return fmt.Errorf("%w: more than %d leaves", ErrFormat, b.limit)
	}
	if err := checkLine(r, axis, line); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	slot := b.tree.alloc()
	n := &b.tree.nodes[slot]
	n.axis, n.line, n.parent, n.rect = axis, line, parent, r
	b.link(parent, slot)
	b.open = append(b.open, slot)
	return nil
}

func (b *builder) leaf(l Leaf) error {
	parent, r := b.place()
	switch {
	case b.ended:
		return fmt.Errorf("%w: a node after the last", ErrFormat)
	case l.Cell.IsZero():
		return fmt.Errorf("%w: a leaf with the zero cell id", ErrFormat)
	case b.tree.Len() >= b.limit:
		return fmt.Errorf("%w: more than %d leaves", ErrFormat, b.limit)
	}
	if b.tree.find(l.Cell) != none {
		return fmt.Errorf("%w: %w: %v", ErrFormat, ErrCellTaken, l.Cell)
	}
	b.link(parent, b.tree.addLeaf(l, parent, r))
	b.ended = len(b.open) == 0
	return nil
}

func (b *builder) finish() (*Tree, error) {
	if !b.ended {
		return nil, fmt.Errorf("%w: cut short", ErrFormat)
	}
	return b.tree, nil
}
