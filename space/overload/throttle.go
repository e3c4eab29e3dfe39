package overload

import (
	"math"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/internal/gametime"
)

// Degradation is how sparing a cell is, each in thousandths: 1000 is normal.
type Degradation struct {
	// Budget is the part of their byte budgets that clients have.
	Budget uint16
	// Detail is the part of the detail distances within which they are told details.
	Detail uint16
	// Rate is how fast the cell wants the game time of its space to run.
	Rate uint16
}

// None is how a cell is that can do all that it has to.
func None() Degradation {
	return Degradation{gametime.NormalRate, gametime.NormalRate, gametime.NormalRate}
}

// Throttle decides how sparing a CellApp is; see the package doc. Make one with New.
type Throttle struct {
	cfg    Config
	start  int64 // ns/s
	ladder []Degradation
	step   int
	// falling says that the last look has led a step down. Only then the next may
	// follow at once: from rest, at whatever step, a load just below start would go
	// down the ladder by its peaks alone, and not come up again.
	falling bool

	begun    bool
	over     time.Duration // since when the smoothed load is above start
	isOver   bool
	calm     time.Duration // since when a step up would fit
	isCalm   bool
	counting time.Duration // from when on load counts in the mean
	decide   time.Duration // when the mean is looked at
	sum, n   int64
}

// maxRaw bounds the load of one tick, at two cores: a process that was stopped for
// a second has not had that much to do.
const maxRaw = 2 * load.Core

// margin is by which part of Start a step up must stay below it, one of so many: so
// much the mean of a load may vary by itself.
const margin = 10

// New returns a Throttle at rest. cfg must be valid, its defaults filled in.
func New(cfg Config) *Throttle {
	return &Throttle{cfg: cfg, start: int64(math.Round(cfg.Start * float64(load.Core))), ladder: ladder(cfg)}
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
	down(&at.Detail, cfg.MinDetail, 9) // of an area this is about as much as 8
	down(&at.Rate, cfg.MinRate, 8)
	return steps
}

// Thrift is how sparing to be now.
func (t *Throttle) Thrift() Degradation { return t.ladder[t.step] }

// Step is how many steps down were taken, 0 for none.
func (t *Throttle) Step() int { return t.step }

// Steps is the number of the last step.
func (t *Throttle) Steps() int { return len(t.ladder) - 1 }

// Tick takes the load of a tick, raw (what it did over the tick period) and
// smoothed, in nanoseconds of work a second, and reports whether the step has changed.
// now is the app's clock.
func (t *Throttle) Tick(now time.Duration, raw, smoothed int64) (changed bool) {
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
	t.judge(now, t.sum/t.n, smoothed)
	t.falling = t.step > before
	if t.step == before {
		t.measure(now, now)
		return false
	}
	t.isCalm = false
	t.measure(now, now+t.dwell()/2)
	return true
}

// measure begins a new mean.
func (t *Throttle) measure(now, from time.Duration) {
	t.sum, t.n, t.counting, t.decide = 0, 0, from, now+t.dwell()
}

func (t *Throttle) dwell() time.Duration {
	if t.Thrift().Rate < gametime.NormalRate {
		return 2 * t.cfg.Dwell
	}
	return t.cfg.Dwell
}

// judge takes the steps that the mean and the smoothed load ask for.
func (t *Throttle) judge(now time.Duration, mean, smoothed int64) {
	switch {
	case mean > t.start && t.isOver:
		t.isCalm = false
		if t.falling || now-t.over >= t.cfg.Patience {
			t.step = t.down(mean)
		}
	case t.step > 0 && t.fits(max(mean, smoothed)):
		if !t.isCalm {
			t.isCalm, t.calm = true, max(0, now-t.dwell()) // it was so while it was measured
		}
		if now-t.calm >= t.cfg.Recovery {
			t.step--
		}
	default:
		t.isCalm = false
	}
}

// down is the step at which the load, if all of it followed, would still be above
// start, or one down.
func (t *Throttle) down(mean int64) int {
	to := min(t.step+1, len(t.ladder)-1)
	for to+1 < len(t.ladder) && mean > t.start/1000*ratio(t.ladder[t.step], t.ladder[to+1]) {
		to++
	}
	return to
}

// fits reports whether a load stays below start after a step up, whatever it does.
func (t *Throttle) fits(now int64) bool {
	return now/1000*ratio(t.ladder[t.step-1], t.ladder[t.step]) < t.start-t.start/margin
}

// ratio is how many thousandths of the load at less the load at more is at most.
func ratio(more, less Degradation) int64 {
	r := int64(1000)
	r = r * int64(more.Budget) / int64(less.Budget)
	r = r * int64(more.Detail) / int64(less.Detail)
	r = r * int64(more.Detail) / int64(less.Detail)
	return r * int64(more.Rate) / int64(less.Rate)
}
