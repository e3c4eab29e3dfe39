package balance

// gridSquare is the step, in metres, of a line that evens out what still has to be loaded: the side
// of a piece of geometry. The step may move entities, so the growing side must be Border.MaxSlice
// below its bound.
const gridSquare = 100.0

// balanceLoading moves the line of a part that has geometry to load: into the geometry if it is
// outside, otherwise by a step towards the side whose cells have more to load, if that helps.
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

// moveLoading moves a line if the growing side has room for what the step may carry, and reports
// whether the line moved.
func (p *classicPass) moveLoading(l *lineView, left, right *branch, to float64) bool {
	grow := left
	if to < l.at {
		grow = right
	}
	if grow.highest > p.bound-slice(&p.c.cfg.Border, 0) {
		return false
	}
	before := len(p.plan.Moves)
	p.move(l, to)
	return len(p.plan.Moves) > before
}

// missingPerCell is the area that each cell of a side would have to load, on average, with the line
// at a position.
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
