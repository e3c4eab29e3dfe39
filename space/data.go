package space

import (
	"cmp"
	"iter"
	"slices"
)

// DataEntry is one entry of a space's data. The manager numbers the changes of a space, so all
// cells and clients see them in the same order.
type DataEntry struct {
	Number uint64
	Key    uint16
	Value  []byte
	// By is the allocator of the CellApp that set the entry, and Said that CellApp's number of the
	// request, 0 if it gave none. By these a later manager recognises a repeated request.
	By   uint32
	Said uint64
}

// spaceData is the data of a space as one cell knows it.
type spaceData struct {
	entries []DataEntry // by number; the newest of each key
	last    uint64
}

// set takes a numbered change and reports whether it was new.
func (d *spaceData) set(e DataEntry) bool {
	if e.Number <= d.last {
		return false
	}
	d.last = e.Number
	e.Value = slices.Clone(e.Value)
	d.entries = slices.DeleteFunc(d.entries, func(x DataEntry) bool { return x.Key == e.Key })
	d.entries = append(d.entries, e)
	return true
}

// load takes a manager's list of entries.
func (d *spaceData) load(entries []DataEntry) {
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b DataEntry) int { return cmp.Compare(a.Number, b.Number) })
	for _, e := range sorted {
		d.set(e)
	}
}

func (d *spaceData) get(key uint16) ([]byte, bool) {
	for i := range d.entries {
		if d.entries[i].Key == key {
			return d.entries[i].Value, true
		}
	}
	return nil, false
}

// Data returns the newest entry of the space's data for a key, as far as the cell knows.
func (c *Cell) Data(key uint16) (DataEntry, bool) {
	for _, e := range c.data.entries {
		if e.Key == key {
			return e, true
		}
	}
	return DataEntry{}, false
}

// AllData yields the space's data as the cell knows it: the newest entry of each key, ordered by
// number.
func (c *Cell) AllData() iter.Seq[DataEntry] { return slices.Values(c.data.entries) }
