package baseappmgr

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// gate is a BaseAppMgr whose BaseApps take two proxies each, and what the test knows of it.
type gate struct {
	*rig
	made     map[string]entity.ID
	on       map[string]mercury.ChannelID
	refusals map[mercury.ChannelID]uint32 // that LoginApps know of
}

func newGate(t *testing.T) *gate {
	r := newRig(t)
	r.m.cfg.MaxProxies = 2
	return &gate{r, map[string]entity.ID{}, map[string]mercury.ChannelID{}, map[mercury.ChannelID]uint32{}}
}

// base brings in a BaseApp that has told all it has.
func (g *gate) base(host byte) mercury.ChannelID {
	return g.joinTold(mercurytest.Host(host, 1))
}

// ask asks for a proxy, as one LoginApp, and has it made on whichever BaseApp it is asked from.
func (g *gate) ask(login mercury.ChannelID, account string) protocol.Code {
	g.t.Helper()
	g.request++
	g.say(login, &wire.CreateProxy{Request: g.request, Account: account, Refusals: g.refusals[login]})
	for _, s := range g.net.Sent {
		if id, body, err := wire.Split(s.Message); err == nil && id == wire.MakeProxyID {
			var m wire.MakeProxy
			if m.Parse(body) != nil || m.Account != account {
				g.t.Fatalf("asked for %+v", m)
			}
			g.net.Take(s.Channel)
			g.nextID++
			g.made[account], g.on[account] = g.nextID, s.Channel
			g.say(s.Channel, &wire.ProxyMade{Request: m.Request, ID: g.nextID})
			break
		}
	}
	var p wire.ProxyMade
	if id, body := g.got(login); id != wire.ProxyMadeID || p.Parse(body) != nil || p.Request != g.request {
		g.t.Fatalf("message %d, %+v to request %d", id, p, g.request)
	}
	g.refusals[login] = p.Refusals
	return protocol.Code(p.Code)
}

func (g *gate) want(login mercury.ChannelID, account string, want protocol.Code) {
	g.t.Helper()
	if got := g.ask(login, account); got != want {
		g.t.Errorf("%s: code %v, want %v", account, got, want)
	}
}

// end ends the proxy of an account.
func (g *gate) end(account string) {
	g.say(g.on[account], &wire.ProxyGone{Account: account, ID: g.made[account]})
}

// There are never more proxies than there may be, and one comes in for each that goes.
func TestRoom(t *testing.T) {
	g := newGate(t)
	g.want(g.login, "ann", protocol.NotReady)
	silent := g.join(wire.BaseApp, mercurytest.Host(3, 1))
	g.want(g.login, "ann", protocol.WorldFull) // it may have as many as it may
	g.say(silent, &wire.Names{Last: true})
	g.base(4)
	for i := range 4 {
		g.want(g.login, fmt.Sprint(i), 0)
	}
	if !g.m.noRoom() {
		t.Error("room for a fifth")
	}
	for range 3 {
		g.want(g.login, "ann", protocol.WorldFull)
	}
	// Whoever waits goes on waiting while there is no BaseApp.
	none := g.m.baseApps
	g.m.baseApps = nil
	g.want(g.login, "ann", protocol.WorldFull)
	g.m.baseApps = none
	g.end("1")
	g.want(g.login, "ann", 0)
	g.want(g.login, "bob", protocol.WorldFull)
	// Whoever is in comes in again.
	g.request++
	g.say(g.login, &wire.CreateProxy{Request: g.request, Account: "ann"})
	g.say(g.on["ann"], &wire.ProxyMade{Request: g.relogged(g.on["ann"]).Request, ID: g.made["ann"], Token: [16]byte{1}})
	if p := g.told(); p.Code != 0 || p.ID != g.made["ann"] || p.Refusals != g.refusals[g.login] {
		t.Errorf("told %+v", p)
	}
}

// Nobody is placed on a BaseApp that is to leave, or is away.
func TestNoRoomOnALeavingBaseApp(t *testing.T) {
	g := newGate(t)
	a, b := g.base(3), g.base(4)
	g.say(a, &wire.Leaving{})
	g.want(g.login, "ann", 0)
	g.want(g.login, "bob", 0)
	g.want(g.login, "cat", protocol.WorldFull)
	if g.on["ann"] != b || g.on["bob"] != b {
		t.Error("placed on a BaseApp that is to leave")
	}
	g.end("ann")
	g.say(b, &wire.Leaving{})
	g.want(g.login, "cat", protocol.WorldFull)
	if !g.m.noRoom() {
		t.Error("there is room on those that leave")
	}
}

// What a LoginApp asked before it knew of a refusal is refused, even if there is room by then:
// nobody comes in before those who came first.
func TestRefusedInOrder(t *testing.T) {
	g := newGate(t)
	g.base(3)
	g.want(g.login, "1", 0)
	g.want(g.login, "2", 0)
	g.say(g.login, &wire.CreateProxy{Request: 100, Account: "ann"})
	g.end("1")
	g.say(g.login, &wire.CreateProxy{Request: 101, Account: "bob"})
	msgs := g.net.Take(g.login)
	for i, msg := range msgs {
		_, body, err := wire.Split(msg)
		var p wire.ProxyMade
		if err != nil || p.Parse(body) != nil || p.Code != uint8(protocol.WorldFull) || p.Refusals != 1 || p.Request != uint64(100+i) {
			t.Errorf("told %+v %v", p, err)
		}
	}
	if len(msgs) != 2 {
		t.Fatalf("%d answers", len(msgs))
	}
	g.refusals[g.login] = 1
	g.want(g.login, "ann", 0)
	g.want(g.login, "bob", protocol.WorldFull)
	// On another channel the LoginApp counts anew.
	g.login = g.join(wire.LoginApp, mercurytest.Host(50, 5))
	g.end("2")
	g.want(g.login, "bob", 0)
}

// LoginApps come in turn, however much more often one of them asks, and one that does not ask any more holds
// nobody up.
func TestLoginAppsInTurn(t *testing.T) {
	g := newGate(t)
	g.base(3)
	other := g.join(wire.LoginApp, mercurytest.Host(51, 5))
	g.want(g.login, "1", 0)
	g.want(g.login, "2", 0)
	g.want(g.login, "a1", protocol.WorldFull)
	g.want(other, "b1", protocol.WorldFull)
	g.end("1")
	g.want(other, "b1", protocol.WorldFull) // not its turn
	g.want(g.login, "a1", 0)
	g.end("2")
	g.want(g.login, "a2", protocol.WorldFull)
	g.want(other, "b1", 0)
	g.want(other, "b2", protocol.WorldFull)
	g.end("a1")
	g.end("b1")
	g.want(other, "b2", 0) // there is room for both
	g.want(g.login, "a2", 0)

	g.want(g.login, "a3", protocol.WorldFull)
	g.want(other, "b3", protocol.WorldFull)
	g.end("a2")
	g.want(other, "b3", protocol.WorldFull)
	g.tick(turnTime)
	g.want(other, "b3", 0) // a3 has given up
}

// A BaseApp that says that the world is full is one that is busy.
func TestBaseAppsDoNotJudgeRoom(t *testing.T) {
	g := newGate(t)
	app := g.base(3)
	g.create("ann")
	g.say(app, &wire.ProxyMade{Request: g.asked(app).Request, Code: uint8(protocol.WorldFull), Refusals: 77})
	if p := g.told(); p.Code != uint8(protocol.ServerBusy) || p.Refusals != 0 {
		t.Errorf("told %+v", p)
	}
}

// The end of a proxy that was told over a channel that broke is known when the BaseApp has joined again.
func TestLostEndsLeaveRoom(t *testing.T) {
	g := newGate(t)
	g.base(3)
	g.want(g.login, "ann", 0)
	g.want(g.login, "bob", 0)
	again := g.join(wire.BaseApp, mercurytest.Host(3, 1))
	g.want(g.login, "cat", protocol.WorldFull) // nobody has told all
	g.say(again, &wire.Proxies{Entries: []wire.Proxy{{Account: "bob", ID: g.made["bob"]}}})
	g.say(again, &wire.Names{Last: true})
	g.wantAccounts(1, 0)
	g.want(g.login, "cat", 0)
	g.want(g.login, "dan", protocol.WorldFull)
	g.tick(time.Second)
}

// TestSilentBaseApp: one of two BaseApps hangs. Whoever logs in then comes to the other one, although that
// has more; when it is heard again it is chosen again.
func TestSilentBaseApp(t *testing.T) {
	r := newRig(t)
	hangs, lives := r.joinTold(mercurytest.Host(20, 2)), r.joinTold(mercurytest.Host(21, 2))
	says := func(ch mercury.ChannelID, bases uint32) { r.say(ch, &wire.BaseLoad{Bases: bases}) }
	says(hangs, 1)
	for range 3 {
		r.tick(time.Second)
		says(lives, 10)
	}
	r.create("ann")
	r.asked(lives)
	r.say(lives, &wire.PlaceBase{Request: 7})
	var placed wire.BasePlaced
	if id, body := r.got(lives); id != wire.BasePlacedID || placed.Parse(body) != nil || placed.App != mercurytest.Host(21, 2) {
		t.Errorf("message %d, %+v", id, placed)
	}
	says(hangs, 1)
	r.create("bob")
	r.asked(hangs)
}

// Of those who come back only an account that has a proxy may come in, however much room there is: the world
// is full by its loads. It is no refusal, and takes nobody's turn.
func TestComesBack(t *testing.T) {
	g := newGate(t)
	g.base(1)
	g.want(g.login, "ann", 0)
	g.net.Take(g.login)
	g.say(g.login, &wire.CreateProxy{Request: 100, Account: "bob", Back: true})
	var p wire.ProxyMade
	if id, body := g.got(g.login); id != wire.ProxyMadeID || p.Parse(body) != nil || protocol.Code(p.Code) != protocol.WorldFull || p.Refusals != 0 {
		t.Errorf("bob is answered %+v", p)
	}
	g.say(g.login, &wire.CreateProxy{Request: 101, Account: "ann", Back: true})
	var m wire.Relogin
	if id, body := g.got(g.on["ann"]); id != wire.ReloginID || m.Parse(body) != nil || m.Account != "ann" {
		t.Errorf("the BaseApp of ann is asked %v %+v", id, m)
	}
	g.want(g.login, "bob", 0) // there is room
}
