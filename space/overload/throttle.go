package overload

import (
	"math"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/internal/gametime"
)

// Degradation is how much a cell saves, in thousandths: 1000 is normal.
type Degradation struct {
	// Budget is the part of its byte budget that each client gets.
	Budget uint16
	// Detail is the part of the detail distances within which clients are sent details.
	Detail uint16
	// Rate is how fast the cell wants the game time of its space to run.
	Rate uint16
}

// None is the Degradation of a cell that can do all its work.
func None() Degradation {
	return Degradation{gametime.NormalRate, gametime.NormalRate, gametime.NormalRate}
}

// Throttle decides how much a CellApp saves; see the package doc. Make one with New.
type Throttle struct {
	cfg    Config
	start  int64 // ns/s
	ladder []Degradation
	timely int // the last step that leaves game time alone
	step   int
	// falling is true if the last decision was a step down. Only then may the next follow at once.
	// From rest, at whatever step, the peaks of a load just below start would otherwise lead it
	// down the ladder, and it would not come up again.
	falling bool

	begun    bool
	over     time.Duration // since when the smoothed load has been above start
	isOver   bool
	calm     time.Duration // since when a step up would have fitted
	isCalm   bool
	counting time.Duration // when load begins to count in the mean
	decide   time.Duration // when to decide by the mean
	sum, n   int64
}

// maxRaw bounds the load of one tick to two cores. A process that was stopped for a second did not
// have that much work.
const maxRaw = 2 * load.Core

// margin keeps the load after a step up below Start by one part in margin of Start, as much as the
// mean of a load may vary by itself.
const margin = 10

// New returns a Throttle at rest. cfg must be valid, with its defaults filled in.
func New(cfg Config) *Throttle {
	t := &Throttle{cfg: cfg, start: int64(math.Round(cfg.Start * float64(load.Core))), ladder: ladder(cfg)}
	for t.timely+1 < len(t.ladder) && t.ladder[t.timely+1].Rate == gametime.NormalRate {
		t.timely++
	}
	return t
}

// ladder lists the steps from none to all.
func ladder(cfg Config) []Degradation {
	at := None()
	steps := []Degradation{at}
	down := func(share *uint16, floor float64, tenths uint16) {
		for least := uint16(math.Round(floor * gametime.NormalRate)); *share > least; {
			*share = max(least, *share*tenths/10)
			steps = append(steps, at)
		}
	}
	down(&at.Budget, cfg.MinBudget, 8)
	down(&at.Detail, cfg.MinDetail, 9) // for an area this is about as much as 8
	down(&at.Rate, cfg.MinRate, 8)
	return steps
}

// Degradation is how much to save now.
func (t *Throttle) Degradation() Degradation { return t.ladder[t.step] }

// Step is the present step down the ladder, 0 for none.
func (t *Throttle) Step() int { return t.step }

// Steps is the number of the last step.
func (t *Throttle) Steps() int { return len(t.ladder) - 1 }

// Tick takes the load of a tick, raw (its work over the tick period) and smoothed, in nanoseconds
// of work a second, and reports whether the step has changed. now is the app's clock. strained says
// that ticks are late although the CellApp has not that much work: others have the processor. Then
// game time is not slowed further.
func (t *Throttle) Tick(now time.Duration, raw, smoothed int64, strained bool) (changed bool) {
	if !t.begun {
		t.begun = true
		t.measure(now, now)
	}
	switch {
	case smoothed <= t.start:
		t.isOver = false
	case !t.isOver:
		t.isOver, t.over = true, now
	}
	if now >= t.counting {
		t.sum += min(max(0, raw), maxRaw)
		t.n++
	}
	if now < t.decide || t.n == 0 {
		return false
	}
	before := t.step
	t.judge(now, t.sum/t.n, smoothed, strained)
	t.falling = t.step > before
	if t.step == before {
		t.measure(now, now)
		return false
	}
	t.isCalm = false
	t.measure(now, now+t.dwell()/2)
	return true
}

// measure begins a new mean, which counts from the time from.
func (t *Throttle) measure(now, from time.Duration) {
	t.sum, t.n, t.counting, t.decide = 0, 0, from, now+t.dwell()
}

func (t *Throttle) dwell() time.Duration {
	if t.Degradation().Rate < gametime.NormalRate {
		return 2 * t.cfg.Dwell
	}
	return t.cfg.Dwell
}

// judge takes the steps that the mean and the smoothed load ask for.
func (t *Throttle) judge(now time.Duration, mean, smoothed int64, strained bool) {
	switch {
	case mean > t.start && t.isOver:
		t.isCalm = false
		if t.falling || now-t.over >= t.cfg.Patience {
			last := len(t.ladder) - 1
			if strained {
				last = max(t.timely, t.step)
			}
			t.step = t.down(mean, last)
		}
	case t.step > 0 && t.fits(max(mean, smoothed)):
		if !t.isCalm {
			t.isCalm, t.calm = true, max(0, now-t.dwell()) // it has been so since the measurement began
		}
		if now-t.calm >= t.cfg.Recovery {
			t.step--
		}
	default:
		t.isCalm = false
	}
}

// down returns the last step at which the load would still be above start even if all of it shrank
// with the step, but at least one step down, and at most the last.
func (t *Throttle) down(mean int64, last int) int {
	to := min(t.step+1, last)
	for to+1 <= last && mean > t.start/1000*ratio(t.ladder[t.step], t.ladder[to+1]) {
		to++
	}
	return to
}

// fits reports whether a load stays below start after a step up, whatever the step does to it.
func (t *Throttle) fits(now int64) bool {
	return now/1000*ratio(t.ladder[t.step-1], t.ladder[t.step]) < t.start-t.start/margin
}

// ratio is the largest load at more, in thousandths of the load at less.
func ratio(more, less Degradation) int64 {
	r := int64(1000)
	r = r * int64(more.Budget) / int64(less.Budget)
	r = r * int64(more.Detail) / int64(less.Detail)
	r = r * int64(more.Detail) / int64(less.Detail)
	return r * int64(more.Rate) / int64(less.Rate)
}
