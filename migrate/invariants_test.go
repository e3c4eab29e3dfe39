//go:build invariants || race

package migrate

import (
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/invariant"
	"github.com/cellscape/cellscape/mercury"
)

// TestAsserts plants bugs in the handoffs of a CellApp, each of which the next ack finds.
func TestAsserts(t *testing.T) {
	for name, plant := range map[string]func(*Handoffs){
		"two copies of an entity":          func(h *Handoffs) { h.list[1] = h.list[0] },
		"a copy is not counted":            func(h *Handoffs) { h.from[1]-- },
		"a space has too many":             func(h *Handoffs) { h.from[2] = 1 },
		"the offer is of another order":    func(h *Handoffs) { h.list[0].Offer.Order.Hop++ },
		"the offer is of another entity":   func(h *Handoffs) { h.list[0].Onload.ID = 99 },
		"a handoff leads nowhere":          func(h *Handoffs) { h.list[0].To = mercury.Address{} },
		"an older handoff takes its place": func(h *Handoffs) { begin(h, 7, 1, 1) },
	} {
		var h Handoffs
		for id := entity.ID(7); id < 10; id++ {
			put(&h, id, 1, 2, app(1), nil)
		}
		if invariant.Caught(func() { plant(&h); h.Take(9, order(2)) }) == "" {
			t.Errorf("not caught: %s", name)
		}
	}
}
