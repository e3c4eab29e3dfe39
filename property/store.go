package property

import (
	"fmt"

	"github.com/cellscape/cellscape/property/internal/mpack"
)

// The store form of a value is MessagePack that names things. What was written under one definition
// can be read under the next:
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

// AppendStore appends v in its store form. Errors are those of [DataType.Fit], and of the codec of
// a USER_TYPE, which is ErrValue; b is as it was then.
func (t *DataType) AppendStore(b []byte, v Value) ([]byte, error) {
	v, err := t.Fit(v)
	if err != nil {
		return b, err
	}
	w := storeWriter{mpack.NewWriter(b)}
	if err := w.value(t, v, 0); err != nil {
		return b, err
	}
	return w.B, nil
}

// storeWriter writes values that fit their types.
type storeWriter struct{ *mpack.Writer }

// value writes a value that fits its type. depth is how many types it lies in.
func (w storeWriter) value(t *DataType, v Value, depth int) error {
	if depth > maxValueDepth {
		return fmt.Errorf("%w: stored value is nested deeper than %d", ErrLength, maxValueDepth)
	}
	return t.form.store(w, t, v, depth)
}
