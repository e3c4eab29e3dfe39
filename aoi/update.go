package aoi

import "slices"

// Update finds what has entered and left the triggers since the last one, and then calls f for each
// such event. Call it once a tick, when all have moved: what went out and came back in between is
// not reported, nor is what passed through.
//
// When f is called, t is always in the Index. n is in the Index when enter is true; a leave may be
// due to its removal, and then only key, which [Index.Insert] was given, says who it was.
//
// f may change the Index in any way, even remove t and n. What its changes cause is left to the next
// Update, so two triggers whose callbacks undo each other cannot hold up a tick. If f panics, its
// event counts as delivered, and those behind it wait for the next Update. An Update within an
// Update panics.
func (ix *Index) Update(f func(t Trigger, n Node, key uint64, enter bool)) {
	ix.queue.begin()
	defer ix.queue.end()
	if len(ix.moved) > 0 || ix.ranges.changed {
		ix.measureRanges()
		ix.measurePace()
		ix.fill(true)
		ix.notify()
		ix.look()
		ix.commit()
	}
	ix.deliver(f)
}

// fill puts the nodes into the grid as they stand; in an Update, leaping ones also where they were.
func (ix *Index) fill(updates bool) {
	ix.tune()
	g := &ix.grid
	g.begin()
	if n := len(ix.nodes); cap(ix.places) < n {
		ix.places = make([]place, n, n+n/4)
	} else {
		ix.places = ix.places[:n]
	}
	for i := range ix.nodes {
		nd := &ix.nodes[i]
		ix.places[i] = absent()
		if nd.appeal > 0 {
			continue
		}
		if nd.live {
			ix.places[i] = placeOf(nd.at)
			g.count(nd.at)
		}
		if updates && nd.leaps && nd.known {
			g.count(nd.was)
		}
	}
	g.allot()
	for i := range ix.nodes {
		nd := &ix.nodes[i]
		if nd.appeal > 0 {
			continue
		}
		e := entry{at: ix.places[i], was: absent(), slot: uint32(i)}
		switch {
		case !nd.moved:
			e.was = e.at
		case nd.known:
			e.was = placeOf(nd.was)
		}
		if nd.live {
			nd.placed = nd.at
			g.put(e)
		}
		if updates && nd.leaps && nd.known {
			e.slot |= former
			g.put(e)
		}
	}
	for _, slot := range ix.strays {
		ix.nodes[slot].stray = false
	}
	ix.strays, ix.drift = ix.strays[:0], 0
}

// commit makes what is now what was.
func (ix *Index) commit() {
	for _, slot := range ix.moved {
		nd := &ix.nodes[slot]
		nd.was, nd.known, nd.moved, nd.leaps = nd.at, nd.live, false, false
		if nd.live {
			continue
		}
		if nd.appeal > 0 {
			i := slices.Index(ix.big, slot)
			ix.big = slices.Delete(ix.big, i, i+1)
		}
		nd.generation++
		ix.freeNodes = append(ix.freeNodes, slot)
	}
	ix.moved = ix.moved[:0]
}
