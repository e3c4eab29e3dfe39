package balance

import (
	"math"
	"time"

	"github.com/cellscape/cellscape/bsp"
)

// Classic is the policy of seed S0: a line moves by a small slice of load at a time, as far as the
// CellApps say that this slice reaches from the edge of their cells. Make it with
// ClassicConfig.New.
//
// It differs from the seed in two places because of limits of bsp. No cell that stays is narrower
// than bsp.MinSize: a line stops there, while the seed's goes on until the cell has no area. A cell
// that was squeezed to that width, holds no reals and should be squeezed further retires, and is
// removed like every retiring cell; the seed takes it out at once.
//
// The CellApps must report their Edges by the policy's Border.MaxSlice. With a lower one, a cell
// would seem to have no more reals than its largest slice, and lines that cross several cells would
// carry too much.
type Classic struct {
	cfg   classicSettings
	lines memory[classicLine]
	// regain is the factor of a period without a turn, least the lowest aggression.
	regain, least float64
}

// leastAggression bounds aggression from below, whatever the Config. At a thousandth the smallest
// slice moves only for a difference of more than a core; lower values would lock the line.
const leastAggression = 1e-3

// aggressionSteps is the precision of powers of AggressionDecrease. The last bits of math.Pow are
// not the same on all processors, so two machines that plan from the same figures would drift
// apart.
const aggressionSteps = 1 << 44

// aggressionRange computes the factor by which a line's aggression grows in a period without a
// turn, and how low it may fall.
func (c *classicSettings) aggressionRange() (regain, least float64) {
	power := func(of time.Duration) float64 {
		exact := math.Pow(c.AggressionDecrease, float64(of)/float64(c.AggressionIncreasePeriod))
		return math.Round(exact*aggressionSteps) / aggressionSteps
	}
	regain = power(-c.Period)
	least = c.MaxAggression * power(c.MaxAggressionIncreasePeriod)
	return regain, min(max(least, leastAggression), c.MaxAggression)
}

// slice returns the load of a level that CellApps report: the first is the most that a line moves
// in a period, each further one half of the one before.
func slice(b *Border, level int) float64 { return math.Ldexp(nanos(b.MaxSlice), -level) }

// classicLine is the memory of a line.
type classicLine struct {
	aggression float64 // share of the difference that is moved
	direction  int     // of the last period: -1, 0 or +1
}

// turn notes where the line wanted to go in this period. A period in which it could not move erases
// the former direction, so left, still, right is not a reversal.
func (l *classicLine) turn(c *Classic, direction int) {
	if direction != 0 && direction == -l.direction {
		l.aggression *= c.cfg.AggressionDecrease
	} else {
		l.aggression *= c.regain
	}
	l.aggression = min(max(l.aggression, c.least), c.cfg.MaxAggression)
	l.direction = direction
}

// Line implements Policy. The direction is that of the last period, 0 if the line could not move. A
// line whose step was too small to take has a direction.
func (c *Classic) Line(space uint32, id bsp.NodeID) (LineState, bool) {
	l := c.lines.of(space, id)
	if l == nil {
		return LineState{}, false
	}
	return LineState{Aggression: l.aggression, Direction: l.direction}, true
}

// Balance implements Policy. Its plan may have Retires, for cells that were squeezed to nothing.
func (c *Classic) Balance(o *Observation) Plan {
	v := look(o)
	c.lines.recall(v, classicLine{aggression: c.cfg.MaxAggression})
	plan := Plan{Ignored: v.ignored, Faults: v.faults}
	for i := range v.spaces {
		s := &v.spaces[i]
		plan.Removals = append(plan.Removals, removals(s)...)
		if c.cfg.NoBalance || len(s.lines) == 0 {
			g := newLand(s, &c.cfg.Config, &c.cfg.Border)
			plan.Unloaded = append(plan.Unloaded, g.unloaded(g.halo, nil)...)
			continue
		}
		p := newClassicPass(c, v, s, &plan)
		for j := range s.lines {
			p.balance(&s.lines[j])
		}
		p.retireSqueezed()
		plan.Unloaded = append(plan.Unloaded, p.unloaded(p.halo, p.held)...)
	}
	return plan
}
