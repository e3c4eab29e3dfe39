package codec

import (
	"encoding/binary"
	"fmt"
)

// Coder appends the fields of a message, or reads them. So a message describes its bytes once, by a
// function that hands each field to the Coder in turn, and both directions follow from it:
//
//	func (m *Greeting) code(c *codec.Coder) {
//		c.String(&m.Name, MaxName)
//		c.Bool(&m.Loud)
//	}
//
// It is for messages that are sent now and then. One that is sent all the time reads with a Reader
// and appends by itself, which allocates nothing.
type Coder struct {
	r       Reader
	b       []byte
	reading bool
}

// Append appends the fields that code describes.
func Append(b []byte, code func(*Coder)) []byte {
	c := Coder{b: b}
	code(&c)
	return c.b
}

// Parse reads the fields that code describes, which must be all of body.
func Parse(body []byte, code func(*Coder)) error {
	c := Coder{r: NewReader(body), reading: true}
	code(&c)
	return c.r.Close()
}

// ParseAs is Parse of a message m, whose error names the type of m and wraps malformed, the error
// of m's protocol.
func ParseAs(malformed error, body []byte, m any, code func(*Coder)) error {
	if err := Parse(body, code); err != nil {
		return fmt.Errorf("%w: %T: %w", malformed, m, err)
	}
	return nil
}

// Field codes a field by a pair of functions, one for each direction.
func Field[T any](c *Coder, v *T, write func(b []byte, v T) []byte, read func(*Reader) T) {
	if c.reading {
		*v = read(&c.r)
	} else {
		c.b = write(c.b, *v)
	}
}

// Uint32 codes an unsigned varint that fits 32 bits.
func Uint32[T ~uint32](c *Coder, v *T) {
	n := uint64(*v)
	c.Uvarint(&n)
	if n > 1<<32-1 {
		c.Fail(ErrValue)
		n = 0
	}
	*v = T(n)
}

// Enum codes one byte from least to most.
func Enum[T ~uint8](c *Coder, v *T, least, most T) {
	n := uint8(*v)
	c.U8(&n)
	if *v = T(n); c.reading && c.r.err == nil && (*v < least || *v > most) {
		c.Fail(ErrValue)
	}
}

// List codes a count, at most max, and so many things of at least minBytesEach bytes. A list that is
// read is a new one.
func List[T any](c *Coder, list *[]T, max, minBytesEach int, code func(*Coder, *T)) {
	if c.reading {
		*list = make([]T, c.r.Count(max, minBytesEach))
	} else {
		c.b = binary.AppendUvarint(c.b, uint64(len(*list)))
	}
	for i := range *list {
		code(c, &(*list)[i])
	}
}

// U8 codes one byte.
func (c *Coder) U8(v *uint8) {
	Field(c, v, func(b []byte, v uint8) []byte { return append(b, v) }, (*Reader).U8)
}

// U16 codes two bytes.
func (c *Coder) U16(v *uint16) { Field(c, v, binary.LittleEndian.AppendUint16, (*Reader).U16) }

// U32 codes four bytes.
func (c *Coder) U32(v *uint32) { Field(c, v, binary.LittleEndian.AppendUint32, (*Reader).U32) }

// U64 codes eight bytes.
func (c *Coder) U64(v *uint64) { Field(c, v, binary.LittleEndian.AppendUint64, (*Reader).U64) }

// F64 codes a float of eight bytes, which may be any.
func (c *Coder) F64(v *float64) { Field(c, v, AppendF64, (*Reader).F64) }

// Bool codes one byte.
func (c *Coder) Bool(v *bool) { Field(c, v, AppendBool, (*Reader).Bool) }

// Uvarint codes an unsigned number in as few bytes as it takes.
func (c *Coder) Uvarint(v *uint64) { Field(c, v, binary.AppendUvarint, (*Reader).Uvarint) }

// Varint codes a signed varint.
func (c *Coder) Varint(v *int64) { Field(c, v, binary.AppendVarint, (*Reader).Varint) }

// Bytes codes a length, at most max, and so many bytes; read, they alias the input.
func (c *Coder) Bytes(v *[]byte, max int) {
	Field(c, v, AppendBytes, func(r *Reader) []byte { return r.Bytes(max) })
}

// String codes what Bytes codes.
func (c *Coder) String(v *string, max int) {
	Field(c, v, AppendString, func(r *Reader) string { return r.String(max) })
}

// Array codes as many bytes as p has.
func (c *Coder) Array(p []byte) {
	if c.reading {
		copy(p, c.r.Take(len(p)))
	} else {
		c.b = append(c.b, p...)
	}
}

// Rest codes all that is left of the message, at most max bytes; read, they alias the input.
func (c *Coder) Rest(v *[]byte, max int) {
	if c.reading {
		if *v = c.r.Rest(); len(*v) > max {
			c.Fail(ErrLength)
		}
	} else {
		c.b = append(c.b, *v...)
	}
}

// Fail sets the error of a message that is read, if it has none yet: for a value that is out of its
// own range. What is appended is the sender's to know.
func (c *Coder) Fail(err error) {
	if c.reading {
		c.r.Fail(err)
	}
}
