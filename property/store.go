package property

import (
	"fmt"
	"math"
	"unicode/utf8"

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
	switch t.Kind() {
	case KindArray, KindTuple:
		_ = w.enc.EncodeArrayLen(v.Len())
		return w.list(v, func(int) *DataType { return t.Elem() }, depth)
	case KindMap:
		_ = w.enc.EncodeMapLen(v.Len() / 2)
		pair := [2]*DataType{t.Key(), t.Elem()}
		return w.list(v, func(i int) *DataType { return pair[i&1] }, depth)
	case KindFixedDict:
		return w.dict(t, v, depth)
	case KindUser:
		return w.user(t, v, depth)
	}
	w.scalar(t.Kind(), v)
	return nil
}

func (w *storeWriter) scalar(k Kind, v Value) {
	switch k {
	case KindInt8, KindInt16, KindInt32, KindInt64:
		_ = w.enc.EncodeInt(v.Int())
	case KindUint8, KindUint16, KindUint32, KindUint64, KindEntityID:
		_ = w.enc.EncodeUint(v.Uint())
	case KindFloat32:
		w.float32(v.Float())
	case KindFloat64:
		_ = w.enc.EncodeFloat64(v.Float())
	case KindBool:
		_ = w.enc.EncodeBool(v.Bool())
	case KindUnicodeString:
		_ = w.enc.EncodeString(v.Str())
	case KindString:
		if utf8.ValidString(v.Str()) {
			_ = w.enc.EncodeString(v.Str())
		} else {
			w.bin(v.Str())
		}
	case KindBlob:
		w.bin(v.Str())
	case KindVec2:
		u := v.Vec2()
		w.vector(u.X, u.Y)
	case KindVec3:
		u := v.Vec3()
		w.vector(u.X, u.Y, u.Z)
	case KindVec4:
		u := v.Vec4()
		w.vector(u.X, u.Y, u.Z, u.W)
	case KindMailbox:
		w.mailbox(v.Mailbox())
	case KindAny:
		w.b = append(w.b, v.text()...)
	}
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

func (w *storeWriter) vector(parts ...float32) {
	_ = w.enc.EncodeArrayLen(len(parts))
	for _, f := range parts {
		w.float32(float64(f))
	}
}

// mailboxItems is the number of elements of a stored mailbox.
const mailboxItems = 6

func (w *storeWriter) mailbox(m Mailbox) {
	_ = w.enc.EncodeArrayLen(mailboxItems)
	_ = w.enc.EncodeUint(m.Entity)
	_ = w.enc.EncodeUint(uint64(m.Type))
	_ = w.enc.EncodeUint(uint64(m.Kind))
	w.bin(string(m.At.Addr().AsSlice()))
	_ = w.enc.EncodeUint(uint64(m.At.Port()))
	_ = w.enc.EncodeUint(uint64(m.Salt))
}

func (w *storeWriter) list(v Value, typeOf func(i int) *DataType, depth int) error {
	for i := range v.Len() {
		if err := w.value(typeOf(i), v.At(i), depth+1); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

func (w *storeWriter) dict(t *DataType, v Value, depth int) error {
	if v.IsNone() {
		return w.enc.EncodeNil()
	}
	fields, kept := t.Fields(), 0
	for i := range fields {
		if !fields[i].Transient {
			kept++
		}
	}
	_ = w.enc.EncodeMapLen(kept)
	for i := range fields {
		if fields[i].Transient {
			continue
		}
		_ = w.enc.EncodeString(fields[i].Name)
		if err := w.value(fields[i].Type, v.At(i), depth+1); err != nil {
			return fmt.Errorf("field %s: %w", fields[i].Name, err)
		}
	}
	return nil
}

// user writes what the codec makes of v.
func (w *storeWriter) user(t *DataType, v Value, depth int) error {
	stored, err := t.user.toStore(v)
	if err != nil {
		return err
	}
	return w.value(t.user.storeType(), stored, depth+1)
}
