package baseapp

import (
	"errors"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
)

// waiting is a client that is attached and has yet to say that it is ready, with its cell part live on X.
func waiting(t testing.TB) (*rig, *guest, *avatar) {
	r := joinedRig(t)
	made := r.login("ann")
	g := &guest{player: r.connect(1)}
	g.say((&protocol.Attach{Token: made.Token, Digest: r.schema.ClientDigest}).Append(nil))
	v := r.script(made.ID)
	if c := r.create(made.ID, v); c.Session != (flow.Session{}) {
		t.Errorf("the cell part is told session %+v", c.Session)
	}
	r.current(appX, made.ID, 1, 0, 0)
	r.take(appX)
	r.events = nil
	return r, g, v
}

// A client is shown nothing before it says that it is ready, and then all.
func TestEnableEntities(t *testing.T) {
	r, g, v := waiting(t)
	v.Gold.Set(9)
	if err := v.Client().Call("chat", "x"); !errors.Is(err, entity.ErrNoPart) || !v.HasClient() {
		t.Errorf("called, %v", err)
	}
	if err := v.Download(1, "patch", []byte("patch"), "OnPatch"); err != nil {
		t.Error(err)
	}
	r.up(appX, v.ID(), 1, 1, bundle(1, "too early"))
	g.whisper((&protocol.Move{Incarnation: 1}).Append(nil))
	if heard := g.heard(); len(heard) == 0 || heard[0] != "[32]" || len(r.events) != 0 {
		t.Errorf("heard %q, %q", heard, r.events)
	}
	r.take(appX)
	g.say(protocol.AppendEnableEntities(nil))
	g.wantHeard("[33]")
	r.wantEvents("enabled")
	r.wantSession(1)
	r.up(appX, v.ID(), 1, 2, bundle(1, "world"))
	v.Gold.Set(10)
	if heard := g.heard(); len(heard) != 2 || heard[0] != "world" {
		t.Errorf("heard %q", heard)
	}
}

// Whoever says it twice, or acts before, loses its session.
func TestEnableEntitiesFaults(t *testing.T) {
	for name, msgs := range map[string][][]byte{
		"twice":  {protocol.AppendEnableEntities(nil), protocol.AppendEnableEntities(nil)},
		"a call": {(&protocol.BaseCall{Method: 0}).Append(nil)},
		"audit":  {protocol.AppendAuditRequest(nil)},
		"body":   {{byte(protocol.EnableEntitiesID), 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			r, g, v := waiting(t)
			for _, m := range msgs {
				g.say(m)
			}
			g.wantRefused(protocol.Malformed)
			if n := len(r.events); n == 0 || r.events[n-1] != "client death 8" || v.HasClient() {
				t.Errorf("%q", r.events)
			}
		})
	}
	r, g, _ := waiting(t)
	g.heard()
	g.say(protocol.AppendLogout(nil))
	r.wantEvents("client death 12")
}

// The channel may be lost before the client is ready, or with its word.
func TestEnableEntitiesAfterAResume(t *testing.T) {
	r, g, _ := waiting(t)
	g.settle()
	g.hears()
	g.loses()
	g.resumes(2)
	g.settle()
	if g.last.Handled != 0 {
		t.Errorf("%d uploads were handled", g.last.Handled)
	}
	g.say(protocol.AppendEnableEntities(nil))
	r.wantEvents("enabled")
	g.settle()
	g.loses()
	g.resumes(3)
	if g.settle(); g.last.Handled != 1 {
		t.Errorf("%d uploads were handled", g.last.Handled)
	}
}

// A base that is made again from a copy of before its client was ready is asked again, and shows all anew.
func TestEnableEntitiesTravels(t *testing.T) {
	r, g, v := waiting(t)
	g.settle()
	g.hears()
	b := r.a.byID[v.ID()]
	stream := b.appendClient(nil)
	g.say(protocol.AppendEnableEntities(nil))
	b.seat.relayed([]byte("one"))
	g.wantTexts("one")
	r.events = nil
	moved(t, r, b, stream)
	if b.shown() || b.clientSession() != (flow.Session{}) {
		t.Error("it is ready in the copy")
	}
	g.resumes(2)
	g.settle()
	if g.last.Handled != 0 {
		t.Fatalf("%d uploads were handled", g.last.Handled)
	}
	g.say(protocol.AppendEnableEntities(nil)) // again, since it was not handled
	r.wantEvents("enabled")
	before := g.has
	r.up(appX, v.ID(), 1, 1, bundle(1, "of a session that has not been"))
	r.up(appX, v.ID(), 1, 2, bundle(b.session, "two"))
	g.wantTexts("two")
	if b.session != 2+sessionGap || g.has[protocol.CellStream] != before[protocol.CellStream]+1 {
		t.Errorf("session %d, %v after %v", b.session, g.has, before)
	}
	g.hears()
	if n := b.seat.tail.Len(); n != 0 || r.net.ended[g.ch] {
		t.Errorf("%d messages are kept", n)
	}
}
