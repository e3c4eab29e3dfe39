//go:build invariants || race

package ghost

import (
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/invariant"
	"github.com/cellscape/cellscape/mercury"
)

// TestAsserts plants bugs in what a CellApp knows of ghosts.
func TestAsserts(t *testing.T) {
	app := func(n uint32) mercury.Address { return mercury.Address{Salt: n} }
	for name, plant := range map[string]func(*Haunts){
		"an app haunts twice":  func(h *Haunts) { h.list[1].App = app(1) },
		"haunts without order": func(h *Haunts) { h.list[0], h.list[1] = h.list[1], h.list[0] },
		"nobody is a haunt":    func(h *Haunts) { h.list[0].App = mercury.Address{} },
		"too many haunts":      func(h *Haunts) { h.list = make([]Haunt, MaxHaunts+1) },
	} {
		var h Haunts
		h.Add(app(1), 0)
		h.Add(app(2), 0)
		plant(&h)
		if invariant.Caught(func() { h.Sweep(func(Haunt) bool { return false }) }) == "" {
			t.Errorf("not caught: %s", name)
		}
	}
	g := &Ghost{Entity: &presence.Entity{ID: 7, Order: entity.Order{Incarnation: 2}}, sequence: 4}
	if invariant.Caught(func() { g.assert(Head{ID: 7, Order: entity.Order{Incarnation: 2}, Sequence: 5}) }) == "" {
		t.Error("not caught: a ghost goes back in the life of its real")
	}
}
