package balance

import (
	"math"
	"slices"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

const (
	// minShare is how many slices of a leaf's load each side of a cut must carry at least. Below an eighth a new cell
	// costs more, in ghosts and messages, than it takes over.
	minShare = load.Slices / 8

	// sameSpread is how alike the spreads of both axes must be, as a ratio, for the cut to alternate with the line
	// above instead: measured spreads are never quite equal.
	sameSpread = 1.1

	// guess is the width, in metres, that a side without bounds is taken to have when a leaf without entities is cut.
	guess = 1000.0
)

// add decides whether a cell is wanted, where it is cut off and who runs it. It also names the cells that are too
// dense to cut.
func (b *Balancer) add(o Observation, f *figures) (*Split, []bsp.CellID) {
	ready, rested := b.settle(o, f)
	heaviest, crowded := b.loaded(o.Tree, f)
	average := float64(f.average())
	few := len(f.leaves) < b.cfg.MinCells
	hot := average > nanos(b.cfg.AddAbove) && rested
	if !ready || len(f.leaves) >= b.cfg.MaxCells || !(few || hot) {
		return nil, crowded
	}
	app := f.freeApp()
	if app == nil || (!few && float64(app.Load) >= average) { // an app as busy as these would not help
		return nil, crowded
	}
	s := heaviest
	if s == nil && few {
		s = b.roomiest(o.Tree, f)
	}
	if s == nil {
		return nil, crowded
	}
	s.App = app.ID
	b.changed = o.Now
	return s, crowded
}

// settle follows the coming of cells. It reports whether all are created, and whether a period has passed since: until
// then loads do not show what the last cell has changed, and a second one would be added for the same cause.
func (b *Balancer) settle(o Observation, f *figures) (ready, rested bool) {
	ready = !slices.ContainsFunc(f.leaves, func(x figure) bool { return !x.created })
	if !ready || b.waiting || b.leaves != len(f.leaves) {
		b.changed = o.Now
	}
	b.waiting = !ready
	b.leaves = len(f.leaves)
	return ready, o.Now-b.changed >= b.cfg.Period
}

// loaded returns the cut of the heaviest leaf that can be cut, nil if there is none, and the cells that would need one
// but sit on one spot.
func (b *Balancer) loaded(t *bsp.Tree, f *figures) (best *Split, crowded []bsp.CellID) {
	order := slices.Clone(f.byCell)
	slices.SortStableFunc(order, func(x, y *figure) int { return compare(y.level, x.level) })
	for _, x := range order {
		if x.cell == nil || x.cell.Profile.Empty() {
			continue
		}
		s := cutLoad(t, x)
		if s == nil && float64(x.level) > nanos(b.cfg.AddAbove) {
			crowded = append(crowded, x.leaf.Cell)
		}
		if best == nil {
			best = s
		}
	}
	return best, crowded
}

// cutLoad cuts a leaf near the median of its load, or returns nil.
func cutLoad(t *bsp.Tree, x *figure) *Split {
	first := longer(t, x.leaf.Cell, spread(&x.cell.Profile.X), spread(&x.cell.Profile.Z))
	for _, axis := range []bsp.Axis{first, first.Other()} {
		lo, hi, ok := x.rect.SplitLimits(axis)
		if !ok {
			continue
		}
		if at, below, ok := median(quantiles(x.cell, axis), lo, hi); ok {
			return &Split{Cell: x.leaf.Cell, Axis: axis, At: at, NewOnHigherSide: below >= load.Slices/2}
		}
	}
	return nil
}

// median returns the line within limits that comes nearest to halving the load, and how many slices lie below it.
func median(q *load.Quantiles, lo, hi float64) (at, below float64, ok bool) {
	const half = load.Slices / 2
	worst := float64(half - minShare)
	for _, p := range q {
		p := min(max(float64(p), lo), hi)
		least, most := q.Below(p)
		if off := max(half-least, most-half); off < worst || (off == worst && !ok) {
			at, below, worst, ok = p, (least+most)/2, off, true
		}
	}
	return at, below, ok
}

// spread is how far the load reaches, without stragglers at either end.
func spread(q *load.Quantiles) float64 {
	return float64(q[load.Slices-1]) - float64(q[1])
}

// longer chooses the axis of the longer spread; of about equal ones, that which the line above does not have.
func longer(t *bsp.Tree, c bsp.CellID, x, z float64) bsp.Axis {
	switch {
	case x > z*sameSpread:
		return bsp.AxisX
	case z > x*sameSpread:
		return bsp.AxisZ
	}
	if above, ok := t.Parent(c); ok {
		return above.Axis.Other()
	}
	return bsp.AxisX
}

// roomiest halves the largest leaf, for cells that are wanted before there is load.
func (b *Balancer) roomiest(t *bsp.Tree, f *figures) *Split {
	var best *Split
	room := 0.0
	for i := range f.leaves {
		x := &f.leaves[i]
		r := finite(x.rect.Intersect(b.cfg.Bounds))
		area := (r.MaxX - r.MinX) * (r.MaxZ - r.MinZ)
		if r.Empty() || area <= room {
			continue
		}
		first := longer(t, x.leaf.Cell, r.MaxX-r.MinX, r.MaxZ-r.MinZ)
		for _, axis := range []bsp.Axis{first, first.Other()} {
			lo, hi := r.Span(axis)
			low, high, ok := x.rect.SplitLimits(axis)
			if !ok {
				continue
			}
			at := min(max(lo/2+hi/2, low), high)
			best, room = &Split{Cell: x.leaf.Cell, Axis: axis, At: at, NewOnHigherSide: true}, area
			break
		}
	}
	return best
}

// finite gives infinite edges a place: about the origin, or at a guessed width from the other edge.
func finite(r bsp.Rect) bsp.Rect {
	r.MinX, r.MaxX = finiteSpan(r.MinX, r.MaxX)
	r.MinZ, r.MaxZ = finiteSpan(r.MinZ, r.MaxZ)
	return r
}

func finiteSpan(lo, hi float64) (float64, float64) {
	switch noLo, noHi := math.IsInf(lo, -1), math.IsInf(hi, 1); {
	case noLo && noHi:
		return -guess / 2, guess / 2
	case noLo:
		return hi - guess, hi
	case noHi:
		return lo, lo + guess
	}
	return lo, hi
}

// freeApp returns the least loaded app that runs no cell of the space, the lowest id among equals, or nil.
func (f *figures) freeApp() *App {
	var best *App
	for i := range f.apps {
		a := &f.apps[i]
		taken := slices.ContainsFunc(f.leaves, func(x figure) bool {
			return (x.cell != nil && x.cell.App == a.ID) || (a.Addr.IsValid() && x.leaf.App == a.Addr && x.leaf.Salt == a.Salt)
		})
		if !taken && (best == nil || a.Load < best.Load) {
			best = a
		}
	}
	return best
}
