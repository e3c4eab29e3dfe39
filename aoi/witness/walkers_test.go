package witness

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// walkers are a crowd that walks from one point of a square to the next, five metres a second, about
// a watcher who does so, too.
type walkers struct {
	*world
	side float32
	view float32 // radius of the area of interest
	goal map[entity.ID]property.Vector3
	age  map[entity.ID]int // of what the client holds, in ticks
	late int               // ticks until the witness hears what the client has seen
	seen []protocol.Seen   // by tick
}

func newWalkers(t *testing.T, cfg Config, n int, side float32) *walkers {
	k := &walkers{world: newWorld(t, cfg, 1, 0), side: side, view: cfg.MaxRadius, goal: map[entity.ID]property.Vector3{}, age: map[entity.ID]int{}}
	for i := range n {
		p := k.point()
		k.all = append(k.all, newEntity(k.def, entity.ID(2000+i), 1, p.X, p.Z))
	}
	k.watcher.Position = property.Vector3{X: side / 2, Z: side / 2}
	return k
}

func (k *walkers) point() property.Vector3 {
	return property.Vector3{X: k.rng.Float32() * k.side, Z: k.rng.Float32() * k.side}
}

func (k *walkers) walk(e *presence.Entity) {
	to, p := k.goal[e.ID], e.Position
	dx, dz := to.X-p.X, to.Z-p.Z
	way := float32(math.Hypot(float64(dx), float64(dz)))
	if way < 0.5 || to == (property.Vector3{}) {
		k.goal[e.ID] = k.point()
		return
	}
	e.MoveTo(k.world.tick, property.Vector3{X: p.X + dx/way/2, Z: p.Z + dz/way/2}, property.Vector3{})
}

// wear changes what is seen of one in so many.
func (k *walkers) wear(every int) {
	for _, e := range k.all {
		if k.rng.IntN(every) == 0 {
			set(k.t, e, hp, k.rng.Uint64N(256))
		}
	}
}

// step is a tick in which all walk, and the client says that it has all, which is heard late ticks later.
func (k *walkers) step() {
	k.walk(k.watcher)
	for _, e := range k.all {
		k.walk(e)
	}
	k.interestIn(k.view)
	for _, e := range k.all {
		k.subject(e).Show(k.world.tick)
	}
	k.w.Update(k.watcher, k.world.tick, nil, false)
	k.world.tick++
	k.seen = append(k.seen, protocol.Seen{Bundle: k.w.number, Packet: k.w.moves.number, Earlier: 1<<32 - 1})
	if heard := len(k.seen) - 1 - k.late; heard >= 0 {
		k.w.Saw(&k.seen[heard])
	}
	for _, e := range k.all {
		if i, known := k.w.find(e.ID); !k.within[e.ID] || known && k.w.entries[i].sent && k.w.entries[i].moved == e.MoveStamp {
			k.age[e.ID] = 0
		} else {
			k.age[e.ID]++
		}
	}
}

// nearest are the first n, the nearest first, whether or not the client was told of them.
func (k *walkers) nearest(n int) []*presence.Entity {
	near := slices.Clone(k.all)
	slices.SortFunc(near, func(a, b *presence.Entity) int {
		return cmp.Compare(property.Distance(a.Position, k.watcher.Position), property.Distance(b.Position, k.watcher.Position))
	})
	return near[:n]
}

// In a crowd of 2,000 on 300 by 300 m who all walk, and change a property every five seconds, at 20
// kbit/s, a client holds the places of the nearest twenty of at most two ticks ago but for one in a
// hundred, and nobody's is older than 30 s (row E7 of the design). A place of someone whom the
// client has not met is as old as the other is in view. Where the cell saves, all wait a little
// longer.
func TestNearestOfWalkers(t *testing.T) {
	for _, c := range []struct {
		share            uint16 // of the budget
		p95, p99, oldest int
	}{{whole, 1, 2, DefaultMaxWait}, {250, 3, 6, DefaultMaxWait + 20}} {
		k := newWalkers(t, Config{BytesPerTick: 250, MaxRadius: 100}, 2000, 300)
		k.w.SetDegradation(c.share, whole)
		var ages []int
		oldest := 0
		for n := range 1500 {
			k.wear(50)
			if k.step(); n < 500 {
				continue
			}
			for _, age := range k.age {
				oldest = max(oldest, age)
			}
			for _, e := range k.nearest(20) {
				ages = append(ages, k.age[e.ID])
			}
		}
		slices.Sort(ages)
		p95, p99 := ages[len(ages)*95/100], ages[len(ages)*99/100]
		t.Logf("share %d: ages of the nearest 20 in ticks: p50 %d, p95 %d, p99 %d, worst %d; oldest %d", c.share, ages[len(ages)/2], p95, p99, ages[len(ages)-1], oldest)
		if p95 > c.p95 || p99 > c.p99 || oldest > c.oldest {
			t.Errorf("want p95 at most %d, p99 %d, oldest %d", c.p95, c.p99, c.oldest)
		}
	}
}

// What a place takes does not depend on how far away the player is: its client's word of what it
// has seen may be under way for six ticks, which is a round trip of 400 ms, with the waits for the
// ticks of both sides.
func TestPlacesAreSmallFarAway(t *testing.T) {
	for _, late := range []int{0, 2, 4, 6} {
		k := newWalkers(t, Config{MaxRadius: 100}, 300, 500)
		var told Told
		k.w.WorkWith(&Scratch{Told: &told})
		k.late = late
		for range 100 {
			k.step()
		}
		begun := told
		for range 200 {
			k.step()
		}
		places, bytes := told.PlacesSent-begun.PlacesSent, told.Places-begun.Places
		each := float64(bytes) / float64(places)
		t.Logf("heard %d ticks late: %.2f bytes a place, %.0f places in a tick", late, each, float64(places)/200)
		if places < 200*30 || each > 2.7 {
			t.Errorf("heard %d ticks late, a place takes %.2f bytes, of %d", late, each, places)
		}
	}
}

// In a crowd most wait for longer than a client says what it has seen. What it had is taken in
// while it does, so that hardly any place must be told in the longest form.
func TestWhoWaitsIsKnown(t *testing.T) {
	k := newWalkers(t, Config{BytesPerTick: 250, MaxRadius: 100}, 1000, 212)
	k.late = 3
	for range 300 {
		k.step()
	}
	far, all := 0, 0
	for range 300 {
		k.step()
		for i := range k.w.entries {
			if k.w.isPicked(i) {
				all++
				if k.w.forms[i] == farForm {
					far++
				}
			}
		}
	}
	if t.Logf("%d of %d places in the far form", far, all); all < 5000 || far*25 > all {
		t.Errorf("%d of %d places in the far form", far, all)
	}
}
