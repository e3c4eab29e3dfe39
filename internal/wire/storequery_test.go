package wire_test

import (
	"reflect"
	"testing"

	"github.com/cellscape/cellscape/internal/wire"
)

func rowsWanted() wire.RowsWanted {
	return wire.RowsWanted{Column: "level", Min: wire.Scalar{V: int64(-3)}, Max: wire.Scalar{V: 2.5}, Descending: true, After: wire.Scalar{V: []byte{0, 1}}, AfterRow: 7, Limit: 100}
}

func rowsFound() wire.RowsFound {
	return wire.RowsFound{More: true, Rows: []wire.RowFound{{Row: 8, Live: true, Columns: []wire.Scalar{{V: "ann"}, {}}}, {Row: 9, Columns: []wire.Scalar{}}}}
}

func TestStoreQueryRoundTrip(t *testing.T) {
	want, found := rowsWanted(), rowsFound()
	var w wire.RowsWanted
	var f wire.RowsFound
	if err := w.Decode(want.Encode()); err != nil || !reflect.DeepEqual(w, want) {
		t.Errorf("%+v, %v", w, err)
	}
	if err := f.Decode(found.Encode()); err != nil || !reflect.DeepEqual(f, found) {
		t.Errorf("%+v, %v", f, err)
	}
}

func FuzzStoreQuery(f *testing.F) {
	want, found := rowsWanted(), rowsFound()
	f.Add(want.Encode())
	f.Add(found.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		var w wire.RowsWanted
		if w.Decode(b) == nil && string(w.Encode()) != string(b) {
			t.Errorf("wanted: %x came back as %x", b, w.Encode())
		}
		var r wire.RowsFound
		if r.Decode(b) == nil && string(r.Encode()) != string(b) {
			t.Errorf("found: %x came back as %x", b, r.Encode())
		}
	})
}
