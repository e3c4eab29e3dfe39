package cellappmgr

import (
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
)

// spaceData is what a space has besides its entities: the newest entry of each key and id, in the
// order of their numbers, and notes of the newest removed ones.
type spaceData struct {
	entries []wire.SpaceDataEntry
	last    uint64 // at least spacekey.Base of the manager's term
	bytes   int
	removed int  // notes
	apart   int  // entries that have a bound of their own, and are not counted in bytes; see boundOf
	full    bool // a refusal was logged
	// former holds the numbers under an earlier manager of the entries that have new ones: see
	// lateData.
	former map[dataKey]uint64
}

// dataKey names an entry.
type dataKey struct {
	key  uint16
	id   entity.DataID
	name string
}

func keyOf(e *wire.SpaceDataEntry) dataKey { return dataKey{e.Key, e.ID, e.Name} }

// boundOf is how many entries there may be of the kind of one that is not the game's, 0 for the game's:
// those have a bound in common.
func boundOf(e *wire.SpaceDataEntry) int {
	switch {
	case e.Name == "" && e.Key == spacekey.LostArea:
		return wire.MaxLostAreas
	case e.Name != "" && e.Key != spacekey.Shared:
		return wire.MaxServices
	}
	return 0
}

// sizeOf is what an entry counts as, in bytes.
func sizeOf(e *wire.SpaceDataEntry) int { return len(e.Name) + len(e.Value) }

// set numbers a change and keeps it; it returns false above a limit. The change brings its own By
// and Said.
func (d *spaceData) set(e wire.SpaceDataEntry) (wire.SpaceDataEntry, bool) {
	if !d.fits(&e) {
		return wire.SpaceDataEntry{}, false
	}
	d.drop(func(x *wire.SpaceDataEntry) bool { return e.Replaces(x) })
	d.last++
	e.Number = d.last
	d.insert(len(d.entries), e)
	return e, true
}

// fits reports whether there is room for an entry. There always is for a note: the oldest goes.
func (d *spaceData) fits(e *wire.SpaceDataEntry) bool {
	if most := boundOf(e); most > 0 {
		return e.Removed || d.apart < most
	}
	if e.Key == spacekey.Gateway && !e.Removed && !d.roomForGateway(e) {
		return false
	}
	entries, bytes := len(d.entries)-d.removed-d.apart+1, d.bytes+sizeOf(e)
	for i := range d.entries {
		if x := &d.entries[i]; e.Replaces(x) && !x.Removed {
			entries--
			bytes -= sizeOf(x)
		}
	}
	return e.Removed || entries <= wire.MaxSpaceData && bytes <= MaxSpaceDataBytes
}

// has reports whether there is an entry that was not removed.
func (d *spaceData) has(k dataKey) bool {
	return slices.ContainsFunc(d.entries, func(e wire.SpaceDataEntry) bool { return !e.Removed && keyOf(&e) == k })
}

func (d *spaceData) insert(at int, e wire.SpaceDataEntry) {
	e.Value = slices.Clone(e.Value)
	d.entries = slices.Insert(d.entries, at, e)
	if !e.Removed {
		d.weigh(&e, 1)
		return
	}
	if d.removed++; d.removed > wire.MaxRemovedData {
		oldest := slices.IndexFunc(d.entries, func(x wire.SpaceDataEntry) bool { return x.Removed })
		number := d.entries[oldest].Number
		d.drop(func(x *wire.SpaceDataEntry) bool { return x.Number == number })
	}
}

func (d *spaceData) drop(which func(*wire.SpaceDataEntry) bool) {
	d.entries = slices.DeleteFunc(d.entries, func(x wire.SpaceDataEntry) bool {
		if !which(&x) {
			return false
		}
		delete(d.former, keyOf(&x))
		if x.Removed {
			d.removed--
		} else {
			d.weigh(&x, -1)
		}
		return true
	})
}

// weigh counts an entry in, or out.
func (d *spaceData) weigh(e *wire.SpaceDataEntry, by int) {
	if boundOf(e) > 0 {
		d.apart += by
		return
	}
	d.bytes += by * sizeOf(e)
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
		m.send(a, &wire.SpaceDataSet{Said: a.said, Made: m.updated(a)})
	}
}

// changeData sets an entry and tells every app that has the data.
func (m *CellAppMgr) changeData(a *member, msg *wire.SetSpaceData) {
	s := m.dataOf(msg.Space)
	if s == nil || s == m.shared && msg.Key != spacekey.Shared && msg.Key != spacekey.Service {
		m.counts.RefusedData++
		return
	}
	change := wire.SpaceDataEntry{Key: msg.Key, ID: msg.ID, Removed: msg.Removed, Value: msg.Value, Name: msg.Name}
	if msg.Removed {
		change.Value = nil
	}
	if msg.Said > 0 {
		change.By, change.Said = a.allocator, msg.Said
	}
	if msg.Same {
		m.update(a, &change, msg.Seen)
		return
	}
	if msg.Late && s.data.overtakes(change, msg.Seen) {
		m.counts.OvertakenData++
		return
	}
	if m.leadsNowhere(s.cfg.ID, &change) {
		m.counts.RefusedData++
		return
	}
	e, ok := s.data.set(change)
	if !ok {
		m.refusedData(s, msg.Key, a.String())
		return
	}
	m.tellData(s, e)
}

// overtakes reports whether a change that comes late is older than what there is: another app has
// set an entry that it would replace, which the sender had not seen yet; or the sender has done so
// itself afterwards; or that is what an earlier manager made of this very change; or the entry that
// it is to replace has gone with all of its key.
func (d *spaceData) overtakes(change wire.SpaceDataEntry, seen uint64) bool {
	found := false
	for i := range d.entries {
		e := &d.entries[i]
		own := e.Said > 0 && e.By == change.By
		switch {
		case own && e.Said >= change.Said && (change.Replaces(e) || e.Replaces(&change)):
			return true
		case !change.Replaces(e):
			continue
		case !own && d.number(keyOf(e)) > seen:
			return true
		}
		found = true
	}
	return !found && change.ID != 0 && seen > 0 && seen != wire.SeenAll
}

func (m *CellAppMgr) refusedData(s *space, key uint16, from string) {
	m.counts.RefusedData++
	if !s.data.full {
		s.data.full = true
		what := "space data"
		if s == m.shared {
			what = "the data that the cluster shares"
		}
		m.log.Warn(what+" is full; further cases are only counted, in the status", "space", s.cfg.ID, "key", key, "from", from,
			"entries", len(s.data.entries), "bytes", s.data.bytes)
	}
}

// tellData tells an entry to every CellApp that has a cell of the space, and to those that keep it; what
// the cluster shares, to all.
func (m *CellAppMgr) tellData(s *space, e wire.SpaceDataEntry) {
	encoded := m.encode(&wire.SpaceData{Space: s.cfg.ID, Entry: e})
	if s == m.shared {
		m.tellShared(encoded)
		return
	}
	if isKept(e.Key) {
		m.keepChanged(s)
	}
	for _, app := range m.members {
		if s.runsOn(app) {
			m.sendOn(app.channel, encoded)
		}
	}
	for _, app := range s.keepers {
		m.sendOn(app.channel, encoded)
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
		if s.data.newer(&e) || m.leadsNowhere(s.cfg.ID, &e) {
			continue
		}
		now, ok := s.data.set(e)
		if !ok {
			m.refusedData(s, e.Key, from)
			continue
		}
		s.data.rename(keyOf(&e), e.Number)
		m.tellData(s, now)
	}
}

// newer reports whether an entry is as new as e, which it would replace or has replaced.
func (d *spaceData) newer(e *wire.SpaceDataEntry) bool {
	return slices.ContainsFunc(d.entries, func(x wire.SpaceDataEntry) bool {
		return (e.Replaces(&x) || x.Replaces(e)) && d.number(keyOf(&x)) >= e.Number
	})
}

// number is the number under which an entry was first told, 0 if there is none: of two entries that
// come late, the one that an earlier manager numbered higher is newer.
func (d *spaceData) number(k dataKey) uint64 {
	if n, ok := d.former[k]; ok {
		return n
	}
	i := slices.IndexFunc(d.entries, func(e wire.SpaceDataEntry) bool { return keyOf(&e) == k })
	if i < 0 {
		return 0
	}
	return d.entries[i].Number
}

func (d *spaceData) rename(k dataKey, former uint64) {
	if d.former == nil {
		d.former = make(map[dataKey]uint64)
	}
	d.former[k] = former
}

// runsOn reports whether an app has a cell of the space.
func (s *space) runsOn(app *member) bool {
	return slices.ContainsFunc(s.cells, func(c *cell) bool { return c.app == app })
}
