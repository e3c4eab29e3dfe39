package baseapp

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/migrate"
)

// A message over which flow.MaxPanics incarnations panicked is passed over by all later ones, and
// only that.
func TestMessageToPassOver(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	bad := flow.Culprit{From: 9, FromPart: entity.CellPart, Mark: flow.MarkOf(1, 5)}
	for n := uint32(1); n <= flow.MaxPanics+1; n++ {
		r.take(cellAppMgr)
		r.tell(appX, &migrate.Lost{ID: id, Order: entity.Order{Incarnation: n}, Fault: true, Culprit: bad})
		r.tell(appX, &migrate.Lost{ID: id, Order: entity.Order{Incarnation: n}, Fault: true, Culprit: bad}) // repeated
		for r.a.byID[id].link.State() == linkLost {
			r.tick()
		}
		c := r.located(id, appX)
		if want := n >= flow.MaxPanics; slices.Contains(c.Pass, bad) != want || len(c.Pass) > 1 {
			t.Errorf("after %d panics it is to pass over %+v", n, c.Pass)
		}
		r.current(appX, id, n+1, 0, 0)
	}
}

// Who panics again and again over nothing that can be passed over is restored later each time, and
// at once again after a while without a panic. A loss that is nobody's fault costs no time.
func TestFaultsSlowDown(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	n := uint32(1)
	lose := func(fault bool) (wait time.Duration) {
		r.take(cellAppMgr)
		r.tell(appX, &migrate.Lost{ID: id, Order: entity.Order{Incarnation: n}, Fault: fault})
		b, from := r.a.byID[id], r.a.now
		for n++; b.link.State() == linkLost; {
			r.tick()
		}
		wait = r.a.now - from
		r.located(id, appX)
		r.current(appX, id, n, 0, 0)
		return wait.Round(100 * time.Millisecond)
	}
	for i, want := range []time.Duration{0, 0, 0, 1, 2, 4, 8, 15, 15, 15} {
		if got, want := lose(true), offerGrace+want*time.Second; got < want || got > want+200*time.Millisecond {
			t.Errorf("panic %d costs %v, want %v", i+1, got, want)
		}
		if got := lose(false); got > offerGrace+200*time.Millisecond {
			t.Errorf("another loss costs %v", got)
		}
	}
	r.pass(faultMemory)
	if got := lose(true); got > offerGrace+200*time.Millisecond {
		t.Errorf("after a minute one costs %v", got)
	}
}

// The messages that are remembered are bounded; the oldest goes.
func TestSuspectsAreBounded(t *testing.T) {
	var f faults
	for n := range 3 * flow.MaxCulprits {
		for range flow.MaxPanics {
			f.note(0, flow.Culprit{From: 9, FromPart: entity.CellPart, Mark: flow.MarkOf(1, uint64(n+1))})
		}
	}
	list := f.pass()
	if len(list) != flow.MaxCulprits || list[len(list)-1].Mark.Number() != 3*flow.MaxCulprits {
		t.Errorf("%d messages are to be passed over: %+v", len(list), list)
	}
}
