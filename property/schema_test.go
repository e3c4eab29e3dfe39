package property

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNewSchema(t *testing.T) {
	given := &Definition{
		Name: "Guard", HasCell: true, HasClient: true,
		Levels:     []DetailLevel{{"NEAR", 20, 5}},
		Properties: []*Property{{Name: "secret", Type: Scalar(KindInt8)}, {Name: "pose", Type: Scalar(KindUint8), Flags: AllClients, Default: Int(3), Detail: "NEAR"}},
	}
	s, err := NewSchema(given)
	if err != nil {
		t.Fatal(err)
	}
	p := s.Type("Guard").Property("pose")
	if p.Index != 1 || p.ClientIndex != 0 || p.Level != 0 || !Equal(p.Default, Uint(3)) {
		t.Errorf("%+v", p)
	}
	if q := given.Properties[1]; q == p || q.Index != 0 || s.Type("Guard") == given {
		t.Error("the caller's Definition was changed")
	}
	if again, err := NewSchema(given); err != nil || again.Digest != s.Digest || again.ClientDigest != s.ClientDigest {
		t.Error("a second Schema differs")
	}
}

// schemaCase is definitions and the exact text of all faults that they make.
type schemaCase struct {
	d    []*Definition
	want string
}

// What a tree cannot say but Go can; the rest of the checks is tested with Load.
func schemaFaultCases() []schemaCase {
	i8 := Scalar(KindInt8)
	cell := func(d Definition) *Definition { d.Name, d.HasCell = "A", true; return &d }
	return []schemaCase{
		{[]*Definition{nil}, "a Definition is nil; leave it out"},
		{[]*Definition{{Name: "A"}}, "A: the type has no side; let it have a cell, a base or a client"},
		{[]*Definition{cell(Definition{}), cell(Definition{})}, "A: entity type is declared twice; remove one of the two"},
		{[]*Definition{{HasCell: true}}, "entity type: name is empty; use letters, digits and _, not beginning with a digit"},
		{[]*Definition{{Name: strings.Repeat("x", MaxName+1), HasCell: true}}, `entity type: name "xxxxxxxxxxxxxxxx"… is longer than 128 bytes; use letters, digits and _, not beginning with a digit`},
		{make([]*Definition, MaxTypes+1), "too many entity types; split the game, or raise MaxTypes"},
		{[]*Definition{cell(Definition{Properties: []*Property{{Name: "p"}}})}, "A/Properties/p: property has no type; state one"},
		{[]*Definition{cell(Definition{Properties: []*Property{{Name: "p", Type: i8, Flags: OnBase | Ghosted}}})},
			"A/Properties/p/Flags: 0x9 is no combination of flags; " + flagsRemedy + "\nA/Properties/p: flag , but A has no base; change the flag, or let the type have a base"},
		{[]*Definition{cell(Definition{Properties: []*Property{{Name: "p", Type: i8, Default: Int(200)}}})},
			"A/Properties/p/Default: property: value does not fit its type: 200 is not a INT8; state a value of type INT8"},
		{[]*Definition{cell(Definition{Properties: []*Property{{Name: "p", Type: i8, DatabaseLength: -1}}})}, "A/Properties/p/DatabaseLength: -1 is not a length; state bytes, or characters of a UNICODE_STRING, 0 for the store's default"},
		{[]*Definition{cell(Definition{Compression: Compression{"ZIP_0", "ZIP_10"}})},
			`A/NetworkCompression/internal: there is no compression "ZIP_0"; ` + compressionRemedy + "\n" + `A/NetworkCompression/external: there is no compression "ZIP_10"; ` + compressionRemedy},
		{[]*Definition{cell(Definition{Properties: []*Property{nil}})}, "A/Properties: name is empty; use letters, digits and _, not beginning with a digit\nA/Properties/: property has no type; state one"},
		{[]*Definition{cell(Definition{Properties: make([]*Property, MaxProperties+1)})}, "A/Properties: more than 4096 properties; gather some in a FIXED_DICT"},
		{[]*Definition{cell(Definition{HasClient: true, Properties: []*Property{{Name: "p", Type: Scalar(KindBlob), Flags: OwnClient, Default: StringValue(strings.Repeat("x", MaxClientProperty))}}})},
			"A/Properties/p/Default: 65539 bytes, more than the 65536 that can travel; shorten it, or split the property"},
		{[]*Definition{cell(Definition{CellMethods: make([]*Method, MaxMethods+1)})}, "A/CellMethods: more than 4096 methods; merge some"},
		{[]*Definition{cell(Definition{CellMethods: []*Method{{Name: "m", Args: []Arg{{}}}}})}, "A/CellMethods/m/Args/1: argument has no type; state one"},
		{[]*Definition{cell(Definition{CellMethods: []*Method{{Name: "m", Args: []Arg{{"a b", i8}}}}})}, `A/CellMethods/m/Args/a b: "a b" is not a name; use letters, digits and _, not beginning with a digit`},
		{[]*Definition{cell(Definition{CellMethods: []*Method{{Name: "m", Exposed: 7}}})}, "A/CellMethods/m/Exposed: 7 is no exposure; use ExposedOwn or ExposedAll"},
		{[]*Definition{cell(Definition{AppealRadius: float32(math.NaN())})}, "A/AppealRadius: NaN is not a distance; state metres, 0 or more"},
		{[]*Definition{cell(Definition{Levels: []DetailLevel{{"N", float32(math.Inf(1)), 1}}})}, "A/LoDLevels/N: radius +Inf with hysteresis 1 is not a ring; state a radius above 0 and a hysteresis of 0 or more, in metres"},
		{[]*Definition{{Name: "A", HasBase: true, Service: true, HasCell: true}}, "A: a service has methods of its base side and nothing else; make it an entity type, or move the rest to one"},
		{[]*Definition{cell(Definition{Properties: []*Property{{Name: "p", Type: i8, WarnBytes: -1}}})}, "A/Properties/p: WarnBytes is -1; state bytes, 0 for no warning"},
		{[]*Definition{cell(Definition{CellMethods: []*Method{{Name: "m", WarnBytes: -1}}})}, "A/CellMethods/m: WarnBytes is -1; state bytes, 0 for no warning"},
		{[]*Definition{cell(Definition{CellMethods: []*Method{{Name: "m", ReplayExposure: 9}}})}, "A/CellMethods/m/ReplayExposureLevel: 9 is no replay exposure; use ReplayOther, ReplayNone or ReplayAll"},
		{[]*Definition{cell(Definition{Components: []Component{{"c", "T"}, {"c", "T"}}})}, "A/Components/c: component is declared twice; remove one of the two"},
		{[]*Definition{cell(Definition{Components: []Component{{"c.d", "T"}, {"e", ""}}})}, "A/Components: \"c.d\" is not a name; use letters, digits and _, not beginning with a digit\nA/Components/e/Type: name is empty; use letters, digits and _, not beginning with a digit"},
		{[]*Definition{cell(Definition{Properties: []*Property{{Name: "c.p", Component: "c", Type: i8}}})}, "A/Properties/c.p: A has no component \"c\"; list it in Components"},
		{[]*Definition{cell(Definition{Components: []Component{{"c", "T"}}, Properties: []*Property{{Name: "p", Component: "c", Type: i8}}})}, "A/Properties/p: it is of component \"c\", but its name does not begin with that; call it component.name"},
		{[]*Definition{cell(Definition{TempProperties: []string{"x", "x"}})}, "A/TempProperties/x: the name is given twice; remove one of the two"},
		{[]*Definition{cell(Definition{HasClient: true, Properties: []*Property{{Name: "p", Type: i8, Flags: AllClients}}, CellMethods: []*Method{{Name: "m", Exposed: ExposedAll}}, ClientMethods: []*Method{{Name: "c"}}}),
			{Name: "B", ClientName: "A", HasCell: true, HasClient: true}},
			"B/Properties/p: clients see the type as A, which has this property; add it, or remove ClientName\n" +
				"B/CellMethods/m: clients see the type as A, which has this method; add it, or remove ClientName\n" +
				"B/ClientMethods/c: clients see the type as A, which has this method; add it, or remove ClientName"},
		{[]*Definition{
			cell(Definition{HasClient: true, Properties: []*Property{{Name: "p", Type: i8, Flags: AllClients}, {Name: "q", Type: i8, Flags: AllClients}}, ClientMethods: []*Method{{Name: "c"}, {Name: "d"}}}),
			{Name: "B", ClientName: "A", HasCell: true, HasClient: true, Properties: []*Property{{Name: "q", Type: i8, Flags: AllClients}, {Name: "p", Type: i8, Flags: AllClients}}, ClientMethods: []*Method{{Name: "d"}, {Name: "c"}}}},
			"B/Properties/q: clients see the type as A, which has its properties in another order; declare them in that order, or remove ClientName\n" +
				"B/ClientMethods/c: clients see the type as A, which has its methods in another order; declare them in that order, or remove ClientName"},
	}
}

func TestNewSchemaFaults(t *testing.T) {
	for _, c := range schemaFaultCases() {
		s, err := NewSchema(c.d...)
		if s != nil || err == nil {
			t.Errorf("no fault, want %s", c.want)
			continue
		}
		if diff := cmp.Diff(c.want, err.Error()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestTypeFaults(t *testing.T) {
	i8 := Scalar(KindInt8)
	for _, c := range []struct {
		make func() (*DataType, error)
		want string
	}{
		{func() (*DataType, error) { return NewArray(nil, 0) }, "ARRAY has no element type"},
		{func() (*DataType, error) { return NewTuple(i8, -1) }, "size -1 of TUPLE is not within 0 to 4096"},
		{func() (*DataType, error) { return NewFixedDict(false, DictField{Name: "x"}) }, `field "x" has no type`},
		{func() (*DataType, error) { return NewFixedDict(false, DictField{Name: "", Type: i8}) }, "name is empty"},
		{func() (*DataType, error) {
			return NewFixedDict(false, DictField{Name: "x", Type: i8, Default: Float(1)})
		}, `default of field "x": property: value does not fit its type: 1 is not a INT8`},
		{func() (*DataType, error) { return NewFixedDict(false, make([]DictField, MaxDictFields+1)...) }, "FIXED_DICT has 257 fields, more than 256"},
		{func() (*DataType, error) { return i8.WithDefault(Float(1)) }, "property: value does not fit its type: 1 is not a INT8"},
	} {
		if typ, err := c.make(); typ != nil || fmt.Sprint(err) != c.want {
			t.Errorf("%v, %v; want %s", typ, err, c.want)
		}
	}
	if typ, err := i8.WithDefault(Int(4)); err != nil || typ.Default().Int() != 4 || i8.Default().Int() != 0 {
		t.Error(typ, err)
	}
}

func TestFlagNames(t *testing.T) {
	for _, f := range flagNames {
		if got, ok := ParseFlags(f.name); !ok || got != f.flags {
			t.Errorf("ParseFlags(%s) = %v, %v", f.name, got, ok)
		}
	}
	if Flags(Ghosted|OnBase).Valid() || !AllClients.Valid() || CellPrivate.String() != "CELL_PRIVATE" {
		t.Error("Valid")
	}
}

func TestFaultsUnwrap(t *testing.T) {
	err := fmt.Errorf("start-up: %w", error(Faults{{File: "a.def", Line: 3, Problem: "p"}, {File: "b.def", Problem: "q", Remedy: "r"}}))
	var f *Fault
	if !errors.As(err, &f) || f.Line != 3 {
		t.Errorf("%+v", f)
	}
	if got := err.Error(); got != "start-up: a.def:3: p\nb.def: q; r" {
		t.Error(got)
	}
}

func TestVector3(t *testing.T) {
	a, b := Vector3{1, 2, 3}, Vector3{1, 6, 6}
	if a.Distance(b) != 5 || a.Add(b) != (Vector3{2, 8, 9}) || a.Scale(2) != (Vector3{2, 4, 6}) || !a.Finite() {
		t.Error("arithmetic")
	}
	if (Vector3{Y: float32(math.NaN())}).Finite() || (Vector3{Z: float32(math.Inf(-1))}).Finite() {
		t.Error("Finite")
	}
}

// What a client can name, found by the numbers that it knows, whatever it sends.
func TestClientNumbers(t *testing.T) {
	i8 := Scalar(KindInt8)
	definition := func(client bool) *Definition {
		return &Definition{
			Name: "A", HasCell: true, HasBase: true, HasClient: client,
			Properties: []*Property{
				{Name: "plan", Type: i8}, {Name: "pose", Type: i8, Flags: AllClients}, {Name: "purse", Type: i8, Flags: Base},
				{Name: "gold", Type: i8, Flags: BaseAndClient}, {Name: "mana", Type: i8, Flags: OwnClient}, {Name: "last", Type: i8},
			},
			CellMethods: []*Method{{Name: "hurt"}, {Name: "jump", Exposed: ExposedOwn}, {Name: "steal"}, {Name: "greet", Exposed: ExposedAll}, {Name: "rob"}},
			BaseMethods: []*Method{{Name: "credit"}, {Name: "debit"}, {Name: "buy", Exposed: ExposedOwn}},
		}
	}
	lookups := func(d *Definition) map[string]func(i int) string {
		method := func(m *Method) string {
			if m == nil {
				return ""
			}
			return m.Name
		}
		return map[string]func(i int) string{
			"ByClientIndex": func(i int) string {
				if p := d.ByClientIndex(i); p != nil {
					return p.Name
				}
				return ""
			},
			"ExposedCellMethod": func(i int) string { return method(d.ExposedCellMethod(i)) },
			"ExposedBaseMethod": func(i int) string { return method(d.ExposedBaseMethod(i)) },
		}
	}
	for _, c := range []struct {
		client bool
		want   map[string][]string
	}{
		{true, map[string][]string{"ByClientIndex": {"pose", "gold", "mana"}, "ExposedCellMethod": {"jump", "greet"}, "ExposedBaseMethod": {"buy"}}},
		{false, nil}, // what is said to be exposed is so to nobody
	} {
		s, err := NewSchema(definition(c.client))
		if err != nil {
			t.Fatal(err)
		}
		d := s.Types[0]
		for name, find := range lookups(d) {
			want := c.want[name]
			for i := -3; i < 10; i++ {
				expected := ""
				if i >= 0 && i < len(want) {
					expected = want[i]
				}
				if got := find(i); got != expected {
					t.Errorf("client %v: %s(%d) is %q, want %q", c.client, name, i, got, expected)
				}
			}
			for _, i := range []int{math.MinInt, math.MaxInt, math.MaxUint16, math.MaxInt32} {
				if got := find(i); got != "" {
					t.Errorf("client %v: %s(%d) is %q", c.client, name, i, got)
				}
			}
		}
		// The numbers on the properties and methods are those that find them.
		for _, p := range d.Properties {
			if p.ClientIndex >= 0 && d.ByClientIndex(p.ClientIndex) != p || p.ClientIndex < -1 {
				t.Errorf("%s has client index %d", p.Name, p.ClientIndex)
			}
		}
		for _, m := range d.CellMethods {
			if m.ExposedIndex >= 0 && d.ExposedCellMethod(m.ExposedIndex) != m || m.ExposedIndex < -1 {
				t.Errorf("%s has exposed index %d", m.Name, m.ExposedIndex)
			}
		}
		for _, m := range d.BaseMethods {
			if m.ExposedIndex >= 0 && d.ExposedBaseMethod(m.ExposedIndex) != m || m.ExposedIndex < -1 {
				t.Errorf("%s has exposed index %d", m.Name, m.ExposedIndex)
			}
		}
	}
}
