package space

import (
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/property"
)

// crowdOf makes a cell with a player, 7, whose channel takes room bytes, and others around it.
func crowdOf(t *testing.T, n int, room uint32) *rig {
	t.Helper()
	r := newRig(t, 1)
	r.create(7, -50, 1)
	for i := range n {
		r.create(entity.ID(100+i), -50+float32(i)/10, 0)
	}
	m := flow.Session{Number: 1, Room: room}
	r.say(7, m.Append(nil, flow.SetClientPayload))
	r.tick(3)
	return r
}

// danced lets all others move once and lists whom the packets of the tick tell of.
func (r *rig) danced(n int) map[uint32]bool {
	r.t.Helper()
	for i := range n {
		real := r.real(entity.ID(100 + i))
		at := real.Position()
		at.Z += 0.25
		if err := real.place(at, property.Vector3{X: 1}); err != nil {
			r.t.Fatal(err)
		}
	}
	delete(r.places, 7)
	r.tick(1)
	told := map[uint32]bool{} // by alias
	for _, p := range r.places[7] {
		if err := protocol.Positions(p, func(_ *protocol.PacketHead, m *protocol.Moved) { told[m.Alias] = true }); err != nil {
			r.t.Fatal(err)
		}
	}
	return told
}

// A packet is as long as the shorter of the two channels on its way takes, and a tick has as many
// as it needs.
func TestPacketsFitTheChannels(t *testing.T) {
	const n = 60
	for _, x := range []struct {
		client uint32
		hop    int
	}{{920, 1116}, {300, 900}, {920, 250}} {
		r := crowdOf(t, n, x.client)
		r.apps[0].room = x.hop
		if told := r.danced(n); len(told) != n {
			t.Errorf("%+v: told of %d, want %d", x, len(told), n)
		}
		for _, p := range r.places[7] {
			if len(p) > min(int(x.client), x.hop) {
				t.Errorf("%+v: a packet of %d bytes", x, len(p))
			}
		}
	}
}

// What does not go is counted, and is told once it does, although nobody moves any more.
func TestPacketsThatDoNotGo(t *testing.T) {
	const n = 60
	r := crowdOf(t, n, 300)
	a := r.apps[0]
	a.deaf = true
	if told := r.danced(n); len(told) != 0 || a.count.PacketsUnsent == 0 {
		t.Fatalf("told of %d, %d packets counted", len(told), a.count.PacketsUnsent)
	}
	a.deaf = false
	before := a.count.PacketsUnsent
	r.tick(1)
	told := map[uint32]bool{} // by alias
	for _, p := range r.places[7] {
		_ = protocol.Positions(p, func(_ *protocol.PacketHead, m *protocol.Moved) { told[m.Alias] = true })
	}
	if len(told) != n || a.count.PacketsUnsent != before {
		t.Errorf("told of %d of %d, %d packets counted", len(told), n, a.count.PacketsUnsent)
	}
}

// How long packets may be travels with the player, and is the client's word after it.
func TestRoomTravels(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 1)
	r.tick(2)
	m := flow.Session{Number: 1, Room: 333}
	r.say(7, m.Append(nil, flow.SetClientPayload))
	r.move(7, 50)
	r.tick(5)
	if s := r.real(7).session; s != m || r.apps[1].population.find(7).real == nil {
		t.Errorf("the session is %+v", s)
	}
}

// A client whose channel takes no packet at all for now is sent none, and is told what has moved
// when there is room, although nobody moves any more.
func TestPacketsForNoRoom(t *testing.T) {
	const n = 60
	r := crowdOf(t, n, 900)
	a := r.apps[0]
	m := flow.Session{Number: 1}
	r.say(7, m.Append(nil, flow.SetClientPayload))
	r.pump()
	if told := r.danced(n); len(told) != 0 || a.count.PacketsUnsent == 0 {
		t.Fatalf("told of %d, %d packets counted", len(told), a.count.PacketsUnsent)
	}
	m.Room = 900
	r.say(7, m.Append(nil, flow.SetClientPayload))
	r.pump()
	r.tick(1)
	told := map[uint32]bool{} // by alias
	for _, p := range r.places[7] {
		_ = protocol.Positions(p, func(_ *protocol.PacketHead, m *protocol.Moved) { told[m.Alias] = true })
	}
	if len(told) != n {
		t.Errorf("told of %d of %d", len(told), n)
	}
}
