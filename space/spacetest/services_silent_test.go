package spacetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/space/spacetest"
)

// tally is what came of the calls that were made in a time.
type tally struct {
	made, failed, open int
	last               time.Duration // when the last one was made that failed or is open
	longest            time.Duration // until a failure was told
}

func (a *asked) between(from, to time.Duration) (n tally) {
	for _, c := range a.calls {
		if c.at < from || c.at >= to {
			continue
		}
		n.made++
		switch {
		case c.end == 0:
			n.open++
		case c.err != nil:
			n.failed++
			n.longest = max(n.longest, c.end-c.at)
		default:
			continue
		}
		n.last = c.at
	}
	return n
}

// repeated counts the calls that were handled more than once.
func (a *asked) repeated() (n int) {
	for i := range a.calls {
		if a.handled[fmt.Sprint(i)] > 1 {
			n++
		}
	}
	return n
}

// known is when all know that a fragment shows no life, after it has died: half a second, a tick and a way.
const known = 700 * time.Millisecond

// While a BaseApp stands still, callers go to fragments that live as soon as theirs is silent, and nothing is
// done twice. When it is back, it has its callers again.
func TestServiceWhenBaseAppStops(t *testing.T) {
	w, a := services(t, true)
	a.during(w, time.Second)
	began := w.Now()
	w.BaseApps()[1].Pause(6 * time.Second)
	a.during(w, known)
	got := a.during(w, 6*time.Second-known)
	if len(got.by) != 1 {
		t.Errorf("%d fragments answer", len(got.by))
	}
	if n := a.between(began, began+6*time.Second); n.failed > 0 || n.last-began > known {
		t.Errorf("while it stands still: %+v, the last %v after the stop", n, n.last-began)
	}
	got = a.during(w, 3*time.Second)
	back := w.Now()
	if n := a.between(began, back-200*time.Millisecond); n.failed > 0 || n.open > 0 {
		t.Errorf("when it is back: %+v", n)
	}
	if got := a.during(w, 2*time.Second); len(got.by) != 2 || got.failed > 0 {
		t.Errorf("then %d fragments answer, and %d failed: %v", len(got.by), got.failed, got.last)
	}
	if repeated := a.repeated(); repeated > 0 {
		t.Errorf("%d calls were handled twice", repeated)
	}
}

// One that stands still for long is declared dead. What it had been asked fails then, and nothing else does.
func TestServiceWhenBaseAppStopsForGood(t *testing.T) {
	for name, loss := range map[string]float64{"clean": 0, "loss": 0.05} {
		t.Run(name, func(t *testing.T) {
			w, a := services(t, true, func(c *spacetest.Config) {
				c.Link = mercurytest.Link{Delay: time.Millisecond, Jitter: 500 * time.Microsecond, Loss: loss}
			})
			a.during(w, time.Second)
			began := w.Now()
			w.BaseApps()[1].Pause(0)
			a.during(w, 15*time.Second)
			n := a.between(began, w.Now()-500*time.Millisecond)
			t.Logf("%d of %d calls failed (%.1f %%), %d are open; the longest failure took %v, the last failed that was made %v after the stop",
				n.failed, n.made, 100*float64(n.failed)/float64(n.made), n.open, n.longest, n.last-began)
			if n.open > 0 || n.last-began > known {
				t.Errorf("%+v, the last %v after the stop", n, n.last-began)
			}
			if repeated := a.repeated(); repeated > 0 {
				t.Errorf("%d calls were handled twice", repeated)
			}
		})
	}
}

// One that is killed is known to be dead soon.
func TestServiceWhenBaseAppIsKilled(t *testing.T) {
	w, a := services(t, true)
	a.during(w, time.Second)
	began := w.Now()
	w.BaseApps()[1].Kill()
	a.during(w, 15*time.Second)
	n := a.between(began, w.Now()-500*time.Millisecond)
	t.Logf("%d of %d calls failed (%.1f %%), %d are open; the longest failure took %v, the last failed that was made %v after the death",
		n.failed, n.made, 100*float64(n.failed)/float64(n.made), n.open, n.longest, n.last-began)
	if n.open > 0 || n.last-began > known {
		t.Errorf("%+v, the last %v after the death", n, n.last-began)
	}
}
