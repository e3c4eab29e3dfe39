package baseappmgr

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/property"
)

func testSchema(t testing.TB) *property.Schema {
	t.Helper()
	s, err := property.NewSchema(&property.Definition{Name: "Avatar", HasCell: true, HasBase: true, HasClient: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var cellAppMgr = mercurytest.Host(1, 11)

// rig is a BaseAppMgr whose apps are played by the test.
type rig struct {
	t       testing.TB
	net     *mercurytest.Stage
	m       *BaseAppMgr
	now     time.Duration
	manager mercury.ChannelID
	login   mercury.ChannelID // of a LoginApp that has joined
	request uint64            // of that LoginApp
	nextID  entity.ID
}

func newRig(t testing.TB) *rig {
	r := &rig{t: t, net: mercurytest.NewStage(mercurytest.Host(9, 1))}
	m, err := New(Config{Transport: r.net, Manager: cellAppMgr.At, Schema: testSchema(t)})
	if err != nil {
		t.Fatal(err)
	}
	r.m = m
	r.tick(0)
	r.manager = r.net.Last
	m.Opened(r.now, r.manager, cellAppMgr)
	var j wire.Join
	if id, body := r.got(r.manager); id != wire.JoinID || j.Parse(body) != nil || j.Role != wire.BaseAppMgr {
		t.Fatalf("joins as %v", j.Role)
	}
	r.say(r.manager, &wire.Welcome{Number: 1, Term: 4, CellAppMgr: cellAppMgr})
	r.say(r.manager, &wire.Members{})
	r.login = r.join(wire.LoginApp, mercurytest.Host(50, 5))
	return r
}

func (r *rig) tick(d time.Duration) {
	r.now += d
	r.m.Tick(r.now)
}

func (r *rig) say(ch mercury.ChannelID, msg wire.Message) {
	r.m.Message(r.now, ch, true, wire.Encode(nil, msg))
}

// got is the only message sent on a channel.
func (r *rig) got(ch mercury.ChannelID) (wire.ID, []byte) {
	r.t.Helper()
	id, body, err := wire.Split(r.net.One(r.t, ch))
	if err != nil {
		r.t.Fatal(err)
	}
	return id, body
}

// join brings an app in.
func (r *rig) join(role wire.Role, at mercury.Address) mercury.ChannelID {
	r.t.Helper()
	ch := r.net.Accept(at)
	r.m.Opened(r.now, ch, at)
	r.say(ch, &wire.Join{Speaks: wire.Spoken(), Role: role, Digest: r.m.cfg.Schema.Digest})
	var w wire.Welcome
	if id, body := r.got(ch); id != wire.WelcomeID || w.Parse(body) != nil || w.BaseAppMgr != r.net.Self() || w.Term != 4 || w.CellAppMgr != cellAppMgr {
		r.t.Fatalf("message %d, welcome %+v", id, w)
	}
	return ch
}

// joinTold brings a BaseApp in that has told all it has.
func (r *rig) joinTold(at mercury.Address) mercury.ChannelID {
	r.t.Helper()
	ch := r.join(wire.BaseApp, at)
	r.say(ch, &wire.Names{Last: true})
	return ch
}

// closed ends a channel from the other side.
func (r *rig) closed(ch mercury.ChannelID, reason error) {
	r.net.Ended[ch] = true
	r.m.Closed(r.now, ch, reason)
}

// closedUnanswered ends the channel to a BaseApp that was asked for ann: her login is refused for now, and
// so is the next one.
func (r *rig) closedUnanswered(ch mercury.ChannelID) {
	r.t.Helper()
	r.closed(ch, mercury.ErrTimeout)
	r.wantRefused(protocol.ServerBusy)
	r.create("ann")
	r.wantRefused(protocol.ServerBusy)
}

// create asks for a proxy as the LoginApp.
func (r *rig) create(account string) {
	r.request++
	r.say(r.login, &wire.CreateProxy{Request: r.request, Account: account})
}

// asked is the MakeProxy that a BaseApp got.
func (r *rig) asked(ch mercury.ChannelID) (m wire.MakeProxy) {
	r.t.Helper()
	if id, body := r.got(ch); id != wire.MakeProxyID || m.Parse(body) != nil {
		r.t.Fatalf("message %d, %+v", id, m)
	}
	return m
}

// told is the answer that the LoginApp got to its last request.
func (r *rig) told() (p wire.ProxyMade) {
	r.t.Helper()
	if id, body := r.got(r.login); id != wire.ProxyMadeID || p.Parse(body) != nil || p.Request != r.request {
		r.t.Fatalf("message %d, %+v to request %d", id, p, r.request)
	}
	return p
}

func (r *rig) wantRefused(want protocol.Code) {
	r.t.Helper()
	if got := protocol.Code(r.told().Code); got != want {
		r.t.Errorf("refused with %v, want %v", got, want)
	}
}

// make makes a proxy on a BaseApp for the request that it got.
func (r *rig) make(ch mercury.ChannelID) entity.ID {
	r.t.Helper()
	r.nextID++
	peer, _ := r.net.Peer(ch)
	made := wire.ProxyMade{Request: r.asked(ch).Request, ID: r.nextID, Doors: []protocol.Door{{Network: protocol.UDP, Address: peer}}, Token: [16]byte{9}}
	r.say(ch, &made)
	if p := r.told(); p.Code != 0 || p.ID != r.nextID || !slices.Equal(p.Doors, made.Doors) || p.Token != made.Token {
		r.t.Errorf("told %+v", p)
	}
	return r.nextID
}

// relogged is the Relogin that a BaseApp got.
func (r *rig) relogged(ch mercury.ChannelID) (m wire.Relogin) {
	r.t.Helper()
	if id, body := r.got(ch); id != wire.ReloginID || m.Parse(body) != nil {
		r.t.Fatalf("message %d, %+v", id, m)
	}
	return m
}

// refuse answers the Relogin that a BaseApp got, of which the LoginApp is told.
func (r *rig) refuse(ch mercury.ChannelID, code protocol.Code) {
	r.t.Helper()
	r.say(ch, &wire.ProxyMade{Request: r.relogged(ch).Request, Code: uint8(code)})
	r.wantRefused(code)
}

func (r *rig) wantAccounts(accounts, pending int) {
	r.t.Helper()
	if c := r.m.Counts(); c.Accounts != accounts || c.Pending != pending {
		r.t.Errorf("%d accounts, %d pending; want %d and %d", c.Accounts, c.Pending, accounts, pending)
	}
}
