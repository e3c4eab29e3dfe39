package space

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// books hold what the cells of a rig showed last. No time passes in between: a difference is by who
// came or went.
type books struct {
	r             *rig
	loads, gained []int64
}

// net is the load of a cell without what its ghosts count for.
func net(c Hosted) int64 { return c.Cost().Total - c.cfg.ArtificialLoad/10*int64(len(c.ghosts)) }

func (b *books) open() {
	b.loads, b.gained = b.loads[:0], b.gained[:0]
	for _, a := range b.r.apps {
		b.loads, b.gained = append(b.loads, net(a.cell)), append(b.gained, a.cell.gained)
	}
}

// changed demands what each cell gained since the books were opened, that its load shifted by as
// much, and opens them anew.
func (b *books) changed(what string, want ...int64) {
	b.r.t.Helper()
	for i, a := range b.r.apps {
		load, gained := net(a.cell)-b.loads[i], a.cell.gained-b.gained[i]
		work, _ := a.cell.Work()
		if load != gained || gained != want[i] || work != a.cell.Cost().Total {
			b.r.t.Errorf("%s: the load of cell %d shifts by %d, gained is %d, want %d; Work is %d", what, i+1, load, gained, want[i], work)
		}
	}
	b.open()
}

// loaded makes two cells with reals of 10, 20 and 30 ms/s on the left, and one of 40 ms/s on the
// right; if artificial, of three, five and seven units of a load of 1000 each, and ten. No offload
// is due until the test calls for a check.
func loaded(t *testing.T, artificial bool) (*books, func(entity.ID) int64) {
	t.Helper()
	r := newRig(t, 2)
	for id := entity.ID(1); id <= 4; id++ {
		r.create(id, []float32{-60, -50, -40, 60}[id-1], 0)
	}
	r.tick(5)
	for id := entity.ID(1); id <= 4; id++ {
		if artificial {
			r.real(id).SetArtificialLoad([]int64{3000, 5000, 7000, 10000}[id-1])
			continue
		}
		r.real(id).meter.Set(int64(id) * 10e6)
	}
	for _, a := range r.apps {
		if !artificial {
			a.cell.cfg.ArtificialLoad = 0
		}
		a.cell.gained = 0 // the kind of load is not changed while reals are there, but here
	}
	b := &books{r: r}
	b.open()
	return b, func(id entity.ID) int64 { return r.apps[0].cell.counts(r.real(id)) }
}

// hand gives a real over to the cell at x, without a tick, until the destination has it.
func (b *books) hand(id entity.ID, x float32) {
	b.r.t.Helper()
	b.r.move(id, x)
	from := b.r.real(id).cell
	from.offload(b.r.real(id))
	b.r.pump()
	if b.r.real(id) == nil || b.r.real(id).cell == from {
		b.r.t.Fatalf("%d was not handed over", id)
	}
}

func TestGainedIsWhatLoadShiftsBy(t *testing.T) {
	for name, artificial := range map[string]bool{"measured": false, "artificial": true} {
		t.Run(name, func(t *testing.T) {
			b, weight := loaded(t, artificial)
			r := b.r
			one, two, three, four := weight(1), weight(2), weight(3), weight(4)
			b.hand(1, 50)
			b.changed("offloaded to the right", -one, one)
			b.hand(4, -50)
			b.changed("offloaded to the left", four, -four)
			b.hand(1, -60)
			b.changed("offloaded back", one, -one)

			r.avatar(2).Destroy()
			r.apps[0].population.Settle()
			b.changed("destroyed", -two, 0)

			r.hold = func(p packet) bool { _, is := p.m.(*migrate.Onload); return is }
			r.move(3, 40)
			r.apps[0].cell.offload(r.real(3))
			b.changed("under way", -three, 0)
			r.hold = nil
			r.pump()
			b.changed("arrived", 0, three)

			r.apps[0].cell.drop(r.real(4))
			b.changed("refused by its base", -four, 0)
		})
	}
}

// A real whose handoff fails is gone from its cell, and comes back as a new one that nothing was
// measured of.
func TestGainedOfARealTakenBack(t *testing.T) {
	for name, artificial := range map[string]bool{"measured": false, "artificial": true} {
		t.Run(name, func(t *testing.T) {
			b, weight := loaded(t, artificial)
			r, left := b.r, b.r.apps[0]
			one, fresh := weight(1), left.cell.cfg.ArtificialLoad
			r.hold = func(p packet) bool { return p.to == addr(2) }
			r.move(1, 50)
			left.cell.offload(r.real(1))
			b.changed("under way", -one, 0)
			r.queue, r.hold = nil, nil
			left.dead = append(left.dead, addr(2))
			left.population.CellAppDied(addr(2))
			r.pump()
			offers := r.bases[1].offers
			if len(offers) != 1 {
				t.Fatalf("%d offers", len(offers))
			}
			b.open() // the right one is dead
			r.restore(1, -60, offers[0].Parts, offers[0].Handled)
			b.changed("taken back", fresh, 0)

			// A newer incarnation takes the place of the present real on the same cell.
			r.real(1).meter.Set(12e6)
			r.real(1).SetArtificialLoad(12e6)
			b.open()
			r.restore(1, -60, offers[0].Parts, offers[0].Handled)
			b.changed("restored over itself", fresh-12e6, 0)
		})
	}
}

func TestGainedOfNewReals(t *testing.T) {
	for name, artificial := range map[string]bool{"measured": false, "artificial": true} {
		t.Run(name, func(t *testing.T) {
			b, _ := loaded(t, artificial)
			c := b.r.apps[0].cell
			fresh := c.cfg.ArtificialLoad
			b.r.create(9, -70, 0)
			b.changed("created", fresh, 0)
			id, err := c.Spawn("Rock", property.Vector3{X: -30}, property.Vector3{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			b.changed("spawned", fresh, 0)

			before := c.gained
			b.r.real(id).SetArtificialLoad(50e6)
			if shift := net(c) - b.loads[0]; c.gained != before || shift != 50e6-fresh {
				t.Errorf("what a real grows by is gained: %d, the load shifts by %d", c.gained-before, shift)
			}
			b.open()
			b.r.real(id).gone = destroyed
			c.destroy(b.r.real(id))
			b.changed("left with what it grew by", -50e6, 0)
			if !artificial && c.gained != -50e6 {
				t.Errorf("gained is %d", c.gained)
			}
		})
	}
}

// What is no real yet was never gained, and is not lost either.
func TestGainedOfRefusedReals(t *testing.T) {
	b, _ := loaded(t, false)
	c := b.r.apps[1].cell
	b.r.move(1, 50)
	parts := b.r.real(1).appendParts(nil, false)
	parts = migrate.AppendPart(parts, migrate.ClientPart, func(b []byte) []byte { return append(b, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) })
	order := b.r.real(1).Order().NextHop()
	c.population.Onload(&migrate.Onload{ID: 1, Type: b.r.real(1).e.Def.ID, Space: 1, Order: order, Base: b.r.base, Parts: parts}, addr(1))
	b.changed("a client without a witness", 0, 0)
	if b.r.apps[1].count.Errors != 1 {
		t.Errorf("%d errors: the test does not do what it says", b.r.apps[1].count.Errors)
	}
}

// Over a long time of coming and going, what a cell shows is what it gained and what its reals grew
// by since they came.
func TestGainedAddsUp(t *testing.T) {
	r, m := modelled(t, 2)
	for id := entity.ID(1); id <= 6; id++ {
		r.create(id, -60, uint32(id%2))
		r.avatar(id).hook = func(*Avatar, string) { m.work(id, time.Duration(id)*time.Millisecond) }
		if _, err := r.avatar(id).AddTimer(0, time.Nanosecond, "OnTimer", 1); err != nil {
			t.Fatal(err)
		}
	}
	r.tick(20)
	grown := func(c Hosted) (sum int64) {
		for _, rec := range c.reals {
			sum += c.counts(rec.real)
		}
		return sum - c.gained
	}
	for i := range 40 {
		id := entity.ID(i%6 + 1)
		left, right := grown(r.apps[0].cell), grown(r.apps[1].cell)
		moved := r.real(id)
		r.move(id, float32(60-120*(int(moved.cell.id.N)-1)))
		moved.cell.offload(moved)
		r.pump()
		if l, rt := grown(r.apps[0].cell), grown(r.apps[1].cell); l != left || rt != right || moved.gone != handedOver {
			t.Fatalf("handover %d of %d: %d and %d became %d and %d", i, id, left, right, l, rt)
		}
		r.tick(1)
	}
}
