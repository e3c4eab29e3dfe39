package cellappmgr

import (
	"net/netip"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// scripted is a Lookout whose test says what is found.
type scripted struct {
	held    map[uint64]netip.AddrPort
	probes  map[uint64]netip.AddrPort
	release int
}

func (s *scripted) Probe(token uint64, at netip.AddrPort) { s.probes[token] = at }
func (s *scripted) Hold(token uint64, at netip.AddrPort)  { s.held[token] = at }
func (s *scripted) Release(token uint64)                  { s.release++; delete(s.held, token) }

// look is a rig with three CellApps and a BaseApp, to all of which lines stand.
type look struct {
	*rig
	s       *scripted
	a, b, c *peer
	base    *peer
}

func newLook(t *testing.T, change ...func(*Config)) *look {
	l := &look{s: &scripted{map[uint64]netip.AddrPort{}, map[uint64]netip.AddrPort{}, 0}}
	l.rig = newRig(t, func(c *Config) {
		c.Lookout = l.s
		for _, f := range change {
			f(c)
		}
	})
	l.a, l.b, l.c = l.join(wire.CellApp, 10), l.join(wire.CellApp, 11), l.join(wire.CellApp, 12)
	l.base = l.join(wire.BaseApp, 20)
	l.often(200 * time.Millisecond)
	for token := range l.s.held {
		l.m.Reached(l.now, token, mercury.ReachOpen)
	}
	for _, p := range l.peers {
		p.ids()
	}
	return l
}

// often passes time; whoever is not mute reports in each tick.
func (l *look) often(d time.Duration) {
	for end := l.now + d; l.now < end; {
		l.pass(100 * time.Millisecond)
		for _, p := range l.peers {
			if !p.mute {
				p.send(&wire.Report{})
			}
		}
	}
}

// line is the token of the line to a peer.
func (l *look) line(p *peer) uint64 {
	l.t.Helper()
	for token, at := range l.s.held {
		if at == p.addr.At {
			return token
		}
	}
	l.t.Fatalf("there is no line to %v", p.addr)
	return 0
}

// own answers the manager's own look at a peer.
func (l *look) own(p *peer, found mercury.Reach) {
	l.t.Helper()
	for token, at := range l.s.probes {
		if at == p.addr.At {
			delete(l.s.probes, token)
			l.m.Reached(l.now, token, found)
			return
		}
	}
	l.t.Fatalf("the manager has not looked at %v", p.addr)
}

// answer has a witness say what it saw, and reports whether it was asked.
func (l *look) answer(w *peer, saw mercury.Reach) bool {
	asked := take[wire.Look](w)
	for _, q := range asked {
		w.send(&wire.Seen{Inquiry: q.Inquiry, App: q.App, Reach: saw})
	}
	return len(asked) > 0
}

func (l *look) deaths() int { return l.m.Status().Deaths }

// A process whose port is closed is dead as soon as one other sees that, too: whoever it is.
func TestClosedPort(t *testing.T) {
	for _, which := range []string{"CellApp", "BaseApp"} {
		l := newLook(t)
		p := l.b
		if which == "BaseApp" {
			p = l.base
		}
		p.mute = true
		l.m.Reached(l.now, l.line(p), mercury.ReachClosed)
		if l.deaths() != 0 {
			t.Fatalf("%s: one opinion sufficed", which)
		}
		if !l.answer(l.a, mercury.ReachClosed) || l.deaths() != 1 {
			t.Errorf("%s: not dead though another agrees", which)
		}
		if d := one[wire.AppDead](l.a); d.App != p.addr {
			t.Errorf("%s: told of %v", which, d.App)
		}
		l.logged("nothing has its port")
		if l.now > 300*time.Millisecond {
			t.Errorf("%s: at %v", which, l.now)
		}
	}
}

// The only CellApp of a world has BaseApps for witnesses, the only BaseApp CellApps.
func TestLastOfItsRole(t *testing.T) {
	l := newLook(t)
	for _, p := range []*peer{l.b, l.c} {
		p.drop(mercury.ErrPeerRestarted)
	}
	l.often(200 * time.Millisecond)
	was := l.deaths()
	l.a.mute = true
	l.m.Reached(l.now, l.line(l.a), mercury.ReachClosed)
	if !l.answer(l.base, mercury.ReachClosed) || l.deaths() != was+1 {
		t.Errorf("%d deaths, before %d", l.deaths(), was)
	}
}

// What one app says never suffices: neither for a death nor, beside an honest one, against it.
func TestLiar(t *testing.T) {
	l := newLook(t)
	// It was not asked.
	l.c.send(&wire.Seen{Inquiry: 1, App: l.a.addr, Reach: mercury.ReachClosed})
	l.a.mute = true
	l.often(500 * time.Millisecond)
	l.own(l.a, mercury.ReachOpen) // it is paused, and nobody is asked
	for n := range uint64(100) {
		l.c.send(&wire.Seen{Inquiry: n, App: l.a.addr, Reach: mercury.ReachClosed})
	}
	l.own2(l.a, mercury.ReachSilent) // the manager's own way is cut
	if !l.answer(l.b, mercury.ReachOpen) || !l.answer(l.c, mercury.ReachClosed) || l.deaths() != 0 {
		t.Fatalf("a lie of one makes a death, of which there are %d", l.deaths())
	}
	l.own2(l.a, mercury.ReachClosed)
	l.answer(l.c, mercury.ReachOpen) // a lie
	if l.deaths() != 0 {
		t.Fatal("dead by the manager's opinion alone")
	}
	l.answer(l.b, mercury.ReachClosed)
	if l.deaths() != 1 {
		t.Error("a lie of one keeps a death off")
	}
}

// own2 waits for the next own look.
func (l *look) own2(p *peer, found mercury.Reach) {
	l.t.Helper()
	l.often(400 * time.Millisecond)
	l.own(p, found)
}

// A machine that answers nobody is dead after less than a second; one that answers somebody, or
// whose app is heard again, is not.
func TestSilentMachine(t *testing.T) {
	l := newLook(t)
	l.b.mute = true
	began := l.now
	l.often(500 * time.Millisecond)
	l.own(l.b, mercury.ReachSilent)
	l.answer(l.a, mercury.ReachSilent)
	if l.deaths() != 0 {
		t.Fatal("dead before all were heard")
	}
	l.answer(l.c, mercury.ReachSilent)
	if l.deaths() != 1 || l.now-began > 600*time.Millisecond {
		t.Errorf("%d deaths after %v", l.deaths(), l.now-began)
	}
	l = newLook(t)
	l.b.mute = true
	l.often(500 * time.Millisecond)
	l.own(l.b, mercury.ReachSilent)
	l.often(100 * time.Millisecond)
	l.b.send(&wire.Report{})
	l.answer(l.a, mercury.ReachSilent)
	l.answer(l.c, mercury.ReachSilent)
	if l.deaths() != 0 {
		t.Error("dead though it is heard")
	}
}

// A process that never answered a line is judged by its silence alone: its port says nothing. So is
// one when nobody else is there to ask.
func TestNoLine(t *testing.T) {
	l := newLook(t)
	p := l.join(wire.CellApp, 13)
	l.often(200 * time.Millisecond)
	p.mute = true
	l.m.Reached(l.now, l.line(p), mercury.ReachClosed)
	l.often(time.Second)
	if none[wire.Look](l.a); l.deaths() != 0 || len(l.s.probes) != 0 {
		t.Errorf("%d deaths, %d looks", l.deaths(), len(l.s.probes))
	}
	l.often(2500 * time.Millisecond)
	if l.deaths() != 1 {
		t.Error("it is still not dead")
	}

	l = newLook(t)
	l.a.mute, l.c.mute, l.b.mute = true, true, true
	l.often(500 * time.Millisecond)
	l.m.Reached(l.now, l.line(l.b), mercury.ReachClosed)
	if l.often(500 * time.Millisecond); l.deaths() != 0 {
		t.Error("dead by the manager's opinion alone")
	}
}

// The line to whoever is no longer a member is let go, and another is opened when one has ended and
// the place still answers.
func TestLines(t *testing.T) {
	l := newLook(t)
	was := l.line(l.b)
	delete(l.s.held, was)
	l.m.Reached(l.now, was, mercury.ReachOpen) // it has ended: the process holds too many
	l.often(lineAgain + 200*time.Millisecond)
	if now := l.line(l.b); now == was {
		t.Error("no new line")
	}
	l.b.drop(mercury.ErrPeerRestarted)
	if l.s.release != 1 || l.deaths() != 1 {
		t.Errorf("%d lines let go, %d deaths", l.s.release, l.deaths())
	}
	l.m.Reached(l.now, was, mercury.ReachClosed) // what comes late changes nothing
	l.m.Reached(l.now, 1<<40, mercury.ReachClosed)
	if l.deaths() != 1 {
		t.Error("a second death")
	}
}
