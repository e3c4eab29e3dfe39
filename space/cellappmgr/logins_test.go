package cellappmgr

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// full is a cluster of two CellApps with loads, and a LoginApp.
type full struct {
	*rig
	a, b, login *peer
}

func newFull(t *testing.T, change func(*Config)) *full {
	t.Helper()
	r := newRig(t, change)
	return &full{r, r.join(wire.CellApp, 10), r.join(wire.CellApp, 11), r.join(wire.LoginApp, 20)}
}

// run lets time pass with two loads, as fractions of a core; CellApp a saves as thrift says.
func (f *full) run(d time.Duration, a, b float64, thrift uint8) {
	core := float64(load.Core)
	for end := f.now + d; f.now < end; {
		f.a.send(&wire.CellsReport{Load: int64(a * core), Thrift: thrift})
		f.b.send(&wire.CellsReport{Load: int64(b * core)})
		f.pass(100 * time.Millisecond)
	}
}

func TestLoginsAreRefused(t *testing.T) {
	const tolerance = DefaultLoginTolerance
	for _, c := range []struct {
		name   string
		a, b   float64
		thrift uint8
		after  time.Duration // 0 for never
		reason string
	}{
		{"at rest", 0.2, 0.1, 0, 0, ""},
		{"at both bounds", 0.8, 0.9, 0, 0, ""},
		{"the average is too high", 0.86, 0.86, 0, tolerance, "average load 0.86"},
		{"one is too high", 0.1, 0.91, 0, tolerance, "a CellApp's load 0.91"},
		{"one saves", 0.1, 0.1, 1, 100 * time.Millisecond, "CellApp 1 saves"},
	} {
		f := newFull(t, nil)
		none[wire.Logins](f.login)
		if c.after > 0 {
			f.run(c.after-100*time.Millisecond, c.a, c.b, c.thrift)
			none[wire.Logins](f.login)
			f.run(200*time.Millisecond, c.a, c.b, c.thrift)
			if m := one[wire.Logins](f.login); !m.Refused || !strings.Contains(m.Reason, c.reason) || !f.m.Status().LoginsRefused {
				t.Errorf("%s: %+v", c.name, m)
			}
		}
		f.run(time.Minute, c.a, c.b, c.thrift)
		none[wire.Logins](f.login)
		if f.m.Status().LoginsRefused != (c.after > 0) {
			t.Errorf("%s: refused %v", c.name, c.after == 0)
		}
	}
}

// It takes equally long until players may come in again, and logins do not open and close while a
// load wavers about its bound.
func TestLoginsAreOpenAgain(t *testing.T) {
	f := newFull(t, nil)
	f.run(4*time.Second, 0.95, 0.95, 0)
	f.run(100*time.Millisecond, 0.5, 0.5, 0)
	f.run(4*time.Second, 0.95, 0.95, 0)
	none[wire.Logins](f.login) // never for five seconds
	f.run(2*time.Second, 0.95, 0.95, 0)
	one[wire.Logins](f.login)
	// A CellApp whose load has fallen because it saves is full nevertheless.
	f.run(10*time.Second, 0.7, 0.1, 5)
	f.run(4*time.Second, 0.7, 0.1, 0)
	f.run(100*time.Millisecond, 0.92, 0.1, 0)
	f.run(4*time.Second, 0.7, 0.1, 0)
	none[wire.Logins](f.login)
	// A LoginApp that joins now hears of it.
	other := f.join(wire.LoginApp, 21)
	if !one[wire.Logins](other).Refused {
		t.Error("a new LoginApp believes that the world has room")
	}
	f.run(2*time.Second, 0.7, 0.1, 0)
	if one[wire.Logins](f.login).Refused || one[wire.Logins](other).Refused {
		t.Error("still refused")
	}
	none[wire.Logins](f.a)
}

// A stalled manager does not count time in which it heard nothing.
func TestStallIsNoTolerance(t *testing.T) {
	f := newFull(t, nil)
	f.run(300*time.Millisecond, 0.95, 0.95, 0)
	f.now += 20 * time.Second
	f.run(time.Second, 0.95, 0.95, 0)
	none[wire.Logins](f.login)
}

func TestLoginsWithoutCondition(t *testing.T) {
	f := newFull(t, func(c *Config) { c.Logins.Always = true })
	f.run(10*time.Second, 3, 3, 7)
	none[wire.Logins](f.login)
}

// A CellApp that dies takes its load with it.
func TestDeadCellAppIsNotFull(t *testing.T) {
	f := newFull(t, nil)
	f.run(6*time.Second, 0.1, 0.99, 0)
	one[wire.Logins](f.login)
	f.b.drop(mercury.ErrPeerRestarted)
	for range 60 {
		f.a.send(&wire.CellsReport{Load: load.Core / 10})
		f.pass(100 * time.Millisecond)
	}
	if one[wire.Logins](f.login).Refused {
		t.Error("the dead one still counts")
	}
}

func TestLoginConfigFaults(t *testing.T) {
	err := LoginConfig{AvgLoad: -1, MaxLoad: math.NaN(), Tolerance: -1}.Validate()
	for _, field := range []string{"AvgLoad", "Tolerance"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("no word on %s in %v", field, err)
		}
	}
}
