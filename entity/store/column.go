package store

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cellscape/cellscape/property"
)

// Class is how the values of a column stand in a database.
type Class string

// The classes, with the Go type of their scalars.
const (
	Integer Class = "integer" // int64: whole numbers, ENTITY_ID, BOOL as 0 and 1
	Decimal Class = "decimal" // string of 20 digits, which sorts like the UINT64 that it is
	Real    Class = "real"    // float64
	Text    Class = "text"    // string: UTF-8 without NUL
	Binary  Class = "binary"  // []byte
)

// MaxColumn is the longest text or blob of a column, in bytes: a database must be able to index it.
const MaxColumn = 1024

// defaultLength is that of a column whose definition states no DatabaseLength. It is the original's.
const defaultLength = 255

// Column is a property that a database can look rows up by.
type Column struct {
	Name       string // of the property
	Class      Class
	Unique     bool // no two rows have the same value
	Identifier bool // Load finds rows by it; it is Unique, too
	Length     int  // longest UNICODE_STRING, in characters, or other Text or Binary, in bytes
	Default    property.Value

	typ   *property.DataType
	index int // of the property
}

// NewColumn returns a column of a data type. length is the longest text or blob, 0 for 255: a
// UNICODE_STRING is measured in characters, as in the originals, and takes at most MaxColumn bytes;
// all else is measured in bytes. The error says why the type cannot be a column, or the length is
// none.
func NewColumn(name string, t *property.DataType, length int) (Column, error) {
	c := Column{Name: name, typ: t, Length: cmp.Or(length, defaultLength), Default: t.Default()}
	switch t.Kind() {
	case property.KindInt8, property.KindInt16, property.KindInt32, property.KindInt64, property.KindUint8,
		property.KindUint16, property.KindUint32, property.KindEntityID, property.KindBool:
		c.Class = Integer
	case property.KindUint64:
		c.Class = Decimal
	case property.KindFloat32, property.KindFloat64:
		c.Class = Real
	case property.KindString, property.KindUnicodeString:
		c.Class = Text
	case property.KindBlob:
		c.Class = Binary
	default:
		return Column{}, fmt.Errorf("%w: a %v cannot be a column", ErrValue, t.Kind())
	}
	if c.Length < 0 || c.Length > MaxColumn {
		return Column{}, fmt.Errorf("%w: a column of %d bytes; 1 to %d can be indexed", ErrValue, c.Length, MaxColumn)
	}
	return c, nil
}

// Fit returns the value as the column keeps it; the error is ErrValue.
func (c *Column) Fit(v property.Value) (property.Value, error) {
	v, err := c.typ.Fit(v)
	if err != nil {
		return v, fmt.Errorf("%w: column %s: %w", ErrValue, c.Name, err)
	}
	fault := ""
	switch c.Class {
	case Text, Binary:
		s := v.Str()
		fault = c.tooLong(s)
		switch {
		case fault != "":
		case c.Class == Text && !utf8.ValidString(s):
			fault = "the text is not UTF-8"
		case c.Class == Text && strings.Contains(s, "\x00"):
			fault = "the text has a NUL"
		}
	case Real:
		if f := v.Float(); math.IsNaN(f) {
			fault = "NaN has no place among numbers"
		} else if f == 0 { // one zero: databases differ in whether they keep the sign
			return c.typ.Fit(property.Float(0))
		}
	}
	if fault != "" {
		return v, fmt.Errorf("%w: column %s: %s", ErrValue, c.Name, fault)
	}
	return v, nil
}

// inCharacters reports whether Length counts characters, not bytes.
func (c *Column) inCharacters() bool { return c.typ.Kind() == property.KindUnicodeString }

// tooLong says by how much a text or blob is too long, "" if it is not.
func (c *Column) tooLong(s string) string {
	most := c.Length
	if c.inCharacters() {
		if n := utf8.RuneCountInString(s); n > most {
			return fmt.Sprintf("%d characters are more than %d", n, most)
		}
		most = MaxColumn
	}
	if len(s) > most {
		return fmt.Sprintf("%d bytes are more than %d", len(s), most)
	}
	return ""
}

// Scalar returns a value that fits as what a database driver takes; see [Class].
func (c *Column) Scalar(v property.Value) any {
	switch c.Class {
	case Integer:
		if c.typ.Kind() == property.KindBool {
			if v.Bool() {
				return int64(1)
			}
			return int64(0)
		}
		return v.Int()
	case Decimal:
		return fmt.Sprintf("%020d", v.Uint())
	case Real:
		return v.Float()
	case Text:
		return v.Str()
	}
	return v.Bytes()
}

// Value returns a scalar as a value that fits, as a tool may have written it into the database. The
// error is ErrForm.
func (c *Column) Value(scalar any) (property.Value, error) {
	v, ok := property.Value{}, true
	switch x := scalar.(type) {
	case int64:
		if v = property.Int(x); c.typ.Kind() == property.KindBool {
			v = property.BoolValue(x != 0)
		}
	case float64:
		v = property.Float(x)
	case []byte:
		v = property.Bytes(x)
	case string:
		v = property.StringValue(x)
		if c.Class == Decimal {
			n, err := strconv.ParseUint(x, 10, 64)
			v, ok = property.Uint(n), err == nil
		}
	default:
		ok = false
	}
	fit, err := c.Fit(v)
	if !ok || err != nil {
		return v, fmt.Errorf("%w: column %s holds %v", ErrForm, c.Name, scalar)
	}
	return fit, nil
}

// Compare compares two scalars of the column, as a database sorts them: texts by their bytes.
func (c *Column) Compare(a, b any) int {
	switch x := a.(type) {
	case int64:
		y, _ := b.(int64)
		return cmp.Compare(x, y)
	case float64:
		y, _ := b.(float64)
		return cmp.Compare(x, y)
	case string:
		y, _ := b.(string)
		return strings.Compare(x, y)
	case []byte:
		y, _ := b.([]byte)
		return bytes.Compare(x, y)
	}
	return 0
}
