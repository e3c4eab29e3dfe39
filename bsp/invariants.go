package bsp

import (
	"slices"

	"github.com/cellscape/cellscape/internal/invariant"
)

// assert checks that the leaves tile the plane: each line cuts its node's rectangle into those of the
// two nodes below it, and the index has every leaf once.
func (t *Tree) assert() {
	if r := t.nodes[t.root]; r.rect != Everything() || r.parent != none {
		invariant.Broken("bsp: the root covers %v and is below %d", r.rect, r.parent)
	}
	if n := t.assertNode(t.root); n != len(t.index) {
		invariant.Broken("bsp: %d leaves, %d in the index", n, len(t.index))
	}
	for i, e := range t.index {
		if l := t.nodes[e.slot].leaf; l == nil || l.Cell != e.cell {
			invariant.Broken("bsp: the index says that %v is in slot %d", e.cell, e.slot)
		}
		if i > 0 && t.index[i-1].cell.Compare(e.cell) >= 0 {
			invariant.Broken("bsp: %v stands before %v in the index", t.index[i-1].cell, e.cell)
		}
	}
}

// assertNode returns the number of leaves from a node down.
func (t *Tree) assertNode(slot int32) int {
	n := &t.nodes[slot]
	if !n.used || slices.Contains(t.free, slot) {
		invariant.Broken("bsp: the free slot %d is in the tree", slot)
	}
	if n.leaf != nil {
		return 1
	}
	left, right := n.rect.cut(n.axis, n.line)
	lower, higher := &t.nodes[n.left], &t.nodes[n.right]
	if lower.rect != left || higher.rect != right || lower.parent != slot || higher.parent != slot {
		invariant.Broken("bsp: %v = %g cuts %v into %v and %v", n.axis, n.line, n.rect, lower.rect, higher.rect)
	}
	return t.assertNode(n.left) + t.assertNode(n.right)
}
