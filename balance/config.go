package balance

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/bsp"
)

// Config sets how eagerly a space is balanced. The zero Config is valid; every zero field stands for its default.
// Loads are fractions of one core.
type Config struct {
	// Period is how often Plan is called. Default 1 s. Shorter follows a crowd faster, but leaves less time for the
	// entities of one step to be handed over before the next.
	Period time.Duration

	// AddAbove is the average load of the space's apps above which a cell is added, 0 to 1. Default 0.25. Lower spends
	// more CellApps, higher leaves less room for a crowd that comes suddenly.
	AddAbove float64

	// MinCells is how many cells are wanted whatever the load, as soon as there are apps for them. Default 1.
	MinCells int

	// MaxCells is the most cells that are made. Default bsp.MaxLeaves.
	MaxCells int

	// Bounds is where the space's entities can be. It places cuts of cells that hold no one; load is followed
	// outside of it too. The zero Rect means not known.
	Bounds bsp.Rect

	// MinDifference is the dead band: by how much of the average the cells on one side of a line must differ from it
	// before the line starts to move, above 0 to 1. Default 0.05. A line that moves stops at half of this. It should
	// exceed 1/32: a load profile can hide a clump of a sixteenth of a cell's load, and what passes such a clump by
	// mistake should end inside the band on the other side, not turn round.
	MinDifference float64

	// MinMove is the least load worth moving a line for. Default 0.00125.
	MinMove float64

	// MaxMove is the most load that a line moves in one period, unless it is that of a single clump. Default 0.1.
	MaxMove float64

	// OffloadBudget is how many reals, as the profiles estimate it, one cell is made to hand over per period by lines
	// that move. Default 200.
	OffloadBudget int

	// SafetyBound is the load of a cell up to which its side of a line may grow. Default 0.85.
	SafetyBound float64

	// SafetyRatio, times the average load of the space, raises the bound when all are above it: then balancing goes on
	// among the overloaded. At least 1. Default 1.1.
	SafetyRatio float64
}

// Validate reports every field that makes no sense, each with its remedy.
func (c Config) Validate() error {
	var errs []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("balance: "+format, args...))
		}
	}
	d := c.withDefaults()
	fault(d.Period < 0, "Period %v: set how often Plan is called, for example 1s", c.Period)
	fault(!(d.AddAbove > 0 && d.AddAbove <= 1), "AddAbove %v: set a fraction of a core above 0 and at most 1", c.AddAbove)
	fault(d.MinCells < 1 || d.MinCells > bsp.MaxLeaves, "MinCells %d: set 1 to %d", c.MinCells, bsp.MaxLeaves)
	fault(d.MaxCells < max(1, d.MinCells) || d.MaxCells > bsp.MaxLeaves, "MaxCells %d: set at least MinCells (%d) and at most %d", c.MaxCells, max(1, d.MinCells), bsp.MaxLeaves)
	fault(c.Bounds != bsp.Rect{} && c.Bounds.Empty(), "Bounds %v: set minimum below maximum on both axes, or leave it zero", c.Bounds)
	fault(!(d.MinDifference > 0 && d.MinDifference <= 1), "MinDifference %v: set a fraction above 0 and at most 1", c.MinDifference)
	fault(!(d.MinMove > 0), "MinMove %v: set a positive fraction of a core", c.MinMove)
	fault(!(d.MaxMove >= d.MinMove && d.MaxMove < maxFraction), "MaxMove %v: set at least MinMove (%v), below %v", c.MaxMove, d.MinMove, maxFraction)
	fault(d.OffloadBudget < 1, "OffloadBudget %d: set at least 1", c.OffloadBudget)
	fault(!(d.SafetyBound > 0 && d.SafetyBound < maxFraction), "SafetyBound %v: set a positive fraction of a core", c.SafetyBound)
	fault(!(d.SafetyRatio >= 1 && d.SafetyRatio < maxFraction), "SafetyRatio %v: set at least 1", c.SafetyRatio)
	return errors.Join(errs...)
}

// maxFraction keeps loads from Config, in nanoseconds, far from the ends of int64.
const maxFraction = 1e6

func (c Config) withDefaults() Config {
	def(&c.Period, time.Second)
	def(&c.AddAbove, 0.25)
	def(&c.MinCells, 1)
	def(&c.MaxCells, bsp.MaxLeaves)
	def(&c.MinDifference, 0.05)
	def(&c.MinMove, 0.00125)
	def(&c.MaxMove, 0.1)
	def(&c.OffloadBudget, 200)
	def(&c.SafetyBound, 0.85)
	def(&c.SafetyRatio, 1.1)
	if c.Bounds == (bsp.Rect{}) {
		c.Bounds = bsp.Everything()
	}
	return c
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
