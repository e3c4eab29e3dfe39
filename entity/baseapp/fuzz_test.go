package baseapp

import (
	"math/rand/v2"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/migrate"
)

// FuzzClient feeds an attached client's channel: whatever comes, nothing panics, and another client
// is not concerned.
func FuzzClient(f *testing.F) {
	f.Add([]byte{}, true)
	f.Add(protocol.AppendLogout(nil), true)
	f.Add((&protocol.Move{Sequence: 1}).Append(nil), false)
	f.Add((&protocol.MoveOther{ID: 9, Sequence: 1}).Append(nil), false)
	f.Add((&protocol.BaseCall{Method: 0, Args: []byte{1, 2}}).Append(nil), true)
	f.Add((&protocol.BaseCall{Method: 1}).Append(nil), true)
	f.Add((&protocol.CellCall{Target: 5<<32 | 1, Method: 0}).Append(nil), true)
	f.Add((&protocol.CellCall{Target: 5<<32 | 1, Method: 1}).Append(nil), true)
	f.Add(protocol.AppendAuditRequest(nil), true)
	f.Add((&protocol.Attach{}).Append(nil), true)
	f.Add(protocol.AppendEnableEntities(nil), true)
	f.Add((&protocol.Resume{}).Append(nil), true)
	f.Add((&protocol.Heard{Has: protocol.Counts{1, 0}}).Append(nil), true)
	f.Add((&protocol.Heard{Has: protocol.Counts{9, 9}}).Append(nil), true)
	f.Add([]byte{0xB8, 1, 0}, true) // accepts a download
	f.Add([]byte{0xB9, 1, 2}, true) // refuses it
	f.Add([]byte{0xBA, 1}, true)    // has it
	f.Fuzz(func(t *testing.T, msg []byte, reliable bool) {
		r := joinedRig(t)
		other, _, _ := r.play("bob")
		made := r.login("ann")
		p := r.connect(2)
		p.attach(made.Token)
		if err := r.script(made.ID).Download(1, "patch", make([]byte, 100), "OnPatch"); err != nil {
			t.Fatal(err)
		}
		r.tick()
		r.a.Message(r.now, p.ch, reliable, msg)
		r.tick()
		if r.net.ended[other.ch] {
			t.Error("another client suffered")
		}
	})
}

// FuzzFirst feeds a new channel.
func FuzzFirst(f *testing.F) {
	f.Add((&protocol.Attach{}).Append(nil), true)
	f.Add((&protocol.Resume{}).Append(nil), true)
	f.Add([]byte{16}, false)
	f.Add(wire.Encode(nil, &wire.Freeze{}), true)
	f.Fuzz(func(t *testing.T, msg []byte, reliable bool) {
		r := joinedRig(t)
		p := r.connect(1)
		r.a.Message(r.now, p.ch, reliable, msg)
		r.tick()
	})
}

// FuzzApp feeds the channel of a CellApp that has a real of a base here, and that of the manager.
func FuzzApp(f *testing.F) {
	id := entity.ID(5<<32 | 1)
	for _, m := range []wire.Message{
		&migrate.Current{ID: id, Order: entity.Order{Incarnation: 1, Hop: 1}},
		&migrate.Offer{ID: id, Order: entity.Order{Incarnation: 1, Hop: 1}},
		&migrate.Lost{ID: id, Order: entity.Order{Incarnation: 1}},
		&flow.Ack{To: id, ToPart: entity.BasePart, From: id, FromPart: entity.CellPart, Life: 1, Number: 1},
		&flow.Message{From: id, FromPart: entity.CellPart, To: id, ToPart: entity.BasePart, Incarnation: 1, Number: 1, Payload: backup(1, 0, 1, 1, "x")},
		&flow.Message{From: id, FromPart: entity.CellPart, To: id, ToPart: entity.BasePart, Incarnation: 1, Number: 1, Payload: []byte{35}},
		call(ofX, entity.CellPart, id, 1, ofX),
		&flow.Message{From: id, FromPart: entity.CellPart, To: id, ToPart: entity.BasePart, Incarnation: 1, Number: 1, Payload: (&flow.Answer{Request: flow.RequestID{Number: 1}}).Append(nil)},
		&wire.ClientPacket{ID: id, Order: entity.Order{Incarnation: 1}, Session: 1},
		&wire.Welcome{Number: 1, Allocator: 5, BaseAppMgr: appZ},
		&wire.AppDead{Role: wire.CellApp, App: appX},
		&wire.AppLeft{App: appX},
		&wire.MakeProxy{Request: 1, Account: "eve"},
		&wire.Located{ID: id, Space: 1, App: appY},
		&wire.Freeze{On: true},
	} {
		f.Add(wire.Encode(nil, m), false)
		f.Add(wire.Encode(nil, m), true)
	}
	f.Fuzz(func(t *testing.T, msg []byte, manager bool) {
		r := joinedRig(t)
		r.playLive()
		ch := r.from[appX]
		if manager {
			ch = r.managers
		}
		r.a.Message(r.now, ch, true, msg)
		r.a.Message(r.now, ch, true, msg)
		r.tick()
	})
}

// TestSameInputsSameOutputs runs random traffic twice from one seed: the bytes that go out are the
// same, byte for byte.
func TestSameInputsSameOutputs(t *testing.T) {
	run := func() []sentMessage {
		r := joinedRig(t)
		chance := rand.New(rand.NewPCG(3, 4))
		var ids []entity.ID
		for range 30 {
			id, v := r.spawn()
			r.createCell(v)
			ids = append(ids, id)
		}
		apps := []func(entity.ID){
			func(id entity.ID) { r.say(r.managers, &wire.Located{ID: id, Space: 1, App: appX}) },
			func(id entity.ID) { r.current(appX, id, 1, uint32(chance.IntN(3)), 0) },
			func(id entity.ID) { r.current(appY, id, 1, uint32(chance.IntN(3)), 0) },
			func(id entity.ID) {
				if v, ok := r.a.Script(id).(*avatar); ok {
					_ = v.Cell().Call("hurt", int32(chance.IntN(9)))
				}
			},
			func(id entity.ID) {
				if v, ok := r.a.Script(id).(*avatar); ok && chance.IntN(20) == 0 {
					v.Destroy()
				}
			},
			func(id entity.ID) { r.up(appX, id, 1, uint64(1+chance.IntN(3)), bundle(0, "x")) },
			func(entity.ID) { r.tick() },
		}
		for range 2000 {
			apps[chance.IntN(len(apps))](ids[chance.IntN(len(ids))])
		}
		r.say(r.managers, &wire.AppDead{Role: wire.CellApp, App: appX})
		r.pass(5e9)
		return r.net.sent
	}
	a, b := run(), run()
	if len(a) != len(b) || len(a) < 500 {
		t.Fatalf("%d and %d messages", len(a), len(b))
	}
	for i := range a {
		if a[i].to != b[i].to || string(a[i].msg) != string(b[i].msg) {
			t.Fatalf("message %d differs", i)
		}
	}
}
