package baseappmgr

import (
	"testing"

	"github.com/cellscape/cellscape/entity"
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

// A BaseApp finds that an entity has the row of what an account plays. The app that has this is asked
// for it. If it is no former proxy, a BaseApp is asked again, and waits for the row.
func TestLoginWhoseRowIsHeld(t *testing.T) {
	for _, c := range []struct {
		name   string
		holder entity.ID
		code   protocol.Code
	}{
		{"had", idOf(2, 7), 0}, {"refused", idOf(2, 7), protocol.AlreadyLoggedIn}, {"another", idOf(2, 7), protocol.Destroyed}, {"nowhere", idOf(9, 7), protocol.Destroyed},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, x, y := issuers(t)
			r.say(y, &wire.Proxies{Entries: []wire.Proxy{{Account: "bob", ID: idOf(2, 1)}, {Account: "cem", ID: idOf(2, 2)}}}) // so X has less
			r.create("ann")
			asked := r.asked(x)
			if asked.Wait {
				t.Error("asked to wait at once")
			}
			r.say(x, &wire.ProxyMade{Request: asked.Request, Code: uint8(protocol.AlreadyLoggedIn), ID: c.holder})
			if c.name != "nowhere" {
				m := r.relogged(y)
				if m.Account != "ann" || m.Holder != c.holder {
					t.Errorf("asked %+v", m)
				}
				if c.code == 0 {
					r.say(y, &wire.Proxies{Entries: []wire.Proxy{{Account: "ann", ID: c.holder, Origin: idOf(2, 8), Turn: 3}}})
				}
				r.say(y, &wire.ProxyMade{Request: m.Request, Code: uint8(c.code), ID: c.holder})
			}
			switch c.code {
			case 0:
				if p := r.told(); p.Code != 0 || p.ID != c.holder {
					t.Errorf("told %+v", p)
				}
				if a := r.m.accounts["ann"]; a == nil || a.origin != idOf(2, 8) || a.turn != 3 || a.app.at != baseY {
					t.Errorf("the account is %+v", a)
				}
				r.create("ann")
				if m := r.relogged(y); m.Holder != 0 {
					t.Errorf("asked %+v about a proxy that is known", m)
				}
			case protocol.Destroyed:
				asked := r.asked(x)
				if !asked.Wait {
					t.Error("not asked to wait")
				}
				r.say(x, &wire.ProxyMade{Request: asked.Request, Code: uint8(protocol.AlreadyLoggedIn)})
				r.wantRefused(protocol.AlreadyLoggedIn)
				r.wantAccounts(2, 0)
			default:
				r.wantRefused(c.code)
				r.wantAccounts(2, 0)
			}
			for _, on := range r.m.baseApps {
				if want := map[mercury.Address]int{baseX: 0, baseY: 2}[on.at]; c.code != 0 && on.proxies != want {
					t.Errorf("%v has %d proxies, want %d", on.at, on.proxies, want)
				}
			}
		})
	}
}
