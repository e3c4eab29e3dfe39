package bsp

import "iter"

// Child is one side of a line: a leaf, or a further line.
type Child struct {
	Leaf *Leaf  // nil if the side is divided further
	Node NodeID // 0 if the side is a leaf
}

// Node describes an inner node, which is a line.
type Node struct {
	ID   NodeID
	Axis Axis
	Line float64
	// Rect is the rectangle that the line divides.
	Rect Rect
	// Left is what is lower than the line, Right the line and what is higher.
	Left, Right Child
}

// Root returns the top of the tree.
func (t *Tree) Root() Child { return t.child(t.root) }

// Node finds a line.
func (t *Tree) Node(id NodeID) (Node, bool) {
	slot := t.inner(id)
	if slot == none {
		return Node{}, false
	}
	return t.describe(slot), true
}

// Nodes walks the lines, each before those below it, the lower side first. The tree must not be
// changed during the walk.
func (t *Tree) Nodes() iter.Seq[Node] {
	return func(yield func(Node) bool) { t.walkNodes(t.root, yield) }
}

func (t *Tree) walkNodes(slot int32, yield func(Node) bool) bool {
	n := &t.nodes[slot]
	if n.leaf != nil {
		return true
	}
	return yield(t.describe(slot)) && t.walkNodes(n.left, yield) && t.walkNodes(n.right, yield)
}

// Under walks the leaves of one side of a line, with their rectangles, in the order of Leaves. The
// tree must not be changed during the walk.
func (t *Tree) Under(c Child) iter.Seq2[Rect, *Leaf] {
	return func(yield func(Rect, *Leaf) bool) {
		slot := t.inner(c.Node)
		if c.Leaf != nil {
			slot = t.find(c.Leaf.Cell)
		}
		if slot != none {
			t.walkUnder(slot, yield)
		}
	}
}

func (t *Tree) walkUnder(slot int32, yield func(Rect, *Leaf) bool) bool {
	n := &t.nodes[slot]
	if n.leaf != nil {
		return yield(n.rect, n.leaf)
	}
	return t.walkUnder(n.left, yield) && t.walkUnder(n.right, yield)
}

// Parent returns the line above a cell's leaf; it returns false for an unknown cell and for a tree
// of one leaf.
func (t *Tree) Parent(c CellID) (Node, bool) {
	slot := t.find(c)
	if slot == none || t.nodes[slot].parent == none {
		return Node{}, false
	}
	return t.describe(t.nodes[slot].parent), true
}

func (t *Tree) describe(slot int32) Node {
	n := &t.nodes[slot]
	return Node{
		ID: makeNodeID(slot, n.generation), Axis: n.axis, Line: n.line, Rect: n.rect,
		Left: t.child(n.left), Right: t.child(n.right),
	}
}

func (t *Tree) child(slot int32) Child {
	n := &t.nodes[slot]
	if n.leaf != nil {
		return Child{Leaf: n.leaf}
	}
	return Child{Node: makeNodeID(slot, n.generation)}
}
