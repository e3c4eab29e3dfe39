package balance

import (
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

const (
	// minShare is the least number of slices of a leaf's load on each side of a cut. Below an
	// eighth a new cell costs more, in ghosts and messages, than it takes over.
	minShare = load.Slices / 8

	// sameSpread is the ratio of the spreads of both axes up to which the cut alternates with the
	// line above instead, since measured spreads are never quite equal.
	sameSpread = 1.1
)

// cutLoad cuts a leaf near the median of its load. It reports false if no line divides that.
func cutLoad(t *bsp.Tree, x *leafView) (Add, bool) {
	first := longer(t, x.leaf.Cell, spread(&x.cell.Profile.X), spread(&x.cell.Profile.Z))
	for _, axis := range []bsp.Axis{first, first.Other()} {
		lo, hi, ok := x.rect.SplitLimits(axis)
		if !ok {
			continue
		}
		if at, below, ok := median(quantiles(x.cell, axis), lo, hi); ok {
			return Add{Cell: x.leaf.Cell, Axis: axis, At: at, NewOnHigherSide: below >= load.Slices/2}, true
		}
	}
	return Add{}, false
}

// median returns the line within limits that comes nearest to halving the load, and how many slices
// lie below it.
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

// spread is how far the middle quarter of the load reaches. The farther it does, the fewer entities
// are near a line there, cross it and make ghosts. How far stragglers reach says nothing about
// that.
func spread(q *load.Quantiles) float64 {
	const part = load.Slices / 8
	return float64(q[load.Slices/2+part]) - float64(q[load.Slices/2-part])
}

// longer chooses the axis of the longer spread or, if they are about equal, the axis that the line
// above does not have.
func longer(t *bsp.Tree, c bsp.CellID, x, z float64) bsp.Axis {
	switch {
	case x > z*sameSpread:
		return bsp.AxisX
	case z > x*sameSpread:
		return bsp.AxisZ
	}
	return t.Alternate(c)
}

// cutRoom halves the part of a leaf within a rectangle, if that is not empty, for cells that are
// wanted whatever the load.
func cutRoom(t *bsp.Tree, x *leafView, within bsp.Rect) (Add, bool) {
	r := x.rect.Intersect(within)
	if r.Empty() {
		r = x.rect
	}
	r = finite(r)
	first := longer(t, x.leaf.Cell, r.MaxX-r.MinX, r.MaxZ-r.MinZ)
	for _, axis := range []bsp.Axis{first, first.Other()} {
		lo, hi := r.Span(axis)
		if low, high, ok := x.rect.SplitLimits(axis); ok {
			return Add{Cell: x.leaf.Cell, Axis: axis, At: min(max(lo/2+hi/2, low), high), NewOnHigherSide: true}, true
		}
	}
	return Add{}, false
}

// finite gives infinite edges a place: about the origin, or at a guessed width from the other edge.
func finite(r bsp.Rect) bsp.Rect {
	r.MinX, r.MaxX = finiteSpan(r.MinX, r.MaxX)
	r.MinZ, r.MaxZ = finiteSpan(r.MinZ, r.MaxZ)
	return r
}
