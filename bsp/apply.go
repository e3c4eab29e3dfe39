package bsp

import (
	"errors"
	"fmt"
	"math"
)

// ErrBase is returned for a delta that follows from another version than that of the tree at hand.
var ErrBase = errors.New("bsp: delta from another version")

// Head is the beginning of a message: it says what the message is, so that one need not read it
// whole.
type Head struct {
	// Delta says that the message is a delta from Base; otherwise it is a whole tree.
	Delta bool
	Base  Version
	// Version is the version of the tree that the message gives.
	Version Version
}

// String says what the message is, for logs: "tree 1.7" or "delta 1.6 to 1.7".
func (h Head) String() string {
	if h.Delta {
		return fmt.Sprintf("delta %v to %v", h.Base, h.Version)
	}
	return fmt.Sprintf("tree %v", h.Version)
}

// ParseHead reads the beginning of what Append or AppendDelta wrote. Its errors wrap ErrFormat.
func ParseHead(b []byte) (Head, error) {
	p := newParser(b)
	var h Head
	switch f := p.U8(); {
	case p.Err() != nil:
	case f == formatFull:
		h.Version = Version{Term: p.U32(), N: p.U32()}
	case f == formatDelta:
		h, _ = p.deltaHead()
	default:
		p.fail("format %d", f)
	}
	if p.Err() != nil {
		return Head{}, p.fault()
	}
	return h, nil
}

// deltaHead reads what stands between the format and the edits.
func (p *parser) deltaHead() (h Head, sum uint32) {
	h = Head{Delta: true, Base: Version{Term: p.uint32(), N: p.uint32()}}
	terms, n := uint64(p.uint32()), uint64(p.uint32())
	if terms == 0 {
		n += uint64(h.Base.N)
	}
	if terms += uint64(h.Base.Term); terms > math.MaxUint32 || n > math.MaxUint32 {
		p.fail("version %d.%d", terms, n)
	}
	h.Version = Version{Term: uint32(terms), N: uint32(n)}
	return h, p.U32()
}

// Apply returns the tree that a delta makes of t; t stays as it is. The result shares nothing with
// t: its leaves are its own, and so are its NodeIDs.
//
// The error is ErrBase if the delta is for another version than that of t. Every other error wraps
// ErrFormat: the bytes are not a delta, or the result would break what the package promises of a
// tree, or it is not the tree that the sender had. A delta is applied whole or not at all.
func (t *Tree) Apply(delta []byte) (*Tree, error) {
	p := newParser(delta)
	if f := p.U8(); p.Err() == nil && f != formatDelta {
		return nil, fmt.Errorf("%w: format %d is not a delta", ErrFormat, f)
	}
	h, sum := p.deltaHead()
	if p.Err() != nil {
		return nil, p.fault()
	}
	if h.Base != t.version {
		return nil, fmt.Errorf("%w: %v, the tree is %v", ErrBase, h, t.version)
	}
	next, err := t.patched(p.Rest())
	if err != nil {
		return nil, err
	}
	next.version = h.Version
	if got := next.checksum(); got != sum {
		return nil, fmt.Errorf("%w: %v gives a tree with checksum %08x, the sender's has %08x", ErrFormat, h, got, sum)
	}
	return next, nil
}

// patched applies the edits. Its allocations are bounded by the base and the length of the edits.
func (t *Tree) patched(edits []byte) (*Tree, error) {
	next := &Tree{version: t.version, root: none, nodes: make([]node, 0, 2*len(t.index)-1)}
	d := patcher{p: newParser(edits), base: t, a: assembly{tree: next, limit: MaxLeaves}}
	next.root = d.node(t.root, 0)
	switch {
	case d.p.Err() != nil:
		return nil, d.p.fault()
	case d.read || d.p.Len() > 0:
		return nil, fmt.Errorf("%w: edits after the last node", ErrFormat)
	}
	if err := next.settle(); err != nil {
		return nil, err
	}
	return next, nil
}

// patcher applies a delta.
type patcher struct {
	p    parser
	base *Tree
	a    assembly
	// An edit that was read, and is not due before this many nodes.
	read   bool
	op     uint64
	copied uint64
}

// opCopy is the op of nodes between the edits, and of all nodes after the last edit.
const opCopy = 1 << opBits

// next returns what to do with the next node of the base.
func (d *patcher) next() uint64 {
	if !d.read {
		if d.p.Len() == 0 {
			return opCopy
		}
		head := d.p.Uvarint()
		d.op, d.copied, d.read = head&(1<<opBits-1), head>>opBits, true
	}
	if d.copied > 0 {
		d.copied--
		return opCopy
	}
	d.read = false
	return d.op
}

// node makes the new tree's node from a subtree of the base. Every call goes down in the base or in
// the new tree, so the recursion ends after at most twice MaxDepth.
func (d *patcher) node(from int32, depth int) int32 {
	if depth > MaxDepth {
		d.p.fail("more than %d deep", MaxDepth)
	}
	op := d.next()
	if d.p.Err() != nil {
		return none
	}
	n := &d.base.nodes[from]
	switch op {
	case opReplace:
		return d.p.subtree(&d.a, depth)
	case opGraftLeft, opGraftRight:
		return d.graft(from, depth, op == opGraftLeft)
	}
	if n.leaf != nil {
		l := d.leaf(op, *n.leaf)
		return d.p.addLeaf(&d.a, &l)
	}
	line := n.line
	switch op {
	case opDropLeft:
		return d.node(n.right, depth)
	case opDropRight:
		return d.node(n.left, depth)
	case opLine:
		line = d.p.F64()
	case opCopy:
	default:
		d.p.fail("edit %d of a line", op)
	}
	left := d.node(n.left, depth+1)
	right := d.node(n.right, depth+1)
	return d.p.inner(&d.a, n.axis, line, left, right)
}

func (d *patcher) graft(from int32, depth int, lower bool) int32 {
	axis, line := Axis(d.p.U8()), d.p.F64()
	added := d.p.subtree(&d.a, depth+1)
	kept := d.node(from, depth+1)
	if lower {
		return d.p.inner(&d.a, axis, line, added, kept)
	}
	return d.p.inner(&d.a, axis, line, kept, added)
}

func (d *patcher) leaf(op uint64, l Leaf) Leaf {
	switch op {
	case opCopy:
	case opLoad:
		d.addLoad(&l)
	case opLeaf:
		mask := d.p.U8()
		if mask == 0 || mask&^(hasFlags|hasApp|hasLoad) != 0 {
			d.p.fail("leaf edit with mask %#x", mask)
		}
		if mask&hasFlags != 0 {
			l.setFlags(d.p.flags())
		}
		if mask&hasApp != 0 {
			l.App, l.Salt = d.p.app()
		}
		if mask&hasLoad != 0 {
			l.Load = d.p.load()
		}
	default:
		d.p.fail("edit %d of a leaf", op)
	}
	l.Load = max(0, l.Load) // as Append would have written it
	return l
}

func (d *patcher) addLoad(l *Leaf) {
	by := d.p.Varint()
	const most = math.MaxInt64 / LoadStep
	if by < -most || by > most || l.Load > math.MaxInt64-max(0, by)*LoadStep {
		d.p.fail("load step %d", by)
		return
	}
	l.Load = max(0, l.Load) + by*LoadStep
	if l.Load < 0 {
		d.p.fail("load below 0")
	}
}
