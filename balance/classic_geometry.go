package balance

import (
	"math"

	"github.com/cellscape/cellscape/bsp"
)

const (
	// gridSquare is the step, in metres, of a line that evens out what is still to be loaded: the side of a piece of
	// geometry. It may carry entities along, which is why the growing side must be MaxCPUOffload below its bound.
	gridSquare = 100.0

	// loadTolerance is how much less than GhostDistance around a cell has to be loaded, in metres: CellApps report
	// rounded bounds.
	loadTolerance = 1.0
)

// toLoad is the part of a space's geometry where entities can be; the zero Rect if there is none.
func toLoad(r bsp.Rect) bsp.Rect {
	const far = bsp.MaxCoord
	r = r.Intersect(bsp.Rect{MinX: -far, MinZ: -far, MaxX: far, MaxZ: far})
	if r.Empty() {
		return bsp.Rect{}
	}
	return r
}

// required is what a cell of a rectangle must have loaded.
func (p *classicPass) required(r bsp.Rect) bsp.Rect {
	return r.Grow(p.c.cfg.halo()).Intersect(p.geometry)
}

// halo is what Classic wants loaded around a cell.
func (c *Config) halo() float64 { return max(0, c.GhostDistance-loadTolerance) }

// rect is a leaf's rectangle after the moves so far.
func (p *classicPass) rect(i int32) bsp.Rect {
	if p.work == p.s.Tree {
		return p.s.leaves[i].rect
	}
	_, r, _ := p.work.Leaf(p.s.leaves[i].leaf.Cell)
	return r
}

// missingIn is the area that a leaf of the given rectangle has to load yet. One that retires has no use for it.
func (p *classicPass) missingIn(i int32, r bsp.Rect) float64 {
	x := &p.s.leaves[i]
	need := p.required(r)
	if x.leaf.Retiring || need.Empty() {
		return 0
	}
	if x.cell == nil {
		return area(need)
	}
	return max(0, area(need)-area(need.Intersect(x.cell.Loaded)))
}

func area(r bsp.Rect) float64 {
	if r.Empty() {
		return 0
	}
	// Rounded before it is used, on every processor: equal areas must cancel out.
	return float64((r.MaxX - r.MinX) * (r.MaxZ - r.MinZ))
}

// missing is the area that the leaves below a line have to load yet.
func (p *classicPass) missing(l *lineView) float64 {
	sum := 0.0
	if p.geometry.Empty() {
		return 0
	}
	for i := l.first; i < l.last; i++ {
		sum += p.missingIn(i, p.rect(i))
	}
	return sum
}

// along appends the leaves of a part of the tree that lie along one of its edges.
func (p *classicPass) along(leaves []int32, ref int32, axis bsp.Axis, high bool) []int32 {
	if ref < 0 {
		return append(leaves, ^ref)
	}
	l := &p.s.lines[ref]
	if l.axis != axis || !high {
		leaves = p.along(leaves, l.left, axis, high)
	}
	if l.axis != axis || high {
		leaves = p.along(leaves, l.right, axis, high)
	}
	return leaves
}

// geometryLimit returns how far the growing side may follow the line: its loaded bounds less GhostDistance, by the leaf
// beside the line that has least.
func (p *classicPass) geometryLimit(l *lineView, grow *branch, direction int) float64 {
	along := p.along(nil, grow.ref, l.axis, direction > 0)
	least := math.Inf(1) // along the direction
	for _, i := range along {
		least = min(least, float64(float64(direction)*p.loadedEdge(i, l.axis, direction)))
	}
	return float64(float64(direction) * (least - p.c.cfg.GhostDistance))
}

// loadedEdge returns where a leaf's loaded bounds end in the direction of a line. What lies beyond the geometry counts
// as loaded. A leaf that lacks something around it counts as having no more than its rectangle.
func (p *classicPass) loadedEdge(i int32, axis bsp.Axis, direction int) float64 {
	r := p.rect(i)
	need := p.required(r)
	end := ahead(p.geometry, axis, direction)
	if need.Empty() { // it is outside of the geometry, which must be loaded before it grows into it
		begin := ahead(p.geometry, axis, -direction)
		if p.geometry.Empty() || float64(direction)*(begin-ahead(r, axis, direction)) < 0 {
			return ahead(bsp.Everything(), axis, direction)
		}
		return begin
	}
	c := p.s.leaves[i].cell
	if c == nil || need.Intersect(c.Loaded) != need {
		return ahead(r, axis, direction)
	}
	if e := ahead(c.Loaded, axis, direction); float64(direction)*(e-end) < 0 {
		return e
	}
	return ahead(bsp.Everything(), axis, direction)
}

// ahead is the edge of a rectangle that lies in a direction.
func ahead(r bsp.Rect, axis bsp.Axis, direction int) float64 {
	lo, hi := r.Span(axis)
	if direction < 0 {
		return lo
	}
	return hi
}

// balanceLoading moves the line of a part that has geometry to load: into the geometry if it is outside, else by a
// step towards the side whose cells have more to load, if that helps.
func (p *classicPass) balanceLoading(l *lineView, left, right *branch) {
	n, _ := p.work.Node(l.id)
	if inside := n.Rect.Intersect(p.geometry); !inside.Empty() {
		lo, hi := inside.Span(l.axis)
		if to := min(max(l.at, lo), hi); to != l.at && p.moveLoading(l, left, right, to) {
			return
		}
	}
	a, b := p.missingPerCell(l, left, l.at), p.missingPerCell(l, right, l.at)
	if a == b {
		return
	}
	to := l.at + gridSquare
	if a > b {
		to = l.at - gridSquare
	}
	lo, hi, _ := p.work.LineLimits(l.id)
	to = min(max(to, lo), hi)
	if max(p.missingPerCell(l, left, to), p.missingPerCell(l, right, to)) < max(a, b) {
		p.moveLoading(l, left, right, to)
	}
}

// moveLoading moves a line if the growing side has room for what the way may carry. It reports whether the line moved.
func (p *classicPass) moveLoading(l *lineView, left, right *branch, to float64) bool {
	grow := left
	if to < l.at {
		grow = right
	}
	if grow.highest > p.bound-p.c.cfg.offload(0) {
		return false
	}
	before := len(p.plan.Moves)
	p.move(l, to)
	return len(p.plan.Moves) > before
}

// missingPerCell is what the cells of a side would have to load, on average, if the line were at a position.
func (p *classicPass) missingPerCell(l *lineView, b *branch, at float64) float64 {
	sum, lower := 0.0, b.first == l.first
	for i := b.first; i < b.last; i++ {
		sum += p.missingIn(i, p.rect(i))
	}
	for _, i := range p.along(nil, b.ref, l.axis, lower) {
		r := p.rect(i)
		sum += p.missingIn(i, withEdge(r, l.axis, lower, at)) - p.missingIn(i, r)
	}
	return sum / max(1, b.staying)
}

// withEdge returns the rectangle with one edge moved.
func withEdge(r bsp.Rect, axis bsp.Axis, high bool, at float64) bsp.Rect {
	switch {
	case axis == bsp.AxisX && high:
		r.MaxX = at
	case axis == bsp.AxisX:
		r.MinX = at
	case high:
		r.MaxZ = at
	default:
		r.MinZ = at
	}
	return r
}
