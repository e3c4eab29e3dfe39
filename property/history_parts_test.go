package property

import (
	"fmt"
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
