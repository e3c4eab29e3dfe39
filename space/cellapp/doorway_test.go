package cellapp

import (
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// A message from a sender that no manager has named changes nothing until the sender is named.
func TestUnnamedWaits(t *testing.T) {
	r := newRig(t)
	r.world()
	reals := func() int { return r.app.cell(1).Reals() }
	r.from(addr(60), &migrate.Refuse{ID: 7, Order: entity.Order{Incarnation: 1}})
	r.from(addr(61), &migrate.Onload{ID: 9, Space: 1, Order: entity.Order{Incarnation: 1, Hop: 1}, Base: addr(3)})
	r.tick(3)
	if reals() != 1 || len(r.net.to(addr(61))) != 0 {
		t.Error("a stranger was listened to")
	}
	r.manage(&wire.Members{Apps: []wire.AppRef{{Role: wire.CellApp, App: addr(61)}}})
	if got := ids(r.net.to(addr(61))); len(got) != 1 || got[0] != wire.OnloadAckID {
		t.Errorf("when it was named it got %v", got)
	}
	before := r.app.Counters().Refused
	r.tick(int(app.NamingTime / DefaultTick))
	if !r.net.closed[r.net.channel(addr(60))] && r.app.door.Waits(r.net.channel(addr(60))) {
		t.Error("who is not named waits for ever")
	}
	if n := r.app.Counters().Refused - before; n != 1 {
		t.Errorf("%d refused", n)
	}
}

// Each role may send only its own messages, and a BaseApp only about its own bases.
func TestRoles(t *testing.T) {
	r := newRig(t)
	r.world()
	other := mercury.Address{At: addr(70).At, Salt: 70}
	r.manage(&wire.Members{Apps: []wire.AppRef{{Role: wire.BaseApp, App: other}}})
	destroy := func(from entity.Part) *flow.Message {
		return &flow.Message{From: 7, FromPart: from, To: 7, ToPart: entity.CellPart, Incarnation: 1, Low: 1, Number: 1, Reply: other,
			Payload: []byte{byte(flow.DestroyPayload)}}
	}
	order := entity.Order{Incarnation: 1}
	newer := ghost.Head{ID: 7, Order: order.NextHop(), Sequence: 9}
	lies := []struct {
		from mercury.Address
		m    wire.Message
	}{
		{addr(2), &migrate.Refuse{ID: 7, Order: order}},
		{addr(2), &migrate.Create{ID: 7, Space: 1, Order: entity.Order{Incarnation: 2}, Base: addr(2)}},
		{addr(3), &migrate.Onload{ID: 7, Space: 1, Order: newer.Order, Base: addr(3)}},
		{addr(3), &ghost.State{Head: newer, Space: 1}},
		{addr(3), &ghost.Delete{Head: newer}},
		{addr(3), &wire.RemovalAck{Space: 1}},
		{other, &migrate.Create{ID: 7, Space: 1, Order: entity.Order{Incarnation: 2}, Base: addr(3)}},
		{other, destroy(entity.BasePart)},
		{other, &flow.Ack{To: 7, ToPart: entity.CellPart, From: 7, FromPart: entity.BasePart, Incarnation: 1, Number: 1 << 40}},
		{other, &wire.ClientMove{ID: 7}},
		{other, &migrate.Probe{ID: 7, Order: order, Base: addr(3)}},
	}
	before := r.app.Counters().Refused
	for _, l := range lies {
		r.from(l.from, l.m)
	}
	if n := r.app.Counters().Refused - before; n != uint64(len(lies)) {
		t.Errorf("%d of %d refused", n, len(lies))
	}
	r.from(other, &migrate.Refuse{ID: 7, Order: entity.Order{Incarnation: 9}}) // it may refuse for its own
	r.tick(2)
	if v := r.app.cell(1); v.Reals() != 1 {
		t.Error("the real is gone")
	}
	r.from(addr(3), &migrate.Refuse{ID: 7, Order: order})
	if v := r.app.cell(1); v.Reals() != 0 {
		t.Error("its own base was not listened to")
	}
}

// A Lost for an entity that never had a cell is repeated until it is answered. A CellApp that
// retires stays for that, but not for ever.
func TestWordsWithoutACell(t *testing.T) {
	r := newRig(t)
	r.world()
	r.from(addr(3), &migrate.Create{ID: 70, Space: 5, Order: entity.Order{Incarnation: 1}, Base: addr(3)})
	lost := func() (n int) {
		for _, id := range ids(r.net.to(addr(3))) {
			if id == wire.CellLostID {
				n++
			}
		}
		return n
	}
	if lost() != 1 {
		t.Fatal("not told")
	}
	r.tick(int(migrate.ResendOnload/DefaultTick) + 1)
	if lost() != 1 {
		t.Error("not told again")
	}
	r.manage(&wire.Retired{Number: 4})
	if r.app.Retired() {
		t.Error("gone with a word that was not answered")
	}
	r.tick(int(2*migrate.ResendOnload/DefaultTick) + 1)
	if lost() != 1 {
		t.Error("not told again by who has retired")
	}
	r.from(addr(3), &migrate.Refuse{ID: 70, Order: entity.Order{Incarnation: 1}})
	if !r.app.Retired() {
		t.Error("it stays without a reason")
	}
	r.from(addr(3), &migrate.Create{ID: 71, Space: 5, Order: entity.Order{Incarnation: 1}, Base: addr(3)})
	r.tick(int(LastWords/DefaultTick) + 1)
	if !r.app.Retired() {
		t.Error("it stays for ever")
	}
}

// A CellApp cannot give an entity another base than the app that issued its id, nor none, and only a
// base asks for its real.
func TestFalseBase(t *testing.T) {
	r := newRig(t)
	r.world()
	x, y := addr(71), addr(72)
	r.manage(&wire.Members{Apps: []wire.AppRef{{Role: wire.BaseApp, App: x}, {Role: wire.BaseApp, App: y}}, Allocators: []uint32{5, 6}})
	id, order := entity.ID(5<<32|1), entity.Order{Incarnation: 1}
	before := r.app.Counters().Refused
	for _, base := range []mercury.Address{y, {}} {
		r.from(addr(2), &migrate.Onload{ID: id, Space: 1, Order: order, Base: base})
		r.from(addr(2), &ghost.State{Head: ghost.Head{ID: id, Order: order, Sequence: 1}, Space: 1, Base: base})
	}
	r.from(addr(2), &migrate.Probe{ID: 7, Order: order.NextHop(), Base: addr(3)})
	r.from(addr(2), &ghost.Query{Head: ghost.Head{ID: 7}, Asker: addr(71)})
	if n := r.app.Counters().Refused - before; n != 6 {
		t.Errorf("%d of 6 refused", n)
	}
	if r.app.cell(1).Reals() != 1 {
		t.Error("it took one over")
	}
}
