package baseappmgr

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// unsure is a manager that has been started again: of two BaseApps one has told what it has.
func unsure(t *testing.T) (r *rig, x mercury.ChannelID) {
	t.Helper()
	r = newRig(t)
	r.members(baseX, baseY)
	x = r.joinTold(baseX)
	r.create("ann")
	r.tick(DefaultTick)
	if n := len(r.net.Take(r.login)) + len(r.net.Take(x)); n != 0 {
		t.Fatalf("a login that has to wait led to %d messages", n)
	}
	return r, x
}

// A login to an account that has a proxy on a BaseApp which has yet to join is for that proxy.
func TestUnsureIsThere(t *testing.T) {
	r, _ := unsure(t)
	y := r.join(wire.BaseApp, baseY)
	r.announce(y, wire.Proxy{Account: "ann", ID: 7})
	r.say(y, &wire.Names{Last: true})
	r.tick(DefaultTick)
	if m := r.relogged(y); m.Account != "ann" {
		t.Errorf("asked for %q", m.Account)
	}
}

// If nobody has it, one is made as soon as that is known: all have told, or who has not is dead.
func TestUnsureIsFree(t *testing.T) {
	for _, tell := range []func(r *rig){
		func(r *rig) { r.joinTold(baseY) },
		func(r *rig) { r.say(r.manager, &wire.AppDead{Role: wire.BaseApp, App: baseY}) },
	} {
		r, x := unsure(t)
		tell(r)
		r.tick(DefaultTick)
		r.make(x)
		r.wantAccounts(1, 0)
	}
}

// Nobody waits for ever, nor do many.
func TestUnsureIsBounded(t *testing.T) {
	r, _ := unsure(t)
	r.tick(sureTime)
	r.wantRefused(protocol.NotReady)
	for range MaxPending {
		r.create("bob")
	}
	if n := len(r.net.Take(r.login)); n != 0 {
		t.Fatalf("%d of them were answered", n)
	}
	r.create("cid")
	r.wantRefused(protocol.ServerBusy)
	r.tick(sureTime)
	if n := len(r.net.Take(r.login)); n != MaxPending {
		t.Errorf("%d were answered", n)
	}
	r.wantAccounts(0, 0)
}

// A BaseApp whose channel ends may have made the proxy that it was asked for. The account stays
// taken until it is back, and says.
func TestAskedWhenTheChannelEnds(t *testing.T) {
	for _, made := range []bool{true, false} {
		r := newRig(t)
		r.members(baseX)
		x := r.joinTold(baseX)
		r.create("ann")
		r.asked(x)
		r.closedUnanswered(x)
		r.tick(time.Second)
		x = r.join(wire.BaseApp, baseX)
		if made {
			r.announce(x, wire.Proxy{Account: "ann", ID: 7})
		}
		r.say(x, &wire.Names{Last: true})
		r.create("ann")
		if made {
			r.relogged(x)
			continue
		}
		r.make(x)
		r.wantAccounts(1, 0)
	}
}

// A manager that has started again does not know which BaseApps there are before the CellAppMgr has named
// them. The first that joined used to be taken for all: it was given accounts and names that others had.
func TestUnsureBeforeAnyIsNamed(t *testing.T) {
	r := newRig(t)
	r.m.named = false // as before the first Members
	x := r.joinTold(baseX)
	r.create("ann")
	r.say(x, &wire.RegisterName{Request: 1, Name: "auction", ID: 5, Type: 1})
	if n := len(r.net.Take(r.login)) + len(r.net.Take(x)); n != 0 {
		t.Fatalf("%d messages before anybody can know", n)
	}
	r.members(baseX, baseY)
	y := r.join(wire.BaseApp, baseY)
	r.announce(y, wire.Proxy{Account: "ann", ID: 7})
	r.say(y, &wire.Names{Last: true})
	r.tick(DefaultTick)
	if m := r.relogged(y); m.Account != "ann" {
		t.Errorf("asked for %q", m.Account)
	}
}
