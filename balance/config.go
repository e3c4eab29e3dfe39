package balance

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cellscape/cellscape/bsp"
)

// Config sets how eagerly spaces are balanced. The zero Config is valid; every zero field stands for its default: for
// a tolerance or distance of none set a very small one.
// Loads are fractions of one core. Where a field says Classic or Profile, only that policy uses it.
type Config struct {
	// Policy names the built-in policy that New returns. Default ProfilePolicy.
	Policy string

	// Period is how often Policy.Balance is called. Default 500 ms, with Classic 1 s. Shorter follows a crowd faster, but
	// leaves less time for the entities of one step to be handed over before the next.
	Period time.Duration
	// MetaPeriod is how often Policy.Meta is called. Default 3 s.
	MetaPeriod time.Duration
	// NoBalance leaves all lines where they are, NoMeta neither adds nor retires cells. The geometry is told all the
	// same, and a space that has lost its cells gets one.
	NoBalance, NoMeta bool

	// MinCells is how many cells a space has whatever the load, as soon as there are apps for them. Default 1.
	MinCells int
	// MaxCells is the most cells that a space is given. Default bsp.MaxLeaves.
	MaxCells int

	// Smoothing is the weight of a new report in the smoothed load of an app, 0 to 1. Default 0.05.
	Smoothing float64
	// InitialCellLoad is pencilled in for a CellApp that has just been given a cell, until its next report. Default 0.1.
	InitialCellLoad float64

	// SafetyBound is the load of a cell up to which its side of a line may grow. Default 0.85.
	SafetyBound float64
	// SafetyRatio, times the average load of the space, raises the bound when all are above it: then balancing goes on
	// among the overloaded. At least 1. Default 1.1.
	SafetyRatio float64
	// WarningLevel is the load of a CellApp above which the manager logs a warning. Default 0.75.
	WarningLevel float64

	// GhostDistance is how far beyond a line entities are mirrored, in metres. It is the halo that Classic wants loaded
	// around a cell, and what Profile takes the price of a new line by. Default 500.
	GhostDistance float64
	// IgnoreGeometry lets a growing cell outrun the geometry that it has loaded.
	IgnoreGeometry bool
	// MaxLoadingCells is how many cells a space is given to share the loading of its geometry, and MinLoadingArea the
	// area in m² that each of them must have. Default 4 and 1,000,000; a negative MaxLoadingCells is none; Classic
	// then does not move lines by the area to be loaded either.
	MaxLoadingCells int
	MinLoadingArea  float64

	// Scheme chooses the space that a group of CellApps is helped by. Default Hybrid.
	Scheme Scheme
	// Scorers rank the CellApps for a new cell, the first one that tells two apart decides; ties go to the lower ID.
	// Default AppLoadScorer, GroupLoadScorer, CellTrafficScorer. See ScorersByName, and Placer for spaces without a cell.
	Scorers []Scorer

	// MetaTolerance is by how much a group's average must exceed the average of all CellApps before it gets help, and
	// LowerBound the average under which, with one app fewer, it gives an app back; at most MetaTolerance. Default 0.05
	// and 0.02. Classic.
	MetaTolerance, LowerBound float64
	// MaxCPUOffload is the largest load that a line moves in one period. CellApps report it, and four more of half the
	// one before, for each edge. Default 0.02. Classic.
	MaxCPUOffload float64
	// AggressionDecrease is what a line's aggression is multiplied by when it turns round. Above 0, below 1. Default
	// 0.5. Classic.
	AggressionDecrease float64
	// AggressionIncreasePeriod is how long a line takes to regain one such decrease, MaxAggressionIncreasePeriod how
	// long it can take at most to regain all, which bounds aggression from below. Default 10 s and 40 s. Classic.
	AggressionIncreasePeriod, MaxAggressionIncreasePeriod time.Duration
	// MaxAggression is the most of the wanted step that is taken. Default 1. Classic.
	MaxAggression float64

	// TargetLoad is the average load that the cells of a space are meant to have. A cell is added when the average is
	// above, and one retires when the others would stay under. Default 0.25. Lower spends more CellApps, higher leaves
	// less room for a crowd that comes suddenly. Profile.
	TargetLoad float64
	// MinDifference is the dead band of a line between two cells: how much load, as a share of the average, must have to
	// pass for the line to move, above 0 to 1. Between sides of n cells it is the root of n times that; it widens while a
	// line swings, and in crowds so dense that ghosts make much of the load. It is never less than a real costs. Default
	// 0.004: the bands of the lines above a cell add up to what it may be off. Profile.
	MinDifference float64
	// MinMove is the least load worth moving a line for. Default 0.0003, less than what a client costs. Profile.
	MinMove float64
	// OffloadBudget is how many reals, as the profiles estimate it, one cell is made to hand over per period by lines
	// that move. Default 250, what a cell of package space hands over in half a second. Profile.
	OffloadBudget int
	// BorderBand is how far beyond its cell a real stays with it, in metres: what lines must pass an entity by to hand it
	// over. Default 10.
	BorderBand float64
}

// maxFraction keeps loads from Config, in nanoseconds, far from the ends of int64.
const maxFraction = 1e6

// Validate reports every field that makes no sense, each with its remedy.
func (c Config) Validate() error {
	var errs []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("balance: "+format, args...))
		}
	}
	d := c.withDefaults()
	within := func(v, lo, hi float64, name string) {
		fault(!(v >= lo && v <= hi), "%s %v: set %v to %v", name, v, lo, hi)
	}
	above0 := func(v, hi float64, name string) {
		fault(!(v > 0 && v <= hi), "%s %v: set more than 0, at most %v", name, v, hi)
	}
	fault(!slices.Contains([]string{ProfilePolicy, ClassicPolicy}, d.Policy), "Policy %q: set %q or %q", c.Policy, ProfilePolicy, ClassicPolicy)
	fault(d.Period < 0, "Period %v: set how often lines are moved, for example 500ms", c.Period)
	fault(d.MetaPeriod < d.Period, "MetaPeriod %v: set at least Period (%v)", c.MetaPeriod, d.Period)
	fault(d.MinCells < 1 || d.MinCells > bsp.MaxLeaves, "MinCells %d: set 1 to %d", c.MinCells, bsp.MaxLeaves)
	fault(d.MaxCells < max(1, d.MinCells) || d.MaxCells > bsp.MaxLeaves, "MaxCells %d: set at least MinCells (%d) and at most %d", c.MaxCells, max(1, d.MinCells), bsp.MaxLeaves)
	above0(d.Smoothing, 1, "Smoothing")
	within(d.InitialCellLoad, 0, 1, "InitialCellLoad")
	above0(d.SafetyBound, maxFraction, "SafetyBound")
	within(d.SafetyRatio, 1, maxFraction, "SafetyRatio")
	above0(d.WarningLevel, maxFraction, "WarningLevel")
	within(d.GhostDistance, 0, bsp.MaxCoord, "GhostDistance")
	fault(d.MaxLoadingCells > bsp.MaxLeaves, "MaxLoadingCells %d: set at most %d", c.MaxLoadingCells, bsp.MaxLeaves)
	above0(d.MinLoadingArea, math.MaxFloat64, "MinLoadingArea")
	fault(d.Scheme > Smallest, "Scheme %d: set Hybrid, Largest or Smallest", c.Scheme)
	for i, s := range d.Scorers {
		fault(s.Rank == nil, "Scorers[%d] (%q) has no Rank: take one of ScorersByName, or give the function", i, s.Name)
	}
	within(d.MetaTolerance, 0, 1, "MetaTolerance")
	within(d.LowerBound, 0, 1, "LowerBound")
	fault(!(d.LowerBound < d.SafetyBound), "LowerBound %v: set less than SafetyBound (%v), or apps are given back that are needed", c.LowerBound, d.SafetyBound)
	fault(!(d.LowerBound <= d.MetaTolerance), "LowerBound %v: set at most MetaTolerance (%v), or a group takes back the app that it has just given up, again and again", d.LowerBound, d.MetaTolerance)
	above0(d.MaxCPUOffload, 1, "MaxCPUOffload")
	fault(!(d.MaxCPUOffload < d.SafetyBound), "MaxCPUOffload %v: set less than SafetyBound (%v), or no side has room for a step", d.MaxCPUOffload, d.SafetyBound)
	fault(!(d.AggressionDecrease > 0 && d.AggressionDecrease < 1), "AggressionDecrease %v: set a factor above 0 and below 1", c.AggressionDecrease)
	fault(d.AggressionIncreasePeriod < 0, "AggressionIncreasePeriod %v: set a time, for example 10s", c.AggressionIncreasePeriod)
	fault(d.MaxAggressionIncreasePeriod < d.AggressionIncreasePeriod, "MaxAggressionIncreasePeriod %v: set at least AggressionIncreasePeriod (%v)", c.MaxAggressionIncreasePeriod, d.AggressionIncreasePeriod)
	above0(d.MaxAggression, 1, "MaxAggression")
	above0(d.TargetLoad, 1, "TargetLoad")
	fault(!(d.TargetLoad <= d.SafetyBound), "TargetLoad %v: set at most SafetyBound (%v), or cells are full before one is added", c.TargetLoad, d.SafetyBound)
	above0(d.MinDifference, 1, "MinDifference")
	above0(d.MinMove, 1, "MinMove")
	fault(d.OffloadBudget < 1, "OffloadBudget %d: set at least 1", c.OffloadBudget)
	within(d.BorderBand, 0, bsp.MinSize/2, "BorderBand")
	return errors.Join(errs...)
}

// WithDefaults returns c with its zero fields filled in.
func (c Config) WithDefaults() Config { return c.withDefaults() }

func (c Config) withDefaults() Config {
	def(&c.Policy, ProfilePolicy)
	if c.Policy == ClassicPolicy {
		def(&c.Period, time.Second)
	}
	def(&c.Period, 500*time.Millisecond)
	def(&c.MetaPeriod, max(3*time.Second, c.Period))
	def(&c.MinCells, 1)
	def(&c.MaxCells, bsp.MaxLeaves)
	def(&c.Smoothing, 0.05)
	def(&c.InitialCellLoad, 0.1)
	def(&c.SafetyBound, 0.85)
	def(&c.SafetyRatio, 1.1)
	def(&c.WarningLevel, 0.75)
	def(&c.GhostDistance, 500)
	def(&c.MaxLoadingCells, 4)
	def(&c.MinLoadingArea, 1e6)
	if c.Scorers == nil {
		c.Scorers = []Scorer{AppLoadScorer(), GroupLoadScorer(), CellTrafficScorer()}
	}
	def(&c.MetaTolerance, 0.05)
	def(&c.LowerBound, 0.02)
	def(&c.MaxCPUOffload, 0.02)
	def(&c.AggressionDecrease, 0.5)
	def(&c.AggressionIncreasePeriod, 10*time.Second)
	def(&c.MaxAggressionIncreasePeriod, max(40*time.Second, c.AggressionIncreasePeriod))
	def(&c.MaxAggression, 1)
	def(&c.TargetLoad, 0.25)
	def(&c.MinDifference, 0.004)
	def(&c.MinMove, 0.0003)
	def(&c.OffloadBudget, 250)
	def(&c.BorderBand, 10)
	return c
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
