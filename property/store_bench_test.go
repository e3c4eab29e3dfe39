package property

import (
	"testing"

	"github.com/cellscape/cellscape/property/internal/mpack"
	"github.com/vmihailenco/msgpack/v5"
)

// storedAvatar is a cell with 40 items in its bag, as the store keeps it.
func storedAvatar(b *testing.B) (v *Values, stored []byte) {
	d := storedDefinition(b, nil)
	v = NewValues(d, CellSide, nil)
	items := make([]Value, 40)
	for i := range items {
		items[i] = List(Uint(uint64(1000+i)), StringValue("a note of some length"))
	}
	set(b, v, "bag", List(items...))
	stored, err := v.AppendStore(nil, CellStoreStream)
	if err != nil {
		b.Fatal(err)
	}
	return v, stored
}

func BenchmarkValuesAppendStore(b *testing.B) {
	v, stored := storedAvatar(b)
	b.SetBytes(int64(len(stored)))
	b.ReportAllocs()
	for b.Loop() {
		stored, _ = v.AppendStore(stored[:0], CellStoreStream)
	}
}

func BenchmarkValuesReadStore(b *testing.B) {
	v, stored := storedAvatar(b)
	b.SetBytes(int64(len(stored)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := v.ReadStore(stored, CellStoreStream); err != nil {
			b.Fatal(err)
		}
	}
}

// The reference: the library decodes the same bytes into free values, without checking them first.
func BenchmarkLibraryDecode(b *testing.B) {
	_, stored := storedAvatar(b)
	b.SetBytes(int64(len(stored)))
	b.ReportAllocs()
	for b.Loop() {
		var x map[string]any
		if err := msgpack.Unmarshal(stored, &x); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	_, stored := storedAvatar(b)
	b.SetBytes(int64(len(stored)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := mpack.ScanStore(stored); err != nil {
			b.Fatal(err)
		}
	}
}

// The load is what a script keeps in a free value: a dozen flags and a short list.
func BenchmarkCheckAny(b *testing.B) {
	m := map[string]any{"list": []any{1, 2.5, "three"}}
	for _, k := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"} {
		m[k] = true
	}
	v, err := AnyValue(m)
	if err != nil {
		b.Fatal(err)
	}
	p := []byte(v.text())
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	for b.Loop() {
		if err := mpack.Check(p); err != nil {
			b.Fatal(err)
		}
	}
}
