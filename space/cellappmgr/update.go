package cellappmgr

import (
	"slices"
	"strconv"

	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
)

// An update is a change of what the cluster shares on the condition that it still is what its sender has
// seen (shared.Data.Update). It is made once, whoever manages. Each app has one under way at a time, and
// says it again until it is answered:
//
//	SetSpaceData, Same --> a note says that it was made -----------------> answered: Made
//	                   --> the entry has the number that was seen --> the entry, then the note --^
//	                   --> else it is left out ------------------------> answered: an older Made
//
// Invariants:
//
//   - The note is numbered right after the entry. So an app that knows of a later change of the entry, which
//     hides by whom the former was, knows the note. And an app that knows the entry without the note knows
//     by whom it is.
//   - So whoever takes this manager's place, and hears from any app of the change, knows that it was made.
//     If it hears from none, it was lost with this manager, and is made when it is said again.

// updateNote is the note of an app.
func updateNote(allocator uint32, said uint64) wire.SpaceDataEntry {
	return wire.SpaceDataEntry{Key: spacekey.Updated, Name: strconv.FormatUint(uint64(allocator), 10), By: allocator, Said: said}
}

// updated is the newest update of an app that was made; 0 if none was.
func (m *CellAppMgr) updated(a *member) uint64 {
	note := updateNote(a.allocator, 0)
	if e := m.shared.data.entry(&note); e != nil {
		return e.Said
	}
	return 0
}

// entry is the one that another would replace, if it was not removed.
func (d *spaceData) entry(of *wire.SpaceDataEntry) *wire.SpaceDataEntry {
	i := slices.IndexFunc(d.entries, func(x wire.SpaceDataEntry) bool { return !x.Removed && of.Replaces(&x) })
	if i < 0 {
		return nil
	}
	return &d.entries[i]
}

// update makes a change if its sender has seen what it changes.
func (m *CellAppMgr) update(a *member, change *wire.SpaceDataEntry, seen uint64) {
	d, note := &m.shared.data, updateNote(a.allocator, change.Said)
	e := d.entry(change)
	switch {
	case change.Said == 0 || change.Key != spacekey.Shared || change.Removed || !d.fits(change) || !d.fits(&note):
		m.refusedData(m.shared, change.Key, a.String())
		return
	case m.updated(a) >= change.Said:
		return
	case e != nil && e.By == change.By && e.Said == change.Said:
		// It was made by a manager that died before others had the note.
	case e == nil && seen == 0, e != nil && (seen == e.Number || seen == d.number(keyOf(e))):
		set, _ := d.set(*change)
		m.tellData(m.shared, set)
	default:
		m.counts.OvertakenData++
		return
	}
	set, _ := d.set(note)
	m.tellData(m.shared, set)
}
