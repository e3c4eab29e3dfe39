package aoi

import (
	"cmp"
	"math"
	"slices"
)

// pair is a trigger and a node whose zone, as that trigger sees it, changes in the call in
// progress.
type pair struct {
	owner, key uint64 // of the trigger's owner and of the node; events are ordered by them
	trigger    uint32
	node       uint32
	was, is    zone
}

// test notes a pair if its zone changes; otherwise no event can come of it.
func (l *List) test(trigger, node int, was, is zone) {
	t := &l.triggers[trigger]
	if was != is && t.owner != uint32(node) {
		l.pairs = append(l.pairs, pair{l.nodes[t.owner].key, l.nodes[node].key, uint32(trigger), uint32(node), was, is})
	}
}

// settle makes events of the pairs that the call has found. A pair may have been found several
// times, at edges of both axes. Sorting makes such duplicates adjacent, and gives the events an
// order that does not depend on how the pairs were found.
func (l *List) settle() {
	if len(l.pairs) > 1 {
		slices.SortFunc(l.pairs, comparePairs)
		l.pairs = slices.Compact(l.pairs)
	}
	for i := range l.pairs {
		l.apply(&l.pairs[i])
	}
	l.pairs = l.pairs[:0]
	if cap(l.pairs) > keptEvents {
		l.pairs = nil
	}
}

func comparePairs(a, b pair) int {
	if a.is != b.is {
		return cmp.Compare(a.is, b.is)
	}
	if a.owner != b.owner {
		return cmp.Compare(a.owner, b.owner)
	}
	if a.trigger != b.trigger {
		return cmp.Compare(a.trigger, b.trigger)
	}
	if a.key != b.key {
		return cmp.Compare(a.key, b.key)
	}
	return cmp.Compare(a.node, b.node)
}

func (l *List) apply(p *pair) {
	t := &l.triggers[p.trigger]
	inside := t.holds(p.node, p.was)
	stays := p.is == core || p.is == band && inside
	if inside && p.was == band {
		i, _ := slices.BinarySearch(t.lingering, p.node)
		t.lingering = slices.Delete(t.lingering, i, i+1)
	}
	if stays && p.is == band {
		i, _ := slices.BinarySearch(t.lingering, p.node)
		t.lingering = slices.Insert(t.lingering, i, p.node)
	}
	if inside != stays {
		l.queue.push(event{l.triggerHandle(int(p.trigger)), l.nodeHandle(int(p.node)), p.key, stays})
	}
}

// pass tests the triggers for which the zone of a node may change as it moves.
func (l *List) pass(slot int, from, to spot) {
	test := func(t *trigger) (was, is zone) { return t.zoneOf(from), t.zoneOf(to) }
	if far(from, to, 4*l.reach) { // the two queries look at that much
		l.stab(slot, from, test)
		l.stab(slot, to, test)
		return
	}
	for a := range l.axes {
		if from[a] == to[a] {
			continue
		}
		lo, hi := float64(min(from[a], to[a])), float64(max(from[a], to[a]))
		for s := l.axes[a].edges.span(lo, hi); s.next(); {
			for _, m := range s.run {
				i := m.ref >> 2
				was, is := test(&l.triggers[i])
				l.test(int(i), slot, was, is)
			}
		}
	}
}

// stab tests every trigger whose outer square contains p, and maybe others.
func (l *List) stab(slot int, p spot, test func(*trigger) (was, is zone)) {
	a := 0
	if l.reach == 0 && len(l.freeTrigs) == len(l.triggers) {
		return
	}
	x, z := float64(p[0]), float64(p[1])
	if l.axes[1].edges.width(z-2*l.reach, z) < l.axes[0].edges.width(x-2*l.reach, x) {
		a = 1
	}
	v := float64(p[a])
	for s := l.axes[a].edges.span(v-2*l.reach, v); s.next(); {
		for _, m := range s.run {
			if m.ref&3 == lowLeave {
				was, is := test(&l.triggers[m.ref>>2])
				l.test(int(m.ref>>2), slot, was, is)
			}
		}
	}
}

// sweep tests the nodes that the edges of a trigger may pass as its owner moves.
func (l *List) sweep(slot int, from, to spot) {
	t := &l.triggers[slot]
	test := func(i int, p spot) {
		l.test(slot, i, zoneAround(from, t.enter, t.leave, p), zoneAround(to, t.enter, t.leave, p))
	}
	if far(from, to, 2*float64(t.leave)) { // the squares do not overlap
		l.around(from, t.leave, test)
		l.around(to, t.leave, test)
		return
	}
	for a := range l.axes {
		if from[a] == to[a] {
			continue
		}
		for e := range edgesPerAxis {
			if t.enter == t.leave && (e == lowEnter || e == highEnter) {
				continue
			}
			v, w := t.edge(slot, e, from[a]).at, t.edge(slot, e, to[a]).at
			for s := l.axes[a].points.span(min(v, w), max(v, w)); s.next(); {
				for _, m := range s.run {
					test(int(m.ref), l.nodes[m.ref].at)
				}
			}
		}
	}
}

func far(from, to spot, d float64) bool {
	return math.Abs(float64(to[0])-float64(from[0])) > d || math.Abs(float64(to[1])-float64(from[1])) > d
}
