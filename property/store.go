package property

import (
	"fmt"
	"math"

	"github.com/vmihailenco/msgpack/v5"
)

// The store form of a value is MessagePack that names things, so that what was written under one definition can be read
// under the next:
//
//	INT8 … UINT64, ENTITY_ID   whole number, in the fewest bytes
//	FLOAT32, FLOAT64           float of that width
//	BOOL                       truth value
//	STRING, UNICODE_STRING     str; bin for a STRING that is not UTF-8
//	BLOB                       bin
//	VECTOR2 … VECTOR4          array of float32
//	ARRAY, TUPLE               array
//	FIXED_DICT                 map of field names to values in the order of the type, transient fields left out; nil for None
//	MAP                        map, keys ascending
//	MAILBOX                    array of id, type, kind, address bytes, port, salt
//	ANY                        the value itself
//	USER_TYPE                  as its store type
//
// Equal values of one type have equal bytes.

// AppendStore appends v in its store form. Errors are those of [DataType.Fit], and of the codec of a USER_TYPE, which is
// ErrValue; b is as it was then.
func (t *DataType) AppendStore(b []byte, v Value) ([]byte, error) {
	v, err := t.Fit(v)
	if err != nil {
		return b, err
	}
	w := newStoreWriter(b)
	if err := w.value(t, v, 0); err != nil {
		return b, err
	}
	return w.b, nil
}

// storeWriter appends MessagePack to a slice. It is the writer of its own encoder, which so needs no buffer between. The
// encoder is not of the library's pool, and meets neither reflection nor the encoders that others register. Its errors are
// those of the writer, which has none.
type storeWriter struct {
	b   []byte
	enc *msgpack.Encoder
}

func newStoreWriter(b []byte) *storeWriter {
	w := &storeWriter{b: b}
	w.enc = msgpack.NewEncoder(w)
	return w
}

// Write appends p.
func (w *storeWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

// WriteByte appends c.
func (w *storeWriter) WriteByte(c byte) error {
	w.b = append(w.b, c)
	return nil
}

// value writes a value that fits its type. depth is how many types it lies in.
func (w *storeWriter) value(t *DataType, v Value, depth int) error {
	if depth > maxValueDepth {
		return fmt.Errorf("%w: stored value is nested deeper than %d", ErrLength, maxValueDepth)
	}
	return t.form.store(w, t, v, depth)
}

// bin writes bytes. The library's EncodeBytes writes nil for a nil slice.
func (w *storeWriter) bin(p string) {
	_ = w.enc.EncodeBytesLen(len(p))
	w.b = append(w.b, p...)
}

// float32 writes a number of that width. The payload of a NaN is made one: conversions differ between machines.
func (w *storeWriter) float32(f float64) {
	if f != f {
		_ = w.enc.EncodeFloat32(math.Float32frombits(0x7fc00000))
		return
	}
	_ = w.enc.EncodeFloat32(float32(f))
}
