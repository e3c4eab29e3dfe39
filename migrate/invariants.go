package migrate

import (
	"slices"

	"github.com/cellscape/cellscape/internal/invariant"
)

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
	h.assertSerials()
	// order does not show: the sum is of integers
	for _, n := range h.from {
		spaces += n
	}
	if spaces != len(h.list) {
		invariant.Broken("migrate: %d handoffs, %d are counted", len(h.list), spaces)
	}
}

// assertSerials checks that those of the list are the open ones.
func (h *Handoffs) assertSerials() {
	open := 0
	// order does not show: the sum is of integers
	for _, s := range h.open {
		open += len(s.open)
		if !slices.IsSorted(s.open) || len(s.open) > 0 && s.open[len(s.open)-1] > s.last {
			invariant.Broken("migrate: serials %v, the last is %d", s.open, s.last)
		}
	}
	for _, x := range h.list {
		if _, found := slices.BinarySearch(h.open[x.To].open, x.Onload.Serial); !found {
			invariant.Broken("migrate: the serial %d of the handoff of %v is not open", x.Onload.Serial, x.Offer.ID)
		}
	}
	if open != len(h.list) {
		invariant.Broken("migrate: %d handoffs, %d serials are open", len(h.list), open)
	}
}

// assertNewer checks that a handoff replaces an older one only.
func (h *Handoffs) assertNewer(old, x *Handoff) {
	if !old.Offer.Order.Before(x.Offer.Order) {
		invariant.Broken("migrate: %v leaves at %v after %v", x.Offer.ID, x.Offer.Order, old.Offer.Order)
	}
}
