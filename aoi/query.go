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

// InRange yields the nodes that are within r metres of (x, z) on both axes, by ascending key, with
// their keys. It goes by where nodes are now, whatever the last [Index.Update] told; the square is
// that of a trigger's range. The result is taken when the iteration starts: the body may change the
// Index, and a node that it removes is no longer yielded. A negative r, or a value that is not a
// number, finds nothing.
func (ix *Index) InRange(x, z, r float32) iter.Seq2[uint64, Node] {
	return func(yield func(uint64, Node) bool) { ix.query(spot{x, z}, float64(r), inSquare, yield) }
}

// InCircle is InRange for a circle of radius r metres.
func (ix *Index) InCircle(x, z, r float32) iter.Seq2[uint64, Node] {
	return func(yield func(uint64, Node) bool) { ix.query(spot{x, z}, float64(r), inCircle, yield) }
}

// Inside yields the keys of the nodes that were inside t at the last [Index.Update] and have not
// been removed since, ascending. As with [Index.InRange], the body may change the Index. Inside
// looks at every node: whoever needs the members every tick should keep them by the events. The
// iteration panics if t is not in the Index.
func (ix *Index) Inside(t Trigger) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		tr := &ix.triggers[ix.triggerSlot(t)]
		buf := ix.takeBuffer()
		for i := range ix.nodes {
			if slot := uint32(i); ix.nodes[i].live && ix.member(tr, slot) {
				buf = append(buf, found{ix.nodes[i].key, ix.nodeHandle(slot)})
			}
		}
		ix.yield(buf, func(key uint64, _ Node) bool { return yield(key) })
	}
}

func inCircle(p, centre spot, r float64) bool {
	dx, dz := float64(p[0])-float64(centre[0]), float64(p[1])-float64(centre[1])
	return float64(dx*dx)+float64(dz*dz) <= float64(r*r)
}

func (ix *Index) query(centre spot, r float64, in func(p, centre spot, r float64) bool, yield func(uint64, Node) bool) {
	if !(r >= 0) || !Finite(centre[0], centre[1]) {
		return
	}
	ix.tuning.asked(r)
	if len(ix.strays) > ix.live/8+64 { // many have come or jumped since the grid was filled
		ix.fill(false)
	}
	buf := ix.takeBuffer()
	add := func(slot uint32) {
		if nd := &ix.nodes[slot]; nd.live && in(nd.at, centre, r) {
			buf = append(buf, found{nd.key, ix.nodeHandle(slot)})
		}
	}
	wide, none := around(centre, r+ix.drift+slack(centre, r)), nowhere()
	for _, run := range ix.grid.cover(&wide, &none) {
		for i := range run {
			if slot := run[i].slot; slot&former == 0 && !ix.nodes[slot].stray {
				add(slot)
			}
		}
	}
	for _, slot := range ix.strays {
		add(slot)
	}
	for _, slot := range ix.big {
		add(slot)
	}
	ix.yield(buf, yield)
}

func (ix *Index) yield(buf []found, yield func(uint64, Node) bool) {
	slices.SortFunc(buf, compareFound)
	defer ix.giveBuffer(buf)
	for _, f := range buf {
		if ix.Has(f.node) && !yield(f.key, f.node) {
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
func (ix *Index) takeBuffer() []found {
	if n := len(ix.buffers); n > 0 {
		buf := ix.buffers[n-1]
		ix.buffers = ix.buffers[:n-1]
		return buf[:0]
	}
	return nil
}

func (ix *Index) giveBuffer(buf []found) { ix.buffers = append(ix.buffers, buf) }
