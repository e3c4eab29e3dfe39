package balance

import "math"

// A plan says what each cell should have at the next one: who stands on its side of the lines then. If the crowd walks, it
// has something else by then. That difference is the cell's flow: what walks in over its lines, less what walks out. Where
// all go the same way it is much the same each period, and lines that only mended what they found were late by it again
// and again: in a crowd that ran together in a minute, cells in its midst were a sixth above the average for ten seconds.
// So lines reckon with the flow of the coming period.
//
// Where a crowd mills about, or loads only shake, a difference says nothing of the next one. How much of it goes on is
// learned, over all cells of the space: the share of their flows that was found again.
const (
	// flowWeight is the weight of a period in a cell's flow. With less, lines run on when a crowd stops.
	flowWeight = 0.4
	// steadyWeight is the weight of a period in what flows go on by. flowPrior is how much flow, the mean of each cell's
	// squared as a share of the average, is taken to end at once: half a per cent, which no line needs to foresee.
	steadyWeight, flowPrior = 0.05, 0.005 * 0.005
)

// steady is what share of the cells' flows goes on in the next period.
func (s *spaceLevels) steady() float64 {
	return min(max(s.flowed/(s.foreseen+flowPrior), 0), 1)
}

// carriedOut reports whether all lines are where the last plan left them, and there are as many. If not, because a cell was
// added, one is gone or the plan was left out, what cells have says nothing of flows.
func (m *mover) carriedOut(old *spaceLevels) bool {
	if len(m.s.leaves) != len(old.cells) {
		return false
	}
	for i := range m.s.lines {
		if l := &m.s.lines[i]; m.p.lines.of(m.s.ID, l.id).at != l.at {
			return false
		}
	}
	return true
}

// foresee compares the levels with those that the last plan was to bring, if it was carried out, and lets what flows on
// count already. It goes by where reals stand, hence after settle.
func (m *mover) foresee(old, next *spaceLevels) {
	carriedOut := m.carriedOut(old)
	flowed, foreseen := 0.0, 0.0
	for i := range next.cells {
		c := &next.cells[i]
		c.known = m.s.leaves[i].known()
		before := findLevel(old.cells, c.cell)
		if before == nil || !before.known || !c.known {
			continue
		}
		if !carriedOut {
			c.flow = before.flow
			continue
		}
		off := m.levels.at(int32(i)) - before.planned
		if !(math.Abs(off) < mostExchange*m.average) {
			continue // what was there has been replaced
		}
		was := before.flow / m.average
		flowed += float64(was * (off / m.average))
		foreseen += float64(was * was)
		c.flow = before.flow + float64(flowWeight*(off-before.flow))
	}
	if carriedOut {
		n := float64(len(next.cells))
		next.flowed += float64(steadyWeight * (flowed/n - next.flowed))
		next.foreseen += float64(steadyWeight * (foreseen/n - next.foreseen))
	}
	steady := next.steady()
	for i := range next.cells {
		level := m.levels.at(int32(i))
		m.levels.set(int32(i), max(0, level+float64(steady*next.cells[i].flow)))
		m.ahead[i] = m.levels.at(int32(i)) - level
	}
}
