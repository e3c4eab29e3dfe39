package space

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/spacekey"
)

// DataEntry is one entry of a space's data. The manager numbers the changes of a space, so all
// cells and clients see them in the same order.
type DataEntry struct {
	// Number is above those of all earlier changes of the space's data.
	Number uint64
	Key    uint16
	// ID tells the entries of a key apart. The one of 0 is the only one when it is set: it replaces
	// all of the key that have lower numbers.
	ID entity.DataID
	// Removed says that the entry is no more. It is kept for a while, so that an app or a manager
	// that missed the removal learns of it.
	Removed bool
	Value   []byte
	// Name is the game's key of an entry that the whole cluster shares (entity/shared). It is empty
	// in the data of a space.
	Name string
	// By is the allocator of the app that set the entry, and Said that app's number of the
	// request, 0 if it gave none. By these a manager of a later term knows what was handled.
	By   uint32
	Said uint64
}

// Replaces reports whether an entry is no more when this one, which has a higher number, is set.
func (e *DataEntry) Replaces(x *DataEntry) bool {
	return e.Key == x.Key && e.Name == x.Name && (e.ID == 0 || e.ID == x.ID)
}

// hole is a span of numbers of which a cell knows nothing: what an earlier manager set above low
// has come neither from it nor, by way of the next one, from anybody else when the numbers of that
// begin, at high. It is lost: whoever knew it has died with that manager. A client may have been
// told of it by another cell, and would have it for ever.
type hole struct{ low, high uint64 }

// maxHoles bounds those that a cell remembers, as many as managers can end while a client plays on
// with what it was told before the first. The oldest two become one.
const maxHoles = 8

// maxRemoved bounds the notes of removed entries, as the manager does: the oldest are forgotten.
const maxRemoved = 1024

// spaceData is the data of a space as one cell knows it.
type spaceData struct {
	entries []DataEntry // by number; the newest of each key and id, also of removed ones
	last    uint64
	removed int
	holes   []hole // the oldest first
}

// begin is called when all has come that the manager of a term knew of what earlier ones had set.
func (d *spaceData) begin(term uint32) {
	if spacekey.Term(d.last) >= term {
		return
	}
	d.holes = append(d.holes, hole{d.last, spacekey.Base(term)})
	if len(d.holes) > maxHoles {
		d.holes[1].low = d.holes[0].low
		d.holes = slices.Delete(d.holes, 0, 1)
	}
	d.last = spacekey.Base(term)
}

// lacks reports whether a client that was last told of a number may know something that is lost.
func (d *spaceData) lacks(told uint64) bool {
	return slices.ContainsFunc(d.holes, func(h hole) bool { return h.low < told && told < h.high })
}

// set takes a numbered change and reports whether it was new.
func (d *spaceData) set(e DataEntry) bool {
	if e.Number <= d.last {
		return false
	}
	d.begin(spacekey.Term(e.Number))
	d.last = e.Number
	e.Value = slices.Clone(e.Value)
	d.drop(func(x *DataEntry) bool { return e.Replaces(x) })
	d.entries = append(d.entries, e)
	if e.Removed {
		d.removed++
	}
	if d.removed > maxRemoved {
		first := true
		d.drop(func(x *DataEntry) bool {
			oldest := x.Removed && first
			first = first && !oldest
			return oldest
		})
	}
	return true
}

func (d *spaceData) drop(which func(*DataEntry) bool) {
	d.entries = slices.DeleteFunc(d.entries, func(x DataEntry) bool {
		goes := which(&x)
		if goes && x.Removed {
			d.removed--
		}
		return goes
	})
}

// load takes a manager's list of entries.
func (d *spaceData) load(entries []DataEntry) {
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b DataEntry) int { return cmp.Compare(a.Number, b.Number) })
	for _, e := range sorted {
		d.set(e)
	}
}

// get is the newest value of a key.
func (d *spaceData) get(key uint16) ([]byte, bool) {
	for i := len(d.entries) - 1; i >= 0; i-- {
		if e := &d.entries[i]; e.Key == key && !e.Removed {
			return e.Value, true
		}
	}
	return nil, false
}

// Data returns the newest entry of the space's data for a key, as far as the cell knows.
func (c Hosted) Data(key uint16) (DataEntry, bool) {
	for i := len(c.data.entries) - 1; i >= 0; i-- {
		if e := &c.data.entries[i]; e.Key == key && !e.Removed {
			return *e, true
		}
	}
	return DataEntry{}, false
}

// AllData yields the space's data as the cell knows it, ordered by number: the newest entry of each
// key and id, and notes of the newest that were removed.
func (c Hosted) AllData() iter.Seq[DataEntry] { return slices.Values(c.data.entries) }
