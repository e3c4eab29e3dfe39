package ghost

import "github.com/cellscape/cellscape/internal/invariant"

// assert checks that each app stands once in the list, and that there are not too many.
func (h *Haunts) assert() {
	for i := range h.list {
		if h.list[i].App.IsZero() || i > 0 && h.list[i-1].App.Compare(h.list[i].App) >= 0 {
			invariant.Broken("ghost: haunt %v is out of its place", h.list[i].App)
		}
	}
	if len(h.list) > MaxHaunts {
		invariant.Broken("ghost: %d haunts", len(h.list))
	}
}

// assert checks that the ghost has not gone back in the life of its real.
func (g *Ghost) assert(was Head) {
	if now := g.Head(); now.before(was) {
		invariant.Broken("ghost: %v is at %v/%d after %v/%d", now.ID, now.Order, now.Sequence, was.Order, was.Sequence)
	}
}

// assert checks that each tombstone has a lease that will end. Of a long queue it looks at the leases
// that end next.
func (t *Tombstones) assert() {
	if len(t.queue) > MaxTombstones || len(t.byID) > len(t.queue) {
		invariant.Broken("ghost: %d tombstones with %d leases", len(t.byID), len(t.queue))
	}
	for i, b := range t.queue[:min(len(t.queue), 64)] {
		if s, ok := t.byID[b.id]; !ok || s.until < b.until || i > 0 && b.until < t.queue[i-1].until {
			invariant.Broken("ghost: the lease of %v ends without a tombstone", b.id)
		}
	}
}
