package space

import (
	"cmp"
	"iter"
	"slices"
)

// DataEntry is one entry of a space's data: a manager numbers the changes of a
// space upwards, so that all cells and clients see them in one order.
type DataEntry struct {
	Number uint64
	Key    uint16
	Value  []byte
	// By is the allocator of the CellApp that set it, Said the number that it gave the
	// request; 0 if it gave none. A later manager tells by them what was asked for twice.
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

// load takes the entries that a manager says there are.
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

// Data is the newest entry of a key of the space's data that the cell knows.
func (c *Cell) Data(key uint16) (DataEntry, bool) {
	for _, e := range c.data.entries {
		if e.Key == key {
			return e, true
		}
	}
	return DataEntry{}, false
}

// AllData yields what the cell knows of the space's data: the newest entry of each
// key, by number.
func (c *Cell) AllData() iter.Seq[DataEntry] { return slices.Values(c.data.entries) }
