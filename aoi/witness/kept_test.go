package witness

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/property"
)

// leaves has an entity leave and demands what the client is told.
func (wd *world) leaves(e *presence.Entity, want ...string) {
	wd.t.Helper()
	wd.w.Leave(e.ID)
	delete(wd.within, e.ID)
	wd.tell(want...)
}

func (wd *world) enters(e *presence.Entity, want ...string) {
	wd.t.Helper()
	wd.w.Enter(wd.subject(e))
	wd.within[e.ID] = true
	wd.tell(want...)
}

func TestReturnSaysWhatHasChanged(t *testing.T) {
	wd, e := scene(t)
	wd.leaves(e, "keep 7")
	wd.enters(e, "return 7")
	wd.settle(0)

	wd.watcher.Position.X = 45
	wd.tell("change 7", "set badge")
	wd.watcher.Position.X = 0
	wd.tell()
	wd.leaves(e, "keep 7")
	set(t, e, hp, 5)
	set(t, e, badge, 5) // which is out of sight then
	call(e, jump, 1)    // a call is not state
	wd.enters(e, "return 7", "set hp")
	wd.watcher.Position.X = 45
	wd.tell("change 7", "set badge")
	if calls := wd.client.has[7].calls; len(calls) != 0 {
		t.Errorf("the client heard %v, which was said while it was away", calls)
	}
	wd.settle(0)
}

// What is kept travels with the witness, and what the client was told on one cell counts on the next,
// with a copy that is behind, too.
func TestKeptTravels(t *testing.T) {
	wd, e := scene(t)
	behind := ghostOf(t, e)
	set(t, e, hp, 5)
	wd.tell("change 7", "set hp")
	wd.leaves(e, "keep 7")
	next := New(Config{})
	r := codec.NewReader(wd.w.Append(nil))
	if next.Read(&r); r.Close() != nil || !equalState(next, wd.w) {
		t.Fatal("a witness differs after Append and Read")
	}
	wd.w = next
	wd.enters(behind, "return 7") // it has the older hp
	if got := wd.client.has[7].held.Get(hp); got.Uint() != 5 {
		t.Errorf("the client's hp went back to %v", got)
	}
	wd.w.Enter(wd.subject(ghostOf(t, e)))
	wd.tell()
}

func TestAnotherIncarnationIsNotKept(t *testing.T) {
	wd, e := scene(t)
	wd.leaves(e, "keep 7")
	again := newEntity(wd.def, 7, 2, 50, 0)
	wd.all[0] = again
	wd.enters(again, "enter 7", "set name", "set weapon", "set hp")
	wd.leaves(again, "keep 7") // in the slot of the one before
	if n := len(wd.client.kept); n != 1 {
		t.Errorf("the client keeps %d entities of one id", n)
	}
	wd.enters(again, "return 7")

	third := newEntity(wd.def, 7, 3, 50, 0)
	wd.w.Enter(wd.subject(third)) // in sight: the one that goes is of no use
	wd.all[0] = third
	wd.tell("leave 7", "enter 7", "set name", "set weapon", "set hp")
	wd.settle(0)
}

// Those that left first are dropped, when there are too many or they are too large.
func TestKeptIsBounded(t *testing.T) {
	wd := newWorld(t, Config{BytesPerTick: 1 << 20}, 1, 0)
	const many = protocol.MaxKept + 50
	for i := range many {
		e := newEntity(wd.def, entity.ID(i+1), 1, 50, 0)
		wd.all = append(wd.all, e)
		wd.w.Enter(wd.subject(e))
	}
	wd.update(false)
	for _, e := range wd.all {
		wd.w.Leave(e.ID)
		wd.update(false)
	}
	if n := len(wd.client.kept); n != protocol.MaxKept {
		t.Fatalf("the client keeps %d", n)
	}
	for _, e := range wd.all {
		wd.w.Enter(wd.subject(e))
		wd.within[e.ID] = true
	}
	wd.update(false)
	if wd.client.returned != protocol.MaxKept || len(wd.client.has) != many {
		t.Fatalf("%d of %d have returned", wd.client.returned, len(wd.client.has))
	}
	wd.settle(0)

	const large = maxKeptOne / 2
	for i, e := range wd.all[:20] {
		long := strings.Repeat("x", large)
		if i == 3 {
			long = strings.Repeat("x", maxKeptOne)
		}
		if err := e.Props.Set(name, property.StringValue(long)); err != nil {
			t.Fatal(err)
		}
	}
	wd.update(false)
	for _, e := range wd.all[:20] {
		wd.w.Leave(e.ID)
		delete(wd.within, e.ID)
		wd.update(false)
		kept := 0
		for _, r := range wd.client.kept {
			for _, v := range r.props {
				kept += len(v)
			}
		}
		if wd.client.kept[uint8(0)] != nil && kept > MaxKeptBytes {
			t.Fatalf("the client keeps %d bytes", kept)
		}
	}
	if n := len(wd.client.kept); n != MaxKeptBytes/large-1 {
		t.Errorf("the client keeps %d large ones", n)
	}
	wd.settle(0)
}

// A crowd walks to and fro over the edge of a player's area of interest. Each has some 200 bytes of
// properties, and one in ten changes a property while it is away.
// Who left first is dropped first, whoever came back meanwhile; and what that takes to know is bounded.
func TestOldestIsDropped(t *testing.T) {
	type leaver struct {
		id   entity.ID
		slot int
	}
	var (
		k      kept
		twin   []leaver // who is kept, the oldest first
		chance = rand.New(rand.NewPCG(1, 1))
		far    = &entry{a: new(account)}
	)
	without := func(slot int) { twin = slices.DeleteFunc(twin, func(l leaver) bool { return l.slot == slot }) }
	for round := range 20_000 {
		if few := round/5_000%2 == 1; few && len(twin) > 0 { // as many come back as leave
			slot := twin[chance.IntN(len(twin))].slot
			k.empty(slot)
			without(slot)
		}
		far.a.id = entity.ID(1 + chance.IntN(400))
		size := 1 + chance.IntN(600)
		slot, drop := k.room(far.a.id, size)
		twin = slices.DeleteFunc(twin, func(l leaver) bool { return l.id == far.a.id }) // it is kept anew
		for _, dropped := range drop {
			if oldest := twin[0].slot; oldest != int(dropped) {
				t.Fatalf("round %d: slot %d is dropped, not %d", round, dropped, oldest)
			}
			without(int(dropped))
		}
		if i := slices.IndexFunc(twin, func(l leaver) bool { return l.slot == slot }); i > 0 {
			t.Fatalf("round %d: slot %d is taken, and %d others left before", round, slot, i)
		}
		without(slot)
		k.put(slot, far, size)
		twin = append(twin, leaver{far.a.id, slot})
		if k.used != len(twin) || k.bytes > MaxKeptBytes || len(k.line) > 2*protocol.MaxKept {
			t.Fatalf("round %d: %d are kept with %d bytes, %d stand in line; want %d", round, k.used, k.bytes, len(k.line), len(twin))
		}
	}
}

func TestKeptSavesBytes(t *testing.T) {
	walk := func(off bool) (bundles, packets int) {
		d := testDefinition(t, &property.Property{Name: "look", Type: property.Scalar(property.KindString), Flags: property.OtherClients})
		wd := newWorldOf(t, d, Config{MaxRadius: aoiRadius}, 1, 0)
		wd.w.kept.off = off
		for i := range 60 {
			e := newEntity(d, entity.ID(1<<32+i), 1, 0, 0)
			if err := e.Props.Load(extra, property.StringValue(strings.Repeat("dress", 37))); err != nil {
				t.Fatal(err)
			}
			wd.all = append(wd.all, e)
		}
		crossings := 0
		for tick := range 4000 {
			for i, e := range wd.all { // 5 m/s, within 20 m of the edge
				phase := float64(tick+i*7) / 160 * 2 * math.Pi
				angle := float64(i) / 60 * 2 * math.Pi
				radius := float64(aoiRadius) + 20*math.Sin(phase)
				e.MoveTo(wd.tick, property.Vector3{X: float32(radius * math.Cos(angle)), Z: float32(radius * math.Sin(angle))}, property.Vector3{X: float32(angle)})
				if !wd.within[e.ID] && (tick+i)%800 == 0 {
					set(t, e, hp, uint64(tick))
				}
			}
			before := len(wd.within)
			wd.interest()
			crossings += max(0, len(wd.within)-before)
			wd.w.Saw(&protocol.Seen{Bundle: wd.w.number, Packet: wd.w.moves.number, Earlier: 1<<32 - 1})
			b, p := wd.w.Update(wd.watcher, wd.tick, nil, false)
			wd.tick++
			wd.client.bundle(b)
			if tick >= 200 { // when everybody has been met
				bundles += len(b)
				packets += total(p)
			}
			wd.client.packets(p)
		}
		wd.settle(10)
		t.Logf("kept %v: %d bytes in bundles for some %d crossings in, %d in packets", !off, bundles, crossings, packets)
		return bundles, packets
	}
	with, places := walk(false)
	without, _ := walk(true)
	t.Logf("%.1f times fewer bytes in bundles, %.1f in all", float64(without)/float64(with), float64(without+places)/float64(with+places))
	if with*9 > without { // a tenth was asked for when an Enter was fifteen bytes longer
		t.Errorf("with what the client keeps, a walk to and fro takes %d bytes of %d", with, without)
	}
}

func BenchmarkKeepAndReturn(b *testing.B) {
	wd := crowd(b, Config{}, 100, 2)
	s := wd.subject(wd.all[50])
	b.ReportAllocs()
	for b.Loop() {
		wd.w.Leave(s.Entity.ID)
		wd.w.Update(wd.watcher, wd.tick, nil, false)
		wd.w.Enter(s)
		wd.w.Saw(&protocol.Seen{Bundle: wd.w.number, Packet: wd.w.moves.number})
		wd.w.Update(wd.watcher, wd.tick, nil, false)
	}
}

// Whoever is no more is not kept, also if it had left before.
func TestGoneIsForgotten(t *testing.T) {
	wd, e := scene(t)
	delete(wd.within, e.ID)
	wd.w.Gone(7)
	wd.tell("leave 7")
	wd.w.Gone(7)
	wd.enters(e, "enter 7", "set name", "set weapon", "set hp")
	delete(wd.within, e.ID)
	wd.w.Leave(7)
	wd.w.Gone(7)
	wd.tell("leave 7")
	wd.settle(0)
}
