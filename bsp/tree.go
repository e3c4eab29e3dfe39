package bsp

import "slices"

const (
	// MaxLeaves limits the cells of one space. It bounds what a parser allocates for a tree from
	// the network, and is far above the number of cores on which one seamless space has been run.
	MaxLeaves = 4096

	// MaxDepth limits how many lines lie above a leaf, so that walks need only a small fixed stack
	// and a parser cannot be sent down without end. A balanced tree of MaxLeaves is 12 deep.
	MaxDepth = 64

	// MinSize is the least width of a leaf along either axis, in metres, unless it retires.
	// Packages space and balance keep the border band (default 10 m), within which an entity that
	// crossed a line is not handed over, under half of it: if the bands of two neighbouring lines
	// met, an entity could stand in both, owned by a cell that it left two cells ago.
	MinSize = 25.0

	// MaxCoord is the farthest that a line may be from the origin, in metres. Positions are
	// float32, whose steps are 64 m there; nothing that can move sensibly is farther out.
	MaxCoord = 1e9
)

const none = int32(-1)

// node is one slot of the arena; leaf != nil tells leaves from inner nodes. Free slots have neither
// leaf nor used.
type node struct {
	rect        Rect
	line        float64
	leaf        *Leaf
	parent      int32
	left, right int32
	generation  uint32
	axis        Axis
	used        bool
}

// indexed finds a leaf's slot by its cell.
type indexed struct {
	cell CellID
	slot int32
}

// Tree is the partition of one space. The package comment says what always holds. Make one with
// [New], [Parse], [ParseText] or [Tree.Clone].
type Tree struct {
	version Version
	root    int32
	nodes   []node
	free    []int32
	index   []indexed // sorted by cell
}

// New returns a tree of one leaf that covers the plane. It panics if the leaf has the zero cell id.
func New(v Version, first Leaf) *Tree {
	if first.Cell.IsZero() {
		panic("bsp: New with the zero cell id")
	}
	t := &Tree{version: v}
	t.root = t.addLeaf(first, none, Everything())
	return t
}

// Version returns the version that the tree carries.
func (t *Tree) Version() Version { return t.version }

// SetVersion gives the tree a version.
func (t *Tree) SetVersion(v Version) { t.version = v }

// Len returns the number of leaves, at least 1.
func (t *Tree) Len() int { return len(t.index) }

// Clone returns a copy that shares nothing with t. Node ids are the same in both.
func (t *Tree) Clone() *Tree {
	c := &Tree{version: t.version, root: t.root}
	c.nodes = slices.Clone(t.nodes)
	c.free = slices.Clone(t.free)
	c.index = slices.Clone(t.index)
	leaves := make([]Leaf, len(c.index))
	for i, e := range c.index {
		leaves[i] = *t.nodes[e.slot].leaf
		c.nodes[e.slot].leaf = &leaves[i]
	}
	return c
}

// addLeaf makes a slot for a leaf; the caller has checked that the cell is new, and links it in.
func (t *Tree) addLeaf(l Leaf, parent int32, r Rect) int32 {
	slot := t.alloc()
	n := &t.nodes[slot]
	n.leaf, n.parent, n.rect = &l, parent, r
	i, _ := t.search(l.Cell)
	t.index = slices.Insert(t.index, i, indexed{l.Cell, slot})
	return slot
}

func (t *Tree) alloc() int32 {
	var slot int32
	if k := len(t.free); k > 0 {
		slot = t.free[k-1]
		t.free = t.free[:k-1]
	} else {
		slot = int32(len(t.nodes))
		t.nodes = append(t.nodes, node{})
	}
	t.nodes[slot] = node{generation: t.nodes[slot].generation, parent: none, left: none, right: none, used: true}
	return slot
}

func (t *Tree) release(slot int32) {
	t.nodes[slot] = node{generation: t.nodes[slot].generation + 1, parent: none, left: none, right: none}
	t.free = append(t.free, slot)
}
