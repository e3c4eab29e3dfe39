package balance

import (
	"math"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// margin is how far, in metres, a line stays from entities that it does not pass, so that one that
// shifts a little does not cross it.
const margin = 0.1

// step searches how far a line may go. Positions are compared by how far they lie along the
// direction.
type step struct {
	m         *mover
	from      float64
	end       float64 // farthest that the tree, the entities and the geometry allow
	direction int     // -1: the lower side gives, +1: the higher side gives
	axis      bsp.Axis
	gives     []passing // the leaves at the line, on both sides
	grows     []passing
	most      float64 // load that may pass
	budget    float64 // reals that each cell may hand over in all
}

// passing is a leaf at a line.
type passing struct {
	leaf    int32
	load    float64 // what of its load goes where reals go
	quanta  *load.Quantiles
	rect    bsp.Rect
	band    float64 // now
	leaving float64 // share that is on its way over the line already
}

// setEdges looks at who is on the way over the line where it stands.
func (s *step) setEdges(gives, grows []int32) {
	s.gives = s.passing(s.m.passing[0][:0], gives, s.direction < 0)
	s.grows = s.passing(s.m.passing[1][:0], grows, s.direction > 0)
	s.m.passing[0], s.m.passing[1] = s.gives, s.grows
}

func (s *step) passing(to []passing, edge []int32, isBelow bool) []passing {
	for _, i := range edge {
		x := &s.m.s.leaves[i]
		if x.cell.Profile.Empty() {
			continue
		}
		p := passing{leaf: i, load: float64(x.cell.Load) * s.m.yield, quanta: quantiles(x.cell, s.axis), rect: x.rect, band: bandOf(&s.m.p.cfg.Border, x, s.axis)}
		p.leaving = middle(leaving(p.quanta, s.from, p.band, s.m.walkOn, isBelow))
		to = append(to, p)
	}
	return to
}

// setRange finds the end. It reports false if there is nothing to move for. A line need not go
// beyond the last entity, unless it sweeps a retiring cell.
func (s *step) setRange(id bsp.NodeID, sweep bool) bool {
	lo, hi, _ := s.m.work.LineLimits(id)
	last := s.from
	if sweep {
		last = math.Inf(s.direction)
	}
	along := float64(s.direction)
	for i := range s.gives {
		p := &s.gives[i]
		last = s.farther(last, s.last(p)+float64(p.band*along))
	}
	for i := range s.grows {
		last = s.farther(last, s.last(&s.grows[i]))
	}
	s.end = min(max(last, lo), hi)
	return s.ahead(s.end, s.from)
}

// limit shortens the range to what the growing side has loaded. It reports false if nothing is
// left.
func (s *step) limit(l *lineView) bool {
	g := &s.m.land
	if !g.limited || g.geometry.Empty() {
		return true
	}
	to := g.geometryLimit(l, s.direction)
	if !s.ahead(s.end, to) {
		return true
	}
	s.end = to
	return s.ahead(to, s.from+float64(minStep*float64(s.direction)))
}

// last is where the last entity of a leaf is.
func (s *step) last(p *passing) float64 {
	if s.direction < 0 {
		return float64(p.quanta[0])
	}
	return float64(p.quanta[load.Slices])
}

// ahead reports whether a lies farther along than b.
func (s *step) ahead(a, b float64) bool { return (a-b)*float64(s.direction) > 0 }

func (s *step) farther(a, b float64) float64 {
	if s.ahead(a, b) {
		return a
	}
	return b
}

// crossing estimates the load that passes when the line goes to a position, beyond what is already
// on its way. Reals on their way to the giving side, which need not go there once the line has
// passed them, count as much. A line that overlooked them would take twice what it should from a
// crowd that is still moving in, and then run after it.
func (s *step) crossing(to float64) float64 {
	sum := 0.0
	for i := range s.gives {
		sum += s.goes(&s.gives[i], to)
	}
	for i := range s.grows {
		sum += s.stays(&s.grows[i], to)
	}
	return sum
}

// goes is what a giving leaf hands over if the line goes to a position.
func (s *step) goes(p *passing, to float64) float64 {
	return float64(p.load * max(0, s.share(p, to)-p.leaving))
}

// stays is what a growing leaf need not hand over if the line goes to a position.
func (s *step) stays(p *passing, to float64) float64 {
	least, _ := leaving(p.quanta, s.past(to), s.bandAt(p, to, s.direction > 0), s.m.walkOn, s.direction > 0)
	return float64(p.load * max(0, p.leaving-least))
}

// share is the largest part of a giving leaf that leaves it when the line goes to a position.
func (s *step) share(p *passing, to float64) float64 {
	_, most := leaving(p.quanta, s.past(to), s.bandAt(p, to, s.direction < 0), s.m.walkOn, s.direction < 0)
	return most
}

// bandAt is the band of a leaf when the line is at a position: the narrower it becomes, the less it
// keeps.
func (s *step) bandAt(p *passing, to float64, isBelow bool) float64 {
	if p.band == 0 {
		return 0
	}
	return max(0, withEdge(p.rect, s.axis, isBelow, to).Band(s.axis, s.m.p.cfg.Band))
}

func (s *step) past(to float64) float64 { return to + float64(margin*float64(s.direction)) }

// reals estimates how many reals a cell hands over if the line goes to a position, those on their
// way included.
func (s *step) reals(p *passing, to float64) float64 {
	return float64(s.share(p, to) * float64(s.m.s.leaves[p.leaf].cell.Reals))
}

func (s *step) allowed(to float64) bool {
	for i := range s.gives {
		p := &s.gives[i]
		if s.reals(p, to)+s.m.given[p.leaf] > s.budget {
			return false
		}
	}
	return s.crossing(to) <= s.most
}

// farthest returns the farthest allowed position, and the load that passes by going there. The load
// only grows along the way, so a binary search finds the position. It stops short of a clump that
// is too heavy.
func (s *step) farthest() (to, moved float64) {
	good, bad := s.from, s.end
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

// pastClump returns the next position behind the clump that stopped the line at a position, if that
// is allowed.
func (s *step) pastClump(at float64) (float64, bool) {
	next, found := s.end, false
	for i := range s.gives {
		p := &s.gives[i]
		for _, q := range p.quanta {
			behind := float64(q) + float64(p.band*float64(s.direction))
			if s.ahead(behind, at+float64(s.direction)*minStep) && !s.ahead(behind, next) {
				next, found = behind, true
			}
		}
	}
	return next, found && s.allowed(next)
}

// spend subtracts what a move to a position takes from the giving cells, and adds it to the growing
// ones.
func (s *step) spend(to float64, gives, grows []int32) {
	for i := range s.gives {
		p := &s.gives[i]
		s.m.given[p.leaf] += s.reals(p, to)
		if amount := s.goes(p, to); amount > 0 {
			s.m.crossed(p.leaf, amount, s.axis, grows)
		}
	}
	for i := range s.grows {
		p := &s.grows[i]
		if amount := s.stays(p, to); amount > 0 {
			s.m.crossed(p.leaf, -amount, s.axis, gives)
		}
	}
}
