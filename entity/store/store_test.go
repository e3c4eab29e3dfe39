package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// definition is a type with every thing that a store looks at.
func definition(edit func(d *property.Definition)) *property.Definition {
	d := &property.Definition{Name: "Avatar", HasCell: true, HasBase: true, Persistent: true, Properties: []*property.Property{
		{Name: "name", Type: property.Scalar(property.KindString), Flags: property.Base, Persistent: true, Identifier: true},
		{Name: "level", Type: property.Scalar(property.KindInt16), Flags: property.CellPrivate, Persistent: true, Indexed: true, Default: property.Int(1)},
		{Name: "gold", Type: property.Scalar(property.KindUint32), Flags: property.Base, Persistent: true},
		{Name: "mood", Type: property.Scalar(property.KindInt8), Flags: property.CellPrivate},
	}}
	if edit != nil {
		edit(d)
	}
	return d
}

func schema(t testing.TB, d ...*property.Definition) *Schema {
	t.Helper()
	ps, err := property.NewSchema(d...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSchema(ps)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sides(t *Type) (base, cell *property.Values) {
	return property.NewValues(t.def, property.BaseSide, nil), property.NewValues(t.def, property.CellSide, nil)
}

func load(t testing.TB, v *property.Values, name string, val property.Value) {
	t.Helper()
	if err := v.Load(v.Definition().Property(name).Index, val); err != nil {
		t.Fatal(err)
	}
}

func TestForm(t *testing.T) {
	typ := schema(t, definition(nil)).Type("Avatar")
	base, cell := sides(typ)
	load(t, base, "name", property.StringValue("Ada"))
	load(t, cell, "level", property.Int(7))
	load(t, cell, "mood", property.Int(3))
	columns, data, err := typ.Encode(base, cell, []byte("timers"))
	if err != nil {
		t.Fatal(err)
	}
	want := "\x01\x01\x10\x82\xa4name\xa3Ada\xa4gold\x00\x02\x08\x81\xa5level\x07\x03\x06timers"
	if string(data) != want {
		t.Errorf("data are %q, want %q", data, want)
	}
	base, cell = sides(typ)
	rest, notices, err := typ.Decode(columns, data, base, cell)
	if err != nil || len(notices) > 0 || string(rest) != "timers" {
		t.Fatalf("%q, %q, %v", rest, notices, err)
	}
	if n, l := base.Get(0), cell.Get(1); n.Str() != "Ada" || l.Int() != 7 || cell.Get(3).Int() != 0 {
		t.Errorf("name %v, level %v", n, l)
	}
	// A tool has changed a column: it wins.
	base, cell = sides(typ)
	if _, _, err := typ.Decode([]property.Value{property.StringValue("Ada L."), columns[1]}, data, base, cell); err != nil || base.Get(0).Str() != "Ada L." {
		t.Errorf("name %v, %v", base.Get(0), err)
	}
	if got, err := typ.ColumnsOf(data); err != nil || !slices.EqualFunc(got, columns, property.Equal) {
		t.Errorf("%v, %v", got, err)
	}
	// A part of a later build is passed over and told.
	base, cell = sides(typ)
	_, notices, err = typ.Decode(nil, append(bytes.Clone(data), 9, 1, 0), base, cell)
	if err != nil || !slices.Equal(notices, []string{"Avatar: part 9 of 1 bytes is left out"}) {
		t.Errorf("%q, %v", notices, err)
	}
	for _, bad := range []string{"", "\x02", "\x01\x01", "\x01\x01\x05abc", "\x01\x01\x01\x80\x01\x01\x80", "\x01\x02\x01\x80\x01\x01\x80", "\x01\x01\x02\x80\x80", "\x01\x00\x00"} {
		base, cell := sides(typ)
		if _, _, err := typ.Decode(nil, []byte(bad), base, cell); !errors.Is(err, ErrForm) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, _, err := typ.Encode(cell, base, nil); !errors.Is(err, ErrValue) {
		t.Errorf("sides exchanged: %v", err)
	}
	if _, _, err := typ.Encode(base, cell, make([]byte, MaxData)); !errors.Is(err, ErrValue) {
		t.Errorf("too large: %v", err)
	}
}

// Whatever data are given, decoding ends without a panic; and what can be decoded can be encoded, and
// comes back as it was.
func FuzzDecode(f *testing.F) {
	typ := schema(f, definition(func(d *property.Definition) {
		d.Properties = append(d.Properties, &property.Property{Name: "any", Type: property.Scalar(property.KindAny), Flags: property.Base, Persistent: true})
	})).Type("Avatar")
	base, cell := sides(typ)
	_, data, err := typ.Encode(base, cell, []byte("rest"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("\x01\x01\x07\x81\xa4gold\xff\x02\x01\x80"))
	f.Fuzz(func(t *testing.T, data []byte) {
		base, cell := sides(typ)
		rest, _, err := typ.Decode(nil, data, base, cell)
		if err != nil {
			return
		}
		columns, again, err := typ.Encode(base, cell, rest)
		if err != nil {
			if !errors.Is(err, ErrValue) { // a column may be longer than it may be
				t.Fatal(err)
			}
			return
		}
		base2, cell2 := sides(typ)
		rest2, notices, err := typ.Decode(columns, again, base2, cell2)
		if err != nil || len(notices) > 0 || !bytes.Equal(rest, rest2) {
			t.Fatalf("did not come back: %q, %v", notices, err)
		}
		for i := range typ.def.Properties {
			if !property.Equal(base.Get(i), base2.Get(i)) || !property.Equal(cell.Get(i), cell2.Get(i)) {
				t.Fatalf("property %d did not come back", i)
			}
		}
	})
}

// Stored descriptions come from a file that anything may have happened to.
func FuzzPlanFrom(f *testing.F) {
	s := schema(f, definition(nil))
	f.Add(s.Type("Avatar").Description())
	f.Add([]byte(`{"properties":[{"name":"gold","side":"base","kind":"ARRAY"}],"columns":[{"name":"x","class":"?"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		plan, err := s.PlanFrom(map[string][]byte{"Avatar": b})
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		_ = plan.String()
	})
}

// A type without its Identifier keeps its rows, but a login finds none of them. It used to be planned
// like any index that goes: each player began anew, without a word.
func TestIdentifierGoes(t *testing.T) {
	plan := func(from, to *Schema) Plan {
		t.Helper()
		p, err := to.PlanFrom(map[string][]byte{"Avatar": from.Type("Avatar").Description()})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	with, without := schema(t, definition(nil)), schema(t, definition(func(d *property.Definition) {
		d.Properties[0].Identifier, d.Properties[0].Unique = false, true
	}))
	if p := plan(with, without); !errors.Is(p.Allow(false), ErrDestructive) || !strings.Contains(p.String(), "name is the Identifier no more") {
		t.Errorf("it goes: %v", p)
	}
	if p := plan(without, with); p.Allow(false) != nil {
		t.Errorf("it comes: %v", p)
	}
	both := func(alias bool) *Schema {
		return schema(t, definition(func(d *property.Definition) {
			d.Properties[0].Identifier, d.Properties[0].Unique = !alias, true
			d.Properties = append(d.Properties, &property.Property{Name: "alias", Type: property.Scalar(property.KindString), Flags: property.Base, Persistent: true, Unique: true, Identifier: alias})
		}))
	}
	if p := plan(both(false), both(true)); !errors.Is(p.Allow(false), ErrDestructive) || !strings.Contains(p.String(), "alias is the Identifier in place of name") {
		t.Errorf("another one takes its place: %v", p)
	}
	if p := plan(with, with); len(p) > 0 {
		t.Errorf("it stays: %v", p)
	}
}

func TestNotices(t *testing.T) {
	list, err := property.NewArray(property.Scalar(property.KindInt8), 0)
	if err != nil {
		t.Fatal(err)
	}
	s := schema(t, definition(func(d *property.Definition) {
		d.Properties = append(d.Properties,
			&property.Property{Name: "bag", Type: list, Flags: property.Base, Persistent: true, Indexed: true},
			&property.Property{Name: "note", Type: property.Scalar(property.KindString), Flags: property.Base, Persistent: true, DatabaseLength: 9},
			&property.Property{Name: "long", Type: property.Scalar(property.KindString), Flags: property.Base, Persistent: true, Indexed: true, DatabaseLength: 5000},
			&property.Property{Name: "tool", Type: property.Scalar(property.KindString), Flags: property.EditorOnly, Persistent: true})
	}), &property.Definition{Name: "Dust", HasBase: true, Properties: []*property.Property{
		{Name: "age", Type: property.Scalar(property.KindInt8), Flags: property.Base, Persistent: true}}},
		&property.Definition{Name: "Rat", HasCell: true, Persistent: true, Properties: []*property.Property{
			{Name: "size", Type: property.Scalar(property.KindInt8), Persistent: true}, {Name: "mood", Type: property.Scalar(property.KindInt8)}}})
	want := []string{
		"Avatar.bag: Indexed has no effect: a ARRAY cannot be looked up by; remove it",
		"Avatar.note: DatabaseLength has no effect: only what is Indexed is a column; the rest has any length",
		"Avatar.long: DatabaseLength has no effect: a column has at most 1024 bytes",
		"Avatar.tool: Persistent has no effect: no process has an editor's property; remove it",
		"Dust.age: Persistent has no effect: entities of the type are not kept; make the type Persistent, too",
		"Rat.size: Persistent has no effect: an entity is kept by its base, and the type has none",
	}
	if !slices.Equal(s.Notices, want) {
		t.Errorf("notices:\n%s\nwant:\n%s", strings.Join(s.Notices, "\n"), strings.Join(want, "\n"))
	}
	if len(s.Types) != 2 || len(s.Types[0].Columns) != 3 || s.Types[0].Identifier().Name != "name" {
		t.Errorf("%+v", s.Types)
	}
}

func TestSchemaFaults(t *testing.T) {
	text := property.Scalar(property.KindString)
	for name, edit := range map[string]func(d *property.Definition){
		"differ only in case": func(d *property.Definition) {
			d.Properties = append(d.Properties, &property.Property{Name: "Name", Type: text, Flags: property.Base, Persistent: true, Indexed: true})
		},
		"3 bytes are more than 2": func(d *property.Definition) {
			d.Properties = append(d.Properties, &property.Property{Name: "x", Type: text, Flags: property.Base, Persistent: true, Indexed: true, DatabaseLength: 2, Default: property.StringValue("abc")})
		},
	} {
		ps, err := property.NewSchema(definition(edit))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewSchema(ps); !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewType("accounts"); !errors.Is(err, ErrValue) {
		t.Errorf("a type without a dot: %v", err)
	}
	name, err := NewColumn("name", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	name.Identifier = true
	alias := name
	alias.Name = "alias"
	if _, err := NewType("a.b", name, alias); !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), "two identifiers, name and alias") {
		t.Errorf("a type with two identifiers: %v", err)
	}
}

// The length of a UNICODE_STRING counts characters, as that of the originals does, and that of all
// else bytes.
func TestLengthOfAColumn(t *testing.T) {
	for _, c := range []struct {
		kind   property.Kind
		length int
		text   string
		fault  string
	}{
		{property.KindUnicodeString, 4, "龙龙龙🐉", ""},
		{property.KindUnicodeString, 4, "abcde", "5 characters are more than 4"},
		{property.KindUnicodeString, 4, strings.Repeat("龙", 5), "5 characters are more than 4"},
		{property.KindUnicodeString, 0, strings.Repeat("🐉", 255), ""},
		{property.KindUnicodeString, 0, strings.Repeat("x", 256), "256 characters are more than 255"},
		{property.KindUnicodeString, MaxColumn, strings.Repeat("x", MaxColumn), ""},
		{property.KindUnicodeString, MaxColumn, strings.Repeat("龙", 342), "1026 bytes are more than 1024"},
		{property.KindString, 4, "龙d", ""},
		{property.KindString, 4, "龙龙", "6 bytes are more than 4"},
		{property.KindBlob, 4, "龙龙", "6 bytes are more than 4"},
	} {
		column, err := NewColumn("x", property.Scalar(c.kind), c.length)
		if err != nil {
			t.Fatal(err)
		}
		_, err = column.Fit(property.StringValue(c.text))
		if c.fault == "" && err != nil || c.fault != "" && (!errors.Is(err, ErrValue) || !strings.HasSuffix(err.Error(), ": "+c.fault)) {
			t.Errorf("%v of %d, %.9q: %v, want %q", c.kind, c.length, c.text, err, c.fault)
		}
	}
}

// What is lost when a data type changes, and what is not.
func TestLoses(t *testing.T) {
	scalar := property.Scalar
	list := func(of *property.DataType, size int) *property.DataType {
		l, err := property.NewArray(of, size)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	dict := func(fields ...property.DictField) *property.DataType {
		d, err := property.NewFixedDict(false, fields...)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	i8, i32 := scalar(property.KindInt8), scalar(property.KindInt32)
	a, b := property.DictField{Name: "a", Type: i8}, property.DictField{Name: "b", Type: i8}
	for _, c := range []struct {
		from, to *property.DataType
		loses    string
	}{
		{i8, i32, ""}, {i32, i8, "p changes from INT32 to INT8, and not every number fits"},
		{scalar(property.KindUint8), scalar(property.KindInt16), ""}, {scalar(property.KindUint16), scalar(property.KindInt16), "not every number fits"},
		{i8, scalar(property.KindUint64), "not every number fits"}, {scalar(property.KindUint32), scalar(property.KindEntityID), ""},
		{i8, scalar(property.KindFloat32), ""}, {i32, scalar(property.KindFloat32), "p changes"}, {i32, scalar(property.KindFloat64), ""},
		{scalar(property.KindFloat32), scalar(property.KindFloat64), ""}, {scalar(property.KindFloat64), scalar(property.KindFloat32), "p changes"},
		{scalar(property.KindString), scalar(property.KindBlob), ""}, {scalar(property.KindString), scalar(property.KindUnicodeString), "p changes"},
		{i8, scalar(property.KindString), "p changes from INT8 to STRING"}, {scalar(property.KindVec2), scalar(property.KindVec3), "p changes"},
		{list(i8, 0), list(i32, 0), ""}, {list(i32, 0), list(i8, 0), "p[] changes"}, {list(i8, 3), list(i8, 0), ""}, {list(i8, 0), list(i8, 3), "p changes its size"},
		{dict(a), dict(b, a), ""}, {dict(a, b), dict(a), "p.b is gone"}, {dict(a), dict(property.DictField{Name: "a", Type: i32}), ""},
		{list(dict(a, b), 0), list(dict(b), 0), "p[].a is gone"},
	} {
		got := shapeOf(c.to, 0).loses(shapeOf(c.from, 0), "p")
		if (got == "") != (c.loses == "") || !strings.Contains(got, c.loses) {
			t.Errorf("%v to %v: %q, want %q", c.from, c.to, got, c.loses)
		}
		if got != "" {
			continue
		}
		v, err := c.from.AppendStore(nil, c.from.Default()) // and so it can be read
		if err == nil {
			_, _, err = c.to.ReadStore(v)
		}
		if err != nil {
			t.Errorf("%v to %v: %v", c.from, c.to, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, err := range []error{ErrBusy, ErrFull, ErrAway} {
		if wrapped := fmt.Errorf("x: %w", err); !errors.Is(wrapped, ErrRetry) || !errors.Is(wrapped, err) {
			t.Errorf("%v is not for a retry", err)
		}
	}
	h := Holder{Start: 2, App: 5, Entity: entity.ID(1<<32 | 9)}
	record := &RecordError{3, Key{"Avatar", 7}, &HeldError{h}}
	if !errors.Is(record, ErrHeld) || errors.Is(record, ErrRetry) {
		t.Error("a HeldError is ErrHeld")
	}
	const want = "Avatar:7 (record 3): store: the row is checked out by entity 1.9 on app 5 of start 2"
	if record.Error() != want {
		t.Errorf("%v, want %s", record, want)
	}
}
