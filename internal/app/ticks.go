package app

import (
	"time"

	"github.com/cellscape/cellscape/internal/wire"
)

// Ticks keeps the rhythm of an app, and records how well it is kept. A tick is late when it ends
// after the next one was due.
type Ticks struct {
	// Period is the time between ticks.
	Period time.Duration
	// Clock measures the work of ticks. Only differences between readings count. With nil, work
	// takes no time.
	Clock func() time.Duration
	// Number counts the ticks that have run.
	Number uint64

	started bool
	due     time.Duration
	rest    time.Duration // the ticks before this one are left out; 0 for none
	begun   time.Duration // when the tick began, and what Clock said then
	clocked time.Duration
	span    time.Duration
}

// Begin reports whether a tick is due at now, and begins it.
func (t *Ticks) Begin(now time.Duration) bool {
	if !t.started {
		t.started, t.due = true, now
	}
	if now < t.Next() {
		return false
	}
	t.due, t.rest = t.Next(), 0
	t.begun, t.clocked = now, t.clock()
	t.Number++
	return true
}

// Now is the time within a tick: when it began plus the work since.
func (t *Ticks) Now() time.Duration { return t.begun + t.clock() - t.clocked }

// End ends the tick at the time end (Now, if work is measured), and records it in r. It returns
// when the next tick is due. After a pause it leaves out the missed ticks, since a burst of them
// would only make everyone later.
func (t *Ticks) End(end time.Duration, r *wire.Report) (next time.Duration) {
	r.Ticks++
	r.TickTimes.Count(end - t.begun)
	t.span = end - t.due
	t.due += t.Period
	if end > t.due {
		r.Late++
	}
	for t.due+t.Period <= end {
		t.due += t.Period
	}
	return t.due
}

func (t *Ticks) clock() time.Duration {
	if t.Clock == nil {
		return 0
	}
	return t.Clock()
}

// Span is the time from when the last tick was due until it ended: its work, and the app's wait for
// a processor before it. Without a spare processor it is as long as the period, however little work
// is counted.
func (t *Ticks) Span() time.Duration { return t.span }

// Next is when the next tick is due.
func (t *Ticks) Next() time.Duration { return max(t.due, t.rest) }

// Rest leaves out the ticks before until, in which the app would find nothing to do. It returns when
// the next one is due. Whatever comes to the app ends the rest, by Wake. In a rest, it makes that
// longer or shorter.
//
//	ticks   |   |   .   .   .   |   .   |   |
//	          Rest            until   ^
//	                                  Wake
func (t *Ticks) Rest(until time.Duration) (next time.Duration) {
	t.rest = 0
	if left := until - t.due; left > 0 {
		t.rest = t.due + (left+t.Period-1)/t.Period*t.Period
	}
	return t.Next()
}

// Resting reports whether ticks before Next are left out.
func (t *Ticks) Resting() bool { return t.rest > 0 }

// Wake ends a rest: the next tick is the one that would be next without it. It returns when the last
// of those that were left out would have been, which is before now; 0 if there was none.
func (t *Ticks) Wake(now time.Duration) (last time.Duration) {
	if late := min(now, t.rest) - t.due; late > 0 {
		t.due += (late + t.Period - 1) / t.Period * t.Period
		last = t.due - t.Period
	}
	t.rest = 0
	return last
}
