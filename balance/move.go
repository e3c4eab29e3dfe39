package balance

import (
	"math"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

const (
	// minStep is the shortest way, in metres, that a line is moved: less parts no entities (see load.Clump) and would
	// only cost a new geometry.
	minStep = load.Clump

	// clumpOvershoot is how much of the load to be moved a single clump may be. At 1.5 at most half of the difference
	// is left, the other way round, so that a clump is not passed to and fro.
	clumpOvershoot = 1.5
)

// move plans the lines, from the root down. Later lines are limited by where earlier ones were moved to.
func (b *Balancer) move(t *bsp.Tree, f *figures) []Move {
	work := t.Clone()
	bound := max(nanos(b.cfg.SafetyBound), float64(f.average())*b.cfg.SafetyRatio)
	var moves []Move
	for n := range t.Nodes() {
		now, _ := work.Node(n.ID)
		if to, ok := b.moveLine(work, now, f, bound); ok && work.MoveLine(n.ID, to) == nil {
			moves = append(moves, Move{Node: n.ID, To: to})
		}
	}
	return moves
}

func (b *Balancer) moveLine(work *bsp.Tree, n bsp.Node, f *figures, bound float64) (float64, bool) {
	l := b.line(n.ID)
	left, right := gather(work, n, n.Left, f), gather(work, n, n.Right, f)
	want := b.wanted(&left, &right, l.moving)
	l.moving = false
	give, grow, direction := &left, &right, -1
	if want < 0 {
		give, grow, direction = &right, &left, 1
	}
	want = math.Abs(want)
	if want == 0 || float64(grow.highest) >= bound {
		l.turn(0)
		return 0, false
	}
	s := step{
		from: n.Line, direction: direction, axis: n.Axis, edge: give.edge,
		budget: float64(b.cfg.OffloadBudget),
	}
	if !s.setRange(work, n.ID) {
		l.turn(0)
		return 0, false
	}
	// The aggression to use is that after a turn, should this be one; a line that finds nothing to move rests.
	tried := *l
	tried.turn(direction)
	want *= tried.aggression
	s.most = min(want, nanos(b.cfg.MaxMove))
	to, moved := s.farthest()
	if moved < nanos(b.cfg.MinMove) {
		s.most = want * clumpOvershoot
		if past, ok := s.pastClump(to); ok {
			to = past
		}
	}
	if math.Abs(to-n.Line) < minStep {
		l.turn(0)
		return 0, false
	}
	*l = tried
	l.moving = true
	s.spend(to)
	return to, true
}

// side is what lies on one side of a line.
type side struct {
	sum     int64 // of levels
	highest int64 // level
	leaves  int
	known   bool      // all created and reported
	edge    []*figure // the leaves that touch the line
	pending float64   // load of reals that stand beyond the line and are still to be handed over
}

func gather(work *bsp.Tree, n bsp.Node, c bsp.Child, f *figures) side {
	s := side{known: true}
	isLeft := c == n.Left
	for rect, leaf := range work.Under(c) {
		x := f.find(leaf.Cell)
		s.leaves++
		s.sum += x.level
		s.highest = max(s.highest, x.level)
		if x.cell == nil || !x.created {
			s.known = false
			continue
		}
		lo, hi := rect.Span(n.Axis)
		if touches := (isLeft && hi == n.Line) || (!isLeft && lo == n.Line); !touches || x.cell.Profile.Empty() {
			continue
		}
		s.edge = append(s.edge, x)
		least, most := beyond(x, n.Axis, n.Line, isLeft)
		s.pending += float64(x.cell.Load) * ((least + most) / 2)
	}
	return s
}

// beyond returns what share of a cell's load, at least and at most, lies across a line from it.
func beyond(x *figure, a bsp.Axis, at float64, cellIsBelow bool) (least, most float64) {
	least, most = quantiles(x.cell, a).Below(at)
	if cellIsBelow {
		least, most = load.Slices-most, load.Slices-least
	}
	return least / load.Slices, most / load.Slices
}

// wanted returns how much load should pass from the left to the right, or the other way if negative; 0 inside the
// dead band, or if not all is known.
func (b *Balancer) wanted(left, right *side, moving bool) float64 {
	if !left.known || !right.known {
		return 0
	}
	nl, nr := float64(left.leaves), float64(right.leaves)
	l := float64(left.sum) - left.pending + right.pending
	r := float64(right.sum) - right.pending + left.pending
	average := (l + r) / (nl + nr)
	// The load that makes both sides' averages equal.
	transfer := (float64(l*nr) - float64(r*nl)) / (nl + nr)
	band := b.cfg.MinDifference
	if moving {
		band /= 2
	}
	difference := math.Abs(transfer) / min(nl, nr)
	if difference <= band*average || math.Abs(transfer) < nanos(b.cfg.MinMove) {
		return 0
	}
	return transfer
}
