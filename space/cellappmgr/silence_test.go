package cellappmgr

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// silence lets a peer be silent for a while. All looks at it find the same.
func (l *look) silence(d time.Duration, found mercury.Reach) {
	l.t.Helper()
	for end := l.now + d; l.now < end; l.often(100 * time.Millisecond) {
		for token := range l.s.probes {
			delete(l.s.probes, token)
			l.m.Reached(l.now, token, found)
		}
	}
}

// A process whose port is open is stopped or starved: it has HangTimeout. So has one at which the manager
// was too late to look.
func TestSpared(t *testing.T) {
	for _, found := range []mercury.Reach{mercury.ReachOpen, mercury.ReachUnknown} {
		for _, role := range []wire.Role{wire.CellApp, wire.BaseApp} {
			l := newLook(t)
			p := l.b
			if role == wire.BaseApp {
				p = l.base
			}
			p.mute = true
			l.silence(defaultHang-200*time.Millisecond, found)
			none[wire.Look](l.a)
			if l.deaths() != 0 {
				t.Fatalf("%v, %v: silence of less than HangTimeout is a death", role, found)
			}
			l.logged("a process is silent, but its port is open")
			if l.silence(400*time.Millisecond, found); l.deaths() != 1 {
				t.Errorf("%v, %v: no death of a process that hangs", role, found)
			}
			l.logged("silent for")
			if n := l.m.Counts().Spared; n != 1 {
				t.Errorf("spared %d times", n)
			}
		}
	}
}

// Whoever is heard again has all of its time again, and nothing is said of its cells.
func TestHeardAgain(t *testing.T) {
	l := newLook(t)
	for range 3 {
		l.b.mute = true
		l.silence(8*time.Second, mercury.ReachOpen)
		l.b.mute = false
		l.often(100 * time.Millisecond)
		l.logged("heard again")
	}
	l.often(time.Second)
	if l.deaths() != 0 || l.m.Counts().Implausible != 0 {
		t.Errorf("%d deaths, %d implausible", l.deaths(), l.m.Counts().Implausible)
	}
}

// An open port excuses only the silence about it: when the machine is gone afterwards, and nobody is there
// to ask, it is dead after AppTimeout more.
func TestExcuseEnds(t *testing.T) {
	for _, found := range []mercury.Reach{mercury.ReachSilent, mercury.ReachClosed} {
		l := newLook(t)
		l.b.mute = true
		l.silence(2*time.Second, mercury.ReachOpen)
		began := l.now
		for l.deaths() == 0 && l.now-began < 10*time.Second {
			l.silence(100*time.Millisecond, found) // the witnesses do not answer
		}
		if d := l.now - began; d < 2500*time.Millisecond || d > 3500*time.Millisecond {
			t.Errorf("%v: dead after %v", found, d)
		}
	}
}

// A channel that ends because its peer is silent proves no more than the silence.
func TestTimeoutIsSilence(t *testing.T) {
	l := newLook(t, func(c *Config) { c.HangTimeout = 20 * time.Second })
	l.b.mute = true
	l.silence(10*time.Second, mercury.ReachOpen)
	l.b.drop(mercury.ErrTimeout)
	if l.deaths() != 0 {
		t.Fatal("dead though its port is open")
	}
	if l.silence(11*time.Second, mercury.ReachOpen); l.deaths() != 1 {
		t.Error("no death after HangTimeout")
	}
}

// Without a Lookout, and for a place that never took a line, silence decides after AppTimeout.
func TestSilenceAlone(t *testing.T) {
	l := newLook(t)
	p := l.join(wire.CellApp, 13)
	p.mute = true
	if l.silence(2800*time.Millisecond, mercury.ReachUnknown); l.deaths() != 0 {
		t.Error("dead before AppTimeout")
	}
	if l.silence(500*time.Millisecond, mercury.ReachUnknown); l.deaths() != 1 {
		t.Error("not dead after AppTimeout")
	}
}
