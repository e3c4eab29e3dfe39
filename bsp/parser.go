package bsp

import (
	"encoding/binary"
	"fmt"
)

// parser reads values from bytes that may be anything. Its first error, which wraps ErrFormat,
// sticks; what is read after it is zero or rubbish, so p.err is checked before anyone acts on that.
type parser struct {
	b   []byte
	err error
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
	}
}

func (p *parser) take(n int) []byte {
	if p.err == nil && len(p.b) < n {
		p.fail("cut short")
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

func (p *parser) uvarint() uint64 {
	if p.err != nil {
		return 0
	}
	v, n := binary.Uvarint(p.b)
	if n <= 0 {
		p.fail("number cut short or too long")
		return 0
	}
	p.b = p.b[n:]
	return v
}

// uint32 reads a uvarint that must fit.
func (p *parser) uint32() uint32 {
	v := p.uvarint()
	if v > 1<<32-1 {
		p.fail("%d where 32 bits are expected", v)
		return 0
	}
	return uint32(v)
}

// assembly is a tree that a decoder links together from its leaves up. settle turns it into a real
// one.
type assembly struct {
	tree   *Tree
	leaves int
	limit  int    // most leaves
	slab   []Leaf // leaves are allocated in lots
}

// slabLeaves is how many leaves are allocated at a time: few enough that a hostile sender gains
// nothing by it.
const slabLeaves = 32

func (a *assembly) leaf(l *Leaf) int32 {
	if len(a.slab) == cap(a.slab) {
		a.slab = make([]Leaf, 0, min(slabLeaves, max(1, a.limit-a.leaves)))
	}
	a.slab = append(a.slab, *l)
	a.leaves++
	slot := a.tree.alloc()
	a.tree.nodes[slot].leaf = &a.slab[len(a.slab)-1]
	return slot
}

func (a *assembly) inner(axis Axis, line float64, left, right int32) int32 {
	slot := a.tree.alloc()
	n := &a.tree.nodes[slot]
	n.axis, n.line, n.left, n.right = axis, line, left, right
	a.tree.nodes[left].parent, a.tree.nodes[right].parent = slot, slot
	return slot
}
