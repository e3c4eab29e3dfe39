package baseapp

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// logsIn has a login to an account that has no proxy yet.
func (c *copier) logsIn(account string) {
	c.say(c.bases, &wire.MakeProxy{Request: 9, Account: account})
}

// toldLogins are the answers to logins.
func (c *copier) toldLogins() []wire.ProxyMade { return told[wire.ProxyMade](c.rig, baseAppMgr) }

// A login is answered when a copy of the proxy is held, which is sent at once, and the answer says where the
// session goes on if the app dies.
func TestLoginWaitsForACopy(t *testing.T) {
	c := newCopier(t)
	c.pass(time.Second)
	doors := []protocol.Door{{Network: "udp", Address: appW}}
	c.tell(appW, &wire.BaseDoors{Doors: doors})
	c.logsIn("ann")
	if m := c.toldLogins(); len(m) != 0 {
		t.Fatalf("answered %+v before anybody has a copy", m)
	}
	copy := one(t, told[migrate.BaseCopy](c.rig, appW))
	c.tell(appW, &migrate.BaseCopyHeld{ID: copy.ID, Number: copy.Number})
	m := one(t, c.toldLogins())
	if m.Code != 0 || m.Request != 9 || len(m.Fallback) != 1 || m.Fallback[0] != doors[0] || c.a.byToken[m.Token] == nil {
		t.Errorf("answered %+v", m)
	}
	c.pass(time.Second)
	// The token of a second login is in another copy.
	c.net.sent = nil
	c.say(c.bases, &wire.Relogin{Request: 8, Account: "ann"})
	copy = one(t, told[migrate.BaseCopy](c.rig, appW))
	if m := c.toldLogins(); len(m) != 0 {
		t.Fatalf("answered %+v before anybody has a copy", m)
	}
	c.tell(appW, &migrate.BaseCopyHeld{ID: copy.ID, Number: copy.Number})
	if again := one(t, c.toldLogins()); again.Code != 0 || again.Request != 8 || again.ID != m.ID || again.Token == m.Token {
		t.Errorf("answered %+v", again)
	}
}

// It does not wait for ever, nor for what will not come.
func TestLoginThatGetsNoCopy(t *testing.T) {
	t.Run("nobody is there", func(t *testing.T) {
		r := joinedRig(t)
		r.say(r.managers, &wire.AppDead{Role: wire.BaseApp, App: appW, Number: 1, Allocator: 9})
		r.tick()
		r.say(r.bases, &wire.MakeProxy{Request: 9, Account: "ann"})
		if m := r.made(); m.Code != 0 || len(m.Fallback) != 0 {
			t.Errorf("answered %+v", m)
		}
	})
	for name, x := range map[string]struct {
		do    func(*copier, *base)
		after time.Duration
		code  protocol.Code
	}{
		"silence":   {func(*copier, *base) {}, copyGrace, 0},
		"refused":   {func(c *copier, b *base) { c.tell(appW, &migrate.BaseCopyHeld{ID: b.id, Number: 1, Refused: true}) }, 0, 0},
		"destroyed": {func(_ *copier, b *base) { b.Destroy() }, EndPatience, protocol.ServerBusy},
		"another":   {func(c *copier, b *base) { c.say(c.bases, &wire.Relogin{Request: 8, Account: "ann"}) }, 0, protocol.ServerBusy},
	} {
		c := newCopier(t)
		c.pass(time.Second)
		c.mute[appW] = true
		c.logsIn("ann")
		b := c.a.accounts["ann"]
		if x.do(c, b); x.after > 0 {
			if m := c.toldLogins(); len(m) != 0 {
				t.Errorf("%s: answered at once: %+v", name, m)
			}
			for range int(x.after/DefaultTick) + 1 {
				c.tick()
			}
		}
		if m := one(t, c.toldLogins()); m.Request != 9 || protocol.Code(m.Code) != x.code {
			t.Errorf("%s: answered %+v", name, m)
		}
	}
}

// first resumes with the token of a login.
func (g *guest) first(n byte, login protocol.Token, ready bool) {
	m := protocol.Resume{Token: g.token, Former: login, Digest: g.r.schema.ClientDigest, Ready: ready, Has: g.has, Incarnation: g.view}
	g.player = g.r.connect(n)
	g.say(m.Append(nil))
}

// A client that has heard nothing of its BaseApp, or whose channel was lost on the first word, begins with the
// token of its login: its proxy may have heard it, or not.
func TestBeginsWithTheTokenOfTheLogin(t *testing.T) {
	for name, attached := range map[string]bool{"attached": true, "not attached": false} {
		r := joinedRig(t)
		made := r.login("ann")
		g := &guest{player: r.connect(1), token: made.Token}
		if attached {
			g.attach(made.Token)
			r.net.sent = nil // it was on its way
			g.loses()
			r.wantEvents("created", "enabled")
		}
		r.events = nil
		g.first(2, protocol.Token{}, true)
		if g.settle(); g.token == made.Token || g.has != (protocol.Counts{1, 0}) || g.last.From != (protocol.Counts{}) {
			t.Errorf("%s: counts %v, %+v", name, g.has, g.last)
		}
		if !attached {
			r.wantEvents("enabled")
		}
		r.wantEvents()
		// Until it has shown the new one, it may show that of the login again.
		g.loses()
		lost := g.token
		g.token, g.has = made.Token, protocol.Counts{}
		g.first(3, protocol.Token{}, true)
		if g.settle(); g.token == lost || g.has != (protocol.Counts{1, 0}) {
			t.Errorf("%s: counts %v the second time", name, g.has)
		}
		g.hears()
		late := r.connect(4)
		late.say((&protocol.Resume{Token: made.Token, Digest: r.schema.ClientDigest}).Append(nil))
		late.wantRefused(protocol.BadToken)
		g.say(protocol.AppendPing(nil))
		g.wantHeard("[57]")
	}
}

// An heir whose copy was made before the client came has it play from the beginning: the client has
// shown a token that nobody knows any more, and that of its login.
func TestHeirOfAProxyThatWaits(t *testing.T) {
	for name, early := range map[string]bool{"before the verdict": true, "after it": false} {
		r, old, _ := warded(t)
		waits := r.login("bob")
		b := r.a.byID[waits.ID]
		stream := b.appendClient(nil)
		b.forgetToken()
		g := &guest{player: old.player, token: protocol.Token{9, 9}, has: protocol.Counts{7, 40}, view: 3}
		comes := func() { g.first(2, waits.Token, true) }
		if early {
			comes()
			r.tick()
			g.wantHeard()
		}
		moved(t, r, b, stream)
		if !early {
			comes()
		}
		r.tick()
		if g.settle(); g.last.Handled != 0 || g.last.From != (protocol.Counts{}) || g.has != (protocol.Counts{1, 0}) || g.token == (protocol.Token{9, 9}) {
			t.Errorf("%s: %+v, counts %v", name, g.last, g.has)
		}
		if s := b.seat; s == nil || !s.enabled || s.client == nil || b.session == 0 {
			t.Fatalf("%s: no seat", name)
		}
		// It lost that channel, too, before it had heard anything there.
		g.player.r.a.Closed(r.now, g.ch, mercury.ErrTimeout)
		g.token, g.has = protocol.Token{9, 9}, protocol.Counts{7, 40}
		comes()
		if g.settle(); g.last.From != (protocol.Counts{}) || g.has != (protocol.Counts{1, 0}) {
			t.Errorf("%s: %+v, counts %v the second time", name, g.last, g.has)
		}
	}
}
