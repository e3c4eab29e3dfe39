package balance

import (
	"math"
	"slices"

	"github.com/cellscape/cellscape/bsp"
)

// loadTolerance is how much less than GhostDistance around a cell has to be loaded, in metres:
// CellApps report rounded bounds.
const loadTolerance = 1.0

// land is what a policy knows of the geometry of a space while it moves its lines.
//
// A cell has its land if it has loaded the geometry in its rectangle. No entity is handed over to a
// cell without its land, wherever the lines are; the manager sees to that (bsp.Leaf.Loading). A
// line beside such a cell would see no effect of its moves, and go on.
type land struct {
	s        *spaceView
	work     *bsp.Tree // s.Tree, or a copy with the moves so far
	geometry bsp.Rect  // what must be loaded; the zero Rect is nothing
	halo     float64   // what a cell must have loaded around it, in metres
	distance float64   // how far short of what is loaded a line stays, in metres
	limited  bool      // lines do not outrun what is loaded
}

func newLand(s *spaceView, c *Config, b *Border) land {
	return land{s: s, work: s.Tree, geometry: toLoad(s.Geometry), halo: haloOf(b), distance: b.GhostDistance, limited: !c.IgnoreGeometry}
}

// lacks reports whether a cell that stays has not loaded its land.
func (s *spaceView) lacks(x *leafView) bool {
	return !s.Geometry.Empty() && !x.leaf.Retiring && !x.loaded(s.Geometry)
}

// waits reports whether a line has to wait for the land of a cell beside it.
func (g *land) waits(l *lineView) bool {
	if !g.limited || g.geometry.Empty() {
		return false
	}
	for _, lower := range [...]bool{true, false} {
		for _, i := range g.beside(l, lower) {
			if g.s.lacks(&g.s.leaves[i]) {
				return true
			}
		}
	}
	return false
}

// unloaded names the cells that have not loaded their rectangles and a distance around them, and
// the cells on the growing sides of lines that were held back.
func (g *land) unloaded(halo float64, held []int32) (refs []Ref) {
	if !g.limited || g.geometry.Empty() {
		return nil
	}
	for i := range g.s.leaves {
		x := &g.s.leaves[i]
		if !x.leaf.Retiring && !x.has(x.rect.Grow(halo).Intersect(g.s.Geometry)) || slices.Contains(held, int32(i)) {
			refs = append(refs, Ref{g.s.ID, x.leaf.Cell})
		}
	}
	return refs
}

// beside returns the leaves along a line, on its lower or upper side.
func (g *land) beside(l *lineView, lower bool) []int32 {
	ref := l.right
	if lower {
		ref = l.left
	}
	return g.along(nil, ref, l.axis, lower)
}

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
func (g *land) required(r bsp.Rect) bsp.Rect {
	return r.Grow(g.halo).Intersect(g.geometry)
}

// haloOf is what Classic wants loaded around a cell.
func haloOf(b *Border) float64 { return max(0, b.GhostDistance-loadTolerance) }

// bandOf is how far a line of an axis must pass a real before its cell hands it over. A retiring
// cell does not wait.
func bandOf(b *Border, x *leafView, a bsp.Axis) float64 {
	if x.leaf.Retiring {
		return 0
	}
	return x.rect.Band(a, b.Band)
}

// rect is a leaf's rectangle after the moves so far.
func (g *land) rect(i int32) bsp.Rect {
	if g.work == g.s.Tree {
		return g.s.leaves[i].rect
	}
	_, r, _ := g.work.Leaf(g.s.leaves[i].leaf.Cell)
	return r
}

// missingIn is the area that a leaf with the given rectangle still has to load; 0 for a retiring
// leaf.
func (g *land) missingIn(i int32, r bsp.Rect) float64 {
	x := &g.s.leaves[i]
	need := g.required(r)
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
	// The conversion rounds before use on every processor, so that equal areas cancel out.
	return float64((r.MaxX - r.MinX) * (r.MaxZ - r.MinZ))
}

// missing is the area that the leaves below a line still have to load.
func (g *land) missing(l *lineView) float64 {
	sum := 0.0
	if g.geometry.Empty() {
		return 0
	}
	for i := l.first; i < l.last; i++ {
		sum += g.missingIn(i, g.rect(i))
	}
	return sum
}

// along appends the leaves of a part of the tree that lie along one of its edges.
func (g *land) along(leaves []int32, ref int32, axis bsp.Axis, high bool) []int32 {
	if ref < 0 {
		return append(leaves, ^ref)
	}
	l := &g.s.lines[ref]
	if l.axis != axis || !high {
		leaves = g.along(leaves, l.left, axis, high)
	}
	if l.axis != axis || high {
		leaves = g.along(leaves, l.right, axis, high)
	}
	return leaves
}

// geometryLimit returns how far the growing side may follow the line: its loaded bounds less
// GhostDistance, by the leaf beside the line that has loaded least.
func (g *land) geometryLimit(l *lineView, direction int) float64 {
	along := g.beside(l, direction > 0)
	least := math.Inf(1) // along the direction
	for _, i := range along {
		least = min(least, float64(float64(direction)*g.loadedEdge(i, l.axis, direction)))
	}
	return float64(float64(direction) * (least - g.distance))
}

// loadedEdge returns where a leaf's loaded bounds end in the direction of a line. What lies beyond
// the geometry counts as loaded. A leaf that lacks something around it counts as having no more
// than its rectangle.
func (g *land) loadedEdge(i int32, axis bsp.Axis, direction int) float64 {
	r := g.rect(i)
	need := g.required(r)
	end := ahead(g.geometry, axis, direction)
	if need.Empty() { // it is outside of the geometry, which must be loaded before it grows into it
		begin := ahead(g.geometry, axis, -direction)
		if g.geometry.Empty() || float64(direction)*(begin-ahead(r, axis, direction)) < 0 {
			return ahead(bsp.Everything(), axis, direction)
		}
		return begin
	}
	c := g.s.leaves[i].cell
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
