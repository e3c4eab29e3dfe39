package aoi

import (
	"cmp"
	"math"
	"slices"
)

// notice says that a node which looked for triggers found one that it may concern.
type notice struct {
	rank
	node uint32
}

func compareNotices(a, b notice) int {
	if c := compareRanks(a.rank, b.rank); c != 0 {
		return c
	}
	return cmp.Compare(a.node, b.node)
}

// notify lets the nodes that triggers would not find look for them.
func (ix *Index) notify() {
	ix.notices = ix.notices[:0]
	if len(ix.order) == 0 {
		return
	}
	for _, slot := range ix.moved {
		nd := &ix.nodes[slot]
		if !nd.leaps && !ix.pace.few || nd.appeal > 0 {
			continue
		}
		far := ix.ranges.longest + ix.pace.drift + ix.tuning.margin
		if !nd.leaps {
			far += ix.pace.drift
			near := ix.ranges.shortest - 2*ix.pace.drift
			wide, narrow := around(nd.at, far+slack(nd.at, far)), around(nd.at, near-slack(nd.at, far))
			ix.notifyIn(slot, &wide, &narrow)
			continue
		}
		if none := nowhere(); nd.live {
			wide := around(nd.at, far+slack(nd.at, far))
			ix.notifyIn(slot, &wide, &none)
		}
		if none := nowhere(); nd.known {
			wide := around(nd.was, far+slack(nd.was, far))
			ix.notifyIn(slot, &wide, &none)
		}
	}
	slices.SortFunc(ix.notices, compareNotices)
}

// notifyIn notes the triggers that a node may concern and that ride on what is in outer and not in
// inner.
func (ix *Index) notifyIn(slot uint32, outer, inner *area) {
	for _, run := range ix.grid.cover(outer, inner) {
		for i := range run {
			ix.notifyAt(slot, run[i].slot&^former)
		}
	}
	for _, owner := range ix.big {
		ix.notifyAt(slot, owner)
	}
}

// notifyAt notes the triggers of an owner in which the zone of a node has changed.
func (ix *Index) notifyAt(slot, at uint32) {
	nd, owner := &ix.nodes[slot], &ix.nodes[at]
	for next := owner.triggers; next != 0; next = ix.triggers[next-1].next {
		t := &ix.triggers[next-1]
		if t.fresh || owner.leaps { // it looks everywhere itself
			continue
		}
		d := distance(nd.at, owner.at)
		t.calm = min(t.calm, math.Abs(d-float64(t.enter)), math.Abs(d-float64(t.leave))) - slack(nd.at, d)
		before, is := ix.before(t, nd), t.zoneOf(owner.at, nd)
		if before != (is == core) || is == out && t.lingers(slot) {
			ix.notices = append(ix.notices, notice{rank{owner.key, next - 1}, slot})
		}
	}
}
