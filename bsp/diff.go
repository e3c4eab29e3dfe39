package bsp

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

// A delta says how one version of a tree follows from another. Its wire form:
//
//	format 2 | base: term uvarint, n uvarint | term uvarint, as what it is above the base's
//	| n uvarint, the same way if the term is the base's | checksum 4, little endian | edits
//	edit: head uvarint (nodes to copy << 3 | op) | what the op needs
//
// The base is walked with each node before its children, the lower child first. An edit says how
// many nodes of the walk are copied as they are, and what is done at the next one; after the last
// edit the rest is copied. Every tree can be made from every other in this way, in the worst case
// by replacing the root.
//
// The checksum (CRC-32, IEEE) is that of the wire form of the resulting tree. It makes certain that
// the two ends mean the same tree by a version, and that a delta cut off between two edits is not
// taken for a shorter one.
const (
	opLine       = iota // copy the line, moved: line 8
	opLoad              // copy the leaf; its load changes by signed varint x LoadStep
	opLeaf              // copy the leaf with changed fields: mask 1 | flags 1 | app, as in the full form | load uvarint
	opDropLeft          // the line goes, with all that is lower; what is higher takes over
	opDropRight         // the line goes, with all that is higher; what is lower takes over
	opGraftLeft         // a new line above the node, new leaves on the lower side: axis 1 | line 8 | nodes as in the full form
	opGraftRight        // the same, the new leaves on the higher side
	opReplace           // the node goes, with all below: nodes as in the full form take its place

	opBits = 3

	hasFlags = 1 // in the mask of opLeaf
	hasApp   = 2
	hasLoad  = 4
)

// AppendDelta appends the delta that makes t from base. It can describe any tree, but is short only
// where t came from base by splits, removals, moved lines and changed leaves. If the base's term is
// newer than that of t, it appends the whole tree.
func (t *Tree) AppendDelta(b []byte, base *Tree) []byte {
	if base.version.Term > t.version.Term || (base.version.Term == t.version.Term && base.version.N > t.version.N) {
		return t.Append(b)
	}
	d := differ{base: base, next: t}
	d.b = appendDeltaHead(b, base.version, t.version, t.checksum())
	d.kept = survivors(base, t)
	d.known = survivors(t, base)
	d.node(base.root, t.root)
	return d.b
}

func appendDeltaHead(b []byte, base, v Version, sum uint32) []byte {
	b = append(b, formatDelta)
	b = binary.AppendUvarint(b, uint64(base.Term))
	b = binary.AppendUvarint(b, uint64(base.N))
	b = binary.AppendUvarint(b, uint64(v.Term-base.Term))
	n := v.N
	if v.Term == base.Term {
		n -= base.N
	}
	b = binary.AppendUvarint(b, uint64(n))
	return binary.LittleEndian.AppendUint32(b, sum)
}

func (t *Tree) checksum() uint32 {
	return crc32.ChecksumIEEE(t.Append(make([]byte, 0, 40*len(t.index))))
}

// differ writes a delta.
type differ struct {
	b          []byte
	base, next *Tree
	kept       []int32 // per node of base: the leaves below it whose cells next has
	known      []int32 // per node of next: the leaves below it whose cells base has
	copied     uint64  // nodes since the last edit
}

// survivors counts, for every node of t, the leaves below it whose cells o has as well.
func survivors(t, o *Tree) []int32 {
	counts := make([]int32, len(t.nodes))
	j := 0
	for _, e := range t.index {
		for j < len(o.index) && o.index[j].cell.Compare(e.cell) < 0 {
			j++
		}
		if j < len(o.index) && o.index[j].cell == e.cell {
			counts[e.slot] = 1
		}
	}
	t.sum(t.root, counts)
	return counts
}

func (t *Tree) sum(slot int32, counts []int32) int32 {
	if n := &t.nodes[slot]; n.leaf == nil {
		counts[slot] = t.sum(n.left, counts) + t.sum(n.right, counts)
	}
	return counts[slot]
}

// node writes how the subtree at a node of next comes from the subtree at a node of base. Its
// choices affect only the length: every choice gives the same tree. Cells show what belongs
// together, and a line at the same place is the same line.
func (d *differ) node(from, to int32) {
	a, n := &d.base.nodes[from], &d.next.nodes[to]
	wasInner, isInner := a.leaf == nil, n.leaf == nil
	switch {
	case d.kept[from] == 0 || d.known[to] == 0:
		d.replace(to)
	case !wasInner && !isInner && a.leaf.Cell == n.leaf.Cell:
		d.leaf(a.leaf, n.leaf)
	case wasInner && isInner && a.axis == n.axis && a.line == n.line:
		d.copied++
		d.node(a.left, n.left)
		d.node(a.right, n.right)
	case wasInner && d.kept[a.left] == 0:
		d.edit(opDropLeft)
		d.node(a.right, to)
	case wasInner && d.kept[a.right] == 0:
		d.edit(opDropRight)
		d.node(a.left, to)
	case isInner && d.known[n.left] == 0:
		d.graft(opGraftLeft, n, n.left)
		d.node(from, n.right)
	case isInner && d.known[n.right] == 0:
		d.graft(opGraftRight, n, n.right)
		d.node(from, n.left)
	case wasInner && isInner && a.axis == n.axis:
		d.edit(opLine)
		d.line(n.line)
		d.node(a.left, n.left)
		d.node(a.right, n.right)
	default:
		d.replace(to)
	}
}

func (d *differ) edit(op uint64) {
	d.b = binary.AppendUvarint(d.b, d.copied<<opBits|op)
	d.copied = 0
}

func (d *differ) line(at float64) {
	d.b = binary.LittleEndian.AppendUint64(d.b, math.Float64bits(at))
}

func (d *differ) replace(to int32) {
	d.edit(opReplace)
	d.b = d.next.appendNode(d.b, to)
}

func (d *differ) graft(op uint64, n *node, added int32) {
	d.edit(op)
	d.b = append(d.b, byte(n.axis))
	d.line(n.line)
	d.b = d.next.appendNode(d.b, added)
}

func (d *differ) leaf(was, is *Leaf) {
	var mask byte
	if was.flags() != is.flags() {
		mask |= hasFlags
	}
	if was.App != is.App || was.Salt != is.Salt {
		mask |= hasApp
	}
	old, load := max(0, was.Load), max(0, is.Load)
	if old != load {
		mask |= hasLoad
	}
	switch {
	case mask == 0:
		d.copied++
		return
	case mask == hasLoad && (load-old)%LoadStep == 0:
		d.edit(opLoad)
		d.b = binary.AppendVarint(d.b, (load-old)/LoadStep)
		return
	}
	d.edit(opLeaf)
	d.b = append(d.b, mask)
	if mask&hasFlags != 0 {
		d.b = append(d.b, is.flags())
	}
	if mask&hasApp != 0 {
		d.b = appendApp(d.b, is)
	}
	if mask&hasLoad != 0 {
		d.b = binary.AppendUvarint(d.b, uint64(load))
	}
}
