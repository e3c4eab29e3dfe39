package bsp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/netip"
)

// ErrFormat is wrapped by every error about bytes or text that do not describe a tree.
var ErrFormat = errors.New("bsp: malformed tree")

// The wire form of a whole tree, little endian:
//
//	format 1 | term 4 | n 4 | leaves 2 | nodes, each before its children, the lower child first
//	inner:  kind 1 (0: x, 1: z) | line 8 (float64)
//	leaf:   kind 1 (2) | cell term 4 | cell n 4 | flags 1 | length of ip 1 (0, 4, 16) | ip |
//	        port 2 | salt 4 | load uvarint
//	flags:  1 created, 2 retiring, 4 overloaded, 8 loading
const (
	formatFull  = 1
	formatDelta = 2

	kindX    = 0
	kindZ    = 1
	kindLeaf = 2

	flagCreated    = 1
	flagRetiring   = 2
	flagOverloaded = 4
	flagLoading    = 8
	flagsKnown     = flagCreated | flagRetiring | flagOverloaded | flagLoading

	// minLeafBytes is the size of the shortest leaf: it bounds the leaf count that a number of
	// bytes can claim.
	minLeafBytes = 1 + 8 + 1 + 1 + 2 + 4 + 1
)

// MaxEncoded is the most bytes that a tree can take on the wire, which a reader should allow for. A
// Publisher sends a delta only where that is shorter.
const MaxEncoded = 11 + MaxLeaves*(1+8+1+1+16+2+4+binary.MaxVarintLen64) + (MaxLeaves-1)*9

// Append appends the wire form of the whole tree. A negative load is written as 0.
func (t *Tree) Append(b []byte) []byte {
	b = append(b, formatFull)
	b = binary.LittleEndian.AppendUint32(b, t.version.Term)
	b = binary.LittleEndian.AppendUint32(b, t.version.N)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(t.index)))
	return t.appendNode(b, t.root)
}

func (t *Tree) appendNode(b []byte, slot int32) []byte {
	n := &t.nodes[slot]
	if n.leaf != nil {
		return appendLeaf(b, n.leaf)
	}
	b = append(b, byte(n.axis))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(n.line))
	b = t.appendNode(b, n.left)
	return t.appendNode(b, n.right)
}

func appendLeaf(b []byte, l *Leaf) []byte {
	b = append(b, kindLeaf)
	b = binary.LittleEndian.AppendUint32(b, l.Cell.Term)
	b = binary.LittleEndian.AppendUint32(b, l.Cell.N)
	b = append(b, l.flags())
	b = appendApp(b, l)
	return binary.AppendUvarint(b, uint64(max(0, l.Load)))
}

func appendApp(b []byte, l *Leaf) []byte {
	ip := l.App.Addr().AsSlice()
	b = append(b, byte(len(ip)))
	b = append(b, ip...)
	b = binary.LittleEndian.AppendUint16(b, l.App.Port())
	return binary.LittleEndian.AppendUint32(b, l.Salt)
}

func (l *Leaf) flags() (f byte) {
	if l.Created {
		f |= flagCreated
	}
	if l.Retiring {
		f |= flagRetiring
	}
	if l.Overloaded {
		f |= flagOverloaded
	}
	if l.Loading {
		f |= flagLoading
	}
	return f
}

func (l *Leaf) setFlags(f byte) {
	l.Created, l.Retiring = f&flagCreated != 0, f&flagRetiring != 0
	l.Overloaded, l.Loading = f&flagOverloaded != 0, f&flagLoading != 0
}

// Parse reads a tree that Append wrote; b must hold it and nothing else. Every error wraps
// ErrFormat. Parse accepts only trees for which the package's invariants hold.
func Parse(b []byte) (*Tree, error) {
	p := newParser(b)
	if f := p.U8(); p.Err() == nil && f != formatFull {
		return nil, fmt.Errorf("%w: format %d", ErrFormat, f)
	}
	t := &Tree{version: Version{Term: p.U32(), N: p.U32()}, root: none}
	leaves := int(p.U16())
	if p.Err() != nil {
		return nil, p.fault()
	}
	if leaves < 1 || leaves > MaxLeaves || leaves > p.Len()/minLeafBytes {
		return nil, fmt.Errorf("%w: %d leaves in %d bytes", ErrFormat, leaves, p.Len())
	}
	a := assembly{tree: t, limit: leaves}
	t.nodes = make([]node, 0, 2*leaves-1)
	t.root = p.subtree(&a, 0)
	switch {
	case p.Err() != nil:
		return nil, p.fault()
	case p.Len() > 0:
		return nil, fmt.Errorf("%w: %d bytes too many", ErrFormat, p.Len())
	case a.leaves != leaves:
		return nil, fmt.Errorf("%w: %d leaves announced, %d found", ErrFormat, leaves, a.leaves)
	}
	if err := t.settle(); err != nil {
		return nil, err
	}
	return t, nil
}

// subtree reads a node and everything below it, and returns its slot. It goes no deeper than
// MaxDepth.
func (p *parser) subtree(a *assembly, depth int) int32 {
	if depth > MaxDepth {
		p.fail("more than %d deep", MaxDepth)
		return none
	}
	switch kind := p.U8(); kind {
	case kindX, kindZ:
		line := p.F64()
		if p.Err() != nil {
			return none
		}
		left := p.subtree(a, depth+1)
		right := p.subtree(a, depth+1)
		return p.inner(a, Axis(kind), line, left, right)
	case kindLeaf:
		l := p.leaf()
		return p.addLeaf(a, &l)
	default:
		p.fail("node of kind %d", kind)
		return none
	}
}

func (p *parser) inner(a *assembly, axis Axis, line float64, left, right int32) int32 {
	if p.Err() != nil {
		return none
	}
	return a.inner(axis, line, left, right)
}

func (p *parser) addLeaf(a *assembly, l *Leaf) int32 {
	if p.Err() != nil {
		return none
	}
	if a.leaves >= a.limit {
		p.fail("more than %d leaves", a.limit)
		return none
	}
	return a.leaf(l)
}

func (p *parser) leaf() Leaf {
	l := Leaf{Cell: CellID{Term: p.U32(), N: p.U32()}}
	l.setFlags(p.flags())
	l.App, l.Salt = p.app()
	l.Load = p.load()
	return l
}

func (p *parser) flags() byte {
	f := p.U8()
	if f&^flagsKnown != 0 {
		p.fail("leaf with flags %#x", f)
	}
	return f
}

func (p *parser) app() (netip.AddrPort, uint32) {
	n := int(p.U8())
	if n != 0 && n != 4 && n != 16 {
		p.fail("address of %d bytes", n)
		return netip.AddrPort{}, 0
	}
	ip, _ := netip.AddrFromSlice(p.Take(n))
	return netip.AddrPortFrom(ip, p.U16()), p.U32()
}

func (p *parser) load() int64 {
	v := p.Uvarint()
	if v > math.MaxInt64 {
		p.fail("load %d", v)
	}
	return int64(v)
}
