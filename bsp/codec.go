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

// The wire form, little endian:
//
//	format 1 | term 4 | n 4 | leaves 2 | nodes, each before its children, the lower child first
//	inner:  kind 1 (0: x, 1: z) | line 8 (float64)
//	leaf:   kind 1 (2) | cell term 4 | cell n 4 | flags 1 (1: created) | length of ip 1 (0, 4, 16) | ip | port 2 | salt 4 | load uvarint
const (
	formatFull = 1

	kindX    = 0
	kindZ    = 1
	kindLeaf = 2

	flagCreated = 1

	// minLeafBytes is the shortest leaf: it bounds the leaf count that some bytes can claim.
	minLeafBytes = 1 + 8 + 1 + 1 + 2 + 4 + 1
)

// MaxEncoded is the most bytes that a tree can take on the wire: what a reader should allow for one.
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
	var flags byte
	if l.Created {
		flags |= flagCreated
	}
	ip := l.App.Addr().AsSlice()
	b = append(b, flags, byte(len(ip)))
	b = append(b, ip...)
	b = binary.LittleEndian.AppendUint16(b, l.App.Port())
	b = binary.LittleEndian.AppendUint32(b, l.Salt)
	return binary.AppendUvarint(b, uint64(max(0, l.Load)))
}

// Parse reads a tree that Append wrote; b must hold it and nothing else. Every error wraps ErrFormat. It accepts only
// trees for which the package's invariants hold.
func Parse(b []byte) (*Tree, error) {
	p := parser{b: b}
	if f := p.u8(); p.err == nil && f != formatFull {
		return nil, fmt.Errorf("%w: format %d", ErrFormat, f)
	}
	v := Version{Term: p.u32(), N: p.u32()}
	leaves := int(p.u16())
	if p.err != nil {
		return nil, p.err
	}
	if leaves < 1 || leaves > MaxLeaves || leaves > len(p.b)/minLeafBytes {
		return nil, fmt.Errorf("%w: %d leaves in %d bytes", ErrFormat, leaves, len(p.b))
	}
	build := newBuilder(v, leaves)
	for !build.done() {
		if err := p.node(build); err != nil {
			return nil, err
		}
	}
	if len(p.b) > 0 {
		return nil, fmt.Errorf("%w: %d bytes too many", ErrFormat, len(p.b))
	}
	if build.tree.Len() != leaves {
		return nil, fmt.Errorf("%w: %d leaves announced, %d found", ErrFormat, leaves, build.tree.Len())
	}
	return build.finish()
}

// parser reads fixed-width values; its first error sticks.
type parser struct {
	b   []byte
	err error
}

func (p *parser) take(n int) []byte {
	if p.err == nil && len(p.b) < n {
		p.err = fmt.Errorf("%w: cut short", ErrFormat)
	}
	if p.err != nil {
		return make([]byte, 16)[:n] // n is at most 16 everywhere
	}
	v := p.b[:n]
	p.b = p.b[n:]
	return v
}

func (p *parser) u8() uint8   { return p.take(1)[0] }
func (p *parser) u16() uint16 { return binary.LittleEndian.Uint16(p.take(2)) }
func (p *parser) u32() uint32 { return binary.LittleEndian.Uint32(p.take(4)) }
func (p *parser) u64() uint64 { return binary.LittleEndian.Uint64(p.take(8)) }

func (p *parser) node(to *builder) error {
	switch kind := p.u8(); kind {
	case kindX, kindZ:
		line := math.Float64frombits(p.u64())
		if p.err != nil {
			return p.err
		}
		return to.inner(Axis(kind), line)
	case kindLeaf:
		l, err := p.leaf()
		if err != nil {
			return err
		}
		return to.leaf(l)
	default:
		return fmt.Errorf("%w: node of kind %d", ErrFormat, kind)
	}
}

func (p *parser) leaf() (Leaf, error) {
	l := Leaf{Cell: CellID{Term: p.u32(), N: p.u32()}}
	flags, ipLen := p.u8(), int(p.u8())
	if flags&^flagCreated != 0 || (ipLen != 0 && ipLen != 4 && ipLen != 16) {
		return Leaf{}, fmt.Errorf("%w: leaf with flags %#x, address of %d bytes", ErrFormat, flags, ipLen)
	}
	l.Created = flags&flagCreated != 0
	ip, _ := netip.AddrFromSlice(p.take(ipLen))
	l.App = netip.AddrPortFrom(ip, p.u16())
	l.Salt = p.u32()
	if p.err != nil {
		return Leaf{}, p.err
	}
	load, n := binary.Uvarint(p.b)
	if n <= 0 || load > math.MaxInt64 {
		return Leaf{}, fmt.Errorf("%w: load", ErrFormat)
	}
	p.b = p.b[n:]
	l.Load = int64(load)
	return l, nil
}
