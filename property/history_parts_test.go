package property

import (
	"fmt"
	"slices"
	"testing"
)

// partNumbers lists the numbers of the parts that a watcher who knows everything up to n is owed,
// or "whole".
func partNumbers(h *History, v *Values, i int, n EventNumber) string {
	parts, ok := h.Parts(i, n, v.Size(i))
	if !ok {
		return "whole"
	}
	s := ""
	for p := range parts {
		s += fmt.Sprint(p.Number, " ")
	}
	return s
}

// The row of a property's parts goes back to its last whole change, to what was trimmed, or to the
// limits.
func TestHistoryParts(t *testing.T) {
	v := changeTarget(t, CellSide)
	h := NewHistory(v.def)
	v.SetHolder(&numbering{v, h})
	if err := v.Set(2, List(make20()...)); err != nil { // number 1
		t.Fatal(err)
	}
	for n := range 3 {
		_ = v.SetAt(2, []int{n}, Int(int64(100+n))) // 2 3 4
		_ = v.SetAt(0, []int{1}, Int(int64(n+50)))  // of another property: none is 5 bytes, more than a third of it
	}
	for n, want := range []string{"whole", "2 4 6 ", "4 6 ", "4 6 ", "6 ", "6 ", "whole"} {
		if got := partNumbers(h, v, 2, EventNumber(n)); got != want {
			t.Errorf("who knows %d is owed %q, want %q", n, got, want)
		}
	}
	if got := partNumbers(h, v, 0, 1); got != "whole" {
		t.Errorf("parts larger than the whole: %q", got)
	}
	h.Trim(3)
	if got := partNumbers(h, v, 2, 1); got != "whole" {
		t.Errorf("after a trim: %q", got)
	}
	if got := partNumbers(h, v, 2, 3); got != "4 6 " {
		t.Errorf("after a trim: %q", got)
	}
	_ = v.Force(2) // 8
	if got := partNumbers(h, v, 2, 6); got != "whole" {
		t.Errorf("after a whole change: %q", got)
	}
	for n := range MaxParts + 5 {
		_ = v.SetAt(2, []int{0}, Int(int64(n)))
	}
	if len(h.parts.list) != MaxParts {
		t.Errorf("%d parts kept", len(h.parts.list))
	}
	last := h.Last()
	if partNumbers(h, v, 2, last-3) != fmt.Sprintf("%d %d %d ", last-2, last-1, last) {
		t.Error("the last parts are gone")
	}
	bytes := 0
	for _, p := range h.parts.list {
		bytes += len(p.Client)
	}
	if bytes != h.parts.bytes {
		t.Errorf("%d bytes counted, %d kept", h.parts.bytes, bytes)
	}
}

func make20() []Value {
	list := make([]Value, 20)
	for i := range list {
		list[i] = Int(int64(i))
	}
	return list
}

// A part too large to keep is owed whole, and drops what came before it.
func TestHistoryPartsTooLarge(t *testing.T) {
	v := changeTarget(t, CellSide)
	h := NewHistory(v.def)
	v.SetHolder(&numbering{v, h})
	_ = v.SetAt(1, []int{0, 1}, Int(5))
	_ = v.Splice(1, []int{0, 3}, 0, 0, StringValue(string(make([]byte, MaxPartBytes))))
	if len(h.parts.list) != 0 || h.parts.bytes != 0 || partNumbers(h, v, 1, 1) != "whole" {
		t.Errorf("%d parts of %d bytes kept", len(h.parts.list), h.parts.bytes)
	}
	_ = v.SetAt(1, []int{0, 1}, Int(6))
	if got := partNumbers(h, v, 1, 2); got != "3 " {
		t.Errorf("owed %q", got)
	}
}

// Of a property that sends the latest only, no parts are kept.
func TestHistoryPartsLatestOnly(t *testing.T) {
	d := &Definition{Name: "A", HasCell: true, HasClient: true, Properties: []*Property{
		{Name: "list", Type: must(NewArray(Scalar(KindInt32), 0)), Flags: AllClients, SendLatestOnly: true}}}
	v := NewValues(must(NewSchema(d)).Types[0], CellSide, nil)
	h := NewHistory(v.def)
	v.SetHolder(&numbering{v, h})
	_ = v.Set(0, List(make20()...))
	_ = v.SetAt(0, []int{3}, Int(-1))
	if got := partNumbers(h, v, 0, 1); got != "whole" || h.Stamp(0) != 2 {
		t.Errorf("owed %q, stamp %d", got, h.Stamp(0))
	}
}

// Of a property that clients would see if the type had any, no parts are kept either: they have no
// client form.
func TestHistoryPartsWithoutClients(t *testing.T) {
	d := &Definition{Name: "A", HasCell: true, Properties: []*Property{
		{Name: "list", Type: must(NewArray(Scalar(KindInt32), 0)), Flags: AllClients}}}
	v := NewValues(must(NewSchema(d)).Types[0], CellSide, nil)
	h := NewHistory(v.def)
	v.SetHolder(&numbering{v, h})
	if err := v.Splice(0, nil, 0, 0, Int(7)); err != nil || h.Last() != 1 {
		t.Errorf("%v, numbered up to %d", err, h.Last())
	}
}

// Of what may be lost there are no parts, and no detail level counts it.
func TestLossy(t *testing.T) {
	list, err := NewArray(Scalar(KindUint8), 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSchema(&Definition{Name: "A", HasCell: true, HasClient: true, Properties: []*Property{
		{Name: "p", Type: list, Flags: OtherClients},
		{Name: "q", Type: list, Flags: OtherClients, Unreliable: true},
		{Name: "own", Type: list, Flags: OwnClient, Unreliable: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	d := s.Types[0]
	if !slices.Equal(d.Lossy(), []int{1}) || !slices.Equal(d.AtLevel(0), []int{0}) {
		t.Errorf("lossy %v, at level 0 %v", d.Lossy(), d.AtLevel(0))
	}
	h, v := NewHistory(d), NewValues(d, CellSide, nil)
	for i := range 2 {
		if err := v.Load(i, List(Uint(1), Uint(2))); err != nil {
			t.Fatal(err)
		}
		n := h.Record(v, &Change{Index: i, Path: []int{1}, New: Uint(2), Old: Uint(1)})
		if _, parts := h.Parts(i, n-1, 1000); parts != (i == 0) || h.Stamp(i) != n {
			t.Errorf("property %d: parts %v, stamp %d of %d", i, parts, h.Stamp(i), n)
		}
	}
}
