package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Errors of a Reader.
var (
	// ErrShort is returned when a message ends before what it announced.
	ErrShort = errors.New("codec: message ends too early")
	// ErrLength is returned when a length or a count in a message is above its limit.
	ErrLength = errors.New("codec: length in message is above its limit")
	// ErrValue is returned for an encoding that no sender writes: a bool of 2, a number in more
	// bytes than it needs.
	ErrValue = errors.New("codec: illegal value in message")
	// ErrTrailing is returned by Close when bytes are left over.
	ErrTrailing = errors.New("codec: bytes left over at the end of message")
)

// Reader reads the fields of one message. The first fault sticks: every later read gives the zero value, so
// that a parser reads all its fields in a row and asks Err or Close once. Nothing is copied or
// allocated but by String. Numbers are little endian.
//
// A Reader is a small value; make it on the stack with NewReader and call its methods through its address.
type Reader struct {
	b   []byte
	err error
}

// NewReader returns a Reader of b. It keeps b until the Reader is dropped.
func NewReader(b []byte) Reader { return Reader{b: b} }

// Err is the first fault met, or nil.
func (r *Reader) Err() error { return r.err }

// Close ends the reading of a message that must have been read whole: it returns Err, or
// ErrTrailing when bytes are left.
func (r *Reader) Close() error {
	if r.err == nil && len(r.b) > 0 {
		r.err = ErrTrailing
	}
	return r.err
}

// CloseAs is Close, whose error names the message and wraps malformed, the error of its protocol.
func (r *Reader) CloseAs(malformed error, name string) error {
	if err := r.Close(); err != nil {
		return fmt.Errorf("%w: %s: %w", malformed, name, err)
	}
	return nil
}

// Len is the number of bytes not yet read; 0 after a fault.
func (r *Reader) Len() int { return len(r.b) }

// Take returns the next n bytes, aliasing the input, or nil after a fault. n is not negative.
func (r *Reader) Take(n int) []byte {
	if n > len(r.b) || r.err != nil {
		r.Fail(ErrShort)
		return nil
	}
	p := r.b[:n:n]
	r.b = r.b[n:]
	return p
}

// U8 reads one byte.
func (r *Reader) U8() uint8 {
	if p := r.Take(1); p != nil {
		return p[0]
	}
	return 0
}

// U16 reads two bytes.
func (r *Reader) U16() uint16 {
	if p := r.Take(2); p != nil {
		return binary.LittleEndian.Uint16(p)
	}
	return 0
}

// U32 reads four bytes.
func (r *Reader) U32() uint32 {
	if p := r.Take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

// U64 reads eight bytes.
func (r *Reader) U64() uint64 {
	if p := r.Take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

// F32 reads a float of four bytes. NaN and infinities are let through: what is legal is the caller's to know.
func (r *Reader) F32() float32 { return math.Float32frombits(r.U32()) }

// F64 reads a float of eight bytes. NaN and infinities are let through.
func (r *Reader) F64() float64 { return math.Float64frombits(r.U64()) }

// Bool reads one byte that is 0 or 1; any other value is ErrValue.
func (r *Reader) Bool() bool {
	v := r.U8()
	if v > 1 {
		r.Fail(ErrValue)
	}
	return v == 1
}

// Uvarint reads a number as binary.AppendUvarint wrote it. A longer encoding of the same number is
// ErrValue, so that equal messages are equal bytes.
func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	switch {
	case n == 0:
		r.Fail(ErrShort)
		return 0
	case n < 0 || n > 1 && r.b[n-1] == 0:
		r.Fail(ErrValue)
		return 0
	}
	r.b = r.b[n:]
	return v
}

// Varint reads a signed number as binary.AppendVarint wrote it.
func (r *Reader) Varint() int64 {
	u := r.Uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// Bytes reads a length and so many bytes; more than max is ErrLength. The result aliases the input.
func (r *Reader) Bytes(max int) []byte {
	n := r.Uvarint()
	if n > uint64(max) {
		r.Fail(ErrLength)
		return nil
	}
	return r.Take(int(n))
}

// String reads what Bytes reads, as a copy.
func (r *Reader) String(max int) string { return string(r.Bytes(max)) }

// Rest reads all that is left, aliasing the input.
func (r *Reader) Rest() []byte { return r.Take(len(r.b)) }

// Count reads a number of things of at least minBytesEach bytes each (taken as 1 when less). It is
// ErrLength above max and ErrShort when the bytes left cannot hold so many: a caller may allocate
// for the result.
func (r *Reader) Count(max, minBytesEach int) int {
	if minBytesEach < 1 {
		minBytesEach = 1
	}
	n := r.Uvarint()
	switch {
	case n > uint64(max):
		r.Fail(ErrLength)
		return 0
	case n > uint64(len(r.b)/minBytesEach):
		r.Fail(ErrShort)
		return 0
	}
	return int(n)
}

// AppendBytes appends the length of p and p; Reader.Bytes reads it.
func AppendBytes(b, p []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(p))), p...)
}

// BeginBytes leaves room for the length of bytes that the caller appends itself, and
// returns where they begin. EndBytes follows; Reader.Bytes reads them.
func BeginBytes(b []byte) (out []byte, mark int) {
	b = append(b, 0)
	return b, len(b)
}

// EndBytes fills in the length of the bytes that began at mark. Fewer than 128, which
// messages nearly always are, are not moved.
func EndBytes(b []byte, mark int) []byte {
	n := len(b) - mark
	if n < 0x80 {
		b[mark-1] = byte(n)
		return b
	}
	var size [binary.MaxVarintLen64]byte
	extra := binary.PutUvarint(size[:], uint64(n)) - 1
	b = append(b, size[:extra]...)
	copy(b[mark+extra:], b[mark:mark+n])
	copy(b[mark-1:], size[:extra+1])
	return b
}

// AppendString appends the length of s and s; Reader.String reads it.
func AppendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// AppendBool appends 1 for true, 0 for false.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// AppendF32 appends the four bytes of v.
func AppendF32(b []byte, v float32) []byte {
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
}

// AppendF64 appends the eight bytes of v.
func AppendF64(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}

// Fail sets the reader's error, if it has none yet: for a parser above that finds a value out of
// its own range.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.b = nil
}

// Reset points a reader without an error at what is left after a part of its input was decoded by
// other means.
func (r *Reader) Reset(b []byte) {
	if r.err == nil {
		r.b = b
	}
}
