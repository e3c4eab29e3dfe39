package balance

import "math"

// A plan says what load each cell should have at the next plan: that of the entities on its side of
// the lines. If the crowd walks, the cell has something else by then. The difference is the cell's
// flow: what walks in over its lines, less what walks out. If all go the same way, the flow is much
// the same each period, and lines that only corrected what they found were late by it each time: in
// a crowd that ran together in a minute, cells in its midst were a sixth above the average for ten
// seconds. So lines take account of the flow of the coming period.
//
// If a crowd mills about, or loads only fluctuate, a difference says nothing about the next one.
// Lines learn, over all cells of the space, what share of the flows goes on.
const (
	// flowWeight is the weight of a period in a cell's flow. With a smaller weight, lines run on
	// when a crowd stops.
	flowWeight = 0.4
	// steadyWeight is the weight of a period in what flows go on by. flowPrior is how much flow,
	// the mean of each cell's squared as a share of the average, is taken to end at once: half a
	// per cent, which no line needs to foresee.
	steadyWeight, flowPrior = 0.05, 0.005 * 0.005
)

// steady is the share of the cells' flows that goes on in the next period.
func (s *spaceLevels) steady() float64 {
	return min(max(s.flowed/(s.foreseen+flowPrior), 0), 1)
}

// carriedOut reports whether the same lines exist and all are where the last plan left them. If
// not, because a cell was added, one is gone or the plan was not applied, the cells' loads say
// nothing about flows.
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

// foresee compares the levels with those that the last plan was to bring, if it was carried out,
// and lets what flows on count already. It goes by where reals stand, hence after settle.
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
