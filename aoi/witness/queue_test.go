package witness

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// An alias is found among any that are in use, and not in a gap.
func TestSlot(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 300 {
		var w Witness
		used := make([]bool, 1+rng.IntN(100))
		for alias := range used {
			if used[alias] = rng.IntN(4) > 0; used[alias] {
				w.entries = append(w.entries, entry{alias: uint16(alias), a: new(account)})
			} else if rng.IntN(2) > 0 {
				w.entries = append(w.entries, entry{alias: uint16(alias)})
			}
		}
		for alias := range len(used) + 10 {
			i, known := w.slot(uint16(alias))
			if want := alias < len(used) && used[alias]; known != want || known && w.entries[i].alias != uint16(alias) {
				t.Fatalf("alias %d is at %d, %v, of %v", alias, i, known, used)
			}
		}
	}
}

// crowd is n entities that stand d metres apart in a row, known to the client.
func crowd(t testing.TB, cfg Config, n int, d float32) *world {
	wd := newWorld(t, cfg, 1, 0)
	for i := range n {
		e := newEntity(wd.def, entity.ID(i+1), 1, d*float32(i+1), 0)
		wd.all, wd.within[e.ID] = append(wd.all, e), true
		wd.w.Enter(wd.subject(e))
	}
	wd.w.Update(wd.watcher, wd.tick, nil, true)
	wd.tick++
	return wd
}

func (wd *world) everyoneMoves() {
	for _, e := range wd.all {
		p := e.Position
		p.Y = 0.5 - p.Y
		e.MoveTo(wd.tick, p, property.Vector3{})
	}
}

// turns lets everyone move for some ticks, and returns how often each was told of and the longest
// wait of anyone.
func (wd *world) turns(ticks int) (served []int, worst int) {
	served, since := make([]int, len(wd.all)), make([]int, len(wd.all))
	for range ticks {
		wd.everyoneMoves()
		budget := wd.w.cfg.BytesPerTick - wd.w.deficit
		wd.w.Update(wd.watcher, wd.tick, nil, false)
		wd.tick++
		stale := 0
		for i, e := range wd.all {
			k, _ := wd.w.find(e.ID)
			if since[i]++; wd.w.entries[k].moved == e.MoveStamp {
				served[i]++
				since[i] = 0
			} else {
				stale++
			}
			worst = max(worst, since[i])
		}
		if spent := wd.w.size(); stale > 0 && spent < budget {
			wd.t.Fatalf("%d bytes of %d are used, and the places of %d are stale", spent, budget, stale)
		}
	}
	return served, worst
}

func total(packets [][]byte) (bytes int) {
	for _, p := range packets {
		bytes += len(p)
	}
	return bytes
}

// still brings as many into the circle as it follows, who never have anything to tell: all others
// are behind them.
func (wd *world) still() {
	for i := range followed {
		wd.w.Enter(wd.subject(newEntity(wd.def, entity.ID(1000+i), 1, 1, 0)))
	}
	wd.w.Update(wd.watcher, wd.tick, nil, true)
	wd.tick++
}

// With room for a few of a hundred, turns fall with distance as steps grow: turns times step is
// about the same for everyone.
func TestSharesByDistance(t *testing.T) {
	wd := crowd(t, Config{BytesPerTick: 180, MaxWait: 100_000}, 100, 5)
	const ticks = 4000
	served, _ := wd.turns(ticks)
	weight := func(i int) float64 {
		return float64(served[i]) * float64(wd.w.step(&wd.w.entries[i], square(5*float32(i+1))))
	}
	for i, n := range served {
		if i < promised {
			continue // it has more: see circle.go
		}
		if share := weight(i) / weight(50); share < 0.8 || share > 1.2 {
			t.Errorf("the entity at %d m has %d turns: %.2f of its share", 5*(i+1), n, share)
		}
	}
	if served[0] < 8*served[99] {
		t.Errorf("%d turns at 5 m, %d at 500 m", served[0], served[99])
	}
}

// In a crowd of 2,000 on 300 by 300 m who all walk, at 20 kbit/s, a client is told of the nearest twenty
// within 300 ms and of everyone within 30 s (row E7 of the design).
func TestPackedCrowdByDistance(t *testing.T) {
	const players, side, nearest = 2000, 300, 20
	d, rng := testDefinition(t), rand.New(rand.NewPCG(1, 1))
	watcher, w := newEntity(d, players+1, 1, side/2, side/2), New(Config{BytesPerTick: 250})
	all := make([]*Subject, players)
	for i := range all {
		all[i] = &Subject{Entity: newEntity(d, entity.ID(i+1), 1, rng.Float32()*side, rng.Float32()*side)}
		w.Enter(all[i])
	}
	byDistance := slices.Clone(all)
	w.Update(watcher, 1, nil, true)
	told := make([]uint64, players+1) // by id, when
	var near []int
	worst := 0
	for tick := uint64(100); tick < 1500; tick++ {
		for i, s := range all {
			p := s.Entity.Position
			p.X += 0.5 - float32((tick/100+uint64(i))%2) // to and fro
			s.Entity.MoveTo(tick, p, property.Vector3{X: float32(i)})
		}
		w.Saw(&protocol.Seen{Bundle: w.number, Packet: max(w.moves.number, 1) - 1, Earlier: 1<<32 - 1})
		w.Update(watcher, tick, nil, false)
		for _, x := range w.moves.told {
			told[w.entries[x.entry].a.id] = tick
		}
		if tick < 600 || tick%7 != 0 {
			continue
		}
		slices.SortFunc(byDistance, func(a, b *Subject) int {
			return cmp.Compare(property.Distance(a.Entity.Position, watcher.Position), property.Distance(b.Entity.Position, watcher.Position))
		})
		for i, s := range byDistance {
			age := int(tick - told[s.Entity.ID])
			if worst = max(worst, age); i < nearest {
				near = append(near, age)
			}
		}
	}
	slices.Sort(near)
	if median, most := near[len(near)/2], near[len(near)*99/100]; median > 1 || most > 3 {
		t.Errorf("the places of the nearest are %d ticks old, one in a hundred more than %d", median, most)
	}
	if worst > DefaultMaxWait {
		t.Errorf("somebody's place is %d ticks old", worst)
	}
}

func TestNobodyStarves(t *testing.T) {
	const wait = 40
	for _, x := range []struct {
		budget, many int
		pays         bool // for all of them within the wait
	}{{1, 60, false}, {70, 60, true}, {300, 60, true}, {140, 300, false}, {300, 300, true}} {
		wd := crowd(t, Config{BytesPerTick: x.budget, MaxWait: wait}, x.many, 480/float32(x.many))
		_, worst := wd.turns(600 + 60_000/x.many)
		limit := wait
		if !x.pays {
			limit += x.many // it waits at most for all the others that are late: one a tick is certain to be served
		}
		if worst > limit {
			t.Errorf("budget %d, %d in view: one waited %d ticks, want at most %d", x.budget, x.many, worst, limit)
		}
	}
}

// Direct messages above the budget still leave the queue its late entries.
func TestDirectMessagesDoNotStarveTheQueue(t *testing.T) {
	wd := crowd(t, Config{BytesPerTick: 100, MaxWait: 20}, 5, 10)
	direct := make([]byte, 1000)
	for _, e := range wd.all {
		set(t, e, hp, 77)
	}
	for range 30 {
		wd.w.Update(wd.watcher, wd.tick, direct, false)
	}
	if n := wd.w.Pending(wd.watcher); n != 0 {
		t.Errorf("%d pending", n)
	}
}

// Over many ticks the budget holds, whatever the size of single messages.
func TestBudgetHolds(t *testing.T) {
	for _, budget := range []int{222, 450, 700} { // room for fewer than a hundred places, so that there is always more to say
		wd := crowd(t, Config{BytesPerTick: budget}, 100, 4)
		const ticks = 2000
		sum := 0
		for range ticks {
			wd.everyoneMoves()
			for _, e := range wd.all {
				if wd.rng.IntN(20) == 0 {
					set(t, e, hp, wd.rng.Uint64N(1<<32))
				}
			}
			b, p := wd.w.Update(wd.watcher, wd.tick, nil, false)
			sum += len(b) + total(p)
			wd.tick++
		}
		// Headers of the bundle and the packet are not counted: some bytes each.
		if perTick := sum / ticks; perTick > budget+8 || perTick < budget*9/10 {
			t.Errorf("budget %d: %d bytes a tick", budget, perTick)
		}
	}
}

// When a crowd enters at once, the nearest come first.
func TestNearestEnterFirst(t *testing.T) {
	wd := newWorld(t, Config{BytesPerTick: 100}, 1, 0)
	for i := range 20 {
		wd.all = append(wd.all, newEntity(wd.def, entity.ID(100-i), 1, float32(i), 0))
		wd.w.Enter(wd.subject(wd.all[i]))
	}
	var order []string
	for wd.w.Pending(wd.watcher) > 0 {
		wd.update(false)
		for _, l := range wd.client.log {
			if l[:3] == "ent" {
				order = append(order, l)
			}
		}
	}
	for i, l := range order {
		if want := fmt.Sprint("enter ", 100-i); l != want {
			t.Fatalf("order %v", order)
		}
	}
}

// An entry that was idle or is new takes a share from now on; it does not catch up on what it did
// not take before.
func TestIdlenessSavesNothingUp(t *testing.T) {
	wd := crowd(t, Config{BytesPerTick: 150}, 50, 0)
	for _, e := range wd.all {
		e.Position.X = 100
	}
	everyone := wd.all
	wd.all = everyone[:49]
	wd.turns(1000)
	late := newEntity(wd.def, 51, 1, 100, 0)
	wd.w.Enter(wd.subject(late))
	wd.all = append(everyone, late)
	served, _ := wd.turns(100)
	for _, i := range []int{49, 50} {
		if n := served[i]; n < served[0]/2 || n > served[0]*2 {
			t.Errorf("entity %d has %d turns in its first 100 ticks, one that was always there %d", i+1, n, served[0])
		}
	}
}

func TestStillTickAllocatesNothing(t *testing.T) {
	wd := crowd(t, Config{}, 100, 2)
	if n := testing.AllocsPerRun(100, func() {
		wd.tick++
		if b, p := wd.w.Update(wd.watcher, wd.tick, nil, false); b != nil || p != nil {
			t.Fatal("a still world has news")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if wd.w.deficit != 0 || wd.w.queue.on {
		t.Error("idle entities were queued")
	}
}

func TestBusyTickAllocatesNothing(t *testing.T) {
	wd, change := crowd(t, Config{}, 100, 2), property.Change{Index: hp}
	tick := func() {
		wd.everyoneMoves()
		for _, e := range wd.all[:10] {
			e.History.Record(e.Props, &change)
		}
		wd.w.Update(wd.watcher, wd.tick, nil, false)
		wd.tick++
	}
	for range 50 {
		tick()
	}
	if n := testing.AllocsPerRun(100, tick); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Whoever was far away and comes near does not wait for the turn that it has from there.
func TestWhoComesNearIsHastened(t *testing.T) {
	wd := crowd(t, Config{BytesPerTick: 60}, 100, 5)
	wd.turns(100)
	far := wd.all[99]
	k, _ := wd.w.find(far.ID)
	far.Position.X = 1
	turn := wd.w.entries[k].at.ahead(wd.w.queue.now)
	for range patrolTicks {
		wd.turns(1)
		if k, _ = wd.w.find(far.ID); wd.w.entries[k].at.ahead(wd.w.queue.now) < turn/100 {
			return
		}
	}
	t.Errorf("it waits for %d more", wd.w.entries[k].at.ahead(wd.w.queue.now))
}
