package baseappmgr

import (
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// playing is a rig in which ann has a proxy.
func playing(t *testing.T) (r *rig, app mercury.ChannelID, id uint64) {
	r = newRig(t)
	app = r.join(wire.BaseApp, mercurytest.Host(3, 33))
	r.create("ann")
	return r, app, uint64(r.make(app))
}

// The proxy's BaseApp decides about a second login. Each is answered once, and one is under way at a time.
func TestRelogin(t *testing.T) {
	r, app, id := playing(t)
	r.create("ann")
	asked := r.relogged(app)
	r.create("ann")
	r.wantRefused(protocol.ServerBusy)
	r.request--
	made := wire.ProxyMade{Request: asked.Request, ID: 1, Token: [16]byte{7}, Doors: []protocol.Door{{Network: protocol.UDP, Address: mercurytest.Host(3, 33)}}}
	if asked.Account != "ann" || id != 1 {
		t.Fatalf("asked %+v about %d", asked, id)
	}
	r.say(app, &made)
	if p := r.told(); p.Code != 0 || p.Token != made.Token || p.ID != 1 || len(p.Doors) != 1 {
		t.Errorf("told %+v", p)
	}
	r.say(app, &made)
	if n := len(r.net.Take(r.login)); n != 0 {
		t.Errorf("answered %d times more", n)
	}
	r.wantAccounts(1, 0)
	r.request++
	r.create("ann")
	r.refuse(app, protocol.AlreadyLoggedIn)
}

// A proxy that is gone is made anew, whether its end was told or not.
func TestReloginOfAProxyThatIsGone(t *testing.T) {
	for _, told := range []bool{true, false} {
		r, app, _ := playing(t)
		other := r.join(wire.BaseApp, mercurytest.Host(2, 22)) // with fewer proxies
		r.create("ann")
		asked := r.relogged(app)
		if told {
			r.say(app, &wire.ProxyGone{Account: "ann", ID: 1})
		}
		r.say(app, &wire.ProxyMade{Request: asked.Request, Code: uint8(protocol.Destroyed)})
		r.make(other)
		r.wantAccounts(1, 0)
		r.say(app, &wire.ProxyGone{Account: "ann", ID: 1}) // late
		r.wantAccounts(1, 0)
	}
}

func TestReloginIsNotAnswered(t *testing.T) {
	t.Run("silence", func(t *testing.T) {
		r, app, _ := playing(t)
		r.create("ann")
		r.relogged(app)
		r.tick(ReloginTimeout)
		r.wantRefused(protocol.ServerBusy)
		r.wantAccounts(1, 0)
		r.create("ann")
		r.refuse(app, protocol.AlreadyLoggedIn)
	})
	t.Run("away", func(t *testing.T) {
		r, app, _ := playing(t)
		r.say(r.manager, &wire.Members{Apps: []wire.AppRef{{Role: wire.BaseApp, App: mercurytest.Host(3, 33)}}})
		r.create("ann")
		r.relogged(app)
		r.closedUnanswered(app)
		r.wantAccounts(1, 0)
	})
}
