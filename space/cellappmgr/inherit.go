package cellappmgr

import (
	"slices"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	spaces "github.com/cellscape/cellscape/space"
)

// landOf lists the land of an app's cells, before the tree gives it to others.
func (s *space) landOf(app *member) (land []bsp.Rect) {
	if s.tree == nil {
		return nil
	}
	for area, leaf := range s.tree.Leaves() {
		if c := s.find(leaf.Cell); c != nil && c.app == app {
			land = append(land, area)
		}
	}
	return land
}

// bequeath tells the cells that have land of dead ones now, so that games spawn what was lost there;
// and those that have land of heirs which went before they had told the game. They know the geometry
// already. A space that has lost all its cells waits for the next one.
func (m *CellAppMgr) bequeath(s *space) {
	if s.tree == nil || s.ending {
		return
	}
	if s.dropped {
		s.dropped = false
		for _, e := range s.heirless() {
			var lost spaces.LostArea
			within := func(r bsp.Rect) bool { return r.Intersect(lost.Area) == lost.Area }
			if lost.Parse(e.Value) == nil && !slices.ContainsFunc(s.lost, within) { // most heirs go by dying
				s.lost = append(s.lost, lost.Area)
			}
			m.setLost(s, wire.SpaceDataEntry{Key: e.Key, ID: e.ID, Removed: true})
		}
	}
	for _, area := range s.lost {
		for land, leaf := range s.tree.Overlapping(area) {
			lost := spaces.LostArea{Heir: leaf.Cell, Area: land.Intersect(area)}
			m.setLost(s, wire.SpaceDataEntry{Key: spacekey.LostArea, ID: entity.DataID(s.data.last + 1), Value: lost.Append(nil)})
		}
	}
	s.lost = s.lost[:0]
}

// heirless lists the lost areas whose heirs are no more.
func (s *space) heirless() (entries []wire.SpaceDataEntry) {
	for _, e := range s.data.entries {
		var lost spaces.LostArea
		if e.Key == spacekey.LostArea && !e.Removed && (lost.Parse(e.Value) != nil || s.find(lost.Heir) == nil) {
			entries = append(entries, e)
		}
	}
	return entries
}

func (m *CellAppMgr) setLost(s *space, e wire.SpaceDataEntry) {
	set, ok := s.data.set(e)
	if !ok {
		m.refusedData(s, e.Key, "the death of a cell")
		return
	}
	m.tellData(s, set)
}
