package cellappmgr

import (
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	spaces "github.com/cellscape/cellscape/space"
)

// A gateway is an entry of the data of both its spaces (space.Gateway). When one of them ends, the other
// has the entry alone, and nobody there may know its id: so the manager takes it out. A town with a
// hundred dungeons a minute would else be full of gateways to those that are gone, within a minute.

// otherEnd is the space at the other end of a gateway, or 0 for any other entry.
func otherEnd(of entity.SpaceID, e *wire.SpaceDataEntry) entity.SpaceID {
	var g spaces.Gateway
	switch {
	case e.Key != spacekey.Gateway || e.Removed || g.Parse(e.Value) != nil:
		return 0
	case g.Near.Space != of:
		return g.Near.Space
	case g.Far.Space != of:
		return g.Far.Space
	}
	return 0
}

// leadsNowhere reports whether an entry is a gateway to a space that has ended.
func (m *CellAppMgr) leadsNowhere(of entity.SpaceID, e *wire.SpaceDataEntry) bool {
	to := otherEnd(of, e)
	if !isCreated(to) || !m.knowsSpaces() {
		return false
	}
	s := m.space(to)
	return s == nil || s.ending
}

// shutGateways closes the gateways of a space that ends at their other ends.
func (m *CellAppMgr) shutGateways(s *space) {
	for i := range s.data.entries {
		e := &s.data.entries[i]
		if other := m.space(otherEnd(s.cfg.ID, e)); other != nil && !other.ending {
			m.shutGateway(other, e.ID)
		}
	}
}

// shutLostGateways closes the gateways to spaces that are not there: the manager before this one may have
// died between the end of one and the word of it, and the store may have lost one.
func (m *CellAppMgr) shutLostGateways() {
	for _, s := range m.spaces {
		for _, e := range slices.Clone(s.data.entries) {
			if m.leadsNowhere(s.cfg.ID, &e) {
				m.shutGateway(s, e.ID)
			}
		}
	}
}

func (m *CellAppMgr) shutGateway(s *space, id entity.DataID) {
	if !s.data.has(dataKey{key: spacekey.Gateway, id: id}) {
		return
	}
	if e, ok := s.data.set(wire.SpaceDataEntry{Key: spacekey.Gateway, ID: id, Removed: true}); ok {
		m.tellData(s, e)
	}
}

// roomForGateway reports whether a space takes one more gateway, or another value of one.
func (d *spaceData) roomForGateway(e *wire.SpaceDataEntry) bool {
	n := 0
	for i := range d.entries {
		if x := &d.entries[i]; x.Key == spacekey.Gateway && !x.Removed && !e.Replaces(x) {
			n++
		}
	}
	return n < spaces.MaxGateways
}
