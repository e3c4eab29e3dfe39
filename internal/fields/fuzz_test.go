package fields_test

import (
	"bytes"
	"testing"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// Fields are in every message between processes. Whatever is taken is written as the same bytes.
func FuzzFields(f *testing.F) {
	kinds := []func(r *codec.Reader) []byte{
		func(r *codec.Reader) []byte { return fields.AppendID(nil, fields.ReadID(r)) },
		func(r *codec.Reader) []byte { return fields.AppendOrder(nil, fields.ReadOrder(r)) },
		func(r *codec.Reader) []byte {
			id, side, at := fields.ReadMailbox(r)
			return fields.AppendMailbox(nil, id, side, at)
		},
		func(r *codec.Reader) []byte { return fields.AppendVector3(nil, fields.ReadVector3(r)) },
		func(r *codec.Reader) []byte {
			stamp, position, direction := fields.ReadPlace(r)
			return fields.AppendPlace(nil, stamp, position, direction)
		},
		func(r *codec.Reader) []byte { return fields.AppendRect(nil, fields.ReadRect(r)) },
	}
	for i := range kinds {
		for _, n := range []int{1, 2, 12, 25, 32} {
			f.Add(uint8(i), make([]byte, n))
			f.Add(uint8(i), bytes.Repeat([]byte{1}, n))
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		r := codec.NewReader(b)
		again := kinds[int(kind)%len(kinds)](&r)
		if r.Close() == nil && !bytes.Equal(again, b) {
			t.Errorf("field %d: read from %x, written as %x", kind, b, again)
		}
	})
}
