package baseappmgr

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// idOf is an id that the app with an allocator has issued.
func idOf(allocator, n uint64) entity.ID { return entity.ID(allocator<<32 | n) }

// issuers is a rig with two BaseApps of which it is known which ids they issue: X 1, and Y 2.
func issuers(t *testing.T) (r *rig, x, y mercury.ChannelID) {
	r = newRig(t)
	x, y = r.join(wire.BaseApp, baseX), r.join(wire.BaseApp, baseY)
	var m wire.Members
	m.Add(wire.AppRef{Role: wire.BaseApp, App: baseX}, 1)
	m.Add(wire.AppRef{Role: wire.BaseApp, App: baseY}, 2)
	r.say(r.manager, &m)
	r.say(x, &wire.Names{Last: true})
	r.say(y, &wire.Names{Last: true})
	return r, x, y
}

var deathOfX = &wire.AppDead{Role: wire.BaseApp, App: baseX, Number: 1, Allocator: 1,
	Rule: migrate.Rule{Version: 1, Replicas: 1, List: []mercury.Address{baseY}}}

// A BaseApp that says that it has a base of another one takes no account by that, whatever it says
// of the base, and also if the account is free.
func TestAnothersProxy(t *testing.T) {
	r, x, y := issuers(t)
	ann := idOf(1, 7)
	r.say(x, &wire.Proxies{Entries: []wire.Proxy{{Account: "ann", ID: ann, Origin: ann, Life: 3}}})
	r.say(y, &wire.Proxies{Entries: []wire.Proxy{
		{Account: "ann", ID: ann, Origin: ann, Life: 9}, {Account: "ann", ID: idOf(1, 8), Origin: ann, Turn: 9}, {Account: "bob", ID: idOf(1, 9)},
	}})
	if a := r.m.accounts["ann"]; a.app.at != baseX || a.id != ann || len(r.outdone(x)) != 0 {
		t.Errorf("%+v has the account", a)
	}
	r.wantAccounts(1, 0)
	// A liar waits only so long, and only with so much, and it is counted.
	dropped := r.m.report.Errors
	r.tick(earlyTime)
	if n := r.m.report.Errors - dropped; n != 3 {
		t.Errorf("%d dropped", n)
	}
	for range maxEarly/100 + 1 {
		var lies wire.Proxies
		for n := range uint64(100) {
			lies.Entries = append(lies.Entries, wire.Proxy{Account: fmt.Sprint(n), ID: idOf(1, 100+n)})
		}
		r.say(y, &lies)
	}
	if n := r.m.report.Errors - dropped; n != 103 {
		t.Errorf("%d dropped", n)
	}
	r.wantAccounts(1, 0)
}

// What an heir says of bases before the manager knows of the departure counts as soon as it does,
// and what has ended there meanwhile is free.
func TestEarlyHeir(t *testing.T) {
	r, x, y := issuers(t)
	ann, bob, cid := idOf(1, 7), idOf(1, 8), idOf(1, 9)
	r.say(x, &wire.Proxies{Entries: []wire.Proxy{{Account: "ann", ID: ann}, {Account: "bob", ID: bob}}})
	r.say(y, &wire.Proxies{Entries: []wire.Proxy{{Account: "ann", ID: ann, Life: 1}, {Account: "bob", ID: bob, Life: 1}, {Account: "cid", ID: cid, Life: 1}}})
	r.say(y, &wire.Inherited{App: baseX})
	r.say(y, &wire.ProxyGone{Account: "bob", ID: bob})
	r.say(y, &wire.Proxies{Entries: []wire.Proxy{{Account: "ann", ID: ann, Life: 1, Turn: 2}}})
	r.say(r.manager, deathOfX)
	r.wantAccounts(2, 0)
	if a := r.m.accounts["ann"]; a == nil || a.app.at != baseY || a.turn != 2 {
		t.Errorf("%+v has the account", a)
	}
	if a := r.m.baseApps; len(a) != 1 || a[0].proxies != 2 {
		t.Errorf("%+v", a[0])
	}
	r.create("bob")
	r.make(y)
}

// What a BaseApp said over a channel that has broken does not count beside what it says over the next one.
func TestEarlyOfAnotherChannel(t *testing.T) {
	r, _, y := issuers(t)
	ann := idOf(1, 7)
	r.say(y, &wire.Proxies{Entries: []wire.Proxy{{Account: "ann", ID: ann, Life: 1}}})
	r.closed(y, mercury.ErrTimeout)
	again := r.join(wire.BaseApp, baseY)
	r.say(y, &wire.Proxies{Entries: []wire.Proxy{{Account: "ann", ID: ann, Life: 1}, {Account: "bob", ID: idOf(2, 1)}}})
	r.say(again, &wire.Names{Last: true})
	r.tick(time.Second)
	r.say(r.manager, deathOfX)
	r.wantAccounts(0, 0)
}

// A BaseApp whose bases moved, and came back, has the accounts: as its last word says.
func TestEarlyAfterMoves(t *testing.T) {
	r, x, y := issuers(t)
	ann := idOf(1, 7)
	rule := migrate.Rule{Version: 1, Replicas: 1, List: []mercury.Address{baseY}}
	r.say(x, &wire.Proxies{Entries: []wire.Proxy{{Account: "ann", ID: ann, Origin: ann}}})
	part := migrate.Part{Turn: 1, Slices: 1<<migrate.Slices - 1, Below: entity.MaxID}
	r.say(y, &wire.Proxies{Entries: []wire.Proxy{{Account: "ann", ID: ann, Origin: ann, Life: 1}}})
	r.say(r.manager, &wire.BasesMoved{App: baseX, Number: 1, Allocator: 1, Rule: rule, Part: part})
	if a := r.m.accounts["ann"]; a.app.at != baseY || a.life != 1 {
		t.Errorf("%+v has the account", a)
	}
	// The old one's word, which was long on its way, changes nothing.
	r.say(x, &wire.Proxies{Entries: []wire.Proxy{{Account: "ann", ID: ann, Origin: ann}}})
	if a := r.m.accounts["ann"]; a.app.at != baseY || a.life != 1 {
		t.Errorf("%+v has the account", a)
	}
	r.create("ann")
	if m := r.relogged(y); m.Account != "ann" {
		t.Errorf("asked for %+v", m)
	}
}
