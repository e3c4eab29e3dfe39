package navigation

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/cellscape/cellscape/property"
)

const (
	// DefaultClimb is the default of Config.Climb: a step of stairs and a half, in metres, as BigWorld's.
	DefaultClimb = 0.65
	// MaxTiles bounds the tiles of a mesh, each of which a search for a place looks at.
	MaxTiles = 4096
	// MaxPolygons bounds the polygons of a tile, and MaxRing the corners of one. More are cut into
	// tiles, and polygons, by the tools that make them.
	MaxPolygons = 1 << 16
	MaxRing     = 32
	// MaxVisited bounds the polygons that one search looks at: some ten milliseconds of a CellApp.
	MaxVisited = 1 << 14
	// MaxKept bounds the ways that are kept.
	MaxKept = 1024
)

var (
	// ErrOffMesh says that a place is not on the mesh.
	ErrOffMesh = errors.New("navigation: not on the mesh")
	// ErrNoPath says that no way leads there.
	ErrNoPath = errors.New("navigation: no way leads there")
	// ErrTooFar says that no way was found among the polygons that a search looks at.
	ErrTooFar = errors.New("navigation: too far")
)

// Config configures a Mesh. Zero fields mean the defaults.
type Config struct {
	// Climb is how far above or below the ground a place may be, and how high a step between two tiles, in
	// metres. Default DefaultClimb.
	Climb float32
}

// Mesh is walkable ground.
type Mesh struct {
	climb float64

	mu    sync.Mutex
	tiles []*tile
	last  TileID
	polys []*polygon
	free  []int32 // of polys

	search search
	kept   kept
}

// TileID names a tile of a mesh. No id is given twice.
type TileID uint64

// New returns an empty mesh.
func New(cfg Config) (*Mesh, error) {
	climb := cmp.Or(cfg.Climb, DefaultClimb)
	if !(climb > 0) || math.IsInf(float64(climb), 0) {
		return nil, fmt.Errorf("navigation: Config.Climb is %v: give a height in metres, or 0 for %v", cfg.Climb, DefaultClimb)
	}
	return &Mesh{climb: float64(climb)}, nil
}

// Add joins a tile to the mesh. The mesh keeps nothing of t. The error names what is wrong with it; the mesh
// is then as it was.
func (m *Mesh) Add(t Tile) (TileID, error) {
	added, err := t.build()
	if err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.tiles) >= MaxTiles {
		return 0, fmt.Errorf("navigation: the mesh has %d tiles, which is the most: make larger ones", len(m.tiles))
	}
	for _, other := range m.tiles {
		if other.near(added) && !join(added, other, m.climb) {
			m.part(added)
			return 0, errors.New("navigation: the tile lies on another one: remove that before")
		}
	}
	for _, p := range added.polygons {
		m.number(p)
	}
	m.last++
	added.id = m.last
	m.tiles = append(m.tiles, added)
	m.kept.clear()
	return added.id, nil
}

// number gives a polygon its place in polys.
func (m *Mesh) number(p *polygon) {
	if n := len(m.free); n > 0 {
		p.id = m.free[n-1]
		m.free = m.free[:n-1]
		m.polys[p.id] = p
		return
	}
	p.id = int32(len(m.polys))
	m.polys = append(m.polys, p)
}

// Remove takes a tile out of the mesh, and reports whether it was there.
func (m *Mesh) Remove(id TileID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.tiles, func(t *tile) bool { return t.id == id })
	if i < 0 {
		return false
	}
	gone := m.tiles[i]
	m.tiles = slices.Delete(m.tiles, i, i+1)
	m.part(gone)
	for _, p := range gone.polygons {
		m.polys[p.id] = nil
		m.free = append(m.free, p.id)
	}
	m.kept.clear()
	return true
}

// part undoes what joins a tile with others.
func (m *Mesh) part(gone *tile) {
	for _, p := range gone.polygons {
		for _, l := range p.links {
			if l.to.tile != gone {
				l.to.unlink(p)
			}
		}
	}
}

// Nearest returns the place on the mesh that is nearest to another one, no further than that many metres. It
// reports false if there is none.
func (m *Mesh) Nearest(at property.Vector3, within float32) (property.Vector3, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !at.Finite() || !(within >= 0) {
		return property.Vector3{}, false
	}
	p, best := pointOf(at), point{}
	least := float64(within)
	found := false
	for _, t := range m.tiles {
		if !t.bounds.within(p, max(least, slack)) {
			continue
		}
		t.each(box{p.x - least, p.z - least, p.x + least, p.z + least}, func(q *polygon) {
			if c := q.closest(p); c.distance(p) <= least {
				best, least, found = c, c.distance(p), true
			}
		})
	}
	return best.vector(), found
}

// locate is the polygon that a place is on; nil for none. Of several above one another it is the nearest.
func (m *Mesh) locate(p point) *polygon {
	var best *polygon
	least := m.climb
	for _, t := range m.tiles {
		if !t.bounds.within(p, slack) {
			continue
		}
		t.each(box{p.x, p.z, p.x, p.z}, func(q *polygon) {
			if !q.covers(p) {
				return
			}
			if d := math.Abs(q.height(p.x, p.z) - p.y); d < least || best == nil && d <= least {
				best, least = q, d
			}
		})
	}
	return best
}
