package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// TestHandedOverAheadOfGeometry: a line moves over a player, and its CellApp hands it over. The news
// of the line is late for the CellApp that takes it, by whose geometry the player belongs where it
// came from. It sends nobody on until it has the version that the handoff was decided by. (The two
// CellApps handed the player to and fro, at each of their checks.)
func TestHandedOverAheadOfGeometry(t *testing.T) {
	o, in := scripted(45, 2)
	play(t, o, func(r *rig) {
		id := r.id()
		r.lead(r.across(-30))
		from, _, _ := r.real(id)
		handed := map[entity.Order]bool{}
		late := true
		r.hook = func(p *Process, _ mercury.ChannelID, msg []byte) []byte {
			switch kind(msg) {
			case wire.GeometryID:
				if late && p != from {
					return nil
				}
			case wire.OnloadID:
				if e, order := orderOf(wire.OnloadID, msg); e == id {
					handed[order] = true
				}
			}
			return msg
		}
		in.give(move(-60))
		r.until("the player is handed over", 10*time.Second, func() bool { return len(handed) > 0 })
		r.wait(3 * time.Second)
		if n := len(handed); n != 1 || len(r.versions()) != 2 {
			t.Errorf("handed over %d times while the geometry was late; there are %v", n, r.versions())
		}
		late = false
		r.until("the geometry comes", 10*time.Second, func() bool { return len(r.versions()) == 1 })
		r.wait(2 * time.Second)
		if on, _, _ := r.real(id); len(handed) != 1 || on == from {
			t.Errorf("handed over %d times in all, to %v in the end", len(handed), on.Name)
		}
	})
}
