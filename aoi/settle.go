package aoi

import "slices"

// settle makes events of what has come to a trigger and gone from it.
func (ix *Index) settle(r rank, t *trigger, is *box, centre spot) {
	events := len(ix.queue.events)
	outer := newBox(centre, float64(t.leave))
	ix.settleBand(r, t, is, &outer, centre)
	fell := len(t.lingering) // those behind fall from the core into the band
	for _, slot := range ix.crossed {
		ix.cross(r, t, slot&^came, slot&came != 0, outer.holds(ix.places[slot&^came]), fell)
	}
	for _, slot := range ix.suspect {
		nd := &ix.nodes[slot]
		if before, now := ix.before(t, nd), t.zoneOf(centre, nd); before != (now == core) {
			ix.cross(r, t, slot, now == core, now != out, fell)
		}
	}
	ix.queue.sort(events)
}

// cross lets a node come into the core of a trigger, or go out of it into the band or farther.
func (ix *Index) cross(r rank, t *trigger, slot uint32, came, near bool, fell int) {
	switch {
	case slot == t.owner:
	case came && !slices.Contains(ix.returned, slot):
		ix.report(r, slot, true)
	case !came && !near:
		ix.report(r, slot, false)
	case !came && !slices.Contains(t.lingering[fell:], slot):
		t.lingering = append(t.lingering, slot)
	}
}

// settleBand lets go of what has left the band, to either side.
func (ix *Index) settleBand(r rank, t *trigger, is, outer *box, centre spot) {
	ix.returned = ix.returned[:0]
	kept := t.lingering[:0]
	for _, slot := range t.lingering {
		p := ix.places[slot]
		if int64(outer.beyond(p)|^is.beyond(p)) >= 0 {
			kept = append(kept, slot)
			continue
		}
		z := out
		switch {
		case p == absent(): // it is gone, or big
			z = t.zoneOf(centre, &ix.nodes[slot])
		case is.holds(p):
			z = core
		}
		switch z {
		case band:
			kept = append(kept, slot)
		case core:
			ix.returned = append(ix.returned, slot)
		case out:
			ix.report(r, slot, false)
		}
	}
	t.lingering = kept
}

func (ix *Index) report(r rank, slot uint32, enter bool) {
	ix.queue.events = append(ix.queue.events, event{ix.triggerHandle(r.trigger), ix.nodeHandle(slot), ix.nodes[slot].key, enter})
}
