package ghost

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
)

func TestTombstones(t *testing.T) {
	var ts Tombstones
	at := func(inc, hop, seq uint32) Head {
		return Head{ID: 7, Order: entity.Order{Incarnation: inc, Hop: hop}, Sequence: seq}
	}
	ts.Bury(at(1, 2, 5), 0)
	for _, c := range []struct {
		h    Head
		want bool
	}{
		{at(1, 2, 5), true}, {at(1, 2, 4), true}, {at(1, 1, 9), true}, {at(1, 2, 6), false},
		{at(1, 3, 1), false}, {at(2, 0, 1), false}, {Head{ID: 8}, false},
	} {
		if got := ts.Forbids(c.h); got != c.want {
			t.Errorf("Forbids(%+v) = %v", c.h, got)
		}
	}
	ts.Bury(at(1, 2, Last), time.Second)
	if !ts.Forbids(at(1, 2, Last)) || ts.Forbids(at(1, 3, 1)) {
		t.Error("Last forbids its hop, and no other")
	}
	ts.Expire(TombstoneLease)
	if !ts.Forbids(at(1, 2, 6)) {
		t.Error("the second stands a second longer")
	}
	ts.Expire(TombstoneLease + time.Second)
	if ts.Forbids(at(1, 1, 1)) {
		t.Error("a tombstone stands beyond its lease")
	}
	for i := range MaxTombstones + 1 {
		ts.Bury(Head{ID: entity.ID(i + 1), Sequence: 1}, 0)
	}
	if ts.leases.Len() != MaxTombstones || ts.Forbids(Head{ID: 1}) || !ts.Forbids(Head{ID: 2}) {
		t.Error("beyond MaxTombstones the oldest goes")
	}
}

// listed is Tombstones as a list that is searched from end to end.
type listed []standing

type standing struct {
	Head
	until time.Duration
}

func (l listed) forbids(h Head, now time.Duration) bool {
	for _, s := range l {
		if s.ID == h.ID && s.until > now && !s.before(h) {
			return true
		}
	}
	return false
}

// The map forbids whatever a tombstone in the list forbids. It may forbid something longer only if
// a tombstone that still stands forbade it before an older one was renewed.
func TestTombstonesTwin(t *testing.T) {
	const seed = 7
	chance := rand.New(rand.NewPCG(seed, seed))
	head := func() Head {
		return Head{ID: entity.ID(1 + chance.IntN(5)), Order: entity.Order{Incarnation: 1 + chance.Uint32N(2), Hop: chance.Uint32N(3)}, Sequence: chance.Uint32N(4)}
	}
	var ts Tombstones
	var twin listed
	now := time.Duration(0)
	for range 5000 {
		now += time.Duration(chance.IntN(2000)) * time.Millisecond
		ts.Expire(now)
		if h := head(); chance.IntN(3) == 0 {
			ts.Bury(h, now)
			twin = append(twin, standing{h, now + TombstoneLease})
		}
		h := head()
		if twin.forbids(h, now) && !ts.Forbids(h) {
			t.Fatalf("seed %d at %v: %+v is let through", seed, now, h)
		}
		stand := 0
		for _, s := range twin {
			if s.ID == h.ID && s.until > now {
				stand++
			}
		}
		if stand == 0 && ts.Forbids(h) {
			t.Fatalf("seed %d at %v: %+v is forbidden without a tombstone", seed, now, h)
		}
	}
	ts.Expire(now + TombstoneLease)
	if n := ts.leases.Len(); n != 0 {
		t.Errorf("%d tombstones are left over", n)
	}
}

// BenchmarkForbids asks among as many tombstones as a CellApp has after a quarter of a minute in
// which 2000 ghosts a second ended.
func BenchmarkForbids(b *testing.B) {
	var ts Tombstones
	for id := entity.ID(1); id <= 30_000; id++ {
		ts.Bury(Head{ID: id, Sequence: 1}, 0)
	}
	id := entity.ID(0)
	for b.Loop() {
		id = id%40_000 + 1
		ts.Forbids(Head{ID: id, Sequence: 2})
	}
}

// An entity has ended where its newest real did, and not where an older one only went on.
func TestEnded(t *testing.T) {
	var ts Tombstones
	at := func(hop uint32) Head {
		return Head{ID: 7, Order: entity.Order{Incarnation: 1, Hop: hop}, Sequence: Last}
	}
	ts.Bury(at(1), 0)
	if ts.Ended(7) || !ts.Forbids(at(1)) {
		t.Error("it went on")
	}
	ts.End(at(3), 0)
	ts.Bury(at(2), 0)
	if !ts.Ended(7) || ts.Ended(8) {
		t.Error("it has ended")
	}
	if ts.Expire(TombstoneLease); ts.Ended(7) {
		t.Error("it is remembered beyond the lease")
	}
}
