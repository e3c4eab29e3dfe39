package baseapp

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// relogin asks for the proxy that an account has. The answer may wait.
func (r *rig) relogin(account string) {
	r.say(r.bases, &wire.Relogin{Request: 8, Account: account})
	r.holdProxy(account)
}

// made is the one answer to a login.
func (r *rig) made() wire.ProxyMade {
	r.t.Helper()
	return one(r.t, told[wire.ProxyMade](r, baseAppMgr))
}

func (r *rig) wantLogin(code protocol.Code) {
	r.t.Helper()
	if m := r.made(); protocol.Code(m.Code) != code || m.Request != 8 {
		r.t.Errorf("answered %+v, want %v", m, code)
	}
}

func (r *rig) wantSession(number uint32) {
	r.t.Helper()
	for _, m := range told[flow.Message](r, appX) {
		var s flow.Session
		if flow.Payload(m.Payload[0]) == flow.SetClientPayload && s.Parse(m.Payload[1:]) == nil && s.Number == number {
			return
		}
	}
	r.t.Errorf("the cell part was not told session %d", number)
}

// By default the new client gets the proxy, and the old one is told why it goes.
func TestTakeOver(t *testing.T) {
	r := joinedRig(t)
	old, id, v := r.playLive()
	r.relogin("ann")
	made := r.made()
	if made.Code != 0 || made.ID != id || len(made.Doors) == 0 {
		t.Fatalf("made %+v", made)
	}
	old.say((&protocol.BaseCall{Method: 0, Args: buyArgs(r)}).Append(nil)) // it plays until the other is there
	r.wantEvents("buy hat 1")
	p := r.connect(2)
	p.attach(made.Token)
	old.wantRefused(protocol.Replaced)
	p.wantHeard("[32 33]")
	r.wantEvents("client death 15", "enabled")
	r.wantSession(2)
	// What was made for the old session is for nobody, and what the old channel still says is not heard.
	r.up(appX, id, 1, 1, bundle(1, "to the old one"))
	r.up(appX, id, 1, 2, bundle(2, "to the new one"))
	p.wantHeard("to the new one")
	old.say((&protocol.BaseCall{Method: 0, Args: buyArgs(r)}).Append(nil))
	r.a.Closed(r.now, old.ch, mercury.ErrPeerClosed)
	r.wantEvents()
	if !v.HasClient() || len(r.a.clients) != 1 || len(r.a.byToken) != 0 {
		t.Errorf("%d clients, %d tokens", len(r.a.clients), len(r.a.byToken))
	}
	q := r.connect(3)
	q.attach(made.Token)
	q.wantRefused(protocol.BadToken)
}

// The place of a client that crashed is given away at once.
func TestTakeOverOfAKeptSeat(t *testing.T) {
	r, g, v := seated(t)
	g.loses()
	r.relogin("ann")
	p := r.connect(2)
	p.attach(r.made().Token)
	r.wantEvents("client death 15", "enabled")
	g.resumes(3)
	g.wantRefused(protocol.Replaced)
	if !v.HasClient() || len(r.a.seats) != 2 { // the token of the new session, and of its login until that has come
		t.Errorf("%d tokens are good", len(r.a.seats))
	}
}

// The old client may leave while the new one is on its way, or the new one may never come.
func TestTakeOverThatComesToNothing(t *testing.T) {
	t.Run("the old one leaves", func(t *testing.T) {
		r := joinedRig(t)
		old, id, _ := r.playLive()
		r.relogin("ann")
		made := r.made()
		old.say(protocol.AppendLogout(nil))
		r.wantEvents("client death 12")
		p := r.connect(2)
		p.attach(made.Token)
		p.wantHeard("[32 33]")
		if view, _ := r.view(id); view.Session != 2 {
			t.Errorf("session %d", view.Session)
		}
	})
	t.Run("nobody comes", func(t *testing.T) {
		r := joinedRig(t)
		old, id, _ := r.playLive()
		r.relogin("ann")
		r.pass(AttachTimeout + DefaultTick)
		r.wantEvents()
		if view, _ := r.view(id); view.Session != 1 || len(r.a.byToken) != 0 {
			t.Error("the old client suffered")
		}
		old.say((&protocol.BaseCall{Method: 0, Args: buyArgs(r)}).Append(nil))
		r.wantEvents("buy hat 1")
	})
	t.Run("neither stays", func(t *testing.T) {
		r := joinedRig(t)
		old, _, v := r.playLive()
		r.relogin("ann")
		old.say(protocol.AppendLogout(nil))
		r.pass(AttachTimeout + DefaultTick)
		if !r.a.byID[v.ID()].destroying {
			t.Error("the proxy waits for ever")
		}
	})
	t.Run("the script ends it", func(t *testing.T) {
		r := joinedRig(t)
		_, _, _ = r.playLive()
		r.do["client death 15"] = func(v *avatar) { v.Destroy() }
		r.relogin("ann")
		p := r.connect(2)
		p.attach(r.made().Token)
		p.wantRefused(protocol.Destroyed)
	})
}

// A proxy that its script has kept is attached again.
func TestKeptProxyIsAttachedAgain(t *testing.T) {
	for _, policy := range []Relogin{TakeOver, RefuseLogin, AwaitDestroy} {
		t.Run(fmt.Sprint(policy), func(t *testing.T) {
			r := joinedRig(t, func(c *Config) { c.Relogin = policy })
			r.keep = true
			old, id, v := r.playLive()
			old.say(protocol.AppendLogout(nil))
			r.wantEvents("client death 12")
			r.relogin("ann")
			r.pass(AttachTimeout + DefaultTick) // nobody comes: it is kept again
			if _, ok := r.view(id); !ok {
				t.Fatal("given up")
			}
			r.take(baseAppMgr)
			r.relogin("ann")
			p := r.connect(2)
			p.attach(r.made().Token)
			p.wantHeard("[32 33]")
			r.wantSession(2)
			r.wantEvents("enabled")
			if !v.HasClient() {
				t.Error("no client")
			}
		})
	}
}

// The cell part dies before it has heard that the client is another one. It is made again with the
// new session, which what the flow still keeps must not end and begin anew: the client would be
// told of two pasts in one.
func TestSessionIsNotBegunTwice(t *testing.T) {
	r := joinedRig(t)
	r.keep = true
	old, id, _ := r.playLive()
	r.up(appX, id, 1, 1, backup(1, 0, 1, 0, "backup"))
	old.say(protocol.AppendLogout(nil))
	r.relogin("ann")
	p := r.connect(2)
	p.attach(r.made().Token)
	r.die(appX)
	if c := r.located(id, appZ); c.Session.Number != 2 {
		t.Fatalf("made with session %d", c.Session.Number)
	}
	r.current(appZ, id, 2, 0, 0)
	r.pass(2 * flow.ResendAfter)
	said := 0
	for _, m := range told[flow.Message](r, appZ) {
		var s flow.Session
		if flow.Payload(m.Payload[0]) != flow.SetClientPayload || s.Parse(m.Payload[1:]) != nil {
			continue
		}
		if said++; s.Number != 2 {
			t.Errorf("message %d says session %d", m.Number, s.Number)
		}
	}
	if said < 2 {
		t.Errorf("%d messages of sessions", said)
	}
}

func TestRefuseLogin(t *testing.T) {
	r := joinedRig(t, func(c *Config) { c.Relogin = RefuseLogin })
	old, _, _ := r.playLive()
	r.relogin("ann")
	r.wantLogin(protocol.AlreadyLoggedIn)
	old.wantHeard()
	r.relogin("bob")
	r.wantLogin(protocol.Destroyed)
}

// The new login waits until the old proxy is gone; whoever waits too long, or for nothing, is told.
func TestAwaitDestroy(t *testing.T) {
	r := joinedRig(t, func(c *Config) { c.Relogin = AwaitDestroy })
	old, id, _ := r.playLive()
	r.relogin("ann")
	old.wantRefused(protocol.Replaced)
	r.wantEvents("client death 15")
	if n := len(told[wire.ProxyMade](r, baseAppMgr)); n != 0 {
		t.Fatalf("%d answers before the end", n)
	}
	r.relogin("ann") // of two that wait the older one is answered
	r.wantLogin(protocol.ServerBusy)
	r.up(appX, id, 1, 1, (&flow.Gone{}).Append(nil))
	r.wantLogin(protocol.Destroyed)
}

func TestAwaitDestroyTakesTooLong(t *testing.T) {
	r := joinedRig(t, func(c *Config) { c.Relogin = AwaitDestroy })
	r.keep = true
	r.playLive()
	r.relogin("ann")
	r.pass(EndPatience - DefaultTick)
	if n := len(told[wire.ProxyMade](r, baseAppMgr)); n != 0 {
		t.Fatalf("%d answers", n)
	}
	r.pass(2 * DefaultTick)
	r.wantLogin(protocol.AlreadyLoggedIn)
	r.pass(EndPatience + time.Second)
	if n := len(told[wire.ProxyMade](r, baseAppMgr)); n != 0 {
		t.Errorf("answered %d times more", n)
	}
}

// Nobody plays a base that is ending, however long that takes, as while the store is full. So who comes
// back meanwhile is told to ask again.
func TestLoginDuringALongEnd(t *testing.T) {
	r := joinedRig(t)
	_, _, v := r.playLive()
	v.Destroy()
	r.relogin("ann")
	r.pass(EndPatience + DefaultTick)
	r.wantLogin(protocol.ServerBusy)
}

// The script has the first word.
func TestOnLogOnAttempt(t *testing.T) {
	r := joinedRig(t, func(c *Config) { c.Relogin = AwaitDestroy })
	old, _, v := r.playLive()
	way := RefuseLogin
	r.onAttempt = func(*avatar) Relogin { return way }
	r.relogin("ann")
	r.wantLogin(protocol.AlreadyLoggedIn)
	way = TakeOver
	r.relogin("ann")
	if m := r.made(); m.Code != 0 || m.ID != v.ID() {
		t.Errorf("made %+v", m)
	}
	old.wantHeard()
	r.onAttempt = func(v *avatar) Relogin { v.Destroy(); return TakeOver }
	r.relogin("ann")
	if n := len(told[wire.ProxyMade](r, baseAppMgr)); n != 0 {
		t.Errorf("%d answers for a base that ends", n)
	}
	r.up(appX, v.ID(), 1, 1, (&flow.Gone{}).Append(nil))
	r.wantLogin(protocol.Destroyed)
}

func TestKick(t *testing.T) {
	r := joinedRig(t)
	p, _, v := r.playLive()
	if v.Kick(string(make([]byte, protocol.MaxReason+1))) == nil {
		t.Error("too long a reason was taken")
	}
	if err := v.Kick("cheating"); err != nil {
		t.Fatal(err)
	}
	p.wantRefused(protocol.Kicked)
	r.wantEvents("client death 16")
	if v.Kick("again") == nil {
		t.Error("nobody was there")
	}
}

// OnClientDeath tells how a channel ended.
func TestReasonsOfDeath(t *testing.T) {
	for want, reason := range map[protocol.Code]error{
		protocol.LoggedOut: mercury.ErrPeerClosed, protocol.Malformed: mercury.ErrProtocol, protocol.ConnectionLost: mercury.ErrPeerRestarted,
	} {
		r := joinedRig(t, func(c *Config) { c.ResumeTime = -1 })
		p, _, _ := r.playLive()
		r.a.Closed(r.now, p.ch, reason)
		r.wantEvents(fmt.Sprintf("client death %d", want))
	}
}
