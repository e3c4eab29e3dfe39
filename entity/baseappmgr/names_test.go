package baseappmgr

import (
	"bytes"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/migrate"
)

var baseX, baseY, baseZ = mercurytest.Host(3, 33), mercurytest.Host(4, 44), mercurytest.Host(5, 55)

func (r *rig) members(apps ...mercury.Address) {
	var m wire.Members
	for _, a := range apps {
		m.Add(wire.AppRef{Role: wire.BaseApp, App: a}, 1)
	}
	r.say(r.manager, &m)
}

// named answers a RegisterName or FindName on a channel; asked is false if there was no answer.
func (r *rig) named(ch mercury.ChannelID) (h wire.NameHeld, answered bool) {
	r.t.Helper()
	for _, msg := range r.net.Take(ch) {
		id, body, err := wire.Split(msg)
		if err != nil || id != wire.NameHeldID || h.Parse(body) != nil {
			r.t.Fatalf("message %v", id)
		}
		answered = true
	}
	return h, answered
}

func (r *rig) register(ch mercury.ChannelID, name string, id entity.ID) (wire.NameHeld, bool) {
	r.say(ch, &wire.RegisterName{Request: 1, Name: name, ID: id, Type: 3})
	return r.named(ch)
}

func TestNamesAreUnique(t *testing.T) {
	r := newRig(t)
	x, y := r.join(wire.BaseApp, baseX), r.join(wire.BaseApp, baseY)
	r.say(x, &wire.Names{Last: true})
	r.say(y, &wire.Names{Last: true})
	for range 2 { // to ask again is the same
		if h, ok := r.register(x, "auction", 7); !ok || h.ID != 7 || h.App != baseX || h.Type != 3 {
			t.Errorf("%+v, %v", h, ok)
		}
	}
	if h, ok := r.register(y, "auction", 8); !ok || h.ID != 7 || h.App != baseX {
		t.Errorf("given away a second time: %+v, %v", h, ok)
	}
	r.say(y, &wire.FindName{Request: 2, Name: "auction"})
	if h, ok := r.named(y); !ok || h.ID != 7 || h.Request != 2 {
		t.Errorf("found %+v, %v", h, ok)
	}
	// Only its own BaseApp frees it, and only for the base that has it.
	r.say(y, &wire.NameGone{Name: "auction", ID: 7})
	r.say(x, &wire.NameGone{Name: "auction", ID: 9})
	if n := r.m.Counts().Names; n != 1 {
		t.Errorf("%d names", n)
	}
	r.say(x, &wire.NameGone{Name: "auction", ID: 7})
	r.say(y, &wire.FindName{Request: 3, Name: "auction"})
	if h, ok := r.named(y); !ok || h.ID != 0 {
		t.Errorf("found %+v, %v", h, ok)
	}
}

// While a BaseApp of the cluster has not told its names, none is given that may be its.
func TestNamesWaitForBaseAppsAway(t *testing.T) {
	r := newRig(t)
	r.members(baseX, baseY)
	x := r.joinTold(baseX)
	if h, ok := r.register(x, "auction", 7); ok {
		t.Errorf("answered %+v while a BaseApp is away", h)
	}
	r.say(x, &wire.FindName{Request: 3, Name: "auction"})
	if h, ok := r.named(x); ok {
		t.Errorf("answered %+v while a BaseApp is away", h)
	}
	y := r.join(wire.BaseApp, baseY)
	if _, ok := r.register(x, "auction", 7); ok {
		t.Error("answered before the BaseApp told its names")
	}
	r.say(y, &wire.Names{Entries: []wire.Named{{Name: "auction", ID: 8}}})
	if h, ok := r.register(x, "auction", 7); !ok || h.ID != 8 || h.App != baseY {
		t.Errorf("%+v, %v", h, ok)
	}
	r.say(y, &wire.Names{Entries: []wire.Named{{Name: "guild", ID: 9}}, Last: true})
	// Its channel breaks: its names stay, and new ones wait.
	r.closed(y, mercury.ErrTimeout)
	if h, ok := r.register(x, "guild", 7); !ok || h.ID != 9 {
		t.Errorf("%+v, %v", h, ok)
	}
	if _, ok := r.register(x, "bank", 7); ok {
		t.Error("answered while a BaseApp is away")
	}
	// It comes back without one of them.
	y = r.join(wire.BaseApp, baseY)
	r.say(y, &wire.Names{Entries: []wire.Named{{Name: "guild", ID: 9}}, Last: true})
	if h, ok := r.register(x, "auction", 7); !ok || h.ID != 7 {
		t.Errorf("%+v, %v", h, ok)
	}
	// It dies.
	r.say(r.manager, &wire.AppDead{Role: wire.BaseApp, App: baseY})
	if h, ok := r.register(x, "guild", 7); !ok || h.ID != 7 {
		t.Errorf("%+v, %v", h, ok)
	}
}

// A BaseApp that no CellAppMgr has named dies with nobody to say so: its names go with its accounts.
// (This manager and the CellAppMgr had both started anew, and all BaseApps died before they had
// joined that.)
func TestNamesOfANonMember(t *testing.T) {
	r := newRig(t)
	x, y := r.joinTold(baseX), r.joinTold(baseY)
	r.register(x, "auction", 7)
	r.register(y, "guild", 8)
	r.closed(y, mercury.ErrPeerRestarted)
	if h, ok := r.register(x, "guild", 7); !ok || h.ID != 7 {
		t.Errorf("%+v, %v", h, ok)
	}
	if h, ok := r.register(x, "auction", 7); !ok || h.ID != 7 || r.m.Counts().Names != 2 {
		t.Errorf("%+v, %v, %d names", h, ok, r.m.Counts().Names)
	}
}

// What comes late over an older channel says nothing of now.
func TestNamesOverOldChannel(t *testing.T) {
	r := newRig(t)
	old := r.joinTold(baseX)
	x := r.joinTold(baseX)
	r.say(old, &wire.RegisterName{Request: 1, Name: "auction", ID: 7})
	r.say(old, &wire.Names{Entries: []wire.Named{{Name: "bank", ID: 7}}, Last: true})
	if n := r.m.Counts().Names; n != 0 {
		t.Errorf("%d names", n)
	}
	r.register(x, "auction", 7)
	r.say(old, &wire.NameGone{Name: "auction", ID: 7})
	if n := r.m.Counts().Names; n != 1 {
		t.Errorf("%d names", n)
	}
}

// Of two bases that have one name the one known first has it, and the other is told whenever it says so.
func TestNameLost(t *testing.T) {
	r := newRig(t)
	x, y := r.join(wire.BaseApp, baseX), r.join(wire.BaseApp, baseY)
	r.say(x, &wire.Names{Entries: []wire.Named{{Name: "auction", ID: 7, Type: 3}}, Last: true})
	for range 2 {
		r.say(y, &wire.Names{Entries: []wire.Named{{Name: "auction", ID: 8, Type: 4}, {Name: "bank", ID: 8, Type: 4}}, Last: true})
		var lost wire.NameLost
		want := wire.NameLost{Name: "auction", ID: 8, Holder: 7, Type: 3, App: baseX}
		if id, body := r.got(y); id != wire.NameLostID || lost.Parse(body) != nil || lost != want {
			t.Errorf("told %+v, want %+v", lost, want)
		}
	}
	if n := r.m.Counts().Names; n != 2 {
		t.Errorf("%d names", n)
	}
}

// So it is if both are on one app, which may have restored the other from a copy that still has the name.
func TestNameLostOnOneApp(t *testing.T) {
	r := newRig(t)
	x := r.join(wire.BaseApp, baseX)
	first, other := wire.Named{Name: "auction", ID: 7, Type: 3}, wire.Named{Name: "auction", ID: 8, Type: 4}
	r.say(x, &wire.Names{Entries: []wire.Named{first}, Last: true})
	lost := func(id entity.ID, holder wire.Named) {
		t.Helper()
		var got wire.NameLost
		want := wire.NameLost{Name: "auction", ID: id, Holder: holder.ID, Type: holder.Type, App: baseX}
		if code, body := r.got(x); code != wire.NameLostID || got.Parse(body) != nil || got != want {
			t.Errorf("got %v %+v, want %+v", code, got, want)
		}
	}
	r.say(x, &wire.Names{Entries: []wire.Named{other}})
	lost(8, first)
	x = r.join(wire.BaseApp, baseX) // both tell again
	r.say(x, &wire.Names{Entries: []wire.Named{first, other}, Last: true})
	lost(8, first)
	x = r.join(wire.BaseApp, baseX) // the first has ended meanwhile
	r.say(x, &wire.Names{Entries: []wire.Named{other}, Last: true})
	if h, ok := r.register(x, "auction", 9); !ok || h.ID != 8 {
		t.Errorf("%+v, %v", h, ok)
	}
}

func TestTooManyNames(t *testing.T) {
	r := newRig(t)
	x := r.joinTold(baseX)
	for i := range MaxNames {
		r.m.names.held[string(rune(i))+"x"] = held{id: 1, app: baseX}
	}
	for len(r.m.names.held) < MaxNames {
		r.m.names.held[string(rune(rand.Uint32()))+"y"] = held{id: 1, app: baseX}
	}
	if h, ok := r.register(x, "one more", 7); !ok || h.ID != 0 || h.Reason == "" {
		t.Errorf("%+v, %v", h, ok)
	}
}

// The base is made on the BaseApp with the fewest bases, by its last report and what it was asked for
// since.
func TestPlaceBase(t *testing.T) {
	r := newRig(t)
	x, y := r.join(wire.BaseApp, baseX), r.join(wire.BaseApp, baseY)
	r.say(x, &wire.BaseLoad{Bases: 3})
	r.say(y, &wire.BaseLoad{Bases: 2})
	for _, want := range []mercury.Address{baseY, baseX, baseY, baseX} {
		r.say(x, &wire.PlaceBase{Request: 6})
		var p wire.BasePlaced
		if id, body := r.got(x); id != wire.BasePlacedID || p.Parse(body) != nil || p.Request != 6 || p.App != want {
			t.Errorf("placed on %v, want %v", p.App, want)
		}
	}
}

// An asker asks again each second. All that has been asked of a BaseApp fails when it dies, in one line.
func TestBasesOfADeadAppAreOneLine(t *testing.T) {
	r := newRig(t)
	var log bytes.Buffer
	r.m.log = slog.New(slog.NewTextHandler(&log, nil))
	r.members(baseX, baseY)
	x, y := r.join(wire.BaseApp, baseX), r.join(wire.BaseApp, baseY)
	for n := range uint64(8) {
		r.say(x, &wire.CreateBase{Request: 6, On: baseY, NewBase: wire.NewBase{Number: n, Type: 3}})
		r.tick(100 * time.Millisecond)
	}
	r.closed(y, mercury.ErrTimeout)
	if n := strings.Count(log.String(), "a BaseApp does not answer for a base"); n != 1 {
		t.Errorf("%d lines, want one:\n%s", n, &log)
	}
}

func TestCreateBaseIsPassedOn(t *testing.T) {
	r := newRig(t)
	r.members(baseX, baseY)
	x, y := r.join(wire.BaseApp, baseX), r.join(wire.BaseApp, baseY)
	n := wire.NewBase{Number: 4, Type: 3, Props: []byte("p")}
	ask := func(on mercury.Address) { r.say(x, &wire.CreateBase{Request: 6, On: on, NewBase: n}) }
	ask(baseY)
	var m wire.MakeBase
	if id, body := r.got(y); id != wire.MakeBaseID || m.Parse(body) != nil || m.Asker != baseX || m.Number != 4 || m.Type != 3 || string(m.Props) != "p" {
		t.Fatalf("passed on %+v", m)
	}
	r.say(y, &wire.BaseMade{Request: m.Request, ID: 70})
	var made wire.BaseMade
	if id, body := r.got(x); id != wire.BaseMadeID || made.Parse(body) != nil || made.Request != 6 || made.ID != 70 {
		t.Errorf("answered %+v", made)
	}
	// One that is away may come back and answer; one that is dead never will.
	r.closed(y, mercury.ErrTimeout)
	ask(baseY)
	r.tick(time.Second)
	if got := r.net.Take(x); len(got) != 0 {
		t.Errorf("%d messages for a BaseApp that is away", len(got))
	}
	r.say(r.manager, &wire.AppDead{Role: wire.BaseApp, App: baseY})
	ask(baseY)
	if id, body := r.got(x); id != wire.BaseMadeID || made.Parse(body) != nil || made.ID != 0 || !made.Gone {
		t.Errorf("answered %+v", made)
	}
}

// A BaseApp that was declared dead while it was slow asks for a name that its heir has told of. The manager
// hears of the verdict last.
func TestNameOfAFormerLife(t *testing.T) {
	const allocator = 5
	id := entity.ID(allocator<<32 | 7)
	r := newRig(t)
	x, y := r.join(wire.BaseApp, baseX), r.join(wire.BaseApp, baseY)
	r.say(r.manager, &wire.Members{Apps: []wire.AppRef{{Role: wire.BaseApp, App: baseX}, {Role: wire.BaseApp, App: baseY}}, Allocators: []uint32{allocator, allocator + 1}})
	r.say(x, &wire.Names{Last: true})
	r.say(y, &wire.Names{Last: true})
	r.register(x, "auction", id)
	r.say(y, &wire.Names{Entries: []wire.Named{{Name: "auction", ID: id, Type: 3, Life: 1}}, Last: true})
	r.say(y, &wire.Inherited{App: baseX})
	if h, ok := r.register(x, "auction", id); ok {
		t.Errorf("the former life was answered %+v", h)
	}
	r.say(r.manager, &wire.AppDead{Role: wire.BaseApp, App: baseX, Number: 1, Allocator: allocator, Rule: migrate.Rule{Version: 1, Replicas: 1, List: []mercury.Address{baseY}}})
	if h, ok := r.register(y, "auction", id+1); !ok || h.ID != id || h.App != baseY {
		t.Errorf("the name was given to another: %+v, %v", h, ok)
	}
}
