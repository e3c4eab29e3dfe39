package baseappmgr

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/migrate"
)

// What the bases of a dead app had goes with them to the app that restores them, and nobody else gets it
// before that has told what came to it. The heir may tell so before the verdict comes here, or after it.
func TestHeirsKeepWhatBasesHad(t *testing.T) {
	for _, early := range []bool{false, true} {
		r := newRig(t)
		x, y := r.join(wire.BaseApp, baseX), r.join(wire.BaseApp, baseY)
		r.members(baseX, baseY)
		r.say(x, &wire.Names{Last: true})
		r.say(y, &wire.Names{Last: true})
		r.register(x, "auction", 7)
		r.register(x, "guild", 8)
		r.say(x, &wire.Proxies{Entries: []wire.Proxy{{Account: "ann", ID: 7}, {Account: "bob", ID: 8}}})

		verdict := &wire.AppDead{Role: wire.BaseApp, App: baseX, Number: 1, Rule: migrate.Rule{Version: 1, Replicas: 1, List: []mercury.Address{baseY}}}
		// Of the two bases, the heir has a copy of one.
		heir := func() {
			r.say(y, &wire.Proxies{Entries: []wire.Proxy{{Account: "ann", ID: 7}}})
			r.say(y, &wire.Names{Entries: []wire.Named{{Name: "auction", ID: 7, Type: 3}}, Last: true})
			r.say(y, &wire.Inherited{App: baseX})
		}
		if early {
			heir()
			r.say(r.manager, verdict)
		} else {
			r.say(r.manager, verdict)
			if c := r.m.Counts(); c.Accounts != 2 || c.Names != 2 {
				t.Errorf("before the heir says anything there are %+v", c)
			}
			if h, ok := r.register(y, "guild", 9); ok && h.ID == 9 {
				t.Error("a name was given away that may be had")
			}
			heir()
		}
		if c := r.m.Counts(); c.Accounts != 1 || c.Names != 1 {
			t.Errorf("early %v: in the end there are %+v", early, c)
		}
		if a := r.m.accounts["ann"]; a == nil || a.app.at != baseY || a.id != 7 || a.from != (migrate.Leave{}) {
			t.Errorf("early %v: the account is %+v", early, a)
		}
		if h, ok := r.register(y, "auction", 9); !ok || h.ID != 7 || h.App != baseY {
			t.Errorf("early %v: the name is held by %+v", early, h)
		}
		if on := getApp(r.m.baseApps, baseY); on.proxies != 1 {
			t.Errorf("early %v: the heir is believed to have %d proxies", early, on.proxies)
		}
	}
}

// A base that asks for a name which it had in its former life has it then, whether the manager
// learns of the death before or after that, and although its heir has told that nothing more came
// to it.
func TestHeirAsksForItsName(t *testing.T) {
	const allocator = 5
	id := entity.ID(allocator<<32 | 7)
	for _, early := range []bool{false, true} {
		r := newRig(t)
		x, y := r.join(wire.BaseApp, baseX), r.join(wire.BaseApp, baseY)
		apps := []wire.AppRef{{Role: wire.BaseApp, App: baseX}, {Role: wire.BaseApp, App: baseY}}
		r.say(r.manager, &wire.Members{Apps: apps, Allocators: []uint32{allocator, allocator + 1}})
		r.say(x, &wire.Names{Last: true})
		r.say(y, &wire.Names{Last: true})
		if h, ok := r.register(x, "auction", id); !ok || h.ID != id {
			t.Fatalf("%+v, %v", h, ok)
		}
		verdict := &wire.AppDead{Role: wire.BaseApp, App: baseX, Number: 1, Allocator: allocator, Rule: migrate.Rule{Version: 1, Replicas: 1, List: []mercury.Address{baseY}}}
		if early {
			r.say(y, &wire.Inherited{App: baseX})
			if h, ok := r.register(y, "auction", id); ok {
				t.Errorf("answered %+v before the verdict, which takes the name away", h)
			}
			r.say(r.manager, verdict)
		} else {
			r.say(r.manager, verdict)
		}
		if h, ok := r.register(y, "auction", id); !ok || h.ID != id || h.App != baseY {
			t.Errorf("early %v: %+v, %v", early, h, ok)
		}
		if !early {
			r.say(y, &wire.Inherited{App: baseX})
		}
		if n := r.m.Counts().Names; n != 1 {
			t.Errorf("early %v: %d names in the end", early, n)
		}
	}
}

// newHeirs is a manager that knows of three BaseApps, of which the first has not told its names,
// and the channels of the others.
func newHeirs(t *testing.T) (r *rig, y, z mercury.ChannelID) {
	r = newRig(t)
	r.members(baseX, baseY, baseZ)
	y, z = r.join(wire.BaseApp, baseY), r.join(wire.BaseApp, baseZ)
	r.say(y, &wire.Names{Last: true})
	r.say(z, &wire.Names{Last: true})
	return r, y, z
}

// What a BaseApp had that died before it told this manager anything is known when all others have
// heard of the death. Until then nobody gets a name or an account that may have been its.
func TestUntoldDeath(t *testing.T) {
	r, y, z := newHeirs(t)
	r.say(r.manager, &wire.AppDead{Role: wire.BaseApp, App: baseX, Number: 1, Rule: migrate.Rule{Version: 1, Replicas: 1, List: []mercury.Address{baseY}}})
	r.say(z, &wire.Inherited{App: baseX})
	if h, ok := r.register(z, "auction", 9); ok {
		t.Errorf("the name is held by %+v before the heir has heard of the death", h)
	}
	r.say(z, &wire.FindName{Request: 3, Name: "auction"})
	if h, ok := r.named(z); ok {
		t.Errorf("found %+v before the heir has heard of the death", h)
	}
	r.create("ann")
	r.say(y, &wire.Proxies{Entries: []wire.Proxy{{Account: "ann", ID: 7}}})
	r.say(y, &wire.Names{Entries: []wire.Named{{Name: "auction", ID: 7, Type: 3}}, Last: true})
	r.say(y, &wire.Inherited{App: baseX})
	if h, ok := r.register(z, "auction", 9); !ok || h.ID != 7 || h.App != baseY {
		t.Errorf("the name is held by %+v", h)
	}
	r.net.Take(y)
	r.tick(time.Second)
	if m := r.relogged(y); m.Account != "ann" {
		t.Errorf("the login asked for %+v", m)
	}
	if h, ok := r.register(z, "bank", 9); !ok || h.ID != 9 {
		t.Errorf("a free name is held by %+v", h)
	}
}

// An heir that dies before it has heard what it inherits leaves it to the next. An app without heirs
// holds nobody up.
func TestUntoldDeathOfAnHeir(t *testing.T) {
	r, _, z := newHeirs(t)
	rule := migrate.Rule{Version: 1, Replicas: 1, List: []mercury.Address{baseY, baseZ}}
	r.say(r.manager, &wire.AppDead{Role: wire.BaseApp, App: baseX, Number: 1, Rule: rule})
	r.say(z, &wire.Inherited{App: baseX})
	r.say(r.manager, &wire.AppDead{Role: wire.BaseApp, App: baseY, Number: 2, Rule: rule})
	if h, ok := r.register(z, "auction", 9); ok {
		t.Errorf("the name is held by %+v before the second heir has heard of the death", h)
	}
	r.say(z, &wire.Inherited{App: baseY})
	if h, ok := r.register(z, "auction", 9); !ok || h.ID != 9 {
		t.Errorf("in the end the name is held by %+v", h)
	}
	r.say(r.manager, &wire.AppDead{Role: wire.BaseApp, App: mercurytest.Host(6, 66), Number: 3})
	if h, ok := r.register(z, "bank", 9); !ok || h.ID != 9 {
		t.Errorf("after a death without heirs the name is held by %+v", h)
	}
}

// A death that is so long ago that nobody remembers it holds nobody up.
func TestUntoldDeathIsForgotten(t *testing.T) {
	r := newRig(t)
	r.members(baseX, baseY)
	y := r.joinTold(baseY)
	r.say(r.manager, &wire.AppDead{Role: wire.BaseApp, App: baseX, Number: 1, Rule: migrate.Rule{Version: 1, Replicas: 1, List: []mercury.Address{baseY}}})
	for i := range migrate.MaxDepartures {
		if h, ok := r.register(y, "auction", 9); ok {
			t.Fatalf("after %d other deaths the name is held by %+v", i, h)
		}
		r.say(r.manager, &wire.AppDead{Role: wire.BaseApp, App: mercury.Address{At: baseX.At, Salt: baseX.Salt + uint32(i) + 1}, Number: uint64(i) + 2})
	}
	if h, ok := r.register(y, "auction", 9); !ok || h.ID != 9 {
		t.Errorf("in the end the name is held by %+v", h)
	}
}

// A BaseApp whose channel has ended may come back: its accounts stay taken until a verdict frees them.
func TestAccountsOfABaseAppThatIsAway(t *testing.T) {
	r := newRig(t)
	x := r.join(wire.BaseApp, baseX)
	r.members(baseX)
	r.say(x, &wire.Proxies{Entries: []wire.Proxy{{Account: "ann", ID: 7}}})
	r.closed(x, mercury.ErrTimeout)
	if c := r.m.Counts(); c.Accounts != 1 {
		t.Errorf("while it is away there are %+v", c)
	}
	if r.m.fewest(r.now) != nil {
		t.Error("a base would be placed on it")
	}
	r.say(r.manager, &wire.AppDead{Role: wire.BaseApp, App: baseX})
	if c := r.m.Counts(); c.Accounts != 0 || c.BaseApps != 0 {
		t.Errorf("when it is dead there are %+v", c)
	}
}

// A BaseApp that was declared dead before it has joined here never does, whatever is on its way: it
// would take names that nobody frees.
func TestDeadBeforeItJoins(t *testing.T) {
	for _, open := range []bool{false, true} {
		r := newRig(t)
		ch := r.net.Accept(baseX)
		if open {
			r.m.Opened(r.now, ch, baseX)
		}
		r.say(r.manager, &wire.AppDead{Role: wire.BaseApp, App: baseX})
		if !open {
			r.m.Opened(r.now, ch, baseX)
		}
		r.say(ch, &wire.Join{Speaks: wire.Spoken(), Role: wire.BaseApp, Digest: r.m.cfg.Schema.Digest})
		r.say(ch, &wire.Names{Entries: []wire.Named{{Name: "guild", ID: 9}}, Last: true})
		if n := r.m.Counts().Names; n != 0 || getApp(r.m.baseApps, baseX) != nil {
			t.Errorf("open before %v: %d names of a dead app", open, n)
		}
	}
}
