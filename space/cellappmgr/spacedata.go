package cellappmgr

import (
	"slices"

	"github.com/cellscape/cellscape/internal/wire"
)

// spaceData is what a space has besides its entities: the newest entry of each
// key, in the order of their numbers.
type spaceData struct {
	entries []wire.SpaceDataEntry
	last    uint64 // at least wire.SpaceDataBase of the manager's term
	bytes   int
	full    bool // a refusal was logged
	// former are the numbers that entries had under an earlier manager, by key, of those
	// that have new ones: see lateData.
	former map[uint16]uint64
}

// set numbers a change and keeps it; it reports false above a limit.
func (d *spaceData) set(key uint16, value []byte) (wire.SpaceDataEntry, bool) {
	i := slices.IndexFunc(d.entries, func(e wire.SpaceDataEntry) bool { return e.Key == key })
	bytes := d.bytes + len(value)
	if i >= 0 {
		bytes -= len(d.entries[i].Value)
	}
	if bytes > MaxSpaceDataBytes || (i < 0 && len(d.entries) >= wire.MaxSpaceData) {
		return wire.SpaceDataEntry{}, false
	}
	if i >= 0 {
		d.entries = slices.Delete(d.entries, i, i+1)
	}
	delete(d.former, key)
	d.last++
	e := wire.SpaceDataEntry{Number: d.last, Key: key, Value: slices.Clone(value)}
	d.entries = append(d.entries, e)
	d.bytes = bytes
	return e, true
}

// setSpaceData sets an entry and tells every CellApp that has a cell of the space.
func (m *CellAppMgr) setSpaceData(a *member, msg *wire.SetSpaceData) {
	s := m.space(msg.Space)
	if s == nil {
		m.counts.RefusedData++
		return
	}
	e, ok := s.data.set(msg.Key, msg.Value)
	if !ok {
		m.refusedData(s, msg.Key, a.String())
		return
	}
	m.tellData(s, e)
}

func (m *CellAppMgr) refusedData(s *space, key uint16, from string) {
	m.counts.RefusedData++
	if !s.data.full {
		s.data.full = true
		m.log.Warn("space data is full; further cases are only counted", "space", s.cfg.ID, "key", key, "from", from,
			"entries", len(s.data.entries), "bytes", s.data.bytes)
	}
}

// tellData tells an entry to every CellApp that has a cell of the space.
func (m *CellAppMgr) tellData(s *space, e wire.SpaceDataEntry) {
	encoded := m.encode(&wire.SpaceData{Space: s.cfg.ID, Entry: e})
	for _, app := range m.members {
		if s.runsOn(app) {
			m.sendOn(app.channel, encoded)
		}
	}
}

// lateData takes what a CellApp that came late was told of a space's data by an earlier
// manager, where nobody else has newer: its clients have seen it.
//
// Each entry is set anew. Under the number that it had, the cells would take it for old,
// since they go by the highest that they know. (It was dropped. When the one CellApp that
// came late had all that was left of a space, the data of the space was lost, and began
// at number 1 again; who had seen higher ones was told of no change any more.)
func (m *CellAppMgr) lateData(s *space, entries []wire.SpaceDataEntry, from string) {
	for _, e := range entries {
		if s.data.number(e.Key) >= e.Number {
			continue
		}
		now, ok := s.data.set(e.Key, e.Value)
		if !ok {
			m.refusedData(s, e.Key, from)
			continue
		}
		s.data.rename(e.Key, e.Number)
		m.tellData(s, now)
	}
}

// number is the number under which the entry of a key was first told, 0 if there is none:
// of two that come late, the one that an earlier manager numbered higher is newer.
func (d *spaceData) number(key uint16) uint64 {
	if n, ok := d.former[key]; ok {
		return n
	}
	i := slices.IndexFunc(d.entries, func(e wire.SpaceDataEntry) bool { return e.Key == key })
	if i < 0 {
		return 0
	}
	return d.entries[i].Number
}

func (d *spaceData) rename(key uint16, former uint64) {
	if d.former == nil {
		d.former = make(map[uint16]uint64)
	}
	d.former[key] = former
}

// runsOn reports whether an app has a cell of the space.
func (s *space) runsOn(app *member) bool {
	return slices.ContainsFunc(s.cells, func(c *cell) bool { return c.app == app })
}
