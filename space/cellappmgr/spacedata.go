package cellappmgr

import (
	"slices"

	"github.com/cellscape/cellscape/internal/wire"
)

// spaceData is what a space has besides its entities: the newest entry of each key, in the order of
// their numbers.
type spaceData struct {
	entries []wire.SpaceDataEntry
	last    uint64 // at least wire.SpaceDataBase of the manager's term
	bytes   int
	full    bool // a refusal was logged
	// former holds, by key, the numbers under an earlier manager of the entries that have new ones:
	// see lateData.
	former map[uint16]uint64
}

// set numbers a change and keeps it; it returns false above a limit. The change brings its own By
// and Said.
func (d *spaceData) set(e wire.SpaceDataEntry) (wire.SpaceDataEntry, bool) {
	key, value := e.Key, e.Value
	i := slices.IndexFunc(d.entries, func(x wire.SpaceDataEntry) bool { return x.Key == key })
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
	e.Number, e.Value = d.last, slices.Clone(value)
	d.entries = append(d.entries, e)
	d.bytes = bytes
	return e, true
}

// setSpaceData handles a change once, and answers it so that its sender forgets it. All that is
// lost with a channel is said again in its order. So a change whose number is no higher than the
// newest handled one was handled, too.
func (m *CellAppMgr) setSpaceData(a *member, msg *wire.SetSpaceData) {
	if msg.Said == 0 || msg.Said > a.said {
		m.changeData(a, msg)
	}
	if msg.Said > 0 {
		a.said = max(a.said, msg.Said)
		m.send(a, &wire.SpaceDataSet{Said: a.said})
	}
}

// changeData sets an entry and tells every CellApp that has a cell of the space.
func (m *CellAppMgr) changeData(a *member, msg *wire.SetSpaceData) {
	s := m.space(msg.Space)
	if s == nil {
		m.counts.RefusedData++
		return
	}
	change := wire.SpaceDataEntry{Key: msg.Key, Value: msg.Value}
	if msg.Said > 0 {
		change.By, change.Said = a.allocator, msg.Said
	}
	if msg.Late && s.data.overtakes(change, msg.Seen) {
		m.counts.OvertakenData++
		return
	}
	e, ok := s.data.set(change)
	if !ok {
		m.refusedData(s, msg.Key, a.String())
		return
	}
	m.tellData(s, e)
}

// overtakes reports whether the present entry of a key is newer than a change that comes late:
// another app set it, which the sender had not seen yet; or the sender set it itself afterwards; or
// it is what an earlier manager made of this very change.
func (d *spaceData) overtakes(change wire.SpaceDataEntry, seen uint64) bool {
	i := slices.IndexFunc(d.entries, func(e wire.SpaceDataEntry) bool { return e.Key == change.Key })
	if i < 0 {
		return false
	}
	if e := &d.entries[i]; e.Said > 0 && e.By == change.By {
		return e.Said >= change.Said
	}
	return d.number(change.Key) > seen
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

// lateData takes what a CellApp that came late was told of a space's data by an earlier manager,
// where nobody else has newer data: the clients of that CellApp have seen it.
//
// Each entry is set anew. Under its former number the cells would take it for old, since they go by
// the highest number that they know. (The entries used to be dropped. When the one CellApp that
// came late had all that was left of a space, the data of the space was lost and began at number 1
// again; whoever had seen higher numbers was told of no change any more.)
func (m *CellAppMgr) lateData(s *space, entries []wire.SpaceDataEntry, from string) {
	for _, e := range entries {
		if s.data.number(e.Key) >= e.Number {
			continue
		}
		now, ok := s.data.set(e)
		if !ok {
			m.refusedData(s, e.Key, from)
			continue
		}
		s.data.rename(e.Key, e.Number)
		m.tellData(s, now)
	}
}

// number is the number under which the entry of a key was first told, 0 if there is none: of two
// entries that come late, the one that an earlier manager numbered higher is newer.
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
