package balance

import (
	"github.com/cellscape/cellscape/balance/load"
)

// Cells keep the reals that are beyond them by less than the band. What a line does therefore depends on the crowd: among
// people who stand, or step about on the spot, only who is beyond the band leaves; among people who walk, many of those
// within it are about to. The pace tells one from the other: what share of the load within bands leaves in a period. It is
// learned from what cells gain, over all cells of the space.
const (
	// paceWeight is the weight of a period in the pace. pacePrior is how much load in the band, each cell's squared as a
	// share of the average, the pace is taken to be none by: without that, the last entity of a still crowd would tell it.
	paceWeight, pacePrior = 0.05, 0.001 * 0.001

	// walkPeriods is for how many periods ahead lines reckon with those who walk on, mostWalkOn what share of them at most:
	// the others turn round. Taken as none among people who walk, lines go farther than they need; taken as some among
	// people who stand, they rest before the load is even.
	walkPeriods, mostWalkOn = 4, 0.5
)

// pace is what share of those who stand within a band, beyond their cell, walk on and leave it in a period: 0 in a crowd
// that stands still, or steps about on the spot.
func (s *spaceLevels) pace() float64 {
	return min(max(s.walked/(s.banded+pacePrior), 0), 1)
}

// walkOn is what share of the load within bands lines reckon with.
func walkOn(pace float64) float64 { return min(walkPeriods*pace, mostWalkOn) }

// leaving returns what share of a cell's load, at least and at most, leaves it soon if there is a line at a position.
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

// settle moves the load of reals that stand beyond a line, and are only to be handed over yet, to where they stand:
// otherwise the line would run on after a crowd that is on its way.
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
		// A cell hands over no more than its budget until the next plan. Lines that took all who are beyond them for gone
		// gave more to a thin cell through which a crowd ran, which could not get rid of those it had.
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

// budgetLeft is what share of a cell its budget lets it hand over, beside what is reckoned with.
func (m *mover) budgetLeft(i int32) float64 {
	reals := m.s.leaves[i].cell.Reals
	if reals == 0 {
		return 1
	}
	return max(0, m.p.budget/float64(reals)-m.going[i])
}
