package app_test

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space/cluster/status"
)

const ms = time.Millisecond

func TestTicks(t *testing.T) {
	steps := []struct {
		now, end, next time.Duration
		runs           bool
		late           uint64
	}{
		{now: 7 * ms, end: 10 * ms, next: 107 * ms, runs: true},
		{now: 50 * ms, next: 107 * ms},
		{now: 107 * ms, end: 110 * ms, next: 207 * ms, runs: true},
		{now: 215 * ms, end: 220 * ms, next: 307 * ms, runs: true},            // a late start catches up
		{now: 307 * ms, end: 420 * ms, next: 407 * ms, runs: true, late: 1},   // too long
		{now: 420 * ms, end: 421 * ms, next: 507 * ms, runs: true, late: 1},   // and made up for
		{now: 900 * ms, end: 1310 * ms, next: 1307 * ms, runs: true, late: 2}, // after a pause no burst follows
	}
	ticks := app.Ticks{Period: 100 * ms}
	var r wire.Report
	ran := uint64(0)
	for i, s := range steps {
		if got := ticks.Begin(s.now); got != s.runs {
			t.Fatalf("step %d: begins %v", i, got)
		}
		if s.runs {
			ran++
			if next := ticks.End(s.end, &r); next != s.next {
				t.Errorf("step %d: next at %v, want %v", i, next, s.next)
			}
		}
		if ticks.Next() != s.next || r.Late != s.late || r.Ticks != ran || ticks.Number != ran {
			t.Errorf("step %d: next %v, %d late, %d run", i, ticks.Next(), r.Late, r.Ticks)
		}
	}
}

// Only differences of the clock count: one that started long before the app must not make its ticks
// seem late.
func TestTicksMeasureWork(t *testing.T) {
	clock := time.Hour
	ticks := app.Ticks{Period: 100 * ms, Clock: func() time.Duration { return clock }}
	var r wire.Report
	ticks.Begin(7 * ms)
	clock += 3 * ms
	var want status.TickTimes
	want.Count(3 * ms)
	if next := ticks.End(ticks.Now(), &r); next != 107*ms || r.Late != 0 || r.TickTimes != want {
		t.Errorf("next at %v, report %+v", next, r)
	}
	unmeasured := app.Ticks{Period: 100 * ms}
	unmeasured.Begin(7 * ms)
	if unmeasured.Now() != 7*ms {
		t.Errorf("without a clock work takes %v", unmeasured.Now()-7*ms)
	}
}

// A rest leaves out ticks and moves none: those that run do so when they would have run without it.
func TestTicksRest(t *testing.T) {
	ticks := app.Ticks{Period: 100 * ms}
	var r wire.Report
	tick := func(now, next time.Duration) {
		t.Helper()
		if ticks.Begin(now - ms) {
			t.Fatalf("a tick that is due at %v begins before", now)
		}
		if !ticks.Begin(now) || ticks.End(now, &r) != next || r.Late > 0 {
			t.Fatalf("at %v: next at %v, want %v; late %d", now, ticks.Next(), next, r.Late)
		}
	}
	ticks.Begin(7 * ms)
	ticks.End(7*ms, &r)

	if next := ticks.Rest(50 * ms); next != 107*ms || ticks.Resting() {
		t.Errorf("a rest before the next tick leaves out some: next at %v", next)
	}
	if next := ticks.Rest(308 * ms); next != 407*ms || !ticks.Resting() {
		t.Errorf("rests until %v", next)
	}
	tick(407*ms, 507*ms)

	ticks.Rest(2000 * ms)
	if next := ticks.Rest(1007 * ms); next != 1007*ms {
		t.Errorf("a rest that becomes shorter lasts until %v", next)
	}
	if last := ticks.Wake(750 * ms); last != 707*ms || ticks.Resting() {
		t.Errorf("woken between two ticks: the last was at %v", last)
	}
	tick(807*ms, 907*ms)

	ticks.Rest(1500 * ms)
	if last := ticks.Wake(907 * ms); last != 0 {
		t.Errorf("woken when a tick is due: one was left out at %v", last)
	}
	tick(907*ms, 1007*ms)

	ticks.Rest(1207 * ms)
	if last := ticks.Wake(5000 * ms); last != 1107*ms || ticks.Next() != 1207*ms {
		t.Errorf("woken after the rest: the last was at %v, the next is at %v", last, ticks.Next())
	}
	ticks.Wake(6000 * ms) // nothing to end
	if ticks.Next() != 1207*ms {
		t.Errorf("without a rest the next tick moves to %v", ticks.Next())
	}
}

// Reports keep their period however late ticks run: one that went late does not put off the next.
func TestReportsKeepTheirPeriod(t *testing.T) {
	var r app.Reports
	ticks := app.Ticks{Period: 100 * ms}
	sent := 0
	for i := range 600 {
		now := time.Duration(i) * 100 * ms
		if i%3 == 1 {
			now += 3 * ms // the system was busy
		}
		if ticks.Begin(now) && r.Due(now) {
			sent++
		}
		ticks.End(now, new(wire.Report))
	}
	if sent != 60 {
		t.Errorf("%d reports in a minute", sent)
	}
}
