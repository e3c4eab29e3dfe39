package aoi

import (
	"cmp"
	"iter"
	"slices"
)

// found is one result of a query.
type found struct {
	key  uint64
	node Node
}

// around calls f for every node that is within r of p along the axis with fewer candidates, and so
// for all nodes within the square.
func (l *List) around(p spot, r float32, f func(slot int, at spot)) {
	a := 0
	x, z, d := float64(p[0]), float64(p[1]), float64(r)
	if l.axes[1].points.width(z-d, z+d) < l.axes[0].points.width(x-d, x+d) {
		a = 1
	}
	v := float64(p[a])
	for s := l.axes[a].points.span(v-d, v+d); s.next(); {
		for _, m := range s.run {
			f(int(m.ref), l.nodes[m.ref].at)
		}
	}
}

// InRange yields the nodes that are within r metres of (x, z) on both axes, by ascending key, with
// their keys. The square is that of a trigger's range. The result is taken when the iteration
// starts: the body may change the List, and a node that it removes is no longer yielded. A negative
// r, or a value that is not a number, finds nothing.
func (l *List) InRange(x, z, r float32) iter.Seq2[uint64, Node] {
	return func(yield func(uint64, Node) bool) { l.query(spot{x, z}, r, inSquare, yield) }
}

// InCircle is InRange for a circle of radius r metres.
func (l *List) InCircle(x, z, r float32) iter.Seq2[uint64, Node] {
	return func(yield func(uint64, Node) bool) { l.query(spot{x, z}, r, inCircle, yield) }
}

// Inside yields the keys of the nodes that are inside t as the List stands, ascending. As with
// [List.InRange], the body may change the List. Inside costs a query: whoever needs the members
// every tick should keep them by the events. The iteration panics if t is not in the List.
func (l *List) Inside(t Trigger) iter.Seq[uint64] {
	return func(yield func(uint64) bool) { l.members(t, yield) }
}

func inSquare(p, centre spot, r float32) bool {
	return within(p[0], centre[0], r) && within(p[1], centre[1], r)
}

func inCircle(p, centre spot, r float32) bool {
	dx, dz, d := float64(p[0])-float64(centre[0]), float64(p[1])-float64(centre[1]), float64(r)
	return float64(dx*dx)+float64(dz*dz) <= float64(d*d)
}

func (l *List) query(centre spot, r float32, in func(p, centre spot, r float32) bool, yield func(uint64, Node) bool) {
	if !(r >= 0) || centre != centre {
		return
	}
	buf := l.takeBuffer()
	l.around(centre, r, func(slot int, at spot) {
		if in(at, centre, r) {
			buf = append(buf, found{l.nodes[slot].key, l.nodeHandle(slot)})
		}
	})
	slices.SortFunc(buf, compareFound)
	defer l.giveBuffer(buf)
	for _, f := range buf {
		if l.Has(f.node) && !yield(f.key, f.node) {
			return
		}
	}
}

func (l *List) members(t Trigger, yield func(uint64) bool) {
	tr := &l.triggers[l.triggerSlot(t)]
	buf := l.takeBuffer()
	l.around(tr.at, tr.leave, func(slot int, _ spot) {
		if l.member(tr, slot) {
			buf = append(buf, found{l.nodes[slot].key, l.nodeHandle(slot)})
		}
	})
	slices.SortFunc(buf, compareFound)
	defer l.giveBuffer(buf)
	for _, f := range buf {
		if l.Has(f.node) && !yield(f.key) {
			return
		}
	}
}

func compareFound(a, b found) int {
	if a.key != b.key {
		return cmp.Compare(a.key, b.key)
	}
	return cmp.Compare(uint32(a.node), uint32(b.node))
}

// takeBuffer lends a buffer to a query; queries nest, so there may be several in use.
func (l *List) takeBuffer() []found {
	if n := len(l.buffers); n > 0 {
		buf := l.buffers[n-1]
		l.buffers = l.buffers[:n-1]
		return buf[:0]
	}
	return nil
}

func (l *List) giveBuffer(buf []found) { l.buffers = append(l.buffers, buf) }
