package space

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/internal/gametime"
)

// Defaults of OverloadConfig.
const (
	DefaultOverloadStart    = 0.9
	DefaultOverloadPatience = 6 * time.Second
	DefaultOverloadDwell    = 2 * time.Second
	DefaultOverloadRecovery = 6 * time.Second
	DefaultMinBudget        = 0.25
	DefaultMinDetail        = 0.5
	DefaultMinRate          = 0.2

	// LeastShare is the lowest floor that can be set, for budget, detail and rate:
	// below it players would take the world for dead.
	LeastShare = 0.05
	// maxOverloadStart is above what any CellApp can have, so that it switches thrift off.
	maxOverloadStart = 1000
)

// OverloadConfig says what a CellApp does that has more to do than it can, because a
// crowd is too dense to be divided. See Throttle. Zero fields get the defaults.
type OverloadConfig struct {
	// Start is the load from which the CellApp saves, as a fraction of a core, default
	// 0.9: what is left is for what a tick does now and then. Logins should be refused
	// before that, so it is not below their bound. A high number, at most 1000, means never.
	Start float64
	// Patience is how long the load must have been above Start before the first step, and
	// before each that does not follow at once on another, default 6 s: logins are refused
	// after 5, and a peak passes.
	Patience time.Duration
	// Dwell is the time between steps, default 2 s. In its first half a step takes
	// effect, in the second the load is measured anew. A step of the rate, which goes by way of
	// the CellAppMgr, has twice as long.
	Dwell time.Duration
	// Recovery is how long the load must have been low for each step back, default 6 s:
	// who comes back too fast meets the crowd again.
	Recovery time.Duration
	// MinBudget is to what part of itself the byte budget of a client shrinks at most,
	// default 0.25; MinDetail that of the distances of details, default 0.5; MinRate is how slow
	// game time may run, default 0.2. Each is LeastShare to 1; 1 leaves it as it is.
	MinBudget, MinDetail, MinRate float64
}

// WithDefaults returns c with its zero fields filled in.
func (c OverloadConfig) WithDefaults() OverloadConfig {
	c.Start = cmp.Or(c.Start, DefaultOverloadStart)
	c.Patience = cmp.Or(c.Patience, DefaultOverloadPatience)
	c.Dwell = cmp.Or(c.Dwell, DefaultOverloadDwell)
	c.Recovery = cmp.Or(c.Recovery, DefaultOverloadRecovery)
	c.MinBudget = cmp.Or(c.MinBudget, DefaultMinBudget)
	c.MinDetail = cmp.Or(c.MinDetail, DefaultMinDetail)
	c.MinRate = cmp.Or(c.MinRate, DefaultMinRate)
	return c
}

// Validate reports every fault of a configuration whose defaults are filled in.
func (c OverloadConfig) Validate() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("space: Overload."+format, args...))
		}
	}
	fault(!(c.Start > 0 && c.Start <= maxOverloadStart), "Start is %v: take a fraction of a core above 0, at most %d, or 0 for %v", c.Start, maxOverloadStart, DefaultOverloadStart)
	fault(c.Patience < 0, "Patience is %v: take a time above zero, or 0 for %v", c.Patience, DefaultOverloadPatience)
	fault(c.Dwell < 0, "Dwell is %v: take some seconds, or 0 for %v", c.Dwell, DefaultOverloadDwell)
	fault(c.Recovery < c.Dwell, "Recovery is %v, Dwell %v: it must be no shorter, or the load goes up and down; leave it 0 for %v", c.Recovery, c.Dwell, DefaultOverloadRecovery)
	for _, f := range []struct {
		name  string
		floor float64
	}{{"MinBudget", c.MinBudget}, {"MinDetail", c.MinDetail}, {"MinRate", c.MinRate}} {
		fault(!(f.floor >= LeastShare && f.floor <= 1), "%s is %v: take %v to 1, or 0 for the default", f.name, f.floor, LeastShare)
	}
	return errors.Join(faults...)
}

// Thrift is how sparing a cell is, each in thousandths: 1000 is normal.
type Degradation struct {
	// Budget is the part of their byte budgets that clients have.
	Budget uint16
	// Detail is the part of the detail distances within which they are told details.
	Detail uint16
	// Rate is how fast the cell wants the game time of its space to run.
	Rate uint16
}

// noThrift is how a cell is that can do all that it has to.
func noThrift() Degradation {
	return Degradation{gametime.NormalRate, gametime.NormalRate, gametime.NormalRate}
}

// Throttle decides how sparing a CellApp has to be, from its load alone, as which counts also that
// a BaseApp does not keep up, and that ticks end late. It is a
// ladder that is gone down step by step while the load is too high, and up again,
// more slowly, once there is room:
//
//	step        0    1    2 ..  7 |  8    9 .. 14 | 15   16 .. 22
//	budget   1000  800  640 .. 250|250  250   250 |250  250   250   what clients are sent at once
//	detail   1000 1000 1000   1000|900  810 .. 500|500  500   500   from how far they are sent details
//	rate     1000 1000 1000   1000|1000 1000  1000|800  640 .. 200  how fast the space is to run
//
//	   load too high for Dwell: down            load so low for Recovery that
//	   (from rest: for Patience)                a step up fits: up
//
// # Why it settles
//
// No step changes the load by more than its own ratio: half the budget leaves at
// least half the work (half the distance a quarter, since it goes by area). So
// a step up is taken only if the load, grown by that whole ratio, stays below Start by
// a margin: after a step up there is never a reason for one down, unless the crowd
// has grown. Several steps down at once are taken only if they save less than what
// is too much, so that they do not go too far.
//
// The load is the mean since the last step took effect, so that what a step did is
// seen before the next; a smoothed load has to agree, so that no single peak counts.
type Throttle struct {
	cfg    OverloadConfig
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

// NewThrottle returns a Throttle at rest. cfg must be valid, its defaults filled in.
func NewThrottle(cfg OverloadConfig) *Throttle {
	return &Throttle{cfg: cfg, start: int64(math.Round(cfg.Start * float64(load.Core))), ladder: ladder(cfg)}
}

// ladder lists the steps from none to all.
func ladder(cfg OverloadConfig) []Degradation {
	at := noThrift()
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
