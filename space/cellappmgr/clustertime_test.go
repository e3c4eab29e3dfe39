package cellappmgr

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
)

// TestCellAppBehindTheTime says that a CellApp with an older time is told the time again, at most
// once a second, and is left alone while its report may just be late.
func TestCellAppBehindTheTime(t *testing.T) {
	r := newRig(t, nil)
	r.pass(time.Minute)
	a := r.join(wire.CellApp, 10)
	one[wire.Welcome](a)
	report := func(behind time.Duration) { a.send(&wire.CellsReport{Time: r.now - behind}) }

	a.send(&wire.CellsReport{}) // it tells no time
	report(3 * time.Second)     // the Welcome may be on its way
	none[wire.Welcome](a)
	r.pass(time.Second)
	report(timeApart)
	none[wire.Welcome](a)
	report(timeApart + 1)
	if w := one[wire.Welcome](a); w.GameTime != r.now || w.Number != 1 {
		t.Errorf("at %v: %+v", r.now, w)
	}
	for range 9 {
		r.pass(100 * time.Millisecond)
		report(3 * time.Second)
	}
	none[wire.Welcome](a)
	r.pass(100 * time.Millisecond)
	report(3 * time.Second)
	one[wire.Welcome](a)
}

// TestCellAppAheadOfTheTime says that a manager whose time is older than a CellApp's goes on to
// that time, that the others follow, and that the time never goes back.
func TestCellAppAheadOfTheTime(t *testing.T) {
	r := next(t, nil)
	a := r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{GameTime: time.Hour}, has(1, r.before(7, 0, true)))
	b := r.comeBack(wire.CellApp, 12, 2, wire.Rejoin{GameTime: time.Hour})
	r.pass(3200 * time.Millisecond)
	one[wire.Welcome](b)
	know := time.Hour + 3200*time.Millisecond
	clock := func() time.Duration { return r.m.clusterTime(r.now) }
	if clock() != know {
		t.Fatalf("the time is %v, want %v", clock(), know)
	}
	a.send(&wire.CellsReport{Time: know + 2*time.Second}) // its Rejoin was under way for 2 s
	if want := know + 2*time.Second; clock() != want {
		t.Errorf("the time is %v, want %v", clock(), want)
	}
	b.send(&wire.CellsReport{Time: know})
	if w := one[wire.Welcome](b); w.GameTime != know+2*time.Second {
		t.Errorf("the other is told %v", w.GameTime)
	}
	a.send(&wire.CellsReport{Time: know + 2*time.Second + aheadAtMost + 1})
	if want := know + 2*time.Second; clock() != want || r.m.Counts().Implausible != 1 {
		t.Errorf("the time is %v, want %v", clock(), want)
	}
}

// TestCellAppThatRunsAhead says that a CellApp whose clock runs away does not take everyone's time
// along. It may be ahead once, by as much as its Rejoin can have been late and a little for the
// difference of clocks; after that it is left out and named.
func TestCellAppThatRunsAhead(t *testing.T) {
	for name, tt := range map[string]struct {
		by   time.Duration // how far each report is ahead, five a second
		most time.Duration // how far the time is ahead after a hundred seconds
		mad  bool
	}{
		"one in ten thousand": {20 * time.Microsecond, 10 * time.Millisecond, false},
		"twice as fast":       {200 * time.Millisecond, aheadAtMost + time.Second, true},
		"mad":                 {14 * time.Second, aheadAtMost, true},
	} {
		r := newRig(t, nil)
		a := r.join(wire.CellApp, 10)
		began := r.now
		for range 500 {
			r.pass(200 * time.Millisecond)
			a.send(&wire.CellsReport{Time: r.m.clusterTime(r.now) + tt.by})
		}
		if ahead := r.m.clusterTime(r.now) - began - 100*time.Second; ahead > tt.most || ahead < tt.by {
			t.Errorf("%s: %v ahead, want at most %v", name, ahead, tt.most)
		}
		if mad := r.m.Counts().Implausible > 0; mad != tt.mad {
			t.Errorf("%s: counted is %v", name, mad)
		}
	}
}
