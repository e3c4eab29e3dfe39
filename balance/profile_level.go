package balance

import (
	"cmp"
	"math"
	"slices"

	"github.com/cellscape/cellscape/bsp"
)

// Measured loads fluctuate, while Cell.Gained tells exactly what reals bring and take. A line that
// followed every report would never rest, and one that followed a long average would come late. So
// each cell's level is the load expected after the reals that have come and gone, corrected by a
// share, the gain, of the report's difference from it.
//
// (The expected load once came from the number of reals that came and went, at their mean load. A
// line at the thin end of a crowd, where reals cost half of that, then answered each step with a
// larger one back, until all cells around swung by half.)
//
// The differences show how good the gain is. If they are to the same side again and again, levels
// follow too slowly; if to the other side each time, levels follow the noise. The gain is right
// when neither is the case, over all cells of the space. So lines rest in a crowd that stands
// still, however its loads fluctuate, and follow one that walks.
const (
	// firstGain is the gain of a new space. The gain then adapts to the crowd between leastGain,
	// which is an average over two hundred periods, and mostGain. Beyond mostGain lines would
	// follow what their own moves stir up, since ghosts follow a line a second late.
	firstGain, leastGain, mostGain = 0.3, 0.01, 0.4
	// gainRate is the largest share by which the gain grows in a period, if every cell is off to
	// the same side again.
	gainRate = 0.2
	// jump is how far a report must be off, as a share of the average, to count as it is: a crowd
	// has come or gone, or something heavy. If reports are often off by that much, loads swing,
	// because machines have other work or entities have little. Then only what is jumpSwings times as
	// far off as usual is a jump. (When each report beyond a fixed bound was one, levels were as noisy
	// as the reports, just where they fluctuated most, and lines ran after them without a rest.)
	jump, jumpSwings = 0.08, 4
	// swingWeight is the weight of a period in what is usual. One report counts for at most twice a
	// jump, so that a crowd's coming does not pass for a swing.
	swingWeight = 0.1

	// lagWeight is the weight of a period in what the gain goes by, and yieldWeight in the yield.
	lagWeight, yieldWeight = 0.05, 0.1
	// leastYield bounds the yield from below. With less, ghosts would make lines go too far.
	leastYield = 0.4
	// yieldPrior is how much exchange of reals, each cell's squared as a share of the average, the
	// yield is taken to be 1 by, and mostExchange the largest that counts: beyond it, what was
	// there has been replaced.
	yieldPrior, mostExchange = 0.02 * 0.02, 0.5
)

// spaceLevels is the memory of the levels of a space.
type spaceLevels struct {
	space uint32
	cells []cellLevel // by cell
	gain  float64
	// lag is the mean of what a period is off times what the one before was, in all cells together,
	// power that of the squares. Shares of the average.
	lag, power float64
	// swing is the mean square of what reports are off by, of all cells, as shares of the average.
	swing float64
	// changed is the mean of what loads changed by when reals came and went, times what they should
	// have by the reals' share, exchanged that of the latter's square. Their ratio is the yield.
	changed, exchanged float64
	// walked is the mean of what loads changed by, times the load that was within a band, beyond
	// what was due anyway, banded that of the latter's square. Their ratio is the pace.
	walked, banded float64
	// flowed is the mean of the cells' flows times what was found to differ from the plan next,
	// foreseen that of their squares. Their ratio is how steady flows are.
	flowed, foreseen float64
}

// periodSums are what one period adds to those.
type periodSums struct{ lag, power, changed, exchanged, walked, banded, swung, cells float64 }

// cellLevel is the memory of one cell.
type cellLevel struct {
	cell   bsp.CellID
	gained int64
	level  float64 // load
	off    float64 // by how much the last report was
	// due is what the reals that stand beyond its lines, and beyond the band, are about to change
	// its load by, banded what those within the band would. Where a line has just moved since,
	// stirred, neither can be told from what it has done.
	due, banded float64
	stirred     bool
	// planned is what the last plan was to bring the load to, by where reals stand, and flow what
	// is found beside that. Neither means anything of a cell that was not known.
	planned, flow float64
	known         bool
}

func newLevels(space uint32) spaceLevels {
	return spaceLevels{space: space, gain: firstGain}
}

func (p *Profile) levelsOf(space uint32) spaceLevels {
	i, ok := slices.BinarySearchFunc(p.levels, space, func(s spaceLevels, id uint32) int { return cmp.Compare(s.space, id) })
	if !ok {
		return newLevels(space)
	}
	return p.levels[i]
}

// findLevel returns what is remembered of a cell, nil if nothing is.
func findLevel(cells []cellLevel, id bsp.CellID) *cellLevel {
	i, ok := slices.BinarySearchFunc(cells, id, func(l cellLevel, id bsp.CellID) int { return l.cell.Compare(id) })
	if !ok {
		return nil
	}
	return &cells[i]
}

// yield is the share of a departing real's load that the cell gets rid of. It is less than 1 in a
// crowd so dense that the ghosts left behind make much of the load. Without it lines would take
// many periods for each step.
func (s *spaceLevels) yield() float64 {
	return min(max((s.changed+yieldPrior)/(s.exchanged+yieldPrior), leastYield), 1)
}

// follow takes the reports. It returns the new memory, and fills in the levels that the leaves are
// expected to have when a plan made now is carried out.
func (m *mover) follow(old spaceLevels) spaceLevels {
	next := old
	next.cells = make([]cellLevel, len(m.s.leaves))
	var sums periodSums
	for i := range m.s.leaves {
		x := &m.s.leaves[i]
		c := &next.cells[i]
		*c = cellLevel{cell: x.leaf.Cell, level: float64(x.level)}
		if x.cell != nil {
			c.gained = x.cell.Gained
			if before := findLevel(old.cells, c.cell); before != nil {
				c.follow(before, old.gain, m, &sums)
			}
		}
		m.levels.least[i] = float64(x.level)
		m.levels.set(int32(i), c.level)
	}
	next.adapt(&sums)
	return next
}

// follow corrects what was expected of a cell by what it has reported.
func (c *cellLevel) follow(old *cellLevel, gain float64, m *mover, sums *periodSums) {
	expected := old.level
	exchange := float64(c.gained - old.gained)
	if share := exchange / m.average; math.Abs(share) < mostExchange {
		sums.changed += float64(share * ((c.level - expected) / m.average))
		sums.exchanged += float64(share * share)
		if banded := old.banded / m.average; !old.stirred {
			// What was due, and within a band, was computed with the yield, so what has come must
			// be, too.
			sums.walked += float64(banded * (float64(m.yield*share) - old.due/m.average))
			sums.banded += float64(banded * banded)
		}
	}
	expected += float64(m.yield * exchange)
	off := c.level - expected
	if m.average > 0 {
		swung := min(math.Abs(off)/m.average, 2*m.jump)
		sums.swung += float64(swung * swung)
		sums.cells++
	}
	if !(math.Abs(off) <= m.jump*m.average) {
		return
	}
	c.off = off
	c.level = max(0, expected+float64(gain*off))
	if m.average > 0 {
		now, before := off/m.average, old.off/m.average
		sums.lag += float64(now * before)
		sums.power += float64((float64(now*now) + float64(before*before)) / 2)
	}
}

// jumps is how far a report must be off, as a share of the average, to count as it is.
func (s *spaceLevels) jumps() float64 { return max(jump, jumpSwings*math.Sqrt(s.swing)) }

// unsure is the difference between two cells, as a share of the average, that their levels may show
// by chance: twice what of the swing comes through the gain. In so far as reports are off to the same
// side again and again, it is no chance, but a crowd that walks.
func (s *spaceLevels) unsure() float64 {
	chance := 1.0
	if s.power > 0 {
		chance = min(max(0, 1-2*s.lag/s.power), 1)
	}
	return 2 * chance * math.Sqrt(s.swing*s.gain/(2-s.gain))
}

// adapt updates the gain and the yield after a period.
func (s *spaceLevels) adapt(sums *periodSums) {
	s.lag += float64(lagWeight * (sums.lag - s.lag))
	s.power += float64(lagWeight * (sums.power - s.power))
	if sums.cells > 0 {
		s.swing += float64(swingWeight * (sums.swung/sums.cells - s.swing))
	}
	s.changed += float64(yieldWeight * (sums.changed - s.changed))
	s.exchanged += float64(yieldWeight * (sums.exchanged - s.exchanged))
	s.walked += float64(paceWeight * (sums.walked - s.walked))
	s.banded += float64(paceWeight * (sums.banded - s.banded))
	if s.power > 0 {
		s.gain = min(max(s.gain*(1+float64(gainRate*s.lag/s.power)), leastGain), mostGain)
	}
}
