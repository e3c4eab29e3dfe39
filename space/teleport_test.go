package space

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// room makes a space of one cell on app k, which the manager knows of.
func (r *rig) room(k int, in entity.SpaceID) *Cell {
	a := r.apps[k-1]
	c := a.population.NewCell(r.now, r.now, in, cellID(50+int(in)), bsp.New(bsp.Version{Term: 1, N: 1}, bsp.Leaf{
		Cell: cellID(50 + int(in)), App: a.self.At, Salt: a.self.Salt, Created: true,
	}), nil)
	before := r.locate
	r.locate = func(from *testApp, id entity.ID, space entity.SpaceID, at property.Vector3) {
		if space != in {
			before(from, id, space, at)
			return
		}
		from.population.Located(id, space, a.self, false)
	}
	if before == nil {
		before = func(from *testApp, id entity.ID, space entity.SpaceID, _ property.Vector3) {
			from.population.Located(id, space, mercury.Address{}, true) // there is no other
		}
	}
	return c.Cell
}

func at(x float32) property.Vector3 { return property.Vector3{X: x} }

func (r *rig) teleport(id entity.ID, to entity.Destination, user int64) {
	r.t.Helper()
	if err := r.real(id).Teleport(to, user); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) stands(id entity.ID, app int, in entity.SpaceID, x float32) {
	r.t.Helper()
	switch got := r.real(id); {
	case got == nil:
		r.t.Errorf("no real of %d", id)
	case got.cell.self != addr(app) || got.Space() != in || got.e.Space != in || got.Position().X != x:
		r.t.Errorf("%d stands on %v in space %d at %v, want app %d, space %d, x %v", id, got.cell.self, got.Space(), got.Position(), app, in, x)
	}
}

// An entity goes to another space, on another CellApp and on its own, and back, with what belongs to
// it. Nothing of it stays behind.
func TestTeleportToSpace(t *testing.T) {
	for _, app := range []int{1, 2} {
		r := newRig(t, 2)
		r.room(app, 2)
		r.create(7, -20, 1)
		r.create(8, -30, 1)
		r.tick(5)
		if r.ghost(2, 7) == nil {
			t.Fatal("no ghost beyond the line")
		}
		r.avatar(7).Hp.Set(77)
		if _, err := r.real(7).AddTimer(tickPeriod*10, 0, "OnTimer", 5); err != nil {
			t.Fatal(err)
		}
		r.teleport(7, entity.Destination{Space: 2, Position: at(9)}, 3)
		r.tick(2)
		r.stands(7, app, 2, 9)
		if hp := r.avatar(7).Hp.Get(); hp != 77 {
			t.Errorf("hp is %d", hp)
		}
		for k, a := range r.apps {
			if rec := a.population.find(7); rec != nil && rec.real == nil {
				t.Errorf("app %d still has a ghost in space %d", k+1, rec.cell.space)
			}
		}
		r.call(7, hitMethod, arg(4)...)
		r.tick(12)
		r.diary(7, "created;client true;teleport 3;leaving;entering;entered;teleported 3;hit 4;timer 5;")
		r.teleport(7, entity.Destination{Space: 1, Position: at(-25)}, 4)
		r.tick(5)
		r.stands(7, 1, 1, -25)
		if r.ghost(2, 7) == nil {
			t.Error("no ghost beyond the line after the return")
		}
		r.calm()
	}
}

// An entity leaps within its space: on its own cell, to another cell near and far.
func TestTeleportWithin(t *testing.T) {
	r := newRig(t, 3)
	r.create(7, -20, 1)
	r.tick(5)
	r.teleport(7, entity.Destination{Position: at(-500)}, 1)
	r.tick(1)
	r.stands(7, 1, 1, -500)
	r.teleport(7, entity.Destination{Position: at(600)}, 2)
	r.tick(3)
	r.stands(7, 3, 1, 600)
	r.diary(7, "created;client true;teleport 1;teleported 1;teleport 2;leaving;entering;entered;teleported 2;")
	r.calm()
	if r.ghost(1, 7) != nil {
		t.Error("its ghost stays where nobody is near")
	}
}

// fullRoom is a world with a room, space 2, that takes one real: 9 is in it.
func fullRoom(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, 2, func(c *Config) { c.MaxReals = 1 })
	r.room(2, 2)
	r.create(9, -30, 0)
	r.tick(1)
	r.teleport(9, entity.Destination{Space: 2, Position: at(1)}, 1)
	r.tick(3)
	return r
}

// A refusal leaves all as it was: place, properties, timers, flows, the client's view, ghosts.
func TestTeleportRefused(t *testing.T) {
	r := fullRoom(t)
	r.stands(9, 2, 2, 1)
	r.create(7, -20, 1)
	r.create(8, -30, 1)
	r.tick(5)
	if _, err := r.real(7).AddTimer(tickPeriod*10, 0, "OnTimer", 5); err != nil {
		t.Fatal(err)
	}
	order := r.real(7).Order()
	r.bases[8].got = nil
	r.hold = func(p packet) bool { _, is := p.m.(*migrate.OnloadRefused); return is }
	r.teleport(7, entity.Destination{Space: 2, Position: at(9)}, 3)
	r.tick(2)
	if r.real(7) != nil || r.ghost(1, 7) == nil || r.ghost(2, 7) == nil {
		t.Fatal("the real has not left, or its ghosts have gone")
	}
	r.call(7, hitMethod, arg(4)...)
	r.tick(25) // it is asked again
	r.hold = nil
	r.tick(10)
	r.stands(7, 1, 1, -20)
	if got := r.real(7).Order(); got.Hop != order.Hop+2 || got.Incarnation != order.Incarnation {
		t.Errorf("it came back at %v, left at %v", got, order)
	}
	r.diary(7, "created;client true;teleport 3;leaving;entering;entered;stays 3: full;hit 4;timer 5;")
	if list, _ := r.bundles(8); slices.Contains(list, protocol.LeaveID) || slices.Contains(list, protocol.KeepID) || slices.Contains(list, protocol.EnterID) {
		t.Errorf("who stood by was told %v", list)
	}
	if list, _ := r.bundles(7); slices.Contains(list, protocol.LeaveSpaceID) {
		t.Errorf("its client was told %v", list)
	}
	r.calm()
	r.real(9).Destroy()
	r.tick(1)
	r.teleport(7, entity.Destination{Space: 2, Position: at(9)}, 4)
	r.tick(3)
	r.stands(7, 2, 2, 9)
	r.calm()
}

// An Onload that was refused is refused again, also when there is room by now: the origin has the
// real.
func TestRefusalIsFinal(t *testing.T) {
	r := fullRoom(t)
	r.create(7, -20, 1)
	var sent *migrate.Onload
	r.arrive = func(p packet) {
		if m, is := p.m.(*migrate.Onload); is && m.ID == 7 {
			sent = m
		}
	}
	r.teleport(7, entity.Destination{Space: 2, Position: at(9)}, 3)
	r.tick(5)
	r.stands(7, 1, 1, -20)
	r.real(9).Destroy()
	r.tick(2)
	for range 2 {
		r.queue = append(r.queue, packet{addr(1), addr(2), sent})
		r.tick(1)
		r.stands(7, 1, 1, -20)
	}
}

// Scripts may veto, redirect and destroy; rules of the game and a full cell of the own app refuse; a
// second teleport has to wait.
func TestTeleportRules(t *testing.T) {
	r := newRig(t, 2)
	r.room(1, 2)
	r.room(2, 3)
	for id := entity.ID(1); id <= 6; id++ {
		r.create(id, -20, 1)
	}
	r.tick(2)
	r.avatar(1).ask = func(*entity.Destination) error { return errors.New("not now") }
	r.avatar(2).ask = func(to *entity.Destination) error { *to = entity.Destination{Space: 3, Position: at(5)}; return nil }
	r.avatar(3).ask = func(*entity.Destination) error { r.real(3).Destroy(); return nil }
	r.scripts.OnArrival(func(c *Cell, a Arrival) error {
		switch {
		case a.ID == 5 && c.Space() == 3:
			panic("rule")
		case a.ID >= 4 && c.Space() != a.From:
			return errors.New("no entry")
		}
		return nil
	})
	for id := entity.ID(1); id <= 5; id++ {
		r.teleport(id, entity.Destination{Space: 2 + entity.SpaceID(id/5), Position: at(1)}, int64(id))
		if err := r.real(id).Teleport(entity.Destination{Space: 2}, 0); !errors.Is(err, ErrTeleporting) {
			t.Errorf("a second teleport: %v", err)
		}
	}
	if err := r.real(6).Teleport(entity.Destination{Near: 6}, 0); err == nil {
		t.Error("near itself")
	}
	if err := r.real(6).Teleport(entity.Destination{Position: at(1e30)}, 0); err == nil {
		t.Error("beyond the world")
	}
	r.teleport(6, entity.Destination{Space: 44}, 6)
	r.tick(4)
	if r.real(3) != nil {
		t.Error("3 was not destroyed")
	}
	for id, want := range map[entity.ID]string{1: "stays 1: vetoed", 2: "teleported 2", 4: "stays 4: forbidden", 5: "stays 5: forbidden", 6: "stays 6: no such space"} {
		if got := r.avatar(id).Diary.Get(); !strings.Contains(got, want) {
			t.Errorf("the diary of %d is %q, want %q", id, got, want)
		}
	}
	r.stands(2, 2, 3, 5)
	r.stands(4, 1, 1, -20)
	if r.apps[1].count.Errors != 1 {
		t.Errorf("%d errors, want 1 for the panic", r.apps[1].count.Errors)
	}
}

// An entity goes near another one: on its cell, on another app, in another space.
func TestTeleportNear(t *testing.T) {
	r := newRig(t, 2)
	r.room(2, 2)
	r.create(7, -50, 1)
	r.create(8, 50, 1)
	r.create(9, -60, 1)
	r.tick(4)
	r.teleport(7, entity.Destination{Near: 9, Position: at(3)}, 1)
	r.tick(3)
	r.stands(7, 1, 1, -57)
	r.teleport(7, entity.Destination{Near: 8, Position: at(3)}, 2)
	r.tick(3)
	r.stands(7, 2, 1, 53)
	r.teleport(8, entity.Destination{Space: 2, Position: at(1)}, 1)
	r.tick(3)
	r.teleport(7, entity.Destination{Near: 8, Position: at(3)}, 3)
	r.tick(3)
	r.stands(7, 2, 2, 4)
	r.create(10, -300, 0) // nobody on the CellApp of 9 knows where 8 is but its base
	r.move(8, 390)
	r.teleport(10, entity.Destination{Near: 8, Position: at(3)}, 3)
	r.tick(4)
	r.stands(10, 2, 2, 393)
	r.teleport(9, entity.Destination{Near: 1234}, 5)
	r.tick(3)
	if got := r.avatar(9).Diary.Get(); !strings.HasSuffix(got, "stays 5: not found;") {
		t.Errorf("the diary of 9 is %q", got)
	}
	r.calm()
}

// The manager does not answer: the entity goes on, over a border, too, and the teleport ends once.
func TestTeleportPatience(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 1)
	r.teleport(7, entity.Destination{Space: 2, Position: at(3)}, 1)
	r.tick(5)
	r.move(7, 50)
	r.tick(50)
	r.stands(7, 2, 1, 50)
	if !r.real(7).Teleporting() {
		t.Fatal("the teleport was forgotten at the border")
	}
	r.tick(50)
	r.diary(7, "created;client true;teleport 1;leaving;entering;entered;stays 1: no cell;")
}

// Whoever's CellApp and base have died is not waited for, though its ghost is still here.
func TestTeleportNearOrphan(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	r.create(8, 20, 1)
	r.tick(4)
	a := r.apps[0]
	r.apps = r.apps[:1]
	r.bases[8].app = addr(50)
	a.dead = append(a.dead, addr(2), addr(50))
	a.population.CellAppDied(addr(2))
	r.teleport(7, entity.Destination{Near: 8, Position: at(3)}, 1)
	r.tick(2)
	if got := r.avatar(7).Diary.Get(); !strings.HasSuffix(got, "stays 1: not found;") {
		t.Errorf("the diary is %q", got)
	}
}

// Whose CellApp dies while a teleport is under way is restored to before it, and told so.
func TestTeleportRestored(t *testing.T) {
	r := newRig(t, 2)
	r.room(2, 2)
	r.create(7, -50, 1)
	r.hold = func(p packet) bool { _, is := p.m.(*migrate.Onload); return is }
	r.teleport(7, entity.Destination{Space: 2, Position: at(3)}, 1)
	r.tick(5)
	r.hold = nil
	r.queue = nil
	r.apps[0].dead = append(r.apps[0].dead, addr(2))
	r.apps[0].population.CellAppDied(addr(2))
	r.pump()
	if len(r.bases[7].offers) != 1 || r.bases[7].offers[0].Space != 1 {
		t.Fatalf("the base was offered %v", r.bases[7].offers)
	}
	o := r.bases[7].offers[0]
	r.restore(7, -50, o.Parts, o.Handled)
	r.stands(7, 1, 1, -50)
	r.diary(7, "created;client true;teleport 1;leaving;restored;client true;stays 1: lost;")
}

// The client: it leaves, gets its place and the data of the space, sees who is there, and hears that
// it has seen all. What it says before it knows of that counts for nothing.
func TestTeleportClient(t *testing.T) {
	r := newRig(t, 2)
	c := r.room(2, 2)
	c.data.load([]DataEntry{{Number: 1, Key: 3, Value: []byte("x")}})
	r.create(7, -20, 1)
	r.create(8, -30, 1)
	r.create(9, -30, 1)
	r.tick(5)
	r.teleport(9, entity.Destination{Space: 2, Position: at(4)}, 1)
	r.tick(5)
	r.bases[7].got = nil
	_ = r.avatar(7).OwnClient().Call("say", uint32(1)) // of the old place, and comes before it is left
	r.teleport(7, entity.Destination{Space: 2, Position: at(9)}, 3)
	r.tick(4)
	list, _ := r.bundles(7)
	want := []protocol.ID{protocol.CallID, protocol.LeaveSpaceID, protocol.CellPlayerID, protocol.SpaceDataID, protocol.EnterID, protocol.ArrivedID}
	if got := slices.DeleteFunc(slices.Clone(list), func(id protocol.ID) bool { return id == protocol.RestID || id == protocol.ChangesID }); !slices.Equal(got, want) {
		t.Errorf("the client was told %v, want %v", list, want)
	}
	move := func(forced, sequence uint32, x float32) {
		m := &flow.ClientRest{Session: 1, Sequence: sequence, Incarnation: 1, Forced: forced, Position: at(x)}
		r.apps[1].population.ClientMove(7, m)
	}
	move(r.real(7).steering.number-1, 1, -19)
	r.stands(7, 2, 2, 9)
	move(r.real(7).steering.number, 2, 10)
	r.stands(7, 2, 2, 10)
	r.calm()
}

// The ack that would end the ghosts says that the real is not elsewhere: its repeat came when the real
// had gone on. The ghosts go when they ask for their real.
func TestTeleportTracesEnd(t *testing.T) {
	r := newRig(t, 3)
	r.room(3, 2)
	r.create(7, -20, 1)
	r.tick(5)
	r.arrive = func(p packet) {
		if m, is := p.m.(*migrate.OnloadAck); is {
			m.Elsewhere = false
		}
	}
	r.teleport(7, entity.Destination{Space: 2, Position: at(9)}, 3)
	r.tick(5)
	r.stands(7, 3, 2, 9)
	if r.ghost(1, 7) == nil || r.ghost(2, 7) == nil {
		t.Fatal("the ghosts have gone nevertheless")
	}
	r.tick(int(2*GhostLease/tickPeriod) + 10)
	if r.ghost(1, 7) != nil || r.ghost(2, 7) != nil {
		t.Error("its ghosts stay in the old space")
	}
	r.calm()
}

// Ten thousand want into one room that takes a hundred: the others are refused and told, and none is
// lost.
func TestTeleportCrowd(t *testing.T) {
	if testing.Short() {
		t.Skip("makes ten thousand entities")
	}
	const crowd, most = 10_000, 100
	r := newRig(t, 2, func(c *Config) { c.MaxReals = most })
	c := r.room(2, 2)
	ids := make([]entity.ID, crowd)
	for i := range ids {
		var err error
		if ids[i], err = r.apps[0].cell.Spawn("Avatar", at(-300), property.Vector3{}, nil); err != nil {
			t.Fatal(err)
		}
		r.teleport(ids[i], entity.Destination{Space: 2, Position: at(1)}, 1)
	}
	r.tick(5)
	in, out := 0, 0
	for _, id := range ids {
		switch s := r.avatar(id).Diary.Get(); {
		case strings.HasSuffix(s, ";teleported 1;") && r.real(id).Space() == 2:
			in++
		case strings.HasSuffix(s, ";stays 1: full;") && r.real(id).Space() == 1:
			out++
		default:
			t.Fatalf("%d: %q", id, s)
		}
	}
	if in != most || out != crowd-most || len(c.reals) != most {
		t.Errorf("%d are in, %d were refused", in, out)
	}
}

// FuzzTeleport reads the part of a teleport.
func FuzzTeleport(f *testing.F) {
	r := newRig(f, 1)
	id, err := r.apps[0].cell.Spawn("Avatar", at(-300), property.Vector3{}, nil)
	if err != nil {
		f.Fatal(err)
	}
	x := r.real(id)
	x.teleport = &teleport{to: entity.Destination{Space: 3, Near: 9}, user: -4, request: 8, until: TeleportPatience}
	f.Add(x.appendTeleport(nil)[2:])
	f.Fuzz(func(t *testing.T, body []byte) {
		x.teleport = nil
		rd := codec.NewReader(body)
		x.readTeleport(&rd)
		if rd.Close() != nil {
			return
		}
		b := x.appendTeleport(nil)
		first := *x.teleport
		if err := migrate.EachPart(b, func(_ migrate.Tag, body []byte) error {
			rd := codec.NewReader(body)
			x.readTeleport(&rd)
			return rd.Close()
		}); err != nil || first != *x.teleport {
			t.Errorf("%v became %v: %v", first, *x.teleport, err)
		}
	})
}
