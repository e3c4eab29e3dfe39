package bsp

import (
	"errors"
	"fmt"
	"math"

	"github.com/cellscape/cellscape/internal/codec"
)

// parser reads values from bytes that may be anything. Its first error sticks; what is read after it
// is zero, so callers ask for the error before they act on that.
type parser struct{ codec.Reader }

func newParser(b []byte) parser { return parser{codec.NewReader(b)} }

func (p *parser) fail(format string, args ...any) {
	p.Fail(fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...)))
}

// fault is the first error, which wraps ErrFormat.
func (p *parser) fault() error {
	if err := p.Err(); err == nil || errors.Is(err, ErrFormat) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrFormat, p.Err())
}

// uint32 reads an unsigned varint that must fit.
func (p *parser) uint32() uint32 {
	v := p.Uvarint()
	if v > math.MaxUint32 {
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
