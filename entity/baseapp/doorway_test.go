package baseapp

import (
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

var stranger = address(66, 660)

func name(role wire.Role, app mercury.Address) *wire.Members {
	return &wire.Members{Apps: []wire.AppRef{{Role: role, App: app}}}
}

// What a stranger says waits, and is taken in order when the manager names it as a
// CellApp.
func TestUnnamedAppWaits(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	r.current(stranger, id, 1, 1, 0)
	r.up(stranger, id, 1, 1, bundle(0, ""))
	r.tick()
	r.wantLink(id, linkLive, 1, 0, appX)
	r.say(r.managers, name(wire.CellApp, stranger))
	r.wantLink(id, linkLive, 1, 1, stranger)
	if n := r.a.Report().FlowHandled; n != 1 {
		t.Errorf("%d messages handled", n)
	}
	r.current(stranger, id, 1, 2, 0)
	r.wantLink(id, linkLive, 1, 2, stranger)
}

// Whoever is named by nobody is shown out, and all that it said is counted.
func TestUnnamedIsShownOut(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	before := r.a.Report().Refused
	r.current(stranger, id, 1, 1, 0)
	r.current(stranger, id, 1, 2, 0)
	r.say(r.bases, name(wire.CellApp, stranger)) // it is not the BaseAppMgr's to say
	r.pass(app.NamingTime)
	r.wantLink(id, linkLive, 1, 0, appX)
	if !r.net.ended[r.from[stranger]] || r.a.Report().Refused-before != 2 {
		t.Errorf("ended %v, %d refused", r.net.ended[r.from[stranger]], r.a.Report().Refused-before)
	}
	delete(r.from, stranger)
	r.say(r.managers, name(wire.BaseApp, stranger)) // which has nothing to tell bases of others
	r.current(stranger, id, 1, 1, 0)
	r.pass(app.NamingTime)
	r.wantLink(id, linkLive, 1, 0, appX)
}

// A client cannot become an app by its first message, nor an app that waits a client.
func TestNoPosing(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	p := r.connect(1)
	p.say(wire.Encode(nil, &migrate.Lost{ID: id, Order: entity.Order{Incarnation: 1}}))
	r.wantLink(id, linkLive, 1, 0, appX)
	made := r.login("ann")
	p.attach(made.Token)
	if v, _ := r.view(made.ID); v.Session != 0 || !r.net.ended[p.ch] {
		t.Error("a client on the channel of an app that waits")
	}
	for _, m := range []wire.Message{
		&wire.Welcome{Term: 9}, &wire.AppDead{Role: wire.CellApp, App: appX}, &wire.Dismissed{Term: 9}, &wire.MakeProxy{Account: "eve"},
		&wire.Located{ID: id, Space: 1, App: stranger}, &wire.Freeze{On: true}, name(wire.CellApp, stranger),
	} {
		p := r.connect(2)
		p.say(wire.Encode(nil, m))
		if !r.net.ended[p.ch] {
			t.Errorf("%T: the channel is kept", m)
		}
		r.tell(appY, m) // a CellApp is no manager
	}
	r.wantLink(id, linkLive, 1, 0, appX)
	if r.a.frozen || r.a.Dismissed() || r.a.accounts["eve"] != nil {
		t.Error("a stranger gave orders")
	}
	if _, ok := r.a.roster.Role(stranger); ok {
		t.Error("a stranger named itself")
	}
}

// Of the CellApps, those that hold an entity, or held it lately, speak for it.
func TestOnlyHoldersSpeak(t *testing.T) {
	r := joinedRig(t)
	p, id, v := r.play("ann")
	r.create(id, v)
	r.current(appX, id, 1, 0, 0)
	r.take(r.net.peers[p.ch])
	r.up(appY, id, 1, 1, bundle(1, "from Y"))
	r.tell(appY, &wire.ClientPacket{ID: id, Order: entity.Order{Incarnation: 1}, Session: 1, Packet: []byte("from Y")})
	r.tell(appY, &flow.Ack{To: id, ToPart: entity.BasePart, From: id, FromPart: entity.CellPart, Incarnation: 1, Number: 1 << 40})
	r.tell(appY, &migrate.Lost{ID: id, Order: entity.Order{Incarnation: 1}})
	if got := p.heard(); len(got) != 0 {
		t.Errorf("the client heard %q", got)
	}
	r.wantLink(id, linkLive, 1, 0, appX)
	r.current(appY, id, 1, 1, 0)
	r.take(r.net.peers[p.ch])
	r.up(appX, id, 1, 1, bundle(1, "late"))
	r.up(appY, id, 1, 2, bundle(1, "now"))
	p.wantHeard("late", "now")
}

// A base that hears nothing of its real asks; an answer is enough, and without one it
// asks again.
func TestProbe(t *testing.T) {
	r := joinedRig(t)
	id, v := r.live()
	r.pass(RealLease - 2*DefaultTick)
	if got := told[migrate.Probe](r, appX); len(got) != 0 {
		t.Fatalf("asked %v before its time", got)
	}
	r.pass(3 * DefaultTick)
	if m := one(t, told[migrate.Probe](r, appX)); m.ID != id || m.Order != (entity.Order{Incarnation: 1}) || m.Base != self || m.Hops != 0 {
		t.Errorf("asked %+v", m)
	}
	r.pass(ProbeAgain)
	one(t, told[migrate.Probe](r, appX))
	r.current(appX, id, 1, 0, 0)
	_ = v.Cell().Call("hurt", int32(0))
	r.pass(AnswerLease - DefaultTick)
	if got := told[migrate.Probe](r, appX); len(got) != 0 {
		t.Fatalf("asked %v after an answer", got)
	}
	r.pass(ProbeAgain)
	one(t, told[migrate.Probe](r, appX)) // for what it sent is not acked
	r.tell(appX, &migrate.Lost{ID: id, Order: entity.Order{Incarnation: 1}, Reason: "unknown here"})
	r.wantLink(id, linkLost, 1, 0, nowhere)
}

// After a stall of the app all its bases have heard nothing; they ask in turns.
func TestProbesInTurns(t *testing.T) {
	r := joinedRig(t)
	for range 2 * ProbesPerTick {
		id, v := r.spawn()
		r.create(id, v)
		r.current(appX, id, 1, 0, 0)
	}
	r.take(appX)
	r.now += RealLease
	for range 2 {
		r.tick()
		if n := len(told[migrate.Probe](r, appX)); n != ProbesPerTick {
			t.Errorf("%d asked in a tick, want %d", n, ProbesPerTick)
		}
	}
}
