package balance

import (
	"math"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

const levels = load.Levels

// edgeBounds tells how deep from one edge of a part of the tree small loads lie. The first level is
// the largest load, and lies deepest.
type edgeBounds struct {
	inward float64         // +1 from the low edge, -1 from the high edge
	depth  [levels]float64 // coordinates times inward, so that deeper is more
	load   [levels]float64
	whole  bool // no one is deeper than the first level
}

// emptyEdge is the edge of a part without reals, into which a line may go as far as the tree
// allows. Where nothing is known, every step counts as too expensive.
func emptyEdge(inward float64) edgeBounds {
	b := edgeBounds{inward: inward, whole: true}
	for k := range b.depth {
		b.depth[k] = math.Inf(1)
	}
	return b
}

func unknownEdge(inward float64) edgeBounds {
	b := edgeBounds{inward: inward}
	for k := range b.load {
		b.load[k] = math.Inf(1)
	}
	return b
}

// edgeOf returns the bounds at an edge of a leaf, or of all that is below a line.
func (p *classicPass) edgeOf(ref int32, axis bsp.Axis, high bool) edgeBounds {
	if ref < 0 {
		return leafEdge(&p.s.leaves[^ref], axis, high, &p.c.cfg.Border)
	}
	l := &p.s.lines[ref]
	switch {
	case l.axis != axis:
		a, b := p.edgeOf(l.left, axis, high), p.edgeOf(l.right, axis, high)
		return mergeEdges(&a, &b, &p.c.cfg.Border)
	case high:
		b := p.edgeOf(l.right, axis, high)
		return b.upTo(l.at)
	}
	b := p.edgeOf(l.left, axis, high)
	return b.upTo(l.at)
}

// leafEdge reads a report. If a larger load lies less deep, it corrects the order, on which merging
// relies. A bound lies deeper than its load by the band in which a cell keeps its reals, since a
// line that only passed them would move nobody.
func leafEdge(x *leafView, axis bsp.Axis, high bool, border *Border) edgeBounds {
	b, edge := edgeBounds{inward: 1}, 0
	if high {
		b.inward, edge = -1, 1
	}
	switch {
	case x.cell == nil:
		return unknownEdge(b.inward)
	case x.cell.Edges == load.Edges{}:
		if x.cell.Reals == 0 {
			return emptyEdge(b.inward)
		}
		return unknownEdge(b.inward)
	}
	depth, sum := math.Inf(-1), 0.0
	band := bandOf(border, x, axis)
	for k := levels - 1; k >= 0; k-- {
		r := x.cell.Edges[axis][edge][k]
		depth, sum = max(depth, float64(b.inward*float64(r.At))+band), max(sum, float64(r.Load))
		b.depth[k], b.load[k] = depth, sum
	}
	// A level that the reals did not reach has all of them.
	b.whole = b.load[0] <= slice(border, 0)
	return b
}

// upTo cuts the bounds at a line of the same axis, beyond which the line that uses them cannot go.
func (b edgeBounds) upTo(line float64) edgeBounds {
	for k := range b.depth {
		b.depth[k] = min(b.depth[k], float64(b.inward*line))
	}
	return b
}

// beyond is the most load that can lie between the edge and a depth: that of the first reported
// bound that is as deep. Past the deepest bound it is all there is, or unknown.
func (b *edgeBounds) beyond(depth float64) float64 {
	for k := levels - 1; k >= 0; k-- {
		if b.depth[k] >= depth {
			return b.load[k]
		}
	}
	if b.whole {
		return b.load[0]
	}
	return math.Inf(1)
}

// mergeEdges joins the bounds of two parts that both lie along the edge. It walks inward over the
// depths that either part reports, with the load that lies beyond in both, and takes them into
// levels as a cell does with its reals: the smallest level first, one at a depth, each at the first
// depth whose load exceeds it. Levels that are not reached get the deepest depth at which both
// loads are known.
func mergeEdges(a, b *edgeBounds, border *Border) edgeBounds {
	m := unknownEdge(a.inward)
	last, depth, sum := math.Inf(-1), 0.0, math.Inf(1)
	level := levels - 1
	for i, j := levels-1, levels-1; level >= 0 && (i >= 0 || j >= 0); {
		next := 0.0
		if j < 0 || (i >= 0 && a.depth[i] <= b.depth[j]) {
			next = a.depth[i]
			i--
		} else {
			next = b.depth[j]
			j--
		}
		if next == last {
			continue
		}
		both := a.beyond(next) + b.beyond(next)
		if math.IsInf(both, 1) {
			break
		}
		last, depth, sum = next, next, both
		if sum > slice(border, level) {
			m.depth[level], m.load[level] = depth, sum
			level--
		}
	}
	for ; level >= 0; level-- {
		m.depth[level], m.load[level] = depth, sum
	}
	m.whole = a.whole && b.whole && m.load[0] <= slice(border, 0)
	return m
}

// forDifference returns the place for a line that passes the largest reported load not above diff.
// If even the smallest is above, a heavy entity or a stack of them is in the way, and the line
// stays.
func (b *edgeBounds) forDifference(diff, stay float64) float64 {
	for k := range levels {
		if b.load[k] <= diff {
			return float64(b.inward * b.depth[k])
		}
	}
	return stay
}
