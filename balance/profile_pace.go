package balance

import (
	"github.com/cellscape/cellscape/balance/load"
)

// Cells keep reals that are beyond them by less than the band. So the effect of a line depends on
// the crowd: if people stand, or step about on the spot, only those beyond the band leave; if they
// walk, many of those within it are about to leave. The pace distinguishes the two: it is the share
// of the load within bands that leaves in a period. It is learned from what cells gain, over all
// cells of the space.
const (
	// paceWeight is the weight of a period in the pace. pacePrior is how much load in the band,
	// each cell's squared as a share of the average, the pace is taken to be none by: without that,
	// the last entity of a still crowd would tell it.
	paceWeight, pacePrior = 0.05, 0.001 * 0.001

	// walkPeriods is for how many periods ahead lines count on people to walk on, and mostWalkOn
	// the largest share of them that they count on; the others turn back. If lines count on none in
	// a walking crowd, they go farther than needed; if they count on some in a standing crowd, they
	// rest before the load is even.
	walkPeriods, mostWalkOn = 4, 0.5
)

// pace is the share of the reals within a band, beyond their cell, that walk on and leave it in a
// period: 0 in a crowd that stands still, or steps about on the spot.
func (s *spaceLevels) pace() float64 {
	return min(max(s.walked/(s.banded+pacePrior), 0), 1)
}

// walkOn is the share of the load within bands that lines count on to leave.
func walkOn(pace float64) float64 { return min(walkPeriods*pace, mostWalkOn) }

// leaving returns the least and the largest share of a cell's load that soon leaves it if there is
// a line at a position.
func leaving(q *load.Quantiles, at, band, walkOn float64, isBelow bool) (least, most float64) {
	if band == 0 {
		return beyond(q, at, isBelow)
	}
	along := -band
	if isBelow {
		along = band
	}
	inLeast, inMost := beyond(q, at, isBelow)
	least, most = beyond(q, at+along, isBelow)
	return least + float64(walkOn*(inLeast-least)), most + float64(walkOn*(inMost-most))
}

// settle moves the load of reals that stand beyond a line, and have yet to be handed over, to where
// they stand. Otherwise the line would go on after a crowd that is already on its way.
func (m *mover) settle(l *lineView) {
	left, right := m.sides(l)
	m.settleSide(l, left.edge, right.edge, true)
	m.settleSide(l, right.edge, left.edge, false)
}

func (m *mover) settleSide(l *lineView, from, to []int32, isLeft bool) {
	for _, i := range from {
		x := &m.s.leaves[i]
		if x.cell.Profile.Empty() {
			continue
		}
		q, weight := quantiles(x.cell, l.axis), m.yield*float64(x.cell.Load)
		beyondLine := middle(beyond(q, l.at, isLeft))
		if beyondLine == 0 {
			continue
		}
		beyondBand := middle(leaving(q, l.at, bandOf(&m.p.cfg.Border, x, l.axis), 0, isLeft))
		// A cell hands over no more than its budget until the next plan. Lines that considered
		// everyone beyond them as gone gave more to a thin cell through which a crowd ran, and
		// which could not get rid of those it had.
		goes := min(beyondBand, m.budgetLeft(i))
		m.going[i] += goes
		due, banded := float64(weight*goes), float64(weight*(beyondLine-beyondBand))
		m.crossed(i, due+float64(m.walkOn*banded), l.axis, to)
		m.due[i], m.banded[i] = m.due[i]-due, m.banded[i]-banded
		for k, y := range to {
			m.due[y] += float64(due * m.parts[k])
			m.banded[y] += float64(banded * m.parts[k])
		}
	}
}

// budgetLeft is the share of a cell that its budget still lets it hand over.
func (m *mover) budgetLeft(i int32) float64 {
	reals := m.s.leaves[i].cell.Reals
	if reals == 0 {
		return 1
	}
	return max(0, m.p.budget/float64(reals)-m.going[i])
}
