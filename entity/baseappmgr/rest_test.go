package baseappmgr

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// A BaseAppMgr of which nobody wants anything ticks to report, and to look at the loads that the
// BaseApps tell it.
func TestIdleManagerRests(t *testing.T) {
	r := newRig(t)
	base := r.joinTold(mercurytest.Host(3, 3))
	r.net.Take(r.manager)
	ticks := 0
	for r.tick(0); r.now < time.Minute; ticks++ {
		next := r.m.NextTick()
		r.now = (r.now + next) / 2
		r.say(base, &wire.BaseLoad{})
		if after := r.m.NextTick(); after != next {
			t.Fatalf("a load ends the rest: the next tick is at %v, not at %v", after, next)
		}
		r.tick(next - r.now)
	}
	if sent := len(r.net.Take(r.manager)); ticks > 80 || sent > 61 {
		t.Errorf("%d ticks and %d messages in a minute", ticks, sent)
	}
}

// A question ends the rest, and its time-out counts from the tick that would have been the last.
func TestQuestionEndsRest(t *testing.T) {
	r := newRig(t)
	r.joinTold(mercurytest.Host(3, 3))
	r.tick(0)
	for r.m.NextTick()-r.now <= 2*DefaultTick {
		r.tick(r.m.NextTick() - r.now)
	}
	until := r.m.NextTick()
	r.now += DefaultTick + DefaultTick/2
	r.create("ann")
	if next, want := r.m.NextTick(), r.now+DefaultTick/2; next != want || next >= until {
		t.Errorf("the next tick is at %v, want %v", next, want)
	}
	asked := r.now
	for r.m.links.Asked() > 0 && r.now < time.Hour {
		r.tick(r.m.NextTick() - r.now)
	}
	if took := r.now - asked; took < ReserveTimeout-DefaultTick || took > ReserveTimeout+DefaultTick {
		t.Errorf("given up after %v, want %v", took, ReserveTimeout)
	}
}
