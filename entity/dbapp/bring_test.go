package dbapp

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/wire"
)

// An entity that cannot be loaded again and again is given up, but not for a store that fails: what it keeps
// comes back when it works again, such as when a full disk has room.
func TestBringBackWaitsForTheStore(t *testing.T) {
	for fails, want := range map[bool]int{true: 3 * bringTries, false: bringTries} {
		r, x, _ := newWorld(t, newChests(t))
		b := &r.d.bring
		b.state, b.rows = bringEntities, []bringRow{{Key: store.Key{Type: "Chest", ID: 1}}}
		tries := 0
		for range 3 * bringTries {
			if fails {
				r.d.noteStore(writings, store.ErrFull)
			}
			r.pass(bringAgain + time.Second)
			for _, msg := range r.net.Take(x) {
				id, body, err := wire.Split(msg)
				var m wire.BringBack
				if err != nil || id != wire.BringBackID || m.Parse(body) != nil {
					continue
				}
				tries++
				r.say(x, &wire.BroughtBack{Request: m.Request, Code: stored.Busy, Reason: store.ErrFull.Error()})
			}
		}
		if tries != want {
			t.Errorf("the store fails %v: tried %d times, want %d", fails, tries, want)
		}
		if given := b.failed == 1; given == fails {
			t.Errorf("the store fails %v: %d given up", fails, b.failed)
		}
	}
}
