//go:build invariants || race

package witness

import (
	"testing"

	"github.com/cellscape/cellscape/internal/invariant"
)

// TestAsserts plants bugs in an area of interest, each of which the next Update finds.
func TestAsserts(t *testing.T) {
	for name, plant := range map[string]func(*Witness){
		"who is in range is not counted": func(w *Witness) { w.live-- },
		"an entity is known twice":       func(w *Witness) { w.entries[1] = w.entries[0] },
		"entries are out of order":       func(w *Witness) { w.entries[0], w.entries[1] = w.entries[1], w.entries[0] },
		"an entry has another's record":  func(w *Witness) { w.entries[0].a.s = w.entries[1].a.s },
		"who left was not noted":         func(w *Witness) { w.entries[0].s = nil },
	} {
		wd := crowd(t, Config{}, 3, 5)
		plant(wd.w)
		if invariant.Caught(func() { wd.w.Update(wd.watcher, wd.tick, nil, false) }) == "" {
			t.Errorf("not caught: %s", name)
		}
	}
	for name, plant := range map[string]func(*Witness) func(){
		"who has left waits for a turn": func(w *Witness) func() {
			w.Leave(w.entries[w.due[0].entry].a.id)
			return w.assertCollected
		},
		"an entity has two turns": func(w *Witness) func() {
			w.due[1] = w.due[0]
			return w.assertCollected
		},
		"the last comes first": func(w *Witness) func() {
			w.compete()
			w.entries[0].at = w.queue.now
			w.queue.turns.put(0, slotOf(w.queue.now+100<<slotBits), false)
			return w.assertQueue
		},
		"somebody waits for no turn": func(w *Witness) func() {
			w.compete()
			w.queue.turns.drop(1)
			return w.assertQueue
		},
	} {
		wd := crowd(t, Config{}, 3, 5)
		wd.everyoneMoves()
		wd.w.begin(wd.watcher, wd.tick, nil, false)
		wd.w.collect()
		if invariant.Caught(plant(wd.w)) == "" {
			t.Errorf("not caught: %s", name)
		}
	}
}
