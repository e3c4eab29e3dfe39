package balance

import (
	"math"

	"github.com/cellscape/cellscape/bsp"
)

// classicPass moves the lines of one space, each before those below it. All use the loads of the
// observation, and limits that take account of the lines already moved.
type classicPass struct {
	land
	c        *Classic
	plan     *Plan
	bound    float64 // level at which a cell must not grow
	held     []int32 // leaves of the growing sides that lines stopped short of
	squeezed []bsp.CellID
}

func newClassicPass(c *Classic, v *view, s *spaceView, plan *Plan) *classicPass {
	p := &classicPass{land: newLand(s, &c.cfg.Config, &c.cfg.Border), c: c, plan: plan}
	p.bound = max(nanos(c.cfg.SafetyBound), smoothedAverage(v, s)*c.cfg.SafetyRatio)
	return p
}

// smoothedAverage is the space's average by the smoothed loads of its apps. An app that is unknown,
// or has not reported, counts with its cell's report.
func smoothedAverage(v *view, s *spaceView) float64 {
	sum, least := int64(0), s.least()
	for i := range s.leaves {
		x := &s.leaves[i]
		l := x.level
		if x.app >= 0 {
			if a := &v.apps[x.app].AppLoad; a.primed || a.Smoothed > 0 {
				l = max(a.Smoothed, least)
			}
		}
		sum += l
	}
	return float64(sum) / float64(max(1, len(s.leaves)-s.retiring))
}

// branch is one side of a line.
type branch struct {
	ref         int32 // of a line, or the complement of a leaf's
	first, last int32 // leaves
	sum         float64
	staying     float64 // leaves that do not retire
	highest     float64 // level
	known       bool    // all are created, and have reported
	retiring    bool    // it is a single leaf, and that retires
}

func (p *classicPass) branch(l *lineView, lower bool) branch {
	b := branch{ref: l.right, first: l.mid, last: l.last, known: true}
	if lower {
		b.ref, b.first, b.last = l.left, l.first, l.mid
	}
	for i := b.first; i < b.last; i++ {
		x := &p.s.leaves[i]
		b.sum += float64(x.level)
		b.highest = max(b.highest, float64(x.level))
		b.known = b.known && x.known()
		if !x.leaf.Retiring {
			b.staying++
		}
	}
	b.retiring = b.ref < 0 && p.s.leaves[b.first].leaf.Retiring
	return b
}

// average includes the load of retiring leaves, since the others will get it.
func (b *branch) average() float64 { return b.sum / max(1, b.staying) }

// difference is how far the more loaded side is above the average of both, positive if that is the
// left.
func difference(left, right *branch) float64 {
	switch {
	case left.retiring:
		return nanos(1)
	case right.retiring:
		return -nanos(1)
	}
	l, r := left.average(), right.average()
	both := (left.sum + right.sum) / max(1, left.staying+right.staying)
	if l > r {
		return math.Abs(l - both)
	}
	return -math.Abs(r - both)
}

// balance moves one line by one step, if at all.
func (p *classicPass) balance(l *lineView) {
	left, right := p.branch(l, true), p.branch(l, false)
	known, retiring := left.known && right.known, left.retiring || right.retiring
	limited := p.limited && !retiring
	if !retiring && p.missing(l) > 0 {
		limited = false
		if max(left.highest, right.highest) < p.bound && p.c.cfg.MaxLoadingCells > 0 {
			if known {
				p.balanceLoading(l, &left, &right)
			}
			return
		}
	}
	diff := difference(&left, &right)
	give, grow, direction := &left, &right, -1
	if diff < 0 {
		give, grow, direction = &right, &left, 1
	}
	line := p.c.lines.of(p.s.ID, l.id)
	if diff == 0 || !known || grow.highest >= p.bound || !retiring && p.waits(l) {
		p.noteBlocked(give, grow)
		line.turn(p.c, 0)
		return
	}
	to := p.entityLimit(l, give, math.Abs(float64(diff*line.aggression)))
	if limited {
		wanted := to
		if to = closestLimit(l.at, to, p.geometryLimit(l, direction), direction); to == l.at && wanted != to {
			p.held = append(p.held, p.beside(l, direction > 0)...)
		}
	} else {
		to = closestLimit(l.at, to, to, direction)
	}
	line.turn(p.c, direction)
	p.noteSqueezed(l, give, to)
	p.move(l, to)
}

// closestLimit returns the first limit in the direction. A limit that lies behind leaves the line
// where it is.
func closestLimit(at, a, b float64, direction int) float64 {
	if direction < 0 {
		return min(at, max(a, b))
	}
	return max(at, min(a, b))
}

// entityLimit returns how far the line may go into a side for a load. Below the smallest slice it
// stays.
func (p *classicPass) entityLimit(l *lineView, give *branch, diff float64) float64 {
	if diff < slice(&p.c.cfg.Border, levels-1) {
		return l.at
	}
	b := p.edgeOf(give.ref, l.axis, give.ref == l.left)
	return b.forDifference(diff, l.at)
}

// move moves a line as far towards a position as bsp allows.
func (p *classicPass) move(l *lineView, to float64) {
	lo, hi, _ := p.work.LineLimits(l.id)
	to = min(max(to, lo), hi)
	if to == l.at {
		return
	}
	if p.work == p.s.Tree {
		p.work = p.s.Tree.Clone()
	}
	if p.work.MoveLine(l.id, to) == nil {
		p.plan.Moves = append(p.plan.Moves, Move{Space: p.s.ID, Node: l.id, To: to})
	}
}

// noteBlocked reports a retiring cell that still has area but only neighbours above their bound.
func (p *classicPass) noteBlocked(give, grow *branch) {
	c := p.s.leaves[give.first].leaf.Cell
	if give.retiring && grow.highest >= p.bound && !p.s.Tree.Swept(c) {
		p.plan.Blocked = append(p.plan.Blocked, Ref{p.s.ID, c})
	}
}

// noteSqueezed notes a cell without reals that is already as narrow as allowed if the line should
// go further into it.
func (p *classicPass) noteSqueezed(l *lineView, give *branch, to float64) {
	if give.ref >= 0 || give.retiring {
		return
	}
	x := &p.s.leaves[give.first]
	lo, hi, _ := p.work.LineLimits(l.id)
	stuck := (to < lo && l.at == lo) || (to > hi && l.at == hi)
	if stuck && x.cell.Reals == 0 && x.cell.Handoffs == 0 {
		p.squeezed = append(p.squeezed, x.leaf.Cell)
	}
}

// retireSqueezed retires the cells that were squeezed to nothing, as long as the space keeps its
// least number; a cell needed for that would only be added again. bsp does not refuse: a line
// squeezes only one side, and none beside a retiring leaf, so no two siblings retire, whatever
// Removals take out before.
func (p *classicPass) retireSqueezed() {
	staying := len(p.s.leaves) - p.s.retiring
	spare := staying - leastCells(p.s.MinCells, p.s.MaxCells, &p.c.cfg.Config)
	for _, cell := range p.squeezed[:max(0, min(spare, len(p.squeezed)))] {
		p.plan.Retires = append(p.plan.Retires, Ref{p.s.ID, cell})
	}
}
