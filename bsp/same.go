package bsp

// SameCells reports whether two trees divide the space in the same way between the same cells: the
// same lines, and leaves that differ only in Load and Overloaded. Whoever acts only on where cells
// are, and on whether they are created or retire, has nothing to do when such a tree follows
// another. Versions do not count. It does not allocate.
func (t *Tree) SameCells(o *Tree) bool {
	return len(t.index) == len(o.index) && t.sameCells(t.root, o, o.root)
}

func (t *Tree) sameCells(slot int32, o *Tree, other int32) bool {
	a, b := &t.nodes[slot], &o.nodes[other]
	switch {
	case a.leaf != nil && b.leaf != nil:
		return a.leaf.place() == b.leaf.place()
	case a.leaf != nil || b.leaf != nil:
		return false
	}
	return a.axis == b.axis && a.line == b.line && t.sameCells(a.left, o, b.left) && t.sameCells(a.right, o, b.right)
}

// place is the leaf without what is only shown. What is left out is named, so a new field of Leaf
// counts until someone decides otherwise.
func (l *Leaf) place() Leaf {
	p := *l
	p.Load, p.Overloaded = 0, false
	return p
}
