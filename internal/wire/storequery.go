package wire

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/internal/codec"
)

// RowsWanted is the Data of a CallStore that is a StoreQuery.
type RowsWanted struct {
	Column     string // "" for the rows' ids
	Min, Max   Scalar
	Descending bool
	// After and AfterRow are the place of the last row of the page before; AfterRow is 0 for the first page.
	After    Scalar
	AfterRow uint64
	Limit    uint32
}

func (m *RowsWanted) code(c *codec.Coder) {
	c.String(&m.Column, MaxTypeName)
	m.Min.code(c)
	m.Max.code(c)
	c.Bool(&m.Descending)
	m.After.code(c)
	c.Uvarint(&m.AfterRow)
	codec.Uint32(c, &m.Limit)
}

// Encode and Decode are what code describes.
func (m *RowsWanted) Encode() []byte           { return codec.Append(nil, m.code) }
func (m *RowsWanted) Decode(data []byte) error { return codec.Parse(data, m.code) }

// RowsFound is the Data of the StoreAnswer.
type RowsFound struct {
	Rows []RowFound
	More bool
}

// maxRowColumns bounds the columns of a row: a table of a database has no more.
const maxRowColumns = 2000

// RowFound is one row, with the columns of its type in their order.
type RowFound struct {
	Row     uint64
	Live    bool
	Columns []Scalar
}

func (m *RowsFound) code(c *codec.Coder) {
	codec.List(c, &m.Rows, store.MaxPage, 3, func(c *codec.Coder, r *RowFound) {
		c.Uvarint(&r.Row)
		c.Bool(&r.Live)
		codec.List(c, &r.Columns, maxRowColumns, 1, func(c *codec.Coder, s *Scalar) { s.code(c) })
	})
	c.Bool(&m.More)
}

// Encode and Decode are what code describes.
func (m *RowsFound) Encode() []byte           { return codec.Append(nil, m.code) }
func (m *RowsFound) Decode(data []byte) error { return codec.Parse(data, m.code) }

// Scalar is a value as store.Column.Scalar makes it: int64, float64, string or []byte; nil for none.
type Scalar struct{ V any }

// These are the kinds of scalars.
const (
	scalarNone uint8 = iota
	scalarInt
	scalarFloat
	scalarText
	scalarBytes
)

func (s *Scalar) kind() uint8 {
	switch s.V.(type) {
	case int64:
		return scalarInt
	case float64:
		return scalarFloat
	case string:
		return scalarText
	case []byte:
		return scalarBytes
	}
	return scalarNone
}

func (s *Scalar) code(c *codec.Coder) {
	kind := s.kind()
	codec.Enum(c, &kind, scalarNone, scalarBytes)
	switch kind {
	case scalarInt:
		v, _ := s.V.(int64)
		codec.Field(c, &v, binary.AppendVarint, (*codec.Reader).Varint)
		s.V = v
	case scalarFloat:
		v, _ := s.V.(float64)
		c.F64(&v)
		s.V = v
	case scalarText:
		v, _ := s.V.(string)
		c.String(&v, store.MaxColumn)
		s.V = v
	case scalarBytes:
		v, _ := s.V.([]byte)
		c.Bytes(&v, store.MaxColumn)
		s.V = v
	}
}
