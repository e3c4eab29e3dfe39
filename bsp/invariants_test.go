//go:build invariants || race

package bsp

import (
	"testing"

	"github.com/cellscape/cellscape/internal/invariant"
)

// TestAsserts plants bugs in a tree, each of which a change finds that follows.
func TestAsserts(t *testing.T) {
	for name, plant := range map[string]func(*Tree){
		"a leaf is not where its line is":   func(t *Tree) { t.nodes[t.index[0].slot].rect.MaxX++ },
		"a line was moved, its leaves not":  func(t *Tree) { t.nodes[t.root].line++ },
		"the index is out of order":         func(t *Tree) { t.index[0], t.index[1] = t.index[1], t.index[0] },
		"the index has another cell":        func(t *Tree) { t.index[1].cell.N = 9 },
		"a leaf is missing in the index":    func(t *Tree) { t.index = t.index[:1] },
		"a node believes in another parent": func(t *Tree) { t.nodes[t.index[1].slot].parent = t.index[0].slot },
		"a slot of the tree is free":        func(t *Tree) { t.free = append(t.free, t.index[0].slot) },
	} {
		tree := New(Version{Term: 1}, Leaf{Cell: CellID{1, 1}})
		if err := tree.Split(CellID{1, 1}, AxisX, 0, Leaf{Cell: CellID{1, 2}}, true); err != nil {
			t.Fatal(err)
		}
		plant(tree)
		if invariant.Caught(tree.assert) == "" {
			t.Errorf("not caught: %s", name)
		}
	}
}
