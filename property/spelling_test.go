package property

import (
	"strings"
	"testing"

	"github.com/cellscape/cellscape/property/internal/mpack"
)

// spelled loads one default of a type, in a tree of KBEngine's dialect if kbe.
func spelled(typ, text string, kbe bool) (*Schema, error) {
	list := "<root> <A/> </root>"
	if kbe {
		list = `<root> <A hasClient="true"/> </root>`
	}
	return Load(tree("-- entities.xml --\n" + list + "\n-- entity_defs/A.def --\n<root> <Properties> <p> <Type> " + typ +
		" </Type> <Flags> BASE </Flags> <Default> " + text + " </Default> </p> </Properties> </root>\n"))
}

const (
	record = "FIXED_DICT <Properties> <x> <Type> INT8 </Type> <Default> 3 </Default> </x> <y> <Type> STRING </Type> </y> </Properties>"
	ints   = "ARRAY <of> INT16 </of>"
)

// Every spelling that the loaders of BigWorld and KBEngine read.
func TestSpellings(t *testing.T) {
	for _, c := range []struct {
		typ, text, want string
		notice          string // a part of it, "" for none
	}{
		{"VECTOR3", "(0,0,0)", "(0 0 0)", ""},
		{"VECTOR3", "( 1.5 , -2, 3e2 )", "(1.5 -2 300)", ""},
		{"VECTOR3", "1 2 3", "(1 2 3)", ""},
		{"VECTOR3", "1,2,3", "(1 2 3)", ""},
		{"VECTOR3", "[1, 2, 3]", "(1 2 3)", ""},
		{"VECTOR3", "(1.0f, 2.f, .5)", "(1 2 0.5)", ""},
		{"VECTOR3", "(1,2,3", "(1 2 3)", ""},
		{"VECTOR3", "", "(0 0 0)", ""},
		{"VECTOR2", "(1,2)", "(1 2)", ""},
		{"VECTOR4", "(1,2,3,4)", "(1 2 3 4)", ""},
		{"INT32", "+5", "5", ""},
		{"INT32", "-5L", "-5", ""},
		{"UINT32", "+5", "5", ""},
		{"UINT32", "5u", "5", ""},
		{"UINT64", "18446744073709551615ULL", "18446744073709551615", ""},
		{"INT32", "007", "7", ""},
		{"INT32", "5.0", "5", ""},
		{"INT32", "5.", "5", ""},
		{"INT32", "5.7", "5", "is read as 5, as the original does"},
		{"INT32", "5 hours", "5", "is read as 5, as the original does"},
		{"INT32", "1e3", "1", "is read as 1, as the original does"},
		{"INT32", "0x10", "16", "the original reads 0"},
		{"INT32", "-0x10L", "-16", "the original reads 0"},
		{"FLOAT", "1.5f", "1.5", ""},
		{"FLOAT", "1.25e-1", "0.125", ""},
		{"FLOAT", ".5", "0.5", ""},
		{"FLOAT", "5.", "5", ""},
		{"FLOAT", "5L", "5", ""},
		{"DOUBLE", "1.5e+2 metres", "150", "is read as 1.5e+2, as the original does"},
		{"DOUBLE", "2e", "2", "is read as 2, as the original does"},
		{"BOOL", "True", "true", ""},
		{"BOOL", "0", "false", ""},
		{"MAILBOX", "None", "mailbox(0 0 0 invalid AddrPort 0)", ""},
		{"ENTITYCALL", "whatever", "mailbox(0 0 0 invalid AddrPort 0)", "a mailbox begins empty"},
		{"STRING", "'a'", `"'a'"`, ""},
		{"PYTHON", "None", "null", ""},
		{"PYTHON", "{'a': (1, 2L), 'b': True, u'c': -0.5}", `{"a":[1,2],"b":true,"c":-0.5}`, ""},
		{"PYTHON", "{1: 'x', 2: \"y\"}", `{"$map":[[1,"x"],[2,"y"]]}`, ""},
		{"PYTHON", "1, 2", "[1,2]", ""},
		{"PYTHON", "(1)", "1", ""},
		{"PYTHON", "(1,)", "[1]", ""},
		{"PYTHON", "dict()", "{}", ""},
		{"PYTHON", `'it\'s \x41' "b"`, `"it's Ab"`, ""},
		{"PYTHON", "b'hi'", `{"$bin":"aGk="}`, ""},
		{"PY_DICT", "{}", "{}", ""},
		{"PY_LIST", "[]", "[]", ""},
		{"PY_TUPLE", "()", "[]", ""},
		{"PYTHON", `{"a": true}`, `{"a":true}`, ""},
		{"PYTHON", "0xFF", "255", ""},
		{ints, "[1, -2, 3L]", "[1 -2 3]", ""},
		{ints, "(4, 5)", "[4 5]", ""},
		{ints, "[]", "[]", ""},
		{ints, "", "[]", ""},
		{ints, "<item> 1 </item> <item> 2L </item>", "[1 2]", ""},
		{"ARRAY <of> " + ints + " </of>", "[[1], [2, 3]]", "[[1] [2 3]]", ""},
		{"TUPLE <of> FLOAT </of> <size> 2 </size>", "(1, 2.5)", "[1 2.5]", ""},
		{"MAP <key> STRING </key> <of> INT8 </of>", "{'b': 2, 'a': 1}", `["a" 1 "b" 2]`, ""},
		{record, "{'y': 'hi'}", `[3 "hi"]`, ""},
		{record, "{}", `[3 ""]`, ""},
		{record, "<y> hi </y>", `[3 "hi"]`, ""},
	} {
		s, err := spelled(c.typ, c.text, false)
		if err != nil {
			t.Errorf("%s %q: %v", c.typ, c.text, err)
			continue
		}
		p := s.Types[0].Properties[0]
		got := p.Default.String()
		if p.Type.Kind() == KindAny {
			got, _ = mpack.ToJSON(p.Default.text())
		}
		if got != c.want {
			t.Errorf("%s %q: %s, want %s", c.typ, c.text, got, c.want)
		}
		told := s.Notices.Error()
		if heard := strings.Contains(told, "Properties/p/Default"); heard != (c.notice != "") || !strings.Contains(told, c.notice) {
			t.Errorf("%s %q: notices %q, want %q", c.typ, c.text, told, c.notice)
		}
	}
}

// What begins with no number, or means none of the type's values, is no spelling, though the
// originals go on with zero.
func TestNotSpellings(t *testing.T) {
	for _, c := range [][2]string{
		{"INT32", "many"}, {"INT32", "true"}, {"INT8", "0x100"}, {"INT8", "300"}, {"UINT8", "-1"}, {"INT32", "-"}, {"INT32", "0x"},
		{"FLOAT", "."}, {"FLOAT", "e5"}, {"FLOAT", "1e39"}, {"VECTOR3", "(1,2)"}, {"VECTOR3", "1(2)3"}, {"VECTOR3", "(a,b,c)"},
		{"VECTOR3", "(1e39,0,0)"}, {"PYTHON", "time.time()"}, {"PYTHON", "{1: 2, 'a': 3}"}, {"PYTHON", "[1"}, {"PYTHON", "'a"},
		{"PYTHON", "{'a': 1, 'a': 2}"}, {"PYTHON", "{1, 2}"}, {"PYTHON", strings.Repeat("[", 100) + strings.Repeat("]", 100)},
		{ints, "[100000]"}, {ints, "['a']"}, {ints, "5"}, {ints, "[1, 2"}, {record, "{'z': 1}"}, {record, "[1]"},
		{"TUPLE <of> FLOAT </of> <size> 2 </size>", "(1,)"}, {"MAP <key> INT8 </key> <of> INT8 </of>", "{'a': 1}"},
	} {
		if s, err := spelled(c[0], c[1], false); err == nil {
			t.Errorf("%s %q is read as %v", c[0], c[1], s.Types[0].Properties[0].Default)
		} else if !strings.Contains(err.Error(), "Properties/p/Default") {
			t.Errorf("%s %q: %v", c[0], c[1], err)
		}
	}
}

// The default of a BLOB is bytes as they stand in KBEngine's dialect, base64 in BigWorld's.
func TestSpellingOfBlobs(t *testing.T) {
	for _, c := range []struct {
		text string
		kbe  bool
		want string
	}{{"aGk=", false, "hi"}, {"aGk=", true, "aGk="}, {"some bytes", true, "some bytes"}, {"", true, ""}} {
		s, err := spelled("BLOB", c.text, c.kbe)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(s.Types[0].Properties[0].Default.Bytes()); got != c.want {
			t.Errorf("%q, KBEngine %v: %q", c.text, c.kbe, got)
		}
	}
	if _, err := spelled("BLOB", "some bytes", false); err == nil {
		t.Error("BigWorld reads base64 alone")
	}
}

// A tree as KBEngine's examples have them loads, with all that they write and no server of ours
// reads.
func TestTreeLikeKBEnginesExamples(t *testing.T) {
	s, err := Load(tree(`-- scripts/entities.xml --
<root> <Account hasClient="true"></Account> <Monster hasClient="true"/> <Spawner/> </root>
-- scripts/entity_defs/types.xml --
<root>
	<BOOL> UINT8 </BOOL> <ENTITY_ID> INT32 </ENTITY_ID> <OBJECT_ID> INT32 </OBJECT_ID> <DBID> UINT64 </DBID> <ANYTHING> PYTHON </ANYTHING>
	<ROW> FIXED_DICT <implementedBy> rows.inst </implementedBy> <Properties> <id> <Type> DBID </Type> </id> <data> <Type> BLOB </Type> </data> </Properties> </ROW>
	<ROWS> FIXED_DICT <implementedBy> rows.list </implementedBy> <Properties> <values> <Type> ARRAY <of> ROW </of> </Type> </values> </Properties> </ROWS>
	<GRID> FIXED_DICT <Properties> <cells> <Type> ARRAY <of> ARRAY <of>INT64 </of></of> </Type> </cells> </Properties> </GRID>
</root>
-- scripts/entity_defs/Account.def --
<root> <Properties>
	<rows> <Type> ROWS </Type> <Flags> BASE </Flags> <Default> </Default> <Persistent> true </Persistent> </rows>
	<active> <Type> ENTITYCALL </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> </active>
	<extra> <Type> PY_DICT </Type> <Flags> BASE </Flags> <Default> {} </Default> </extra>
	<grid> <Type> GRID </Type> <Flags> BASE </Flags> </grid>
</Properties> <ClientMethods> <onRows> <Utype> 10003 </Utype> <Arg> ROWS </Arg> </onRows> </ClientMethods> <CellMethods/> </root>
-- scripts/entity_defs/Monster.def --
<root> <Volatile> <position/> <yaw/> <optimized> true </optimized> </Volatile> <Interfaces> <Interface> Being </Interface> </Interfaces>
	<Components> <a> <Type> Test </Type> <Persistent> false </Persistent> </a> </Components> </root>
-- scripts/entity_defs/Spawner.def --
<root> <Interfaces> <Interface> Being </Interface> </Interfaces> </root>
-- scripts/entity_defs/interfaces/Being.def --
<root> <Interfaces> </Interfaces> <Properties>
	<spawnPos> <Type> VECTOR3 </Type> <Flags> CELL_PRIVATE </Flags> <Default> (0,0,0) </Default> </spawnPos>
	<name> <Type> UNICODE </Type> <Utype> 41003 </Utype> <Flags> ALL_CLIENTS </Flags> <DetailLevel> MEDIUM </DetailLevel> </name>
</Properties> <BaseMethods> </BaseMethods> </root>
-- scripts/entity_defs/components/Test.def --
<root> <Properties> <state> <Type> INT32 </Type> <Flags> ALL_CLIENTS </Flags> <Default> 100 </Default> </state> </Properties>
	<CellEvents> <hello> <Exposed/> <Arg> INT32 </Arg> </hello> </CellEvents>
	<CellMethods> <hello> <Exposed/> <Arg> INT32 </Arg> </hello> </CellMethods> </root>
`))
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Type("Monster").Property("spawnPos"); p.Default.Vec3() != (Vector3{}) || s.Dialect != DialectKBEngine {
		t.Errorf("%v, %v", p.Default, s.Dialect)
	}
	if !strings.Contains(s.Notices.Error(), "components/Test.def:2: CellEvents: it is not read") {
		t.Errorf("no notice of CellEvents:\n%v", s.Notices)
	}
}

// A USER_TYPE without codec is a fault of every place that names it, beside all other faults; a
// survey goes on.
func TestUserTypesWithoutCodec(t *testing.T) {
	const text = `-- entities.xml --
<root> <A/> </root>
-- alias.xml --
<root> <BAG> FIXED_DICT <Properties> <items> <Type> ARRAY <of> USER_TYPE <implementedBy> item.inst </implementedBy> </of> </Type> </items> <n> <Type> INT8 </Type> </n> </Properties> </BAG> </root>
-- entity_defs/A.def --
<root> <Properties>
	<bag> <Type> BAG </Type> <Flags> BASE </Flags> <Default> <n> 5 </n> </Default> </bag>
	<one> <Type> USER_TYPE <implementedBy> item.inst </implementedBy> </Type> <Flags> BASE </Flags> <Default> <a> 1 </a> </Default> </one>
	<two> <Type> USER_TYPE <implementedBy> coin.inst </implementedBy> </Type> <Flags> BASE </Flags> <Default> [1 </Default> </two>
	<bad> <Type> INT8 </Type> <Flags> BASE </Flags> <Default> BAD </Default> </bad>
</Properties> </root>
`
	_, err := Load(tree(text))
	faults, _ := err.(Faults)
	want := []string{`bad/Default: "BAD" is not a INT8`, "alias.xml:1: BAG/Properties/items/Type/of/implementedBy: USER_TYPE item.inst needs a codec in Go",
		"Properties/one/Type/implementedBy: USER_TYPE item.inst", "Properties/two/Type/implementedBy: USER_TYPE coin.inst", "write a property.UserCodec"}
	for _, w := range want {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("%q is missing in\n%v", w, err)
		}
	}
	if len(faults) != 4 {
		t.Errorf("%d faults:\n%v", len(faults), err)
	}
	if _, err := LoadWith(tree(text), Options{Survey: true}); err == nil || !strings.Contains(err.Error(), "coin.inst") {
		t.Errorf("a survey of a faulty tree: %v", err)
	}
	s, err := LoadWith(tree(strings.Replace(text, "BAD", "7", 1)), Options{Survey: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.MissingTypes) != 2 || s.MissingTypes[0].Name != "item.inst" || len(s.MissingTypes[0].Where) != 2 || len(s.Notices) != 3 {
		t.Errorf("%+v\n%v", s.MissingTypes, s.Notices)
	}
	if got := s.Types[0].Property("bag").Default.String(); got != "[[] 5]" {
		t.Errorf("bag %s", got)
	}
}

// Any text is read or refused as a default of any type, and what is read is a value of the type.
func FuzzDefaultText(f *testing.F) {
	types := []*DataType{Scalar(KindInt8), Scalar(KindUint64), Scalar(KindFloat32), Scalar(KindFloat64), Scalar(KindBool), Scalar(KindVec2),
		Scalar(KindVec3), Scalar(KindVec4), Scalar(KindMailbox), Scalar(KindAny), Scalar(KindString), Scalar(KindBlob), Scalar(KindEntityID)}
	list, _ := newSequence(KindArray, Scalar(KindInt16), 0)
	dict, _ := NewFixedDict(true, DictField{Name: "x", Type: Scalar(KindInt8)}, DictField{Name: "l", Type: list})
	pairs, _ := NewMap(Scalar(KindString), dict)
	types = append(types, list, dict, pairs)
	for i, text := range []string{"(0,0,0)", "0x1F", "-5L", "1.5e3f", "{'a': [1, (2,), b'\\xff', u'\\u20ac']}", "[1, 2]", "{'x': 1, 'l': []}", "1e", "'''a''' 'b'", "-", "+.", "(((((", "dict()", "{1:2}"} {
		f.Add(uint8(i), text)
	}
	f.Fuzz(func(t *testing.T, k uint8, text string) {
		typ := types[int(k)%len(types)]
		l := &loader{report: newReport()}
		v, ok := l.parseValue(typ, &element{name: "Default", text: text}, "Default")
		if !ok {
			if l.err() == nil {
				t.Fatalf("%v %q: refused without a fault", typ, text)
			}
			return
		}
		if _, err := typ.Fit(v); err != nil {
			t.Fatalf("%v %q: %v does not fit: %v", typ, text, v, err)
		}
	})
}
