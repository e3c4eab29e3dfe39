package navigation

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cellscape/cellscape/internal/faults"
	"github.com/cellscape/cellscape/property"
)

// Tile is a part of a mesh, as tools make it.
type Tile struct {
	Corners []property.Vector3
	// Polygons lists the corners of each polygon by their number, one after the other around it, either way.
	// Seen from above a polygon is convex. Polygons that share two corners in a row are joined; others, also
	// of other tiles, where their edges lie on one another.
	Polygons [][]uint32
}

// tile is one that belongs to a mesh.
type tile struct {
	id       TileID
	polygons []*polygon
	bounds   box

	// A grid over the bounds: the polygons of a square are those of squares[i]:squares[i+1] of listed.
	wide, deep int
	side       float64
	squares    []int32
	listed     []*polygon
}

// polygon is a piece of ground.
type polygon struct {
	id     int32 // in the mesh
	index  int   // in the tile
	tile   *tile
	ring   []point // counter-clockwise seen from above
	names  []uint32
	joined []bool // by edge: it leads to a polygon of its own tile by both its corners
	middle point
	bounds box
	links  []link
}

// link is the part of an edge that leads to another polygon. Who goes through has a on the right.
type link struct {
	to   *polygon
	a, b point
}

func (p *polygon) unlink(from *polygon) {
	p.links = slices.DeleteFunc(p.links, func(l link) bool { return l.to == from })
}

// leastArea is that of the smallest polygon, in square metres: below it rounding says which way its corners
// go round.
const leastArea = 1e-4

// most is how many faults of a tile are told.
const most = 10

// build checks a tile.
func (t *Tile) build() (*tile, error) {
	all := faults.In("navigation: the tile ")
	all.If(len(t.Polygons) == 0, "has no polygons")
	all.If(len(t.Polygons) > MaxPolygons, "has %d polygons: cut it, at most %d are taken", len(t.Polygons), MaxPolygons)
	if err := all.Err(); err != nil {
		return nil, err
	}
	built := &tile{bounds: nowhere()}
	wrong := 0
	for i, ring := range t.Polygons {
		p, fault := t.polygon(ring)
		if fault != "" {
			if wrong++; wrong <= most {
				all.If(true, "has a polygon, number %d, %s", i, fault)
			}
			continue
		}
		p.tile, p.index = built, len(built.polygons)
		built.polygons = append(built.polygons, p)
		built.bounds.take(point{x: p.bounds.minX, z: p.bounds.minZ})
		built.bounds.take(point{x: p.bounds.maxX, z: p.bounds.maxZ})
	}
	all.If(wrong > most, "has %d more such polygons", wrong-most)
	if err := all.Err(); err != nil {
		return nil, err
	}
	built.lay()
	if !built.joinWithin() {
		return nil, errors.New("navigation: the tile has polygons that lie on one another: one that is walked on is enough")
	}
	return built, nil
}

// polygon checks one polygon, and says what is wrong with it.
func (t *Tile) polygon(ring []uint32) (p *polygon, fault string) {
	if len(ring) < 3 || len(ring) > MaxRing {
		return nil, fmt.Sprintf("with %d corners: give 3 to %d", len(ring), MaxRing)
	}
	p = &polygon{bounds: nowhere(), names: slices.Clone(ring), joined: make([]bool, len(ring))}
	for _, c := range ring {
		if int64(c) >= int64(len(t.Corners)) {
			return nil, fmt.Sprintf("with corner %d of %d", c, len(t.Corners))
		}
		if v := t.Corners[c]; !v.Finite() || max(math.Abs(float64(v.X)), math.Abs(float64(v.Y)), math.Abs(float64(v.Z))) > property.MaxCoordinate {
			return nil, fmt.Sprintf("with corner %d at %v", c, v)
		}
		at := pointOf(t.Corners[c])
		p.ring = append(p.ring, at)
		p.bounds.take(at)
		p.middle.x, p.middle.y, p.middle.z = p.middle.x+at.x, p.middle.y+at.y, p.middle.z+at.z
	}
	n := float64(len(ring))
	p.middle = point{p.middle.x / n, p.middle.y / n, p.middle.z / n}
	area := p.area()
	if math.Abs(area) < leastArea {
		return nil, "that has no area seen from above"
	}
	if area < 0 {
		slices.Reverse(p.ring)
		slices.Reverse(p.names)
	}
	if !p.convex() {
		return nil, "that is not convex seen from above: cut it"
	}
	return p, ""
}

func (p *polygon) edge(i int) (a, b point) { return p.ring[i], p.ring[(i+1)%len(p.ring)] }

func (p *polygon) area() (sum float64) {
	for i := 1; i+1 < len(p.ring); i++ {
		sum += turn(p.ring[0], p.ring[i], p.ring[i+1]) / 2
	}
	return sum
}

// convex reports whether all corners turn left, once around.
func (p *polygon) convex() bool {
	around := 0.0
	for i := range p.ring {
		a, b := p.edge(i)
		_, c := p.edge((i + 1) % len(p.ring))
		d := math.Hypot(b.x-a.x, b.z-a.z)
		e := math.Hypot(c.x-b.x, c.z-b.z)
		if d == 0 || e == 0 || turn(a, b, c) < -1e-6*d*e {
			return false
		}
		around += math.Atan2(turn(a, b, c), float64((b.x-a.x)*(c.x-b.x))+float64((b.z-a.z)*(c.z-b.z)))
	}
	return around < 2*math.Pi+1e-3
}

// slack is how far outside of a polygon a place is taken to be on it, in metres: the edges of
// neighbours leave no gap for rounding to fall into.
const slack = 1e-3

// covers reports whether a place is on the polygon, seen from above.
func (p *polygon) covers(at point) bool {
	if !p.bounds.within(at, slack) {
		return false
	}
	for i := range p.ring {
		a, b := p.edge(i)
		if turn(a, b, at) < -slack*math.Hypot(b.x-a.x, b.z-a.z) {
			return false
		}
	}
	return true
}

// height is that of the ground at a place on the polygon. One with more than three corners need not be
// flat: it is that of the triangle from its first corner.
func (p *polygon) height(x, z float64) float64 {
	at := point{x: x, z: z}
	last := len(p.ring) - 2
	for i := 1; i <= last; i++ {
		if i == last || turn(p.ring[0], p.ring[i+1], at) <= 0 {
			return plane(p.ring[0], p.ring[i], p.ring[i+1], x, z)
		}
	}
	return p.middle.y
}

// plane is the height of the plane through three points; of one upright the mean of theirs.
func plane(a, b, c point, x, z float64) float64 {
	whole := turn(a, b, c)
	if math.Abs(whole) < leastArea/100 {
		return (a.y + b.y + c.y) / 3
	}
	at := point{x: x, z: z}
	u, v := turn(a, at, c)/whole, turn(a, b, at)/whole
	return a.y + float64(u*(b.y-a.y)) + float64(v*(c.y-a.y))
}

// closest is the place on the polygon that is nearest to another.
func (p *polygon) closest(to point) point {
	if p.covers(to) {
		return point{to.x, p.height(to.x, to.z), to.z}
	}
	best, least := point{}, math.Inf(1)
	for i := range p.ring {
		a, b := p.edge(i)
		c := a.towards(b, share(a, b, to))
		if d := c.distance(to); d < least {
			best, least = c, d
		}
	}
	return best
}

const (
	// maxGrid bounds the squares of a tile's grid along one axis.
	maxGrid = 256
	// maxShare bounds in how many squares a polygon stands, on average: in a tile of many that each cover
	// all of it, which no tool makes, the squares become larger.
	maxShare = 16
)

// lay makes the grid: about as many squares as polygons.
func (t *tile) lay() {
	width, depth := t.bounds.maxX-t.bounds.minX, t.bounds.maxZ-t.bounds.minZ
	t.side = max(math.Sqrt(width*depth/float64(len(t.polygons))), max(width, depth)/maxGrid, slack)
	for t.size(width, depth); t.entries() > maxShare*len(t.polygons); t.size(width, depth) {
		t.side *= 2
	}
	counts := make([]int32, t.wide*t.deep+1)
	for _, p := range t.polygons {
		t.eachSquare(p.bounds, func(i int) { counts[i+1]++ })
	}
	for i := 1; i < len(counts); i++ {
		counts[i] += counts[i-1]
	}
	t.squares, t.listed = counts, make([]*polygon, counts[len(counts)-1])
	next := slices.Clone(counts)
	for _, p := range t.polygons {
		t.eachSquare(p.bounds, func(i int) { t.listed[next[i]] = p; next[i]++ })
	}
}

func (t *tile) size(width, depth float64) {
	t.wide, t.deep = int(width/t.side)+1, int(depth/t.side)+1
}

// entries is how often polygons stand in squares.
func (t *tile) entries() (n int) {
	for _, p := range t.polygons {
		minX, minZ, maxX, maxZ := t.squaresOf(p.bounds)
		n += (maxX - minX + 1) * (maxZ - minZ + 1)
	}
	return n
}

// squaresOf are the squares that a box touches, both ends among them.
func (t *tile) squaresOf(b box) (minX, minZ, maxX, maxZ int) {
	at := func(v, from float64, n int) int { return min(max(int((v-from)/t.side), 0), n-1) }
	return at(b.minX-slack, t.bounds.minX, t.wide), at(b.minZ-slack, t.bounds.minZ, t.deep),
		at(b.maxX+slack, t.bounds.minX, t.wide), at(b.maxZ+slack, t.bounds.minZ, t.deep)
}

// eachSquare calls f for the squares that a box touches.
func (t *tile) eachSquare(b box, f func(i int)) {
	minX, minZ, maxX, maxZ := t.squaresOf(b)
	for z := minZ; z <= maxZ; z++ {
		for x := minX; x <= maxX; x++ {
			f(z*t.wide + x)
		}
	}
}

// each calls f for the polygons near a box, for some of them more than once.
func (t *tile) each(b box, f func(p *polygon)) {
	t.eachSquare(b, func(i int) {
		for _, p := range t.listed[t.squares[i]:t.squares[i+1]] {
			f(p)
		}
	})
}
