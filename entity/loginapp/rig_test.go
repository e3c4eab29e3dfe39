package loginapp

import (
	"context"
	"testing"
	"time"

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

var (
	cellAppMgr = mercurytest.Host(1, 11)
	baseAppMgr = mercurytest.Host(2, 22)
	baseApp    = mercurytest.Host(3, 33)
)

// rig is a LoginApp whose managers, clients and jobs are played by the test.
type rig struct {
	t       testing.TB
	net     *mercurytest.Stage
	l       *LoginApp
	now     time.Duration
	manager mercury.ChannelID // to the CellAppMgr
	base    mercury.ChannelID // to the BaseAppMgr
	jobs    []job
	clients byte
	in      map[string]bool // accounts that the BaseAppMgr knows to be in the world
	earlier [][]byte        // what it was sent, and nobody has looked at
}

type job struct {
	token uint64
	run   func(context.Context) any
}

func (r *rig) Do(token uint64, run func(context.Context) any) {
	r.jobs = append(r.jobs, job{token, run})
}

func newRig(t testing.TB, edit ...func(*Config)) *rig {
	r := &rig{t: t, net: mercurytest.NewStage(mercurytest.Host(9, 1))}
	cfg := Config{
		Transport: r.net, Manager: cellAppMgr.At, Schema: testSchema(t),
		Auth: Table{"ann": "right", "bob": "right"}, Jobs: r,
	}
	for _, f := range edit {
		f(&cfg)
	}
	l, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.l = l
	return r
}

// join brings the LoginApp into the cluster.
func (r *rig) join() {
	r.t.Helper()
	r.tick(0)
	r.manager = r.net.Dials[len(r.net.Dials)-1]
	r.wantJoin(r.manager, cellAppMgr)
	r.fromManager(r.manager, &wire.Welcome{Number: 1, Term: 1, CellAppMgr: cellAppMgr, BaseAppMgr: baseAppMgr})
	r.base = r.net.Dials[len(r.net.Dials)-1]
	r.wantJoin(r.base, baseAppMgr)
	r.fromManager(r.base, &wire.Welcome{})
	if !r.l.Counts().Joined {
		r.t.Fatal("not joined")
	}
}

// annLogsIn is a LoginApp that has checked the password of ann, who is on ch.
func annLogsIn(t testing.TB) (r *rig, ch mercury.ChannelID) {
	t.Helper()
	r = newRig(t)
	r.join()
	ch = r.connect()
	r.say(ch, r.login("ann", "right"))
	r.work()
	return r, ch
}

func (r *rig) wantJoin(ch mercury.ChannelID, at mercury.Address) {
	r.t.Helper()
	if peer, _ := r.net.Peer(ch); peer.At != at.At {
		r.t.Fatalf("dialled %v, want %v", peer, at)
	}
	r.l.Opened(r.now, ch, at)
	id, body, err := wire.Split(r.net.One(r.t, ch))
	var j wire.Join
	if err != nil || id != wire.JoinID || j.Parse(body) != nil || j.Role != wire.LoginApp || j.Digest != r.l.cfg.Schema.Digest {
		r.t.Fatalf("join %v %+v %v", id, j, err)
	}
}

func (r *rig) fromManager(ch mercury.ChannelID, m wire.Message) {
	r.l.Message(r.now, ch, true, wire.Encode(nil, m))
}

func (r *rig) tick(d time.Duration) {
	r.now += d
	r.l.Tick(r.now)
}

// connect opens a client's channel.
func (r *rig) connect() mercury.ChannelID {
	r.clients++
	peer := mercurytest.Host(100+r.clients, 5)
	ch := r.net.Accept(peer)
	r.l.Opened(r.now, ch, peer)
	return ch
}

func (r *rig) login(user, password string) []byte {
	m := protocol.Login{Version: protocol.Version, Digest: r.l.cfg.Schema.ClientDigest, User: user, Password: password}
	return m.Append(nil)
}

func (r *rig) say(ch mercury.ChannelID, msg []byte) { r.l.Message(r.now, ch, true, msg) }

// work performs the jobs so far.
func (r *rig) work() {
	jobs := r.jobs
	r.jobs = nil
	for _, j := range jobs {
		r.l.JobDone(r.now, j.token, j.run(context.Background()))
	}
}

// created is the CreateProxy that the BaseAppMgr got.
func (r *rig) created() *wire.CreateProxy {
	r.t.Helper()
	id, body, err := wire.Split(r.net.One(r.t, r.base))
	var c wire.CreateProxy
	if err != nil || id != wire.CreateProxyID || c.Parse(body) != nil {
		r.t.Fatalf("message %v: %+v %v", id, c, err)
	}
	return &c
}

// answer is what a client was told: a code, or 0 and a LoginOK.
func (r *rig) answer(ch mercury.ChannelID) (code protocol.Code, ok protocol.LoginOK) {
	r.t.Helper()
	err := protocol.Messages(r.net.One(r.t, ch), func(id protocol.ID, body []byte) error {
		if id == protocol.LoginOKID {
			return ok.Parse(body)
		}
		var m protocol.Refused
		err := m.Parse(body)
		if m.Reason != "" && m.Code != protocol.BadVersion && m.Code != protocol.BadDigest {
			r.t.Errorf("the client is told %q", m.Reason)
		}
		code = m.Code
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return code, ok
}

// refusal is what a client was told last, which is a refusal.
func (r *rig) refusal(ch mercury.ChannelID) (m protocol.Refused) {
	r.t.Helper()
	list := r.net.Take(ch)
	if len(list) == 0 {
		r.t.Fatal("the client is told nothing")
	}
	if err := protocol.Messages(list[len(list)-1], func(_ protocol.ID, body []byte) error { return m.Parse(body) }); err != nil {
		r.t.Fatal(err)
	}
	return m
}

func (r *rig) wantRefused(ch mercury.ChannelID, want protocol.Code) {
	r.t.Helper()
	if code, _ := r.answer(ch); code != want {
		r.t.Errorf("refused with %v, want %v", code, want)
	}
}

func (r *rig) wantUnready(ch mercury.ChannelID, reason string) {
	r.t.Helper()
	if got := r.refusal(ch); got != (protocol.Refused{Code: protocol.NotReady, Reason: reason}) {
		r.t.Errorf("refused with %v, want %q", &got, reason)
	}
}
