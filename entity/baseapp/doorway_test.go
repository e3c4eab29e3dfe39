package baseapp

import (
	"testing"
	"time"

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

// What a stranger says waits, and is taken in order when the manager names it as a CellApp.
func TestUnnamedAppWaits(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	r.current(stranger, id, 1, 1, 0)
	r.up(stranger, id, 1, 1, bundle(0, ""))
	r.tick()
	r.wantLink(id, linkLive, 1, 0, appX)
	r.say(r.managers, name(wire.CellApp, stranger))
	r.wantLink(id, linkLive, 1, 1, stranger)
	if n := r.a.Counters().FlowHandled; n != 1 {
		t.Errorf("%d messages handled", n)
	}
	r.current(stranger, id, 1, 2, 0)
	r.wantLink(id, linkLive, 1, 2, stranger)
}

// Whoever is named by nobody is shown out, and all that it said is counted.
func TestUnnamedIsShownOut(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	before := r.a.Counters().Refused
	r.current(stranger, id, 1, 1, 0)
	r.current(stranger, id, 1, 2, 0)
	r.say(r.bases, name(wire.CellApp, stranger)) // it is not the BaseAppMgr's to say
	r.pass(app.NamingTime)
	r.wantLink(id, linkLive, 1, 0, appX)
	if !r.net.ended[r.from[stranger]] || r.a.Counters().Refused-before != 3 { // with the BaseAppMgr's word
		t.Errorf("ended %v, %d refused", r.net.ended[r.from[stranger]], r.a.Counters().Refused-before)
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
		&wire.AppLeft{App: appX},
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
	r.tell(appY, &flow.Ack{To: id, ToPart: entity.BasePart, From: id, FromPart: entity.CellPart, Life: 1, Number: 1 << 40})
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

// A base that hears nothing of its real asks; an answer is enough, and without one it asks again.
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

// silentApps is which CellApps the manager was asked about.
func silentApps(r *rig) (apps []mercury.Address) {
	for _, m := range told[wire.AppSilent](r, cellAppMgr) {
		apps = append(apps, m.App)
	}
	return apps
}

// A base that hears nothing of its real for longer than anybody remembers a handoff asks the
// manager whether the CellApp is a member, and asks again without an answer; all bases of a CellApp
// that are due ask once.
func TestAppSilent(t *testing.T) {
	r := joinedRig(t)
	var ids []entity.ID
	for range 3 {
		id, v := r.spawn()
		r.create(id, v)
		ids = append(ids, id)
	}
	for _, id := range ids { // they ask together
		r.current(appX, id, 1, 0, 0)
	}
	r.take(cellAppMgr)
	r.pass(MemberLease - DefaultTick)
	if got := silentApps(r); len(got) != 0 {
		t.Fatalf("asked about %v before its time", got)
	}
	for range 3 {
		r.pass(ProbeAgain)
		if got := silentApps(r); len(got) != 1 || got[0] != appX {
			t.Errorf("asked about %v, want %v once", got, appX)
		}
	}
}

// A real is lost that is believed on a CellApp which has left. What that said last is heard, and so
// is a real that went on from it.
func TestAppLeft(t *testing.T) {
	for name, tt := range map[string]struct {
		left   mercury.Address
		silent time.Duration
		then   func(r *rig, id entity.ID)
		state  linkState // at once
		want   string    // the copy that the real is made of, "" if it is not made again
	}{
		"nothing follows": {appX, MemberLease, func(*rig, entity.ID) {}, linkLost, "backup"},
		"last words": {appX, MemberLease, func(r *rig, id entity.ID) {
			r.tell(appX, &migrate.Offer{ID: id, Order: entity.Order{Incarnation: 1, Hop: 1}, Space: 1, Parts: []byte("offer")})
		}, linkLost, "offer"},
		"it went on":      {appX, MemberLease, func(r *rig, id entity.ID) { r.current(appY, id, 1, 1, 0) }, linkLost, ""},
		"another one":     {appY, MemberLease, func(*rig, entity.ID) {}, linkLive, ""},
		"heard meanwhile": {appX, MemberLease - DefaultTick, func(*rig, entity.ID) {}, linkLive, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := joinedRig(t)
			id, _ := r.live()
			r.up(appX, id, 1, 1, backup(1, 0, 1, 0, "backup"))
			r.pass(tt.silent)
			r.say(r.managers, &wire.AppLeft{App: tt.left})
			if got := r.a.byID[id].link.State(); got != tt.state {
				t.Errorf("%v, want %v", got, tt.state)
			}
			tt.then(r, id)
			r.take(cellAppMgr)
			r.pass(offerGrace + DefaultTick)
			if got := r.a.byID[id].link.State(); (got == linkLocating) != (tt.want != "") {
				t.Fatalf("%v after the grace", got)
			}
			if tt.want == "" {
				return
			}
			if c := r.located(id, appZ); string(c.Parts) != tt.want {
				t.Errorf("restored by %q, want %q", c.Parts, tt.want)
			}
		})
	}
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

// A BaseApp has a handler for what the table says that it takes, and for nothing else.
func TestRoutes(t *testing.T) {
	if differ := newRig(t).a.routes.Check(wire.BaseApp); len(differ) > 0 {
		t.Errorf("the routes and the table differ in %v", differ)
	}
}
