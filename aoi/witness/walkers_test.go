package witness

import (
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
	goal map[entity.ID]property.Vector3
	age  map[entity.ID]int // of what the client holds, in ticks
}

func newWalkers(t *testing.T, cfg Config, n int, side float32) *walkers {
	k := &walkers{newWorld(t, cfg, 1, 0), side, map[entity.ID]property.Vector3{}, map[entity.ID]int{}}
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

// step is a tick in which all walk, and the client says that it has all.
func (k *walkers) step() {
	k.walk(k.watcher)
	for _, e := range k.all {
		k.walk(e)
	}
	k.interest()
	for _, e := range k.all {
		k.subject(e).Show(k.world.tick)
	}
	k.w.Update(k.watcher, k.world.tick, nil, false)
	k.world.tick++
	k.w.Saw(&protocol.Seen{Bundle: k.w.number, Packet: k.w.moves.number, Earlier: 1<<32 - 1})
	for _, e := range k.all {
		if i, known := k.w.find(e.ID); !known || !k.w.entries[i].sent || k.w.entries[i].moved == e.MoveStamp {
			k.age[e.ID] = 0
		} else {
			k.age[e.ID]++
		}
	}
}

// nearest are those whom the client has been told of, the nearest first.
func (k *walkers) nearest() []*presence.Entity {
	near := slices.Clone(k.all)
	slices.SortFunc(near, func(a, b *presence.Entity) int {
		return int(1000 * (property.Distance(a.Position, k.watcher.Position) - property.Distance(b.Position, k.watcher.Position)))
	})
	return slices.DeleteFunc(near, func(e *presence.Entity) bool { return !k.w.Has(e.ID, 1) })
}

// In a crowd of which a tick has room for a fortieth, the nearest are told of as often as where nobody
// walked: who has come from far away does not wait for the turn that was due there.
func TestNearestOfWalkers(t *testing.T) {
	k := newWalkers(t, Config{BytesPerTick: 250, MaxRadius: aoiRadius}, 1000, 250)
	var ages []int
	for n := range 700 {
		if k.step(); n < 300 {
			continue
		}
		for _, e := range k.nearest()[:20] {
			ages = append(ages, k.age[e.ID])
		}
	}
	slices.Sort(ages)
	p50, p99, worst := ages[len(ages)/2], ages[len(ages)*99/100], ages[len(ages)-1]
	if p50 > 1 || p99 > 4 || worst > 10 {
		t.Errorf("ages of the nearest 20 in ticks: p50 %d, p99 %d, worst %d", p50, p99, worst)
	}
}
