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

// run lets time pass with two loads, as fractions of a core; CellApp a saves as savingStep says.
func (f *full) run(d time.Duration, a, b float64, savingStep uint8) {
	core := float64(load.Core)
	for end := f.now + d; f.now < end; {
		f.a.send(&wire.CellsReport{Load: int64(a * core), SavingStep: savingStep})
		f.b.send(&wire.CellsReport{Load: int64(b * core)})
		f.pass(100 * time.Millisecond)
	}
}

func TestLoginsAreRefused(t *testing.T) {
	const tolerance = DefaultLoginTolerance
	for _, c := range []struct {
		name       string
		a, b       float64
		savingStep uint8
		after      time.Duration // 0 for never
		reason     string
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
			f.run(c.after-100*time.Millisecond, c.a, c.b, c.savingStep)
			none[wire.Logins](f.login)
			f.run(200*time.Millisecond, c.a, c.b, c.savingStep)
			if m := one[wire.Logins](f.login); !m.Refused || !strings.Contains(m.Reason, c.reason) || !f.m.Status().LoginsRefused {
				t.Errorf("%s: %+v", c.name, m)
			}
		}
		f.run(time.Minute, c.a, c.b, c.savingStep)
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
	err := LoginConfig{AvgLoad: -1, MaxLoad: math.NaN(), BaseLoad: -1, MaxProxies: -1, Queue: MaxQueue + 1, Tolerance: -1}.Validate()
	for _, field := range []string{"AvgLoad", "BaseLoad", "MaxProxies", "Queue", "Tolerance"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("no word on %s in %v", field, err)
		}
	}
}

// report has BaseApps report once a second for a time: how busy they are, and how many proxies they
// have. One of them is to leave, if leaver is not below 0. The CellApps rest.
func (f *full) report(d time.Duration, bases []*peer, cpu []time.Duration, leaver int, loads []float64, proxies ...uint32) {
	for end := f.now + d; f.now < end; {
		for i, p := range bases {
			cpu[i] += time.Duration(loads[i] * float64(time.Second))
			p.send(&wire.Report{CPU: cpu[i], Proxies: proxies[i], NoRoom: i == leaver})
		}
		f.run(wire.ReportPeriod, 0.1, 0.1, 0)
	}
}

// Logins are refused when no BaseApp that has room by the number of its proxies has any by its load, whatever
// the CellApps do, and not before. That no number leaves room is for the BaseAppMgr to say.
func TestLoginsAreRefusedByBaseApps(t *testing.T) {
	for _, c := range []struct {
		name    string
		loads   []float64
		proxies []uint32
		leaves  bool // the first
		reason  string
	}{
		{"at rest", []float64{0.1, 0.2}, []uint32{5, 5}, false, ""},
		{"one has room", []float64{0.99, 0.8}, []uint32{9, 9}, false, ""},
		{"both are busy", []float64{0.95, 0.9}, []uint32{1, 1}, false, "the least load of 2 BaseApps with room, 0.90"},
		{"one has too many, the other not", []float64{0.1, 0.1}, []uint32{10, 9}, false, ""},
		{"both have too many", []float64{0.1, 0.1}, []uint32{10, 11}, false, ""},
		{"each for another reason", []float64{0.9, 0.1}, []uint32{1, 10}, false, "the least load of 1 BaseApps with room, 0.90"},
		{"one is to leave, and the other busy", []float64{0.1, 0.9}, []uint32{1, 1}, true, "the least load of 1 BaseApps with room, 0.90"},
	} {
		f := newFull(t, func(c *Config) { c.Logins.MaxProxies = 10 })
		bases, cpu := []*peer{f.join(wire.BaseApp, 30), f.join(wire.BaseApp, 31)}, []time.Duration{time.Hour, 0}
		bases[0].mute, bases[1].mute = true, true // the rig's Reports say nothing
		leaver := -1
		if c.leaves {
			leaver = 0
		}
		f.report(DefaultLoginTolerance-2*time.Second, bases, cpu, leaver, c.loads, c.proxies...)
		none[wire.Logins](f.login)
		f.report(30*time.Second, bases, cpu, leaver, c.loads, c.proxies...)
		if c.reason == "" {
			none[wire.Logins](f.login)
			continue
		}
		if m := one[wire.Logins](f.login); !m.Refused || !strings.Contains(m.Reason, c.reason) {
			t.Errorf("%s: %+v", c.name, m)
		}
		f.report(40*time.Second, bases, cpu, leaver, []float64{0.1, 0.1}, 9, 9)
		if one[wire.Logins](f.login).Refused {
			t.Errorf("%s: still refused", c.name)
		}
	}
}

// Observers learn at once that the BaseAppMgr finds no room, and the LoginApps hear it from that.
func TestNoRoomIsInTheStatus(t *testing.T) {
	f := newFull(t, nil)
	mgr := f.join(wire.BaseAppMgr, 40)
	mgr.mute = true
	for _, full := range []bool{false, true, false} {
		mgr.send(&wire.Report{NoRoom: full})
		f.run(100*time.Millisecond, 0.1, 0.1, 0)
		if f.m.Status().LoginsRefused != full {
			t.Errorf("with no room %v, logins refused %v", full, !full)
		}
		none[wire.Logins](f.login)
	}
}

// Reports that come in one heap, or out of a broken clock, make no load that cannot be.
func TestWorkOfABaseApp(t *testing.T) {
	a := &member{role: wire.BaseApp}
	a.measure(0, time.Hour)
	for i := range 5 {
		a.measure(5*time.Second, time.Hour+time.Duration(i+1)*time.Second/2)
	}
	if l := fraction(a.work.load.Smoothed); l < 0.1 || l > 0.5 {
		t.Errorf("a load of %v out of half a core", l)
	}
	for _, cpu := range []time.Duration{math.MinInt64, math.MaxInt64, 0, -1} {
		a.measure(6*time.Second, cpu)
		if l := fraction(a.work.load.Smoothed); l < 0 || l > 1 {
			t.Errorf("a load of %v at a processor time of %v", l, cpu)
		}
	}
	(&member{role: wire.CellApp}).measure(0, 1)
}
