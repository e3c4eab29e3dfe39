package cellappmgr

import (
	"slices"

	"github.com/cellscape/cellscape/internal/wire"
)

// maxDataNumber is the highest number that is taken over from an earlier manager: more
// changes than any can have made, and as many again until the numbers run over.
const maxDataNumber = 1 << 62

// spaceData is what a space has besides its entities: the newest entry of each
// key, in the order of their numbers.
type spaceData struct {
	entries []wire.SpaceDataEntry
	last    uint64
	bytes   int
	full    bool // a refusal was logged
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
		m.counts.RefusedData++
		if !s.data.full {
			s.data.full = true
			m.log.Warn("space data is full; further cases are only counted", "space", s.cfg.ID, "key", msg.Key, "from", a.String(),
				"entries", len(s.data.entries), "bytes", s.data.bytes)
		}
		return
	}
	encoded := m.encode(&wire.SpaceData{Space: s.cfg.ID, Entry: e})
	for _, app := range m.members {
		if s.runsOn(app) {
			m.sendOn(app.channel, encoded)
		}
	}
}

// runsOn reports whether an app has a cell of the space.
func (s *space) runsOn(app *member) bool {
	return slices.ContainsFunc(s.cells, func(c *cell) bool { return c.app == app })
}
