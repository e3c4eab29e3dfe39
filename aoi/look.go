package aoi

import "math"

// look finds and settles what has happened at the triggers, in the order of the events.
func (ix *Index) look() {
	noticed := ix.notices
	for _, r := range ix.order {
		ix.suspect, ix.crossed = ix.suspect[:0], ix.crossed[:0]
		for len(noticed) > 0 && compareRanks(noticed[0].rank, r) <= 0 {
			ix.suspect = append(ix.suspect, noticed[0].node)
			noticed = noticed[1:]
		}
		ix.lookFrom(r)
	}
}

// lookFrom looks around a trigger if anything can have happened there. The nodes that have noticed
// it are suspect.
func (ix *Index) lookFrom(r rank) {
	drift := ix.pace.drift
	t := &ix.triggers[r.trigger]
	nd := &ix.nodes[t.owner]
	if t.calm -= drift; nd.moved {
		t.calm -= distance(nd.at, nd.was)
	}
	idle := !nd.moved && (ix.pace.few || drift == 0)
	calm := !t.fresh && !nd.leaps && (idle || t.calm > 0)
	if calm && len(ix.suspect) == 0 && (len(ix.big) == 0 || idle && !ix.pace.all) {
		t.stale = t.stale || nd.moved
		return
	}
	is := *ix.coreOf(t)
	if nd.moved || t.fresh {
		is = newBox(nd.at, float64(t.enter))
	}
	if !calm {
		ix.lookAround(t, nd, &is)
	}
	if len(ix.suspect) > 0 {
		t.calm = 0
	}
	ix.suspect = append(ix.suspect, ix.big...)
	ix.settle(r, t, &is, nd.at)
	t.wasEnter, t.core, t.fresh = t.enter, is, false
	if !calm {
		ix.calm(t, nd.at)
	}
}

// lookAround finds what may have crossed the edge of the core.
func (ix *Index) lookAround(t *trigger, nd *node, is *box) {
	r, drift := float64(t.enter), ix.pace.drift
	if t.fresh || nd.leaps || distance(nd.at, nd.was) > r {
		t.thin = false
		now, none := around(nd.at, r+slack(nd.at, r)), nowhere()
		ix.compare(&now, &none, &t.core, is)
		if t.core != nothing() {
			r = float64(t.wasEnter) + drift
			then := around(nd.was, r+slack(nd.was, r))
			ix.compare(&then, &none, &t.core, is)
		}
		return
	}
	// Both walked: seen from the edge, a node came from no farther than drift beside where the edge
	// came from.
	outer, inner := around(nd.at, r), around(nd.at, r)
	gap := slack(nd.at, r+drift)
	margin := gap
	if t.thin {
		margin = max(gap, ix.tuning.margin)
	}
	for a := range outer.lo {
		walk := float64(nd.at[a]) - float64(nd.was[a])
		down, up := min(-drift-walk-gap, -margin), max(drift-walk+gap, margin)
		outer.lo[a] += down
		inner.lo[a] += up
		inner.hi[a] += down
		outer.hi[a] += up
	}
	ix.compare(&outer, &inner, &t.core, is)
}

// fewMet is how few nodes a look has to meet for the next one to look ahead. Where more stand about
// an edge, one of them is close to it anyway.
const fewMet = 8

// calm finds how far a trigger and a node can walk, taken together, before anything can come of it.
// Until then the trigger need not look.
func (ix *Index) calm(t *trigger, centre spot) {
	met := 0
	for _, run := range ix.grid.runs {
		met += len(run)
	}
	wide := t.thin
	t.thin = met <= fewMet
	t.calm = 0
	if !wide || met > 2*fewMet || len(ix.suspect) > len(ix.big) {
		return
	}
	calm := ix.tuning.margin
	for _, run := range ix.grid.runs {
		for i := range run {
			if nd := &ix.nodes[run[i].slot&^former]; nd.live {
				calm = min(calm, math.Abs(distance(nd.at, centre)-float64(t.enter)))
			}
		}
	}
	for _, slot := range t.lingering {
		calm = min(calm, float64(t.leave)-distance(ix.nodes[slot].at, centre))
	}
	t.calm = calm - slack(centre, float64(t.leave))
}

// came marks a node that has come into the core; one without it has gone out of it.
const came = 1 << 31

// compare finds the nodes in outer, except in inner, that have crossed the edge of the core. It is
// box.beyond by hand, which keeps the boxes in registers.
func (ix *Index) compare(outer, inner *area, then, now *box) {
	crossed := ix.crossed
	thenX, thenZ, nowX, nowZ := then.low[0], then.low[1], now.low[0], now.low[1]
	thenW, thenH, nowW, nowH := uint64(then.span[0]), uint64(then.span[1]), uint64(now.span[0]), uint64(now.span[1])
	for _, run := range ix.grid.cover(outer, inner) {
		for i := range run {
			e := &run[i]
			before := (thenW - uint64(uint32(e.was[0]-thenX))) | (thenH - uint64(uint32(e.was[1]-thenZ)))
			is := (nowW - uint64(uint32(e.at[0]-nowX))) | (nowH - uint64(uint32(e.at[1]-nowZ)))
			if int64(before^is) < 0 {
				crossed = append(crossed, e.slot&^former|uint32(before>>63)<<31)
			}
		}
	}
	ix.crossed = crossed
}
