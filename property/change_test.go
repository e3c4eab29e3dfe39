package property

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func changeTarget(t testing.TB, side Side) *Values {
	v := NewValues(handlesDefinition(t), side, fail{t})
	for i, val := range []Value{item(1, 1), List(item(1, 1), item(2, 2)), List(Int(5), Int(6), Int(7)), List(StringValue("b"), Int(2))} {
		if err := v.Load(i, val); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// Bytes that are no change are an error that names the property, and change nothing.
func TestApplyChangeRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		index int
		bytes []byte
		want  error
	}{
		{"nothing", 0, nil, ErrTruncated},
		{"unknown flags", 0, []byte{4}, ErrValue},
		{"no value", 0, []byte{0}, ErrTruncated},
		{"no path", 0, []byte{changeNested}, ErrTruncated},
		{"empty path", 0, []byte{changeNested, 0}, ErrLength},
		{"deep path", 0, append([]byte{changeNested, MaxTypeDepth + 1}, make([]byte, 40)...), ErrLength},
		{"path to nowhere", 0, []byte{changeNested, 1, 9, 0}, ErrPath},
		{"path into a number", 0, []byte{changeNested, 2, 0, 0, 0, 0}, ErrPath},
		{"path into what is absent", 0, []byte{changeNested, 2, 2, 0, 1}, ErrPath},
		{"huge position", 1, []byte{changeNested, 1, 0xff, 0xff, 0xff, 0xff, 0x0f}, ErrLength},
		{"slice of a number", 0, []byte{changeNested | changeSplice, 1, 0, 0, 0, 0}, ErrPath},
		{"slice beyond the end", 2, []byte{changeSplice, 0, 4, 0}, ErrPath},
		{"slice the wrong way", 2, []byte{changeSplice, 2, 1, 0}, ErrPath},
		{"more elements than bytes", 2, []byte{changeSplice, 0, 0, 200, 1, 0}, ErrTruncated},
		{"half a pair", 3, []byte{changeSplice, 0, 0, 1, 1, 'a'}, ErrPath},
		{"keys out of order", 3, []byte{changeSplice, 2, 2, 2, 1, 'a', 0, 0, 0, 0}, ErrPath},
		{"key of a map", 3, []byte{changeNested, 1, 0, 1, 'a'}, ErrPath},
		{"no such property", 99, []byte{0}, ErrIndex},
		{"property of the real only", 5, []byte{0, 1, 0xc0}, ErrSide},
	} {
		v := changeTarget(t, GhostSide)
		before := v.AppendStream(nil, GhostStream)
		_, rest, err := v.ApplyChange(c.bytes, c.index)
		if !errors.Is(err, c.want) || !bytes.Equal(rest, c.bytes) {
			t.Errorf("%s: %v, rest %v; want %v", c.name, err, rest, c.want)
		}
		if !bytes.Equal(before, v.AppendStream(nil, GhostStream)) {
			t.Errorf("%s: something changed", c.name)
		}
	}
}

// A nested change to a client costs a byte or two beside its value.
func TestClientChangeIsCompact(t *testing.T) {
	v := changeTarget(t, CellSide)
	v.SetHolder(nil)
	for _, c := range []struct {
		c    Change
		want int
	}{
		{Change{Index: 0, New: item(1, 1)}, 1 + 8},
		{Change{Index: 0, Path: []int{1}, New: Int(1)}, 1 + 1 + 4},
		{Change{Index: 1, Path: []int{1, 1}, New: Int(1)}, 1 + 1 + 4},
		{Change{Index: 2, Path: []int{2}, New: Int(1)}, 1 + 1 + 2},
		{Change{Index: 2, Op: Splice, Start: 1, End: 2, Old: List(), New: List(Int(6))}, 1 + 1 + 1 + 2},
	} {
		if got := len(v.AppendClientChange(nil, &c.c)); got != c.want {
			t.Errorf("%+v: %d bytes, want %d", c.c, got, c.want)
		}
	}
}

// What no client sees never gets as far as a client's bytes.
func TestClientFormOfWhatNoClientSees(t *testing.T) {
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, "no client sees Avatar.notes") {
			t.Errorf("panic %q", r)
		}
	}()
	changeTarget(t, CellSide).AppendClientValue(nil, 5)
}

// fuzzChange applies any bytes: with an error nothing changes, without one the change can be
// encoded again and comes out the same.
func FuzzApplyChange(f *testing.F) {
	f.Add(uint8(1), []byte{changeNested, 2, 1, 1, 7, 0, 0, 0})
	f.Add(uint8(2), []byte{changeSplice, 1, 2, 1, 9, 9})
	f.Add(uint8(3), []byte{changeSplice, 0, 2, 0})
	f.Add(uint8(99), []byte{3, 5, 7, 0, 0, 0})
	f.Fuzz(func(t *testing.T, index uint8, b []byte) {
		apply(t, GhostSide, b, func(v *Values) (Change, []byte, error) { return v.ApplyChange(b, int(index)) },
			func(v *Values, c *Change) []byte { return v.AppendChange(nil, c) })
		apply(t, OtherClientSide, b, func(v *Values) (Change, []byte, error) { return v.ApplyClientChange(b) },
			func(v *Values, c *Change) []byte { return v.AppendClientChange(nil, c) })
	})
}

func apply(t *testing.T, side Side, b []byte, read func(*Values) (Change, []byte, error), write func(*Values, *Change) []byte) {
	v := changeTarget(t, side)
	before := fmt.Sprint(v.vals, v.varied)
	c, rest, err := read(v)
	if err != nil {
		if fmt.Sprint(v.vals, v.varied) != before || len(rest) != len(b) {
			t.Fatalf("%v, but something changed", err)
		}
		return
	}
	for slot, i := range v.def.Held(side) {
		if err := v.def.Properties[i].Type.Check(v.vals[slot]); err != nil {
			t.Fatalf("%+v left a value that does not fit: %v", c, err)
		}
	}
	if again := write(v, &c); !bytes.Equal(again, b[:len(b)-len(rest)]) {
		t.Fatalf("%+v: read from %x, written as %x", c, b[:len(b)-len(rest)], again)
	}
}

// Setters hear of a change, by their names; what is no setter of anything is refused.
func TestSetters(t *testing.T) {
	d := handlesDefinition(t)
	s, err := FindSetters(reflect.TypeFor[*heard](), d, GhostSide)
	if err != nil {
		t.Fatal(err)
	}
	h := &heard{}
	v := changeTarget(t, GhostSide)
	for _, b := range [][]byte{{changeNested, 2, 1, 1, 7, 0, 0, 0}, {0, 0}} {
		c, _, err := v.ApplyChange(b, 1)
		if err != nil {
			t.Fatal(err)
		}
		s.Call(reflect.ValueOf(h), &c)
	}
	c, _, _ := v.ApplyChange([]byte{0, 0}, 2) // scores has no setter
	s.Call(reflect.ValueOf(h), &c)
	if got := strings.Join(h.told, "; "); got != "[1 1] 2; [] [[1 1 none []] [2 7 none []]]" {
		t.Errorf("told %s", got)
	}
	_, err = FindSetters(reflect.TypeFor[*misheard](), d, GhostSide)
	want := "*property.misheard.OnSetHome: func() is not the signature of a setter; use func(c *property.Change)\n" +
		"*property.misheard.OnSetNotes: property \"notes\" has flag CELL_PRIVATE and is not on the ghost side; remove it, or change the flag\n" +
		"*property.misheard.OnSetOff: Avatar has no property that it could be the setter of; correct the name, or do not begin it with OnSet"
	if fmt.Sprint(err) != want {
		t.Errorf("faults are\n%v\nwant\n%s", err, want)
	}
}

type heard struct{ told []string }

func (h *heard) OnSetBag(c *Change) { h.told = append(h.told, fmt.Sprint(c.Path, " ", c.Old)) }
func (h *heard) OnSettle()          {}

type misheard struct{}

func (*misheard) OnSetHome()          {}
func (*misheard) OnSetNotes(*Change)  {}
func (*misheard) OnSetOff(c *Change)  {}
func (*misheard) OnSet()              {}
func (*misheard) OnSetScores(*Change) {}

// Counts add up by type, property and way; an oversize change is told the first time and each time
// their number doubles.
func TestStats(t *testing.T) {
	d := &Definition{Name: "A", HasCell: true, HasClient: true, Properties: []*Property{
		{Name: "small", Type: Scalar(KindInt8), Flags: AllClients}, {Name: "text", Type: Scalar(KindString), Flags: AllClients, WarnBytes: 10}}}
	schema := must(NewSchema(d))
	d = schema.Types[0]
	s, part := NewStats(schema), NewStats(schema)
	var told []int
	part.Oversize = func(_ *Definition, p *Property, bytes int) { told = append(told, bytes) }
	for n := range 8 {
		part.Add(d, 1, ToGhosts, 10+n)
	}
	part.Add(d, 0, ToOwnClient, 2)
	part.AddMoves(d, 1, 20)
	s.Merge(part)
	s.Merge(part) // empty by now
	var rows []string
	for r := range s.Rows() {
		name := "-"
		if r.Property != nil {
			name = r.Property.Name
		}
		rows = append(rows, fmt.Sprint(r.Type.Name, " ", name, " ", r.Traffic, " ", r.Count, " ", r.Oversize))
	}
	if got, want := strings.Join(rows, "; "), "A small to own client {1 2} 0; A text to ghosts {8 108} 7; A - moves {1 20} 0"; got != want {
		t.Errorf("rows %s\nwant %s", got, want)
	}
	if fmt.Sprint(told) != "[11 12 14]" {
		t.Errorf("oversize told of %v", told)
	}
	var none *Stats
	none.Add(d, 0, ToGhosts, 1) // counts nothing
	none.AddOversizeCall(d, nil, 1)
	none.AddMoves(d, 1, 1)
	for range none.Rows() {
		t.Error("rows of no Stats")
	}
}

// Calls whose arguments are too large are counted by method, and told of as changes are.
func TestOversizeCalls(t *testing.T) {
	d := &Definition{Name: "A", HasCell: true, HasClient: true, CellMethods: []*Method{{Name: "hit"}, {Name: "heal"}}}
	schema := must(NewSchema(d))
	hit, heal := schema.Types[0].CellMethods[0], schema.Types[0].CellMethods[1]
	s, part := NewStats(schema), NewStats(schema)
	var told []int
	part.OversizeCall = func(_ *Definition, m *Method, bytes int) { told = append(told, bytes) }
	for n := range 5 {
		part.AddOversizeCall(d, hit, 10+n)
	}
	part.AddOversizeCall(d, heal, 99)
	s.Merge(part)
	s.Merge(part) // empty by now
	var none *Stats
	if s.OversizeCalls(hit) != 5 || s.OversizeCalls(heal) != 1 || part.OversizeCalls(hit) != 0 || none.OversizeCalls(hit) != 0 {
		t.Errorf("%d and %d calls", s.OversizeCalls(hit), s.OversizeCalls(heal))
	}
	if fmt.Sprint(told) != "[10 11 13 99]" {
		t.Errorf("told of %v", told)
	}
}
