package migrate

import "github.com/cellscape/cellscape/internal/invariant"

// assert checks that an entity has one frozen copy, of which all parts name the same order, and that
// the counts by space are those of the list.
func (h *Handoffs) assert() {
	spaces := 0
	for i := range h.list {
		x := h.list[i]
		if x.Onload.ID != x.Offer.ID || x.Onload.Order != x.Offer.Order || !x.Onload.Arrival.Teleports() && x.Onload.Space != x.Offer.Space || x.To.IsZero() {
			invariant.Broken("migrate: the handoff of %v at %v to %v offers %v at %v",
				x.Onload.ID, x.Onload.Order, x.To, x.Offer.ID, x.Offer.Order)
		}
		if i > 0 && h.list[i-1].Offer.ID >= x.Offer.ID {
			invariant.Broken("migrate: two handoffs of %v, or out of order", x.Offer.ID)
		}
		if h.from[x.Offer.Space] < 1 {
			invariant.Broken("migrate: no handoff is counted from %v", x.Offer.Space)
		}
	}
	// order does not show: the sum is of integers
	for _, n := range h.from {
		spaces += n
	}
	if spaces != len(h.list) {
		invariant.Broken("migrate: %d handoffs, %d are counted", len(h.list), spaces)
	}
}

// assertNewer checks that a handoff replaces an older one only.
func (h *Handoffs) assertNewer(old, x *Handoff) {
	if !old.Offer.Order.Before(x.Offer.Order) {
		invariant.Broken("migrate: %v leaves at %v after %v", x.Offer.ID, x.Offer.Order, old.Offer.Order)
	}
}
