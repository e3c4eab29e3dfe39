package cellappmgr

import (
	"math"
	"slices"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// locate answers which CellApp an entity should be created on: that of the cell at its position if
// the cell is created, else that of the nearest created cell, which offloads the entity later. Only
// cells that have loaded the land there are considered. If there is none, the asker asks again. The
// asker is about to come, so the space does not end in the meantime.
func (m *CellAppMgr) locate(now time.Duration, msg *wire.Locate) *wire.Located {
	answer := &wire.Located{ID: msg.ID, Space: msg.Space, Gone: m.hasEnded(msg.Space)}
	s := m.space(msg.Space)
	if s == nil || s.tree == nil {
		return answer
	}
	s.stay(now + arrivalGrace)
	x, z := float64(msg.Position.X), float64(msg.Position.Z)
	best := s.tree.At(x, z)
	switch {
	case m.loads(s):
		best = m.nearestLoaded(s, x, z)
	case !best.Created:
		best = nearestCreated(s.tree, x, z)
	}
	if best != nil {
		answer.App = mercury.Address{At: best.App, Salt: best.Salt}
	}
	return answer
}

// locateArea answers which CellApps have created cells that touch an area, for an end of a gateway.
// An area that is none touches nothing, and no gateway leads into a space whose data does not have
// it: that has closed it, or has lost its data, and would take no ghost. (It used to be told of
// each move, and to ask for who that was, for ever.)
func (m *CellAppMgr) locateArea(msg *wire.LocateArea) *wire.LocatedArea {
	answer := &wire.LocatedArea{Gateway: msg.Gateway, Space: msg.Space}
	s := m.space(msg.Space)
	if s == nil || s.tree == nil || !s.data.has(dataKey{key: spacekey.Gateway, id: entity.DataID(spacekey.GatewayOf(msg.Gateway))}) {
		return answer
	}
	for _, leaf := range s.tree.Overlapping(msg.Area) {
		app := mercury.Address{At: leaf.App, Salt: leaf.Salt}
		switch {
		case !leaf.Created || slices.Contains(answer.Apps, app):
		case len(answer.Apps) == wire.MaxAreaApps:
			m.log.Warn("a gateway leads to more CellApps than are told of it", "space", msg.Space, "limit", wire.MaxAreaApps)
			return answer
		default:
			answer.Apps = append(answer.Apps, app)
		}
	}
	return answer
}

// nearestCreated returns the leaf of the created cell that is nearest to a position, nil if there
// is none.
func nearestCreated(t *bsp.Tree, x, z float64) (best *bsp.Leaf) {
	nearest := math.Inf(1)
	for rect, leaf := range t.Leaves() {
		if d := rect.Distance(x, z); leaf.Created && d < nearest {
			best, nearest = leaf, d
		}
	}
	return best
}

// nearestLoaded returns the leaf of the nearest created cell that has loaded the land at a
// position. While the cell there is still loading, this may be another: the one that it was cut
// from, or one that retires towards it.
func (m *CellAppMgr) nearestLoaded(s *space, x, z float64) (best *bsp.Leaf) {
	nearest := math.Inf(1)
	for _, c := range s.cells {
		if leaf, rect, ok := s.tree.Leaf(c.id); ok && c.created && m.stands(s, c, x, z) {
			if d := rect.Distance(x, z); d < nearest {
				best, nearest = leaf, d
			}
		}
	}
	return best
}

// hasEnded reports whether a space is not there and never will be.
func (m *CellAppMgr) hasEnded(id entity.SpaceID) bool {
	s := m.space(id)
	return m.started && (s == nil || s.ending)
}
