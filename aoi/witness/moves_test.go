package witness

import (
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// Where 300 entities move around a player, the default configuration tells of each of them in each
// tick, in packets that the channel takes.
func TestDefaultsServeACrowd(t *testing.T) {
	for _, most := range []int{920, 1116, 1400} {
		wd := crowd(t, Config{}, 300, 0.3)
		wd.w.SetMaxPacket(most)
		for range 50 {
			wd.everyoneRuns()
			b, packets := wd.w.Update(wd.watcher, wd.tick, nil, false)
			wd.tick++
			told := map[entity.ID]bool{}
			for _, p := range packets {
				if len(p) > most {
					t.Fatalf("a packet of %d bytes, at most %d go", len(p), most)
				}
				for _, id := range wd.ids(p) {
					told[id] = true
				}
			}
			if len(told) != 300 || b != nil {
				t.Fatalf("%d of 300 are told of, in %d bytes", len(told), total(packets))
			}
			if want := (total(packets) + most - 1) / most; len(packets) > want+1 {
				t.Fatalf("%d packets for %d bytes, %d a packet", len(packets), total(packets), most)
			}
		}
	}
}

// everyoneRuns is everyoneMoves for entities that face the way they go.
func (wd *world) everyoneRuns() {
	for _, e := range wd.all {
		p := e.Position
		p.Z += wd.rng.Float32() - 0.5
		e.MoveTo(wd.tick, p, property.Vector3{X: wd.rng.Float32()})
	}
}

// ids lists the entities that a packet tells of.
func (wd *world) ids(packet []byte) (all []entity.ID) {
	wd.t.Helper()
	err := protocol.Positions(packet, func(_ *protocol.PacketHead, m *protocol.Moved) {
		for i := range wd.w.entries {
			if en := &wd.w.entries[i]; en.a != nil && uint32(en.alias) == m.Alias {
				all = append(all, en.a.id)
			}
		}
	})
	if err != nil {
		wd.t.Fatal(err)
	}
	return all
}

// What could not be sent is told next, among the first; what was sent is not told again.
func TestUnsentIsStillToBeTold(t *testing.T) {
	wd := crowd(t, Config{BytesPerTick: 400, MaxDeficit: 1}, 100, 2)
	wd.w.SetMaxPacket(100)
	wd.turns(20)
	wd.everyoneMoves()
	_, packets := wd.w.Update(wd.watcher, wd.tick, nil, false)
	if len(packets) < 3 {
		t.Fatalf("%d packets", len(packets))
	}
	lost := wd.ids(packets[1])
	sent := append(wd.ids(packets[0]), wd.ids(packets[2])...)
	wd.w.Unsent(1)
	for _, id := range lost {
		if en := wd.entry(id); en.moved == en.entity().MoveStamp {
			t.Errorf("%v is marked as told", id)
		}
	}
	for _, id := range sent {
		if en := wd.entry(id); en.moved != en.entity().MoveStamp {
			t.Errorf("%v was told, and is not marked", id)
		}
	}
	wd.tick++
	_, packets = wd.w.Update(wd.watcher, wd.tick, nil, false)
	var next []entity.ID
	for _, p := range packets {
		next = append(next, wd.ids(p)...)
	}
	for _, id := range lost {
		if !slices.Contains(next, id) {
			t.Errorf("%v are told next: %v could not be sent and is not among them", next, id)
		}
	}
}

func (wd *world) entry(id entity.ID) *entry {
	i, _ := wd.w.find(id)
	return &wd.w.entries[i]
}

// movesUnsent has everyone move for some ticks, of which no packet could be sent.
func (wd *world) movesUnsent(ticks int) {
	for range ticks {
		wd.everyoneMoves()
		_, packets := wd.w.Update(wd.watcher, wd.tick, nil, false)
		for i := range packets {
			wd.w.Unsent(i)
		}
		wd.tick++
	}
}

// When a channel takes nothing for a while, everyone is told of once it does again, and no place is
// told twice then.
func TestUnsentForLong(t *testing.T) {
	wd := crowd(t, Config{}, 100, 2)
	wd.movesUnsent(50)
	if wd.w.Pending(wd.watcher) != 100 {
		t.Errorf("%d are pending", wd.w.Pending(wd.watcher))
	}
	_, packets := wd.w.Update(wd.watcher, wd.tick, nil, false)
	n := 0
	for _, p := range packets {
		n += len(wd.ids(p))
	}
	if _, again := wd.w.Update(wd.watcher, wd.tick, nil, false); n != 100 || again != nil {
		t.Errorf("%d of 100 were told, then %x", n, again)
	}
}

// Whoever could not be sent has still waited: what was picked for a packet that did not go keeps its wait.
func TestUnsentKeepsItsWait(t *testing.T) {
	wd := crowd(t, Config{BytesPerTick: 60}, 100, 2)
	wd.movesUnsent(15)
	for i := range wd.w.entries {
		if n := wd.w.waited(&wd.w.entries[i]); n < 14 {
			t.Fatalf("%v was not sent 15 times, and has waited for %d", wd.w.entries[i].a.id, n)
		}
	}
}

// A client that is told all bundles anew, and no packet, holds older places than it had seen: until it has seen
// one again, places are told whole.
func TestDoubt(t *testing.T) {
	wd := newWorld(t, Config{}, 1, 0)
	e := newEntity(wd.def, 7, 1, 50, 0)
	wd.all, wd.within[7] = append(wd.all, e), true
	wd.w.Enter(wd.subject(e))
	wd.deliver()
	first := *wd.client.has[7]
	step := func() {
		e.MoveTo(wd.tick, property.Vector3{X: e.Position.X + 1}, property.Vector3{})
		wd.deliver()
	}
	for range 30 {
		step()
	}
	wd.w.Doubt()
	wd.client.has[7].place, wd.client.has[7].packet = first.place, 0
	for range 3 {
		step()
		if far := property.Distance(wd.client.has[7].place.Position, e.Position); far > 0.1 {
			t.Fatalf("the client has it %v m off", far)
		}
	}
	if n := wd.deliver(); n > 0 {
		t.Errorf("%d bytes of places of who stands", n)
	}
}
