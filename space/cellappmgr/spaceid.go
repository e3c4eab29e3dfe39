package cellappmgr

import "github.com/cellscape/cellscape/entity"

// A space id has 32 bits: what a store has counted (see numbers.go) or, without one, the term in
// which the space was created, 0 for the spaces of the Config, and a number.
//
//	31        24 23                              0
//	+-----------+--------------------------------+
//	| term      | number, from 1 in each term    |
//	+-----------+--------------------------------+
//
// So an id is never used again: not in the same term, since numbers only rise, and not in another,
// since terms only rise. An entity that comes back to a space which ended long ago is told so, and
// never lands in somebody else's room.
const (
	spaceTermShift = 24

	// MaxSpaceID is the highest id of a space of the Config.
	MaxSpaceID entity.SpaceID = 1<<spaceTermShift - 1

	// maxSpaceStarts is how many spaces can be created in one term: one a second for half a year.
	maxSpaceStarts = 1<<spaceTermShift - 1
)

// isCreated reports whether an id belongs to a space that game code created.
func isCreated(id entity.SpaceID) bool { return id > MaxSpaceID }

// mayHaveBeen reports whether a space that is not there may have existed.
func (m *CellAppMgr) mayHaveBeen(id entity.SpaceID) bool {
	if m.cfg.Numbers != nil {
		b := m.spaceSupply.blocks
		return isCreated(id) && (len(b) == 0 || uint64(id-MaxSpaceID) < b[0].next)
	}
	term := uint32(id) >> spaceTermShift
	return term > 0 && term < m.cfg.Term || term == m.cfg.Term && uint32(id)&maxSpaceStarts <= m.lastSpace
}

// nextSpaceID gives out an id, or 0 when the term, or the store, has no more.
func (m *CellAppMgr) nextSpaceID() entity.SpaceID {
	if m.cfg.Numbers != nil {
		for n := m.spaceSupply.take(); n != 0; n = m.spaceSupply.take() {
			if id := MaxSpaceID + entity.SpaceID(n); m.space(id) == nil { // a CellApp may have said that it has one
				return id
			}
		}
		return 0
	}
	if m.cfg.Term > maxIDTerm || m.lastSpace >= maxSpaceStarts {
		return 0
	}
	m.lastSpace++
	return entity.SpaceID(m.cfg.Term<<spaceTermShift | m.lastSpace)
}
