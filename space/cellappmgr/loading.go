package cellappmgr

import (
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
)

// loadingPatience is how long the balance waits for a cell to load before that is logged: longer
// than games take to load the land of a cell, so that whoever reads the line knows that something
// is wrong.
const loadingPatience = time.Minute

// loads reports whether entities of a space wait for its geometry.
func (m *CellAppMgr) loads(s *space) bool {
	return s.cfg.Geometry != bsp.Rect{} && !m.cfg.Balance.IgnoreGeometry
}

// loading reports whether a cell has yet to load its land: the part of the geometry that lies in
// its rectangle. A cell that has not been heard of has loaded nothing.
func (m *CellAppMgr) loading(s *space, c *cell, rect bsp.Rect) bool {
	return m.loads(s) && !covers(c.report.Loaded, rect.Intersect(s.cfg.Geometry))
}

// covers reports whether a cell that has loaded so much needs nothing more. Comparisons with a NaN
// are false.
func covers(loaded, need bsp.Rect) bool {
	return need.Empty() || loaded.MinX <= need.MinX && loaded.MinZ <= need.MinZ && loaded.MaxX >= need.MaxX && loaded.MaxZ >= need.MaxZ
}

// hearLoaded lets the CellApps know when a cell has loaded its land, or lacks some of it.
func (m *CellAppMgr) hearLoaded(s *space, c *cell) {
	if !m.loads(s) || s.tree == nil {
		return
	}
	if leaf, rect, ok := s.tree.Leaf(c.id); ok && leaf.Loading != m.loading(s, c, rect) {
		m.touch(s)
	}
}

// stands reports whether an entity at a position would stand on land that a cell has loaded, or
// beyond all geometry.
func (m *CellAppMgr) stands(s *space, c *cell, x, z float64) bool {
	if !m.loads(s) || s.cfg.Geometry.Distance(x, z) > 0 {
		return true
	}
	return !c.report.Loaded.Empty() && c.report.Loaded.Distance(x, z) == 0
}

// watchLoading names the cells for which the balance has waited too long.
func (m *CellAppMgr) watchLoading(now time.Duration, unloaded []balance.Ref) {
	next := m.unloaded[:0:0]
	for _, ref := range unloaded {
		w := waitsFor{ref: ref, since: now}
		for _, old := range m.unloaded {
			if old.ref == ref {
				w = old
			}
		}
		if !w.logged && now-w.since >= loadingPatience {
			w.logged = true
			m.log.Warn("a cell does not load the geometry of its space: entities are not let in and lines wait; see space.Scripts.OnArea",
				"space", ref.Space, "cell", ref.Cell.String(), "for", loadingPatience)
		}
		next = append(next, w)
	}
	m.unloaded = next
}

// waitsFor is a cell that the balance waits for to load.
type waitsFor struct {
	ref    balance.Ref
	since  time.Duration
	logged bool
}
