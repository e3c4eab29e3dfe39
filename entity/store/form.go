package store

import (
	"encoding/binary"
	"fmt"

	"github.com/cellscape/cellscape/property"
)

// The Data of an entity's record. Parts that are empty are left out; they come in ascending order.
//
//	+---+  +-----+------------+-------+
//	| 1 |  | tag | len uvarint| bytes | ...
//	+---+  +-----+------------+-------+
//
// A reader tells of tags that it does not know, and passes over them: what an older build leaves out
// is forgotten with its next write. Another first byte is another form.
const (
	formVersion = 1

	tagBase = 1 // BaseStoreStream, as Values.AppendStore writes it
	tagCell = 2 // CellStoreStream, in the same way
	tagRest = 3 // what the process keeps besides properties
)

// maxParts is how many parts Decode reads: more than any build writes.
const maxParts = 16

// Encode returns the columns and the Data of an entity's record. base and cell are the values of its
// sides; nil for a side that the type, or this entity, does not have: its columns have their
// defaults then. rest is anything else that is to be kept, and may be nil. Errors are ErrValue, if a
// column does not fit or it all is longer than MaxData, and those of [property.Values.AppendStore].
func (t *Type) Encode(base, cell *property.Values, rest []byte) (columns []property.Value, data []byte, err error) {
	if err := t.checkSides(base, cell); err != nil {
		return nil, nil, err
	}
	data = []byte{formVersion}
	var part []byte
	for _, side := range []struct {
		tag    byte
		values *property.Values
		dom    property.Stream
	}{{tagBase, base, property.BaseStoreStream}, {tagCell, cell, property.CellStoreStream}} {
		if side.values == nil {
			continue
		}
		if part, err = side.values.AppendStore(part[:0], side.dom); err != nil {
			return nil, nil, err
		}
		data = appendPart(data, side.tag, part)
	}
	if len(rest) > 0 {
		data = appendPart(data, tagRest, rest)
	}
	if len(data) > MaxData {
		return nil, nil, fmt.Errorf("%w: a %s of %d bytes, more than %d", ErrValue, t.Name, len(data), MaxData)
	}
	columns = make([]property.Value, len(t.Columns))
	for i := range t.Columns {
		c := &t.Columns[i]
		v := c.Default
		if s := holding(c, base, cell); s != nil {
			v = s.Get(c.index)
		}
		if columns[i], err = c.Fit(v); err != nil {
			return nil, nil, err
		}
	}
	return columns, data, nil
}

// Decode reads what Encode returned, possibly under an earlier edition of the definition, into the
// values of both sides. They must be new, so that they have their defaults; nil for a side that the
// type does not have. A value of a column wins over the same in the data: a tool may have changed it.
// columns may be nil. rest shares memory with data.
//
// notices tell what could not be used, and will be forgotten with the next write: properties that
// have gone, values that do not fit their types any more and are the default now, parts of a later
// build. The error is ErrForm, or ErrValue for the wrong values; the values are then good for nothing.
func (t *Type) Decode(columns []property.Value, data []byte, base, cell *property.Values) (rest []byte, notices []string, err error) {
	if err := t.checkSides(base, cell); err != nil {
		return nil, nil, err
	}
	parts, err := splitParts(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s: %w", ErrForm, t.Name, err)
	}
	for _, p := range parts {
		switch {
		case p.tag == tagBase && base != nil:
			notices, err = readPart(base, p.bytes, property.BaseStoreStream, notices)
		case p.tag == tagCell && cell != nil:
			notices, err = readPart(cell, p.bytes, property.CellStoreStream, notices)
		case p.tag == tagRest:
			rest = p.bytes
		default:
			notices = append(notices, fmt.Sprintf("%s: part %d of %d bytes is left out", t.Name, p.tag, len(p.bytes)))
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %s: %w", ErrForm, t.Name, err)
		}
	}
	for i := range columns {
		if i >= len(t.Columns) {
			return nil, nil, fmt.Errorf("%w: %d columns, and %s has %d", ErrValue, len(columns), t.Name, len(t.Columns))
		}
		if s := holding(&t.Columns[i], base, cell); s != nil {
			if err := s.Load(t.Columns[i].index, columns[i]); err != nil {
				return nil, nil, fmt.Errorf("%w: %s.%s: %w", ErrForm, t.Name, t.Columns[i].Name, err)
			}
		}
	}
	return rest, notices, nil
}

// ColumnsOf returns the columns that the Data of a record stand for: an adapter fills a new column of
// old rows with them. What does not fit a column is its default. The error is ErrForm.
func (t *Type) ColumnsOf(data []byte) ([]property.Value, error) {
	columns := make([]property.Value, len(t.Columns))
	for i := range t.Columns {
		columns[i] = t.Columns[i].Default
	}
	if t.def == nil {
		return columns, nil
	}
	var base, cell *property.Values
	if t.def.HasBase {
		base = property.NewValues(t.def, property.BaseSide, nil)
	}
	if t.def.HasCell {
		cell = property.NewValues(t.def, property.CellSide, nil)
	}
	if _, _, err := t.Decode(nil, data, base, cell); err != nil {
		return nil, err
	}
	for i := range t.Columns {
		if s := holding(&t.Columns[i], base, cell); s != nil {
			if v, err := t.Columns[i].Fit(s.Get(t.Columns[i].index)); err == nil {
				columns[i] = v
			}
		}
	}
	return columns, nil
}

// holding returns the side that holds the property of a column, or nil.
func holding(c *Column, base, cell *property.Values) *property.Values {
	switch {
	case base != nil && base.Holds(c.index):
		return base
	case cell != nil && cell.Holds(c.index):
		return cell
	}
	return nil
}

// checkSides refuses values of another type, or of another side.
func (t *Type) checkSides(base, cell *property.Values) error {
	for _, s := range []struct {
		values *property.Values
		side   property.Side
	}{{base, property.BaseSide}, {cell, property.CellSide}} {
		if s.values != nil && (s.values.Definition() != t.def || s.values.Side() != s.side) {
			return fmt.Errorf("%w: values of %s, %v, for %s", ErrValue, s.values.Definition().Name, s.values.Side(), t.Name)
		}
	}
	return nil
}

func readPart(v *property.Values, b []byte, dom property.Stream, notices []string) ([]string, error) {
	told, rest, err := v.SalvageStore(b, dom)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d bytes follow the properties", len(rest))
	}
	return append(notices, told...), err
}

// dataPart is a part of Data.
type dataPart struct {
	tag   byte
	bytes []byte
}

func appendPart(b []byte, tag byte, part []byte) []byte {
	b = binary.AppendUvarint(append(b, tag), uint64(len(part)))
	return append(b, part...)
}

func splitParts(data []byte) ([]dataPart, error) {
	switch {
	case len(data) == 0 || len(data) > MaxData:
		return nil, fmt.Errorf("%d bytes are no data", len(data))
	case data[0] != formVersion:
		return nil, fmt.Errorf("form %d, and this build knows %d", data[0], formVersion)
	}
	var parts []dataPart
	last, data := byte(0), data[1:]
	for len(data) > 0 {
		tag := data[0]
		n, k := binary.Uvarint(data[1:])
		switch {
		case tag <= last:
			return nil, fmt.Errorf("part %d after part %d", tag, last)
		case k <= 0 || n > uint64(len(data)-1-k):
			return nil, fmt.Errorf("part %d ends too early", tag)
		case len(parts) == maxParts:
			return nil, fmt.Errorf("more than %d parts", maxParts)
		}
		data = data[1+k:]
		parts = append(parts, dataPart{tag, data[:n:n]})
		last, data = tag, data[n:]
	}
	return parts, nil
}
