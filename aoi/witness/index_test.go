package witness

import (
	"math/rand/v2"
	"testing"

	"github.com/cellscape/cellscape/entity"
)

// TestIndex compares the table with a map, while ids come and go that often belong at the same place.
func TestIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var x index
	twin := map[entity.ID]uint16{}
	for step := range 20000 {
		id := entity.ID(1 + rng.IntN(300) + rng.IntN(3)<<40)
		if _, known := twin[id]; known {
			x.remove(id)
			delete(twin, id)
		} else if len(twin) < 200 || step%3 == 0 {
			alias := uint16(rng.IntN(none))
			x.put(ref{id, alias})
			twin[id] = alias
		}
		if x.n != len(twin) {
			t.Fatalf("step %d: %d ids, not %d", step, x.n, len(twin))
		}
		for _, id := range []entity.ID{id, entity.ID(1 + rng.IntN(300))} {
			alias, known := twin[id]
			if n, found := x.get(id); found != known || found && n != (ref{id, alias}) {
				t.Fatalf("step %d: %v is %v, %v, not %v, %v", step, id, n, found, alias, known)
			}
		}
	}
	x.reset()
	if _, known := x.get(1); known || x.n != 0 {
		t.Error("a table that was emptied knows somebody")
	}
}
