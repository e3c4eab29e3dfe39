package baseapp

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// warded is seated on an app that holds a copy for another.
func warded(t testing.TB) (r *rig, g *guest, b *base) {
	r, g, v := seated(t, func(c *Config) { c.BackupPeriod = time.Second })
	c := &copier{rig: r, parts: []byte("parts")}
	c.hold(appW, baseOfW(1), 1, 1)
	return r, g, r.a.byID[v.ID()]
}

// A client that comes before its base is let in when the base has come.
func TestClientComesBeforeItsBase(t *testing.T) {
	r, g, b := warded(t)
	stream := b.appendClient(nil)
	g.loses()
	b.leaveSeat()
	g.resumes(2)
	r.tick()
	g.wantHeard()
	moved(t, r, b, stream)
	r.tick()
	g.wantHeard("[54]", "[161]")
	if s := b.seat; s == nil || s.client == nil || s.client.ch != g.ch || len(r.a.awaited) != 0 {
		t.Error("the client has no seat")
	}
	g.hears()
	g.say(protocol.AppendPing(nil))
	g.wantHeard("[57]")
}

// It does not wait for ever, says nothing meanwhile, and may go. Nobody waits where no copy is held.
func TestClientComesInVain(t *testing.T) {
	refused := func(g *guest, code protocol.Code) {
		t.Helper()
		var m protocol.Refused
		msgs := g.r.take(g.r.net.peers[g.ch])
		if len(msgs) != 1 {
			t.Fatalf("%d answers", len(msgs))
		}
		if err := protocol.Messages(msgs[0], func(_ protocol.ID, body []byte) error { return m.Parse(body) }); err != nil || m.Code != code {
			t.Errorf("refused by %v, %v; want %v", m.Code, err, code)
		}
	}
	r, g, b := warded(t)
	g.loses()
	b.leaveSeat()
	g.resumes(2)
	g.loses()
	g.resumes(3)
	r.pass(awaitTime - DefaultTick)
	if len(r.a.awaited) != 1 {
		t.Errorf("%d wait", len(r.a.awaited))
	}
	g.wantHeard()
	r.pass(2 * DefaultTick)
	refused(g, protocol.BadToken)

	g.resumes(4)
	g.hears()
	refused(g, protocol.Malformed)
	r.tick()
	if len(r.a.awaited) != 0 {
		t.Errorf("%d wait", len(r.a.awaited))
	}
	_, g, _ = seated(t)
	g.token[0]++
	g.resumes(5)
	refused(g, protocol.BadToken)
}

// A client whose BaseApp has died while a new rule for its copies came into force may only know the
// holder by the old one. That is not the heir, and sends it to the heir. (It waited there in vain,
// until it was refused, again and again, and its session ended.)
func TestClientComesToTheHolderOfTheOldRule(t *testing.T) {
	for name, early := range map[string]bool{"before the verdict": true, "after it": false} {
		t.Run(name, func(t *testing.T) {
			r, g, b := warded(t)
			c := &copier{rig: r, parts: b.appendParts(nil)}
			c.baseApp(appV, 15)
			c.tell(appV, &wire.BaseDoors{Doors: []protocol.Door{{Network: "udp", Address: appV}}})
			c.hold(appW, baseOfW(2), 1, 1)
			g.loses()
			b.leaveSeat()
			dies := func() {
				rule := migrate.Rule{Version: 3, Replicas: 1, List: []mercury.Address{appV}}
				c.say(c.managers, &wire.AppDead{Role: wire.BaseApp, App: appW, Number: 4, Allocator: 14, Rule: rule})
			}
			if early {
				g.resumes(2)
				r.tick()
				g.wantHeard()
				dies()
			} else {
				dies()
				g.resumes(2)
			}
			r.tick()
			if m := g.sent(); m == nil || len(m.Doors) != 1 || m.Doors[0].Address != appV || len(r.a.awaited) != 0 || len(c.copies(appW)) != 0 {
				t.Errorf("sent to %+v, %d wait, copies %v", m, len(r.a.awaited), c.copies(appW))
			}
		})
	}
}
