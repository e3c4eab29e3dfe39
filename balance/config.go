package balance

import (
	"math"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/faults"
)

// Config sets how eagerly spaces are balanced, whatever the policy. Each policy has further
// settings of its own; see PolicyConfig. The zero Config is valid; every zero field means its
// default. Loads are fractions of one core.
type Config struct {
	// Period is how often Policy.Balance is called. Default 500 ms, with policy Classic 1 s. A
	// shorter period follows a crowd faster, but leaves less time to hand over the entities of one
	// step before the next.
	Period time.Duration
	// MetaPeriod is how often Policy.Meta is called. Default 3 s.
	MetaPeriod time.Duration
	// NoBalance leaves all lines where they are. NoMeta neither adds nor retires cells. CellApps
	// are still told the geometry, and a space that has lost its cells still gets one.
	NoBalance, NoMeta bool

	// MinCells is how many cells a space has at least, whatever the load, once there are apps for
	// them. Default 1.
	MinCells int
	// MaxCells is the most cells that a space gets. Default bsp.MaxLeaves.
	MaxCells int

	// Smoothing is the weight of a new report in the smoothed load of an app, 0 to 1. Default 0.05.
	Smoothing float64
	// InitialCellLoad is assumed for a CellApp's new cell until its next report. Default 0.1.
	InitialCellLoad float64

	// SafetyBound is the load of a cell up to which its side of a line may grow. Default 0.85.
	SafetyBound float64
	// SafetyRatio, times the average load of the space, raises the bound if all cells are above it,
	// so that balancing goes on among overloaded cells. At least 1. Default 1.1.
	SafetyRatio float64
	// WarningLevel is the load of a CellApp above which the manager logs a warning. Default 0.75.
	WarningLevel float64

	// IgnoreGeometry lets a growing cell outrun the geometry that it has loaded.
	IgnoreGeometry bool
	// MaxLoadingCells is how many cells a space gets to share the loading of its geometry, default
	// 4, and MinLoadingArea the area in m² that each of them must have, default 1,000,000. A
	// negative MaxLoadingCells means none; Classic then also does not move lines by the area to
	// load.
	MaxLoadingCells int
	MinLoadingArea  float64

	// Scheme chooses the space through which a group of CellApps gets help. Default Hybrid.
	Scheme Scheme
	// Scorers rank the CellApps for a new cell. The first scorer that ranks two of them differently
	// decides; ties go to the lower ID. Default AppLoadScorer, GroupLoadScorer, CellTrafficScorer.
	// See ScorersByName, and Placer for spaces without a cell.
	Scorers []Scorer
}

// maxFraction keeps loads from Config, in nanoseconds, far from the ends of int64.
const maxFraction = 1e6

// Validate reports all fields that make no sense, each with its remedy.
func (c Config) Validate() error {
	all := faults.In("balance: ")
	fault := all.If
	d := c.withDefaults()
	within := func(v, lo, hi float64, name string) {
		fault(!(v >= lo && v <= hi), "%s %v: set %v to %v", name, v, lo, hi)
	}
	above0 := func(v, hi float64, name string) {
		fault(!(v > 0 && v <= hi), "%s %v: set more than 0, at most %v", name, v, hi)
	}
	fault(d.Period < 0, "Period %v: set how often lines are moved, for example 500ms", c.Period)
	fault(d.MetaPeriod < d.Period, "MetaPeriod %v: set at least Period (%v)", c.MetaPeriod, d.Period)
	fault(d.MinCells < 1 || d.MinCells > bsp.MaxLeaves, "MinCells %d: set 1 to %d", c.MinCells, bsp.MaxLeaves)
	fault(d.MaxCells < max(1, d.MinCells) || d.MaxCells > bsp.MaxLeaves, "MaxCells %d: set at least MinCells (%d) and at most %d", c.MaxCells, max(1, d.MinCells), bsp.MaxLeaves)
	above0(d.Smoothing, 1, "Smoothing")
	within(d.InitialCellLoad, 0, 1, "InitialCellLoad")
	above0(d.SafetyBound, maxFraction, "SafetyBound")
	within(d.SafetyRatio, 1, maxFraction, "SafetyRatio")
	above0(d.WarningLevel, maxFraction, "WarningLevel")
	fault(d.MaxLoadingCells > bsp.MaxLeaves, "MaxLoadingCells %d: set at most %d", c.MaxLoadingCells, bsp.MaxLeaves)
	above0(d.MinLoadingArea, math.MaxFloat64, "MinLoadingArea")
	fault(d.Scheme > Smallest, "Scheme %d: set Hybrid, Largest or Smallest", c.Scheme)
	for i, s := range d.Scorers {
		fault(s.Rank == nil, "Scorers[%d] (%q) has no Rank: take one of ScorersByName, or give the function", i, s.Name)
	}
	return all.Err()
}

// WithDefaults returns c with its zero fields filled in.
func (c Config) WithDefaults() Config { return c.withDefaults() }

func (c Config) withDefaults() Config {
	def(&c.Period, 500*time.Millisecond)
	def(&c.MetaPeriod, max(3*time.Second, c.Period))
	def(&c.MinCells, 1)
	def(&c.MaxCells, bsp.MaxLeaves)
	def(&c.Smoothing, 0.05)
	def(&c.InitialCellLoad, 0.1)
	def(&c.SafetyBound, 0.85)
	def(&c.SafetyRatio, 1.1)
	def(&c.WarningLevel, 0.75)
	def(&c.MaxLoadingCells, 4)
	def(&c.MinLoadingArea, 1e6)
	if c.Scorers == nil {
		c.Scorers = []Scorer{AppLoadScorer(), GroupLoadScorer(), CellTrafficScorer()}
	}
	return c
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
