package property

import (
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/property/internal/mpack"
)

// maxStoreDefaults is how many fields that a value lacks are filled with their defaults, in one
// call. They make a short record of many fields large: 4 bytes become 256 values, and a list of
// such records would take 2000 times its bytes.
const maxStoreDefaults = 1 << 20

// ReadStore takes one value off the front of b, as [DataType.AppendStore] wrote it, possibly for an
// earlier edition of the type. The value fits the type and shares no memory with b. What an edit
// may change:
//
//   - fields of a FIXED_DICT come, go and change their order: unknown ones are skipped, missing and
//     transient ones take the field's default; where None is no longer allowed, the whole takes the
//     type's default;
//   - the width and sign of whole numbers, as long as the value fits; a whole number may become a
//     float that is equal;
//   - FLOAT32 and FLOAT64; STRING, UNICODE_STRING and BLOB, as far as the bytes are valid; ARRAY
//     and TUPLE, except that a fixed size must be met.
//
// Errors are ErrTruncated, ErrLength and ErrValue, and name the field or element; rest is b then.
// It allocates in proportion to len(b), and for at most [maxStoreDefaults] defaults.
func (t *DataType) ReadStore(b []byte) (v Value, rest []byte, err error) {
	n, err := mpack.ScanStore(b)
	if err != nil {
		return Value{}, b, err
	}
	if v, err = newStoreReader(b[:n]).value(t, 0); err != nil {
		return Value{}, b, err
	}
	return v, b[n:], nil
}

// storeReader reads values of types. What it reads has passed a scan, so every claimed length is
// there.
type storeReader struct {
	*mpack.Reader
	filled int // defaults so far
}

func newStoreReader(b []byte) *storeReader { return &storeReader{Reader: mpack.NewReader(b)} }

// want refuses an item that is not of the class.
func (r *storeReader) want(k Kind, classes ...mpack.Class) error {
	c := r.Class()
	if slices.Contains(classes, c) {
		return nil
	}
	return fmt.Errorf("%w: %v is stored for a %v", ErrValue, c, k)
}

// count reads the head of an array or map.
func (r *storeReader) count(k Kind, c mpack.Class) (int, error) {
	if err := r.want(k, c); err != nil {
		return 0, err
	}
	if c == mpack.Map {
		return r.Dec.DecodeMapLen()
	}
	return r.Dec.DecodeArrayLen()
}

func (r *storeReader) value(t *DataType, depth int) (Value, error) {
	if depth > maxValueDepth {
		return Value{}, fmt.Errorf("%w: stored value is nested deeper than %d", ErrLength, maxValueDepth)
	}
	v, err := t.form.unstore(r, t, depth)
	if err != nil || t.composite() {
		return v, err
	}
	return t.Fit(v)
}

func (r *storeReader) whole(k Kind) (Value, error) {
	if err := r.want(k, mpack.Int, mpack.Uint); err != nil {
		return Value{}, err
	}
	if r.Class() == mpack.Int {
		n, err := r.Dec.DecodeInt64()
		return Int(n), err
	}
	n, err := r.Dec.DecodeUint64()
	return Uint(n), err
}

func (r *storeReader) float(k Kind) (Value, error) {
	if err := r.want(k, mpack.Float, mpack.Int, mpack.Uint); err != nil {
		return Value{}, err
	}
	if r.Class() == mpack.Float {
		f, err := r.Dec.DecodeFloat64()
		return Float(f), err
	}
	v, err := r.whole(k)
	if err != nil {
		return Value{}, err
	}
	return wholeToFloat(k, v)
}

// wholeToFloat turns a whole number into the float that equals it. Beyond this bound not every
// whole number has one; Some have, such as the powers of two, but that rule would be too hard to
// remember.
func wholeToFloat(k Kind, v Value) (Value, error) {
	limit := int64(1) << 53
	if k == KindFloat32 {
		limit = 1 << 24
	}
	n := v.Int()
	if !Equal(v, Int(n)) || n < -limit || n > limit {
		return Value{}, fmt.Errorf("%w: %v is not exactly a %v", ErrValue, v, k)
	}
	return Float(float64(n)), nil
}

// field reads a key, and returns the position of the field of that name or -1. The name is the
// type's own text.
func (r *storeReader) field(t *DataType, next int) (i int, name string, err error) {
	key, err := r.name()
	if err != nil {
		return 0, "", err
	}
	fields := t.Fields()
	if next < len(fields) && fields[next].Name == string(key) {
		return next, fields[next].Name, nil
	}
	for i := range fields {
		if fields[i].Name == string(key) {
			return i, fields[i].Name, nil
		}
	}
	return -1, "", nil
}

// name reads a key that must be a string, in place.
func (r *storeReader) name() ([]byte, error) {
	if c := r.Class(); c != mpack.Str {
		return nil, fmt.Errorf("%w: %v where a name is due", ErrValue, c)
	}
	return r.Bytes(len(r.B))
}

// fill counts defaults before there is room made for them.
func (r *storeReader) fill(missing int) error {
	if r.filled += max(missing, 0); r.filled > maxStoreDefaults {
		return fmt.Errorf("%w: more than %d fields are missing", ErrLength, maxStoreDefaults)
	}
	return nil
}
