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
	begun   time.Duration // when the tick began, and what Clock said then
	clocked time.Duration
	span    time.Duration
}

// Begin reports whether a tick is due at now, and begins it.
func (t *Ticks) Begin(now time.Duration) bool {
	if !t.started {
		t.started, t.due = true, now
	}
	if now < t.due {
		return false
	}
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
func (t *Ticks) Next() time.Duration { return t.due }
