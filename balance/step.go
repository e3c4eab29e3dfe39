package balance

import (
	"math"

	"github.com/cellscape/cellscape/bsp"
)

// margin is how far, in metres, a line stays from the entities that it does not pass: at less, one that shifts its
// weight would be on the other side.
const margin = 0.1

// step searches how far a line may go. Positions are compared by how far they lie along the direction.
type step struct {
	m         *mover
	from      float64
	limit     float64 // farthest that the tree and the entities allow
	direction int     // -1: the lower side gives, +1: the higher side gives
	axis      bsp.Axis
	edge      []int32 // the giving leaves at the line
	most      float64 // load that may pass
	budget    float64 // reals that each cell may hand over in all
}

// setRange finds the limit. It reports false if there is nothing to move for: a line has no business beyond the last
// entity, unless it is to sweep what retires.
func (s *step) setRange(id bsp.NodeID, sweep bool) bool {
	if len(s.edge) == 0 {
		return false
	}
	lo, hi, _ := s.m.work.LineLimits(id)
	last := s.from
	if sweep {
		last = math.Inf(s.direction)
	}
	for _, i := range s.edge {
		x := &s.m.s.leaves[i]
		if x.cell.Profile.Empty() {
			continue
		}
		q := quantiles(x.cell, s.axis)
		if s.direction < 0 {
			last = min(last, float64(q[0]))
		} else {
			last = max(last, float64(q[len(q)-1]))
		}
	}
	s.limit = min(max(last, lo), hi)
	return s.ahead(s.limit, s.from)
}

// ahead reports whether a lies farther along than b.
func (s *step) ahead(a, b float64) bool { return (a-b)*float64(s.direction) > 0 }

// crossing estimates the load that passes when the line goes to a position, beyond what is on its way already.
func (s *step) crossing(to float64) float64 {
	sum := 0.0
	for _, i := range s.edge {
		sum += s.crossingOf(i, to)
	}
	return sum
}

func (s *step) crossingOf(i int32, to float64) float64 {
	x := &s.m.s.leaves[i]
	least, most := beyond(x, s.axis, s.from, s.direction < 0)
	_, then := beyond(x, s.axis, to+float64(margin*float64(s.direction)), s.direction < 0)
	return float64(x.cell.Load) * s.m.yield * max(0, then-(least+most)/2)
}

// reals estimates how many reals a cell hands over if the line goes to a position, those on their way included.
func (s *step) reals(i int32, to float64) float64 {
	x := &s.m.s.leaves[i]
	_, most := beyond(x, s.axis, to+float64(margin*float64(s.direction)), s.direction < 0)
	return most * float64(x.cell.Reals)
}

func (s *step) allowed(to float64) bool {
	for _, i := range s.edge {
		if float64(s.reals(i, to))+s.m.given[i] > s.budget {
			return false
		}
	}
	return s.crossing(to) <= s.most
}

// farthest returns the farthest allowed position, and the load that passes by going there. What passes only grows
// along the way, so that halving finds it; it stops short of a clump that is too heavy.
func (s *step) farthest() (to, moved float64) {
	good, bad := s.from, s.limit
	if s.allowed(bad) {
		return bad, s.crossing(bad)
	}
	for range 64 {
		mid := good/2 + bad/2
		if s.allowed(mid) {
			good = mid
		} else {
			bad = mid
		}
		if math.Abs(good-bad) < minStep/8 {
			break
		}
	}
	if good == s.from {
		return s.from, 0
	}
	return good, s.crossing(good)
}

// pastClump returns the next position behind the clump that stopped the line at a position, if that is allowed.
func (s *step) pastClump(at float64) (float64, bool) {
	next, found := s.limit, false
	for _, i := range s.edge {
		x := &s.m.s.leaves[i]
		if x.cell.Profile.Empty() {
			continue
		}
		for _, q := range quantiles(x.cell, s.axis) {
			p := float64(q)
			if s.ahead(p, at+float64(s.direction)*minStep) && !s.ahead(p, next) {
				next, found = p, true
			}
		}
	}
	return next, found && s.allowed(next)
}

// spend books what a move to a position takes from the cells that give, and brings to those that grow.
func (s *step) spend(to float64, grow *side) {
	for _, i := range s.edge {
		s.m.given[i] += s.reals(i, to)
		if amount := s.crossingOf(i, to); amount > 0 {
			s.m.crossed(i, amount, s.axis, grow.edge)
		}
	}
}
