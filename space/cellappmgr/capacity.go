package cellappmgr

import (
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
)

// limitEntities makes the limit of entities that a space is created with an entry of its data.
func (s *space) limitEntities() {
	if n := s.cfg.MaxEntities; n > 0 && s.data.find(spacekey.MaxEntities) == nil {
		s.data.set(wire.SpaceDataEntry{Key: spacekey.MaxEntities, Value: spacekey.AppendMaxEntities(nil, n)})
	}
}

// watchFull tells the cells of a space with a limit when it has become full, and when it is not any
// more. The only cell of a space counts by itself.
func (m *CellAppMgr) watchFull(s *space) {
	limit, told := s.data.find(spacekey.MaxEntities), s.data.find(spacekey.Full) != nil
	if m.frozen || limit == nil && !told {
		return
	}
	full := false
	if limit != nil && len(s.cells) > 1 {
		n, err := spacekey.ParseMaxEntities(limit.Value)
		full = err == nil && n > 0 && s.entities() >= uint64(n)
	}
	if full == told {
		return
	}
	e, ok := s.data.set(wire.SpaceDataEntry{Key: spacekey.Full, Removed: !full})
	if !ok {
		m.refusedData(s, spacekey.Full, "the limit of entities")
		return
	}
	m.tellData(s, e)
}

// entities is how many reals the cells have reported.
func (s *space) entities() (sum uint64) {
	for _, c := range s.cells {
		sum += uint64(c.report.Reals)
	}
	return sum
}

// find is the newest entry of a key, nil if there is none.
func (d *spaceData) find(key uint16) *wire.SpaceDataEntry {
	for i := len(d.entries) - 1; i >= 0; i-- {
		if e := &d.entries[i]; e.Key == key && !e.Removed {
			return e
		}
	}
	return nil
}
