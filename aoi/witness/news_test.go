package witness

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// risingDefinition is the Walker with an unreliable number, one that is seen within 20 m, and an
// unreliable text.
func risingDefinition(t testing.TB) *property.Definition {
	u32 := property.Scalar(property.KindUint32)
	return testDefinition(t,
		&property.Property{Name: rising, Type: u32, Flags: property.OtherClients, Unreliable: true},
		&property.Property{Name: "glow", Type: u32, Flags: property.OtherClients, Unreliable: true, Detail: "NEAR"},
		&property.Property{Name: "long", Type: property.Scalar(property.KindString), Flags: property.AllClients, Unreliable: true})
}

const (
	glow = extra + 1
	long = extra + 2
)

func risingScene(t *testing.T) (*world, *presence.Entity) {
	wd := newWorldOf(t, risingDefinition(t), Config{}, 1, 0)
	e := newEntity(wd.def, 7, 1, 50, 0)
	wd.all, wd.within[e.ID] = append(wd.all, e), true
	wd.w.Enter(wd.subject(e))
	wd.tell("enter 7", "set name", "set weapon", "set hp", "set rising", "set long")
	return wd, e
}

// hears demands what packets have brought.
func (wd *world) hears(want ...string) {
	wd.t.Helper()
	if !slices.Equal(wd.client.heard, want) {
		wd.t.Fatalf("packets told %q, want %q", wd.client.heard, want)
	}
	wd.client.heard = nil
}

// A change goes once in a packet, and when the property has rested, once in a bundle.
func TestNews(t *testing.T) {
	wd, e := risingScene(t)
	set(t, e, extra, 1)
	call(e, wave, 5)
	call(e, jump, 6)
	wd.tell("call 7 6")
	wd.hears("set 7 rising", "call 7 5")
	if wd.w.Pending(wd.watcher) != 1 {
		t.Error("a value that may be lost is not pending")
	}
	set(t, e, extra, 2)
	wd.tell()
	wd.hears("set 7 rising")
	wd.tell()
	wd.hears()
	wd.tell("change 7", "set rising")
	wd.hears()
	wd.settle(0)
}

// What was lost is not sent again, and what could not be sent is; a call is lost either way.
func TestNewsLost(t *testing.T) {
	wd, e := risingScene(t)
	set(t, e, extra, 1)
	call(e, wave, 5)
	if _, packets := wd.w.Update(wd.watcher, wd.tick, nil, false); len(packets) != 1 {
		t.Fatal(len(packets))
	}
	wd.w.Unsent(0)
	wd.tick++
	wd.tell()
	wd.hears("set 7 rising")
	set(t, e, extra, 2)
	wd.w.Update(wd.watcher, wd.tick, nil, false) // lost
	wd.tick++
	wd.tell()
	wd.hears()
	wd.tell("change 7", "set rising")
	wd.settle(0)
}

// A packet of before never replaces what a bundle has told, nor a bundle of before what a packet has.
func TestNewsOutOfOrder(t *testing.T) {
	wd, e := risingScene(t)
	packet := func(v uint64) []byte {
		set(t, e, extra, v)
		b, p := wd.w.Update(wd.watcher, wd.tick, nil, false)
		wd.tick++
		if b != nil || len(p) != 1 {
			t.Fatal(len(b), len(p))
		}
		return slices.Clone(p[0])
	}
	first, second := packet(1), packet(2)
	wd.client.packet(second)
	wd.client.packet(first)
	wd.hears("set 7 rising")
	third := packet(3)
	wd.tell()
	wd.tell("change 7", "set rising")
	wd.client.packet(third) // late
	wd.hears()

	packet(4) // lost
	wd.w.Update(wd.watcher, wd.tick, nil, false)
	b, _ := wd.w.Update(wd.watcher, wd.tick+1, nil, false) // it has rested
	bundle := slices.Clone(b)
	wd.tick += 2
	wd.client.packet(packet(5)) // ahead of the bundle
	wd.hears("set 7 rising")
	wd.client.bundle(bundle)
	if fmt.Sprint(wd.client.log) != "[change 7]" {
		t.Error(wd.client.log)
	}
	wd.tell()
	wd.tell("change 7", "set rising")
	wd.settle(0)
}

// What no packet takes, and what the client has never had, goes reliably at once.
func TestNewsThatGoReliably(t *testing.T) {
	wd, e := risingScene(t)
	wd.w.SetMaxPacket(MinPacket)
	if err := e.Props.Set(long, property.StringValue("more than a packet takes: more than a packet takes")); err != nil {
		t.Fatal(err)
	}
	wd.tell("change 7", "set long")
	set(t, e, glow, 1)
	wd.tell()
	e.MoveTo(wd.tick, property.Vector3{X: 5}, property.Vector3{})
	wd.tell("change 7", "set badge", "set glow")
	set(t, e, glow, 2)
	wd.tell()
	wd.hears("set 7 glow")
	set(t, e, glow, 3)
	if b, p := wd.w.Update(wd.watcher, wd.tick, nil, true); len(b) == 0 || len(p) != 0 {
		t.Error("without a budget nothing is to be left to packets")
	}
}

// A watcher that is far behind is owed the newest value and nothing else, and no unreliable call has it
// meet the entity anew.
func TestNewsOfLongAgo(t *testing.T) {
	wd, e := risingScene(t)
	for i := range uint64(3 * property.MaxHistory) {
		set(t, e, extra, i+1)
		call(e, wave, uint32(i))
		e.Floor = e.History.Last()
		wd.w.HoldHistory()
		e.History.Trim(e.Floor)
	}
	if b, p := wd.w.Update(wd.watcher, wd.tick, nil, false); len(b) > 0 || len(p) == 0 {
		t.Errorf("%d bytes of bundle and %d packets", len(b), len(p))
	}
	wd.tick++
	wd.tell()
	wd.tell("change 7", "set rising")
	wd.settle(0)
}

// A copy that is behind what another cell has told does not take the client back.
func TestNewsOfACopyBehind(t *testing.T) {
	wd, e := risingScene(t)
	set(t, e, extra, 1)
	behind := ghostOf(t, e)
	behind.Props.SetHolder(nil)
	set(t, e, extra, 2)
	wd.tell()
	wd.hears("set 7 rising")
	wd.handTo(behind)
	wd.all[0] = behind
	for range 5 {
		wd.tell()
		wd.hears()
	}
	c := property.Change{Index: extra, New: property.Uint(2)}
	if err := behind.Props.Load(extra, property.Uint(2)); err != nil {
		t.Fatal(err)
	}
	if err := behind.History.Repeat(behind.History.Next(), behind.Props, &c); err != nil {
		t.Fatal(err)
	}
	wd.tell()
	wd.tell()
	wd.tell("change 7", "set rising")
	wd.settle(0)
}

// Whoever was kept comes back with the newest value.
func TestNewsOfTheKept(t *testing.T) {
	wd, e := risingScene(t)
	set(t, e, extra, 1)
	wd.tell()
	wd.w.Leave(7)
	wd.tell("keep 7")
	set(t, e, extra, 2)
	wd.w.Enter(wd.subject(e))
	wd.tell("return 7", "set rising")
	wd.client.heard = nil
	wd.settle(0)
}

// This is promise 5 with unreliable properties, while packets are lost and late.
func TestConvergesWithNews(t *testing.T) {
	for _, budget := range []int{60, 222, 2000} {
		for seed := range uint64(20) {
			t.Run(fmt.Sprintf("budget %d seed %d", budget, seed), func(t *testing.T) {
				wd := newWorldOf(t, risingDefinition(t), Config{BytesPerTick: budget, MaxRadius: aoiRadius}, seed, 30)
				for round := range 4 {
					for range 60 {
						wd.act()
						wd.interest()
						wd.update(wd.rng.IntN(50) == 0)
						if round > 0 && wd.rng.IntN(25) == 0 {
							wd.handoff()
						}
					}
					wd.interest()
					wd.settle(2000)
				}
			})
		}
	}
}

// News take no memory once there is some.
func TestNewsDoNotAllocate(t *testing.T) {
	wd, e := risingScene(t)
	v := uint64(0)
	tick := func() {
		v++
		set(t, e, extra, v)
		wd.w.Update(wd.watcher, wd.tick, nil, false)
		wd.tick++
	}
	for range 20 {
		tick()
	}
	if n := testing.AllocsPerRun(100, tick); n > 1 { // Set makes a Change
		t.Errorf("%v allocations a tick", n)
	}
}
