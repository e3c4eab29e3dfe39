package property

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What trees write for nothing is nothing: an empty element for a number, and the empty literals of
// the original's script language, such as the [] that is the default of lists in KBEngine's own
// example.
func TestLoadEmptyDefaults(t *testing.T) {
	for _, c := range []struct{ typ, text, want string }{
		{"INT8", "", "0"},
		{"UINT64", "", "0"},
		{"FLOAT", "", "0"},
		{"BOOL", "", "false"},
		{"ENTITY_ID", "", "0"},
		{"VECTOR3", "", "0 0 0"},
		{"STRING", "", ""},
		{"ARRAY <of> INT8 </of>", "", ""},
		{"ARRAY <of> INT8 </of>", "[]", ""},
		{"TUPLE <of> INT8 </of>", "()", ""},
		{"ARRAY <of> INT8 </of>", "<item/> <item>2</item>", "<item>0</item><item>2</item>"},
		{"MAP <key> INT8 </key> <of> INT8 </of>", "{}", ""},
		{"FIXED_DICT <Properties> <a> <Type> INT8 </Type> <Default> 5 </Default> </a> </Properties>", "{}", "<a>5</a>"},
		{"PYTHON", "None", "null"},
		{"PY_TUPLE", "()", "[]"},
		{"PYTHON", "", "null"},
		{"PY_DICT", "", "{}"},
		{"PY_LIST", "", "[]"},
		{"PY_TUPLE", "", "[]"},
		{"FIXED_DICT <Properties> <a> <Type> PY_LIST </Type> </a> </Properties>", "", "<a>[]</a>"},
		{"MAILBOX", "None", ""},
	} {
		s, err := Load(tree(one("<Properties> <p> <Type> " + c.typ + " </Type> <Flags> BASE </Flags> <Default> " + c.text + " </Default> </p> </Properties>")))
		if err != nil {
			t.Errorf("%s with %q: %v", c.typ, c.text, err)
			continue
		}
		p := s.Types[0].Properties[0]
		if diff := cmp.Diff(c.want, p.Type.DefaultText(p.Default)); diff != "" {
			t.Errorf("%s with %q: %s", c.typ, c.text, diff)
		}
	}
	if _, err := Scalar(KindInt8).ParseText(nil); err == nil {
		t.Error("a store's text may be empty for a number")
	}
}

// In KBEngine the radius of a ring is counted from where the one before is left, and the rings are
// found by name.
func TestLoadRadiiFromBorders(t *testing.T) {
	ring := func(name, radius, hyst string) string {
		return "<" + name + "> <radius> " + radius + " </radius> <hyst> " + hyst + " </hyst> </" + name + ">"
	}
	s := mustLoad(t, one("<DetailLevels>"+ring("FAR", "100", "8")+ring("NEAR", "20", "4")+ring("MEDIUM", "60", "6")+"</DetailLevels>"))
	want := []DetailLevel{{"NEAR", 20, 4}, {"MEDIUM", 84, 6}, {"FAR", 190, 8}}
	if diff := cmp.Diff(want, s.Types[0].Levels); diff != "" {
		t.Error(diff)
	}
	s = mustLoad(t, one("<LoDLevels> <level> 20 <hyst> 4 </hyst> <label> NEAR </label> </level> <level> 60 <label> MEDIUM </label> </level> </LoDLevels>"))
	if diff := cmp.Diff([]DetailLevel{{"NEAR", 20, 4}, {"MEDIUM", 60, 10}}, s.Types[0].Levels); diff != "" {
		t.Error(diff)
	}
}

// KBEngine reads flags and indexes in any case, and the names of what a list of interfaces holds in
// two.
func TestLoadInAnyCase(t *testing.T) {
	i := one("<Interfaces> <interface> I </interface> <type> J </type> </Interfaces>")
	for _, name := range []string{"I", "J"} {
		i += "-- entity_defs/interfaces/" + name + ".def --\n<root> <Properties> <p" + name + "> <Type> INT8 </Type> <Flags> BASE </Flags> </p" + name + "> </Properties> </root>\n"
	}
	if got := mustLoad(t, i).Types[0].Properties; len(got) != 2 {
		t.Errorf("%d properties of two interfaces", len(got))
	}
	p := mustLoad(t, one("<Properties> <p> <Type> INT8 </Type> <Flags> Base_and_Client </Flags> <Persistent> TRUE </Persistent> <Index> Unique </Index> </p> </Properties>")).Types[0].Properties[0]
	if p.Flags != BaseAndClient || !p.Persistent || !p.Indexed || !p.Unique {
		t.Errorf("%+v", p)
	}
}

// The originals end a comment at --> and look at nothing before it, and people draw lines of dashes.
// What only looks like a comment stays as it is, and so do the numbers of lines.
func TestLoadComments(t *testing.T) {
	s := mustLoad(t, one(`<!-- old -- and new -->
<!--------------
   properties ---
   ------------->
<Properties> <!-----> <p> <Type> STRING <!-- 5--3 --> </Type> <Flags> BASE </Flags> <Default> <![CDATA[<!-- a -- b -->]]> </Default> <Widget> W <!-- x -- y --> <b/> </Widget> </p> </Properties>`))
	p := s.Types[0].Properties[0]
	if got := p.Default.Str(); got != "<!-- a -- b -->" {
		t.Errorf("the default is %q", got)
	}
	if len(p.Kept) != 1 || p.Kept[0].Text != "W <!-- x -- y --> <b/>" {
		t.Errorf("kept %+v", p.Kept)
	}
	for def, want := range map[string]string{
		"<!-- a --\n\n b --->\n<Soul/>": "entity_defs/A.def:5: Soul: unknown element; remove it, or correct its name",
		"<!-- a b >":                    "entity_defs/A.def:4: malformed XML: unexpected EOF; write UTF-8 and close every element",
		"<![CDATA[ <!-- -- ":            "entity_defs/A.def:4: malformed XML: unexpected EOF in CDATA section; write UTF-8 and close every element",
	} {
		if _, err := Load(tree(one(def))); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", def, err, want)
		}
	}
}

// Where nothing is said of Volatile, KBEngine sends position and direction at any distance,
// BigWorld at none. An element that is there and empty says never in both.
func TestLoadWithoutVolatile(t *testing.T) {
	always := Volatile{Always(), Always(), Always(), Always()}
	for _, c := range []struct {
		def  string
		want Volatile
	}{
		{"<Interfaces/>", always},
		{"<Interfaces/> <Volatile/>", Volatile{}},
		{"<Interfaces/> <Volatile> <position/> </Volatile>", Volatile{Position: Always()}},
		{"<Interfaces/> <Distribution> <Cell> false </Cell> <Base> true </Base> <Client> true </Client> </Distribution>", Volatile{}},
		{"<Implements/>", Volatile{}},
		{"", Volatile{}},
	} {
		if got := mustLoad(t, one(c.def)).Types[0].Volatile; got != c.want {
			t.Errorf("%s: %v, want %v", c.def, got, c.want)
		}
	}
}

// A type adds detail levels to those of its parent and interfaces, in any order; one of the same
// label takes its place.
func TestLoadLevelsAdd(t *testing.T) {
	level := func(start, label string) string {
		return "<level> " + start + " <label> " + label + " </label> </level> "
	}
	s := mustLoad(t, one("<Parent> P </Parent> <Implements> <Interface> I </Interface> </Implements> <LoDLevels> "+level("200", "FAR")+level("10", "NEAR")+"</LoDLevels>"+
		"<Properties> <p> <Type> INT8 </Type> <Flags> OTHER_CLIENTS </Flags> <DetailLevel> MEDIUM </DetailLevel> </p> </Properties>")+
		"-- entity_defs/P.def --\n<root> <LoDLevels> "+level("20", "NEAR")+level("60", "MEDIUM")+"</LoDLevels> </root>\n"+
		"-- entity_defs/interfaces/I.def --\n<root> <LoDLevels> "+level("300", "SKY")+"</LoDLevels> </root>\n")
	want := []DetailLevel{{"NEAR", 10, 10}, {"MEDIUM", 60, 10}, {"FAR", 200, 10}, {"SKY", 300, 10}}
	if diff := cmp.Diff(want, s.Types[0].Levels); diff != "" {
		t.Error(diff)
	}
	if p := s.Types[0].Properties[0]; p.Level != 1 {
		t.Errorf("level %d", p.Level)
	}
}

// A Distribution names all sides that a type has, and speaks of no type but its own.
func TestLoadDistribution(t *testing.T) {
	s := mustLoad(t, "-- entities.xml --\n<root> <A/> <B/> <C/> </root>\n"+
		"-- entity_defs/A.def --\n<root> <Distribution> <Base> true </Base> </Distribution> </root>\n"+
		"-- entity_defs/B.def --\n<root> <Parent> A </Parent> </root>\n"+
		"-- entity_defs/C.def --\n<root> <Distribution> <Cell> true </Cell> <Base> false </Base> <Client> true </Client> </Distribution> </root>\n")
	for i, want := range [][3]bool{{false, true, false}, {true, true, true}, {true, false, true}} {
		if d := s.Types[i]; [3]bool{d.HasCell, d.HasBase, d.HasClient} != want {
			t.Errorf("%s: %v %v %v, want %v", d.Name, d.HasCell, d.HasBase, d.HasClient, want)
		}
	}
	const want = "entity_defs/A.def:1: the type has no side; let it have a cell, a base or a client"
	if _, err := Load(tree(one("<Distribution/>"))); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// A type inherits its Parent's ClientName; an empty one of its own says that clients see it as
// itself.
func TestLoadEmptyClientName(t *testing.T) {
	s := mustLoad(t, "-- entities.xml --\n<root> <A/> <B/> <C/> <D/> </root>\n-- entity_defs/A.def --\n<root/>\n"+
		"-- entity_defs/B.def --\n<root> <Parent> A </Parent> <ClientName> A </ClientName> </root>\n"+
		"-- entity_defs/C.def --\n<root> <Parent> B </Parent> </root>\n"+
		"-- entity_defs/D.def --\n<root> <Parent> B </Parent> <ClientName/> </root>\n")
	for i, want := range []string{"", "A", "A", ""} {
		if d := s.Types[i]; d.ClientName != want {
			t.Errorf("%s has ClientName %q, want %q", d.Name, d.ClientName, want)
		}
	}
}

// What two interfaces both have is of the second, in the place of the first; settings of interfaces
// count before a parent's, and the file's own before both.
func TestLoadFromInterfaces(t *testing.T) {
	s := mustLoad(t, one("<Parent> B </Parent> <Implements> <Interface> I </Interface> <Interface> J </Interface> </Implements> <AppealRadius> 3 </AppealRadius>")+
		"-- entity_defs/B.def --\n<root> <Volatile> <position> 9 </position> </Volatile> <AppealRadius> 1 </AppealRadius> <IsManualAOI> true </IsManualAOI> </root>\n"+
		"-- entity_defs/interfaces/I.def --\n<root> <Volatile> <position> 7 </position> </Volatile> <AppealRadius> 2 </AppealRadius> <Properties> <p> <Type> INT8 </Type> <Flags> BASE </Flags> </p> <q> <Type> INT8 </Type> <Flags> BASE </Flags> </q> </Properties> </root>\n"+
		"-- entity_defs/interfaces/J.def --\n<root> <Properties> <r> <Type> INT8 </Type> <Flags> BASE </Flags> </r> <p> <Type> INT16 </Type> <Flags> BASE </Flags> </p> </Properties> </root>\n")
	d := s.Type("A")
	var order []string
	for _, p := range d.Properties {
		order = append(order, p.Name+" "+p.Type.String())
	}
	if got := strings.Join(order, ", "); got != "p INT16, q INT8, r INT8" {
		t.Errorf("properties %s", got)
	}
	if d.Volatile.Position != 7 || d.AppealRadius != 3 || !d.ManualAoI {
		t.Errorf("volatile %v, appeal %v, manual %v", d.Volatile, d.AppealRadius, d.ManualAoI)
	}
}

// Arguments of the unnamed style may be named.
func TestLoadArgName(t *testing.T) {
	d := mustLoad(t, one("<CellMethods> <m> <Arg> INT8 <ArgName> n </ArgName> </Arg> <Arg> ARRAY <of> INT8 </of> <ArgName> list </ArgName> </Arg> <Arg> BOOL </Arg> </m> </CellMethods>")).Type("A")
	var args []string
	for _, a := range d.CellMethods[0].Args {
		args = append(args, a.Name+" "+a.Type.String())
	}
	if got := strings.Join(args, ", "); got != "n INT8, list ARRAY<INT8>,  BOOL" {
		t.Errorf("arguments %s", got)
	}
}
