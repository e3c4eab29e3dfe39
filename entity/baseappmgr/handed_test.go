package baseappmgr

import (
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// outdone are the messages to a BaseApp that an account is another base's.
func (r *rig) outdone(ch mercury.ChannelID) (list []wire.Outdone) {
	r.t.Helper()
	for _, msg := range r.net.Take(ch) {
		id, body, err := wire.Split(msg)
		if err != nil || id != wire.OutdoneID {
			r.t.Fatalf("%v: %v", id, err)
		}
		var m wire.Outdone
		if err := m.Parse(body); err != nil {
			r.t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

// Of two bases of one login the one that was handed the account later has it, whichever is
// announced first. The BaseApp of the other is told.
func TestLaterTurnWins(t *testing.T) {
	r := newRig(t)
	giver, taker := r.join(wire.BaseApp, mercurytest.Host(3, 33)), r.join(wire.BaseApp, mercurytest.Host(4, 44))
	r.create("ann")
	id := r.make(giver)
	r.net.Take(giver)
	r.net.Take(taker)
	r.say(taker, &wire.Proxies{Entries: []wire.Proxy{wire.Proxy{Account: "ann", ID: 77, Origin: id, Turn: 1}}})
	want := wire.Outdone{Account: "ann", ID: 77, Origin: id, Turn: 1}
	if list := r.outdone(giver); len(list) != 1 || list[0] != want || len(r.outdone(taker)) != 0 {
		t.Errorf("told %+v", list)
	}
	r.say(giver, &wire.Proxies{Entries: []wire.Proxy{wire.Proxy{Account: "ann", ID: id, Origin: id}}})
	if list := r.outdone(giver); len(list) != 1 || list[0] != want || len(r.outdone(taker)) != 0 {
		t.Errorf("told %+v", list)
	}
	// It takes the account back.
	r.say(giver, &wire.Proxies{Entries: []wire.Proxy{wire.Proxy{Account: "ann", ID: id, Origin: id, Turn: 2}}})
	if list := r.outdone(taker); len(list) != 1 || list[0] != (wire.Outdone{Account: "ann", ID: id, Origin: id, Turn: 2}) {
		t.Errorf("told %+v", list)
	}
	// What is of another login stays as it is, however often it was handed on.
	r.say(taker, &wire.Proxies{Entries: []wire.Proxy{wire.Proxy{Account: "ann", ID: 88, Origin: 88, Turn: 9}}})
	if a := r.m.accounts["ann"]; a.id != id || a.app.ch != giver || len(r.net.Take(giver))+len(r.net.Take(taker)) != 0 {
		t.Errorf("%+v has it", a)
	}
	r.wantAccounts(1, 0)
	if a := r.m.baseApps; a[0].proxies != 1 || a[1].proxies != 0 {
		t.Errorf("%d and %d proxies", a[0].proxies, a[1].proxies)
	}
}

// A BaseApp that says that a proxy is gone does not free the account of the base that has it by now.
func TestHandedOnDuringALogin(t *testing.T) {
	r := newRig(t)
	giver, taker := r.join(wire.BaseApp, mercurytest.Host(3, 33)), r.join(wire.BaseApp, mercurytest.Host(4, 44))
	r.create("ann")
	id := r.make(giver)
	r.create("ann")
	asked := r.relogged(giver)
	r.say(taker, &wire.Proxies{Entries: []wire.Proxy{wire.Proxy{Account: "ann", ID: 77, Origin: id, Turn: 1}}})
	r.say(giver, &wire.ProxyMade{Request: asked.Request, Code: uint8(protocol.Destroyed)})
	r.wantRefused(protocol.ServerBusy)
	r.wantAccounts(1, 0)
	r.create("ann")
	r.relogged(taker)
}
