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
