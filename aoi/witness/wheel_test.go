package witness

import (
	"math/rand/v2"
	"testing"
)

// Turns come slot by slot, however far ahead they are, and time counts round.
func TestQueueOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for n := range 60 {
		q := queue{now: virtual(rng.Uint32())}
		q.turns.reset()
		if n%2 == 0 {
			q.now -= q.now + 1000<<slotBits // it counts round soon
		}
		entries := make([]entry, n)
		for i := range entries {
			entries[i].alias = uint16(i)
			q.put(&entries[i], q.now+virtual(rng.IntN(3*slots<<slotBits))-1<<slotBits)
		}
		for i := range entries { // some again, some not at all
			switch rng.IntN(4) {
			case 0:
				q.put(&entries[i], q.now+virtual(rng.IntN(100<<slotBits)))
			case 1:
				q.turns.drop(uint16(i))
				entries[i].placed = false
			}
		}
		left := q.turns.n
		for alias, ok := q.front(); ok; alias, ok = q.front() {
			en := &entries[alias]
			if slotsUntil(en.at, q.now) > 0 {
				q.wait(en)
				continue
			}
			if q.now>>slotBits != en.at.least(q.now)>>slotBits || !en.placed {
				t.Fatalf("a turn at %d came at %d", en.at, q.now)
			}
			for i := range entries {
				if other := &entries[i]; other.placed && other.at.before(q.now&^(1<<slotBits-1)) && other.at.before(en.at&^(1<<slotBits-1)) {
					t.Fatalf("a turn at %d came before one at %d", en.at, other.at)
				}
			}
			en.placed = false
			q.turns.drop(alias)
			left--
		}
		if left != 0 || q.turns.n != 0 {
			t.Fatalf("%d of %d had no turn", left, n)
		}
	}
}

// In a slot, who came first has the first turn, and before that whose time is past.
func TestTurnsInOneSlot(t *testing.T) {
	var q queue
	q.now = 5 << slotBits
	q.turns.reset()
	for i, at := range []virtual{3, 1, 2, 0} {
		en := entry{alias: uint16(i)}
		q.put(&en, q.now+at)
	}
	for _, want := range []uint16{3, 0, 1, 2} {
		if alias, ok := q.front(); !ok || alias != want {
			t.Fatalf("alias %d has its turn, want %d", alias, want)
		}
		q.turns.drop(want)
	}
}
