package property

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// tree makes a file system from the form "-- name --\ntext".
func tree(text string) fstest.MapFS {
	files := fstest.MapFS{}
	for _, part := range strings.Split("\n"+text, "\n-- ")[1:] {
		name, body, _ := strings.Cut(part, " --\n")
		files[name] = &fstest.MapFile{Data: []byte(body)}
	}
	return files
}

const goodTree = `-- entities.xml --
<root>
	<Avatar/>
	<ClientServerEntities> <Seat/> </ClientServerEntities>
	<ServerOnlyEntities> <Weather/> </ServerOnlyEntities>
</root>
-- alias.xml --
<root>
	<SLOTS> ARRAY <of> ITEM </of> <size> 2 </size> </SLOTS>
	<ITEM> FIXED_DICT
		<Properties>
			<kind> <Type> UINT16 </Type> <Default> 7 </Default> </kind>
			<tags> <Type> ARRAY <of> STRING </of> </Type> </tags>
		</Properties>
	</ITEM>
	<RARE_ITEM> FIXED_DICT
		<Parent> ITEM </Parent>
		<Properties> <owner> <Type> OBJECT_ID </Type> </owner> </Properties>
		<AllowNone> true </AllowNone>
	</RARE_ITEM>
	<GAUGE> FLOAT <Default> 1.5 </Default> </GAUGE>
	<OBJECT_ID> INT32 </OBJECT_ID>
</root>
-- entity_defs/Being.def --
<root>
	<Volatile> <position/> <yaw/> <pitch> 20 </pitch> </Volatile>
	<AppealRadius> 3 </AppealRadius>
	<Properties>
		<health> <Type> INT32 </Type> <Flags> ALL_CLIENTS </Flags> <Default> 100 </Default> </health>
		<mana> <Type> GAUGE </Type> <Flags> OWN_CLIENT </Flags> </mana>
	</Properties>
	<LoDLevels>
		<level> 20 <hyst> 4 </hyst> <label> NEAR </label> </level>
		<level> 100 <label> MEDIUM </label> </level>
	</LoDLevels>
</root>
-- entity_defs/interfaces/Talker.def --
<root>
	<Properties>
		<mood> <Type> INT8 </Type> <Flags> OTHER_CLIENT </Flags> <DetailLevel> NEAR </DetailLevel> </mood>
	</Properties>
	<ClientMethods>
		<say> <Arg> UNICODE_STRING </Arg> <DetailDistance> 30 </DetailDistance> <SendLatestOnly> true </SendLatestOnly> </say>
	</ClientMethods>
	<CellMethods>
		<chat> <Exposed/> <Args> <text> UNICODE_STRING </text> <volume> UINT8 </volume> </Args> </chat>
	</CellMethods>
</root>
-- entity_defs/Avatar.def --
<root>
	<Parent> Being </Parent>
	<Implements> <Interface> Talker </Interface> <Interface> Talker </Interface> </Implements>
	<Persistent> true </Persistent>
	<Properties>
		<name>
			<Type> UNICODE_STRING </Type> <Flags> BASE_AND_CLIENT </Flags>
			<Persistent> true </Persistent> <Identifier> true </Identifier> <Editable> true </Editable>
		</name>
		<health> <Type> INT16 </Type> <Flags> ALL_CLIENT </Flags> <Default> 50 </Default> </health>
		<slots> <Type> SLOTS </Type> <Flags> PRIVATE </Flags> </slots>
		<best> <Type> RARE_ITEM </Type> <Flags> CELL_PUBLIC </Flags> </best>
		<home> <Type> VECTOR3 </Type> <Flags> CELL_PUBLIC_AND_OWN </Flags> <Default> 1.0 2.5 -3 </Default> </home>
		<colour> <Type> TUPLE <of> UINT8 </of> <size> 3 </size> </Type> <Flags> BASE </Flags>
			<Default> <item> 1 </item> <item> 2 </item> <item> 3 </item> </Default> </colour>
		<icon> <Type> STRING </Type> <Flags> EDITOR_ONLY </Flags> </icon>
	</Properties>
	<BaseMethods> <logOut> <Exposed/> </logOut> <credit> <Arg> INT64 </Arg> <ReturnValues> <total> INT64 </total> </ReturnValues> </credit> </BaseMethods>
</root>
-- entity_defs/Seat.def --
<root>
	<Properties>
		<seatType> <Type> INT8 </Type> <Flags> OTHER_CLIENT </Flags> <Default> -1 </Default> <DetailLevel> NEAR </DetailLevel> </seatType>
		<ownerID> <Type> INT32 </Type> <Flags> OTHER_CLIENT </Flags> </ownerID>
	</Properties>
	<DetailLevels> <NEAR> <radius> 20 </radius> <hyst> 4 </hyst> </NEAR> </DetailLevels>
	<CellMethods> <sitDownRequest> <Exposed> OWN_CLIENT </Exposed> <Arg> ENTITY_ID </Arg> </sitDownRequest> </CellMethods>
</root>
-- entity_defs/Weather.def --
<root> <Properties> <rain> <Type> FLOAT32 </Type> <Flags> OTHER_CLIENTS </Flags> </rain> </Properties> </root>
`

func mustLoad(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := Load(tree(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLoad(t *testing.T) {
	s := mustLoad(t, goodTree)
	var text strings.Builder
	if err := s.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	const want = `type Avatar cell=true base=true client=true persistent=true detailed=false manual=false appeal=3 volatile={+Inf +Inf 20 0}
 level NEAR 20 4
 level MEDIUM 100 10
 property health INT16 ALL_CLIENTS level=2 default=50 persistent=false identifier=false indexed=false unique=false length=0 latest=false unreliable=false
 property mana FLOAT32 OWN_CLIENT level=2 default=1.5 persistent=false identifier=false indexed=false unique=false length=0 latest=false unreliable=false
 property mood INT8 OTHER_CLIENTS level=0 default=0 persistent=false identifier=false indexed=false unique=false length=0 latest=false unreliable=false
 property name UNICODE_STRING BASE_AND_CLIENT level=2 default="" persistent=true identifier=true indexed=true unique=true length=0 latest=false unreliable=false
 property slots ARRAY<FIXED_DICT{kind:UINT16 tags:ARRAY<STRING>} 2> CELL_PRIVATE level=2 default=[[7 []] [7 []]] persistent=false identifier=false indexed=false unique=false length=0 latest=false unreliable=false
 property best FIXED_DICT?{kind:UINT16 tags:ARRAY<STRING> owner:ENTITY_ID} CELL_PUBLIC level=2 default=none persistent=false identifier=false indexed=false unique=false length=0 latest=false unreliable=false
 property home VECTOR3 CELL_PUBLIC_AND_OWN level=2 default=(1 2.5 -3) persistent=false identifier=false indexed=false unique=false length=0 latest=false unreliable=false
 property colour TUPLE<UINT8 3> BASE level=2 default=[1 2 3] persistent=false identifier=false indexed=false unique=false length=0 latest=false unreliable=false
 property icon STRING EDITOR_ONLY level=2 default="" persistent=false identifier=false indexed=false unique=false length=0 latest=false unreliable=false
 cell method chat exposed=ALL_CLIENTS UNICODE_STRING UINT8 distance=0 latest=false unreliable=false
 base method logOut exposed=OWN_CLIENT distance=0 latest=false unreliable=false
 base method credit exposed= INT64 returns INT64 distance=0 latest=false unreliable=false
 client method say exposed= UNICODE_STRING distance=30 latest=true unreliable=false
type Seat cell=true base=true client=true persistent=false detailed=false manual=false appeal=0 volatile={0 0 0 0}
 level NEAR 20 4
 property seatType INT8 OTHER_CLIENTS level=0 default=-1 persistent=false identifier=false indexed=false unique=false length=0 latest=false unreliable=false
 property ownerID INT32 OTHER_CLIENTS level=1 default=0 persistent=false identifier=false indexed=false unique=false length=0 latest=false unreliable=false
 cell method sitDownRequest exposed=OWN_CLIENT ENTITY_ID distance=0 latest=false unreliable=false
type Weather cell=true base=true client=false persistent=false detailed=false manual=false appeal=0 volatile={0 0 0 0}
 property rain FLOAT32 OTHER_CLIENTS level=0 default=0 persistent=false identifier=false indexed=false unique=false length=0 latest=false unreliable=false
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Error(diff)
	}
	wantNotices := `alias.xml:15: OBJECT_ID: ENTITY_ID is a type of its own here; what the alias says is not used; remove the alias
alias.xml:11: RARE_ITEM/Properties/owner/Type: OBJECT_ID is ENTITY_ID here, 64 bits wide; write ENTITY_ID`
	if diff := cmp.Diff(wantNotices, s.Notices.Error()); diff != "" {
		t.Error(diff)
	}
	avatar := s.Type("Avatar")
	if got := avatar.AtLevel(0); !cmp.Equal(got, []int{2}) {
		t.Errorf("level 0 has %v", got)
	}
	if s.ByID(1) != s.Type("Seat") || s.ByID(3) != nil || s.ByClientID(1) != s.Type("Seat") || s.Type("Weather").ClientID != NoClientID {
		t.Error("ids")
	}
	if m := avatar.CellMethod("chat"); m.Index != 0 || m.ExposedIndex != 0 || m.Args[1].Name != "volume" {
		t.Errorf("chat is %+v", m)
	}
	if m := avatar.BaseMethod("credit"); m.Index != 1 || m.ExposedIndex != -1 {
		t.Errorf("credit is %+v", m)
	}
	if avatar.ClientMethod("chat") != nil || avatar.Property("nothing") != nil {
		t.Error("found what is not there")
	}
	if got := s.Type("Weather").Stream(OtherClientStream); got != nil {
		t.Errorf("a type without client side streams %v to clients", got)
	}
}

// The dialect with attributes: a type has a client only if it says so, once any says so.
func TestLoadAttributes(t *testing.T) {
	s := mustLoad(t, `-- entities.xml --
<root> <Account hasCell="false" hasBase="true" hasClient="true"/> <Space/> </root>
-- entity_defs/types.xml --
<root> <UID> UINT64 </UID> </root>
-- entity_defs/Account.def --
<root> <Properties> <last> <Type> UID </Type> <Flags> BASE </Flags> <Utype> 41000 </Utype> <Persistent> true </Persistent> <Index> UNIQUE </Index> </last> </Properties> </root>
-- entity_defs/Space.def --
<root> <Parent></Parent> <Distribution> <Base> false </Base> </Distribution> <Volatile> <position/> <optimized> true </optimized> </Volatile> </root>
`)
	a, sp := s.Type("Account"), s.Type("Space")
	if a.HasCell || !a.HasBase || !a.HasClient || !sp.HasCell || sp.HasBase || sp.HasClient {
		t.Errorf("sides: %+v %+v", a, sp)
	}
	if p := a.Property("last"); !p.Indexed || !p.Unique {
		t.Errorf("index: %+v", p)
	}
}

// clientNumbers is what each number that a client uses means.
func clientNumbers(s *Schema) (all []string) {
	for id := uint16(0); s.ByClientID(id) != nil; id++ {
		d := s.ByClientID(id)
		note := func(kind string, i int, name string) {
			all = append(all, fmt.Sprintf("%d %s: %s %d is %s", id, d.Name, kind, i, name))
		}
		for i := 0; d.ByClientIndex(i) != nil; i++ {
			note("property", i, d.ByClientIndex(i).Name)
		}
		for i := 0; d.ExposedCellMethod(i) != nil; i++ {
			note("cell method", i, d.ExposedCellMethod(i).Name)
		}
		for i := 0; d.ExposedBaseMethod(i) != nil; i++ {
			note("base method", i, d.ExposedBaseMethod(i).Name)
		}
		for i, m := range d.ClientMethods {
			note("client method", i, m.Name)
		}
	}
	return all
}

// A server-only edit must not lock clients out; every edit must show between servers.
func TestDigests(t *testing.T) {
	base := mustLoad(t, goodTree)
	for _, edit := range []struct {
		name, from, to string
		client         bool // the client's digest changes too
	}{
		{"private property", "<Flags> PRIVATE </Flags> </slots>", "<Flags> PRIVATE </Flags> </slots> <extra> <Type> INT8 </Type> <Flags> CELL_PRIVATE </Flags> </extra>", false},
		{"private property first", "<Properties>\n\t\t<health> <Type> INT32", "<Properties>\n\t\t<zero> <Type> INT8 </Type> <Flags> BASE </Flags> </zero>\n\t\t<health> <Type> INT32", false},
		{"server type first", "<root>\n\t<Avatar/>", "<root>\n\t<ServerOnlyEntities> <Rain/> </ServerOnlyEntities> <Avatar/>", false},
		{"default", "<Default> 50 </Default>", "<Default> 51 </Default>", false},
		{"radius", "<level> 20 ", "<level> 21 ", false},
		{"method that is not exposed", "<credit> <Arg> INT64", "<credit> <Arg> INT32", false},
		{"type of a property", "<Type> INT16", "<Type> INT32", true},
		{"flags", "CELL_PUBLIC_AND_OWN", "ALL_CLIENTS", true},
		{"argument", "<volume> UINT8", "<volume> INT8", true},
		{"exposure", "<sitDownRequest> <Exposed> OWN_CLIENT", "<sitDownRequest> <Exposed> ALL_CLIENTS", true},
		{"name", "<mood>", "<Mood>", true},
	} {
		t.Run(edit.name, func(t *testing.T) {
			text := strings.Replace(goodTree, edit.from, edit.to, 1)
			if text == goodTree {
				t.Fatal("nothing edited")
			}
			text = strings.Replace(text, "</mood>", "</"+map[bool]string{true: "Mood", false: "mood"}[edit.name == "name"]+">", 1)
			s := mustLoad(t, text+"-- entity_defs/Rain.def --\n<root/>\n")
			if s.Digest == base.Digest {
				t.Error("Digest did not change")
			}
			if changed := s.ClientDigest != base.ClientDigest; changed != edit.client {
				t.Errorf("ClientDigest changed: %v", changed)
			}
			// Equal client digests promise that every number a client uses means the same.
			if a, b := clientNumbers(base), clientNumbers(s); !edit.client && !cmp.Equal(a, b) {
				t.Errorf("numbers of clients (-before +after):\n%s", cmp.Diff(a, b))
			}
		})
	}
}

// one is a tree of one type whose definition has the given elements.
func one(def string) string {
	return "-- entities.xml --\n<root> <A/> </root>\n-- entity_defs/A.def --\n<root>\n" + def + "\n</root>\n"
}

func withAlias(aliases, def string) string {
	return one(def) + "-- alias.xml --\n<root>\n" + aliases + "\n</root>\n"
}

const flagsRemedy = "use one of CELL_PRIVATE, CELL_PUBLIC, OTHER_CLIENTS, OWN_CLIENT, CELL_PUBLIC_AND_OWN, ALL_CLIENTS, BASE, BASE_AND_CLIENT, EDITOR_ONLY"

func TestLoadFaults(t *testing.T) {
	prop := func(elements string) string {
		return one("<Properties>\n<p> " + elements + " </p>\n</Properties>")
	}
	const a = "entity_defs/A.def"
	for _, c := range []struct{ name, tree, want string }{
		// Files.
		{"no list", "-- other.xml --\n", "entities.xml: there is no file entities.xml; list the entity types there"},
		{"no def", "-- entities.xml --\n<root>\n<A/></root>", "entities.xml:2: A: there is no file entity_defs/A.def; create it, or correct the name"},
		{"no parent", one("<Parent> B </Parent>"), a + ":2: Parent: there is no file entity_defs/B.def; create it, or correct the name"},
		{"no interface", one("<Implements>\n<Interface> B </Interface> </Implements>"), a + ":3: Implements/Interface: there is no file entity_defs/interfaces/B.def; create it, or correct the name"},
		{"missing parent told once to each", one("<Parent> B </Parent> <Implements><Interface> I </Interface></Implements>") + "-- entity_defs/interfaces/I.def --\n<root><Implements><Interface>J</Interface></Implements></root>\n",
			a + ":2: Parent: there is no file entity_defs/B.def; create it, or correct the name\nentity_defs/interfaces/I.def:1: Implements/Interface: there is no file entity_defs/interfaces/J.def; create it, or correct the name"},
		{"large", "-- entities.xml --\n" + strings.Repeat(" ", MaxFileSize+1), "entities.xml: file is larger than 1048576 bytes; split it with Parent or Implements"},
		{"parent is a path", one("<Parent> ../B </Parent>"), a + `:2: Parent: "../B" is not a name; use letters, digits and _, not beginning with a digit`},
		{"directory", "-- entities.xml/x --\n", "entities.xml: cannot be read: read entities.xml: invalid argument; make it a readable file"},

		// XML.
		{"empty", "-- entities.xml --\n", "entities.xml:1: no XML element; begin with <root>"},
		{"not closed", "-- entities.xml --\n<root>\n<A>\n</root>", "entities.xml:3: malformed XML: element <A> closed by </root>; write UTF-8 and close every element"},
		{"ends early", "-- entities.xml --\n<root>\n<A/>", "entities.xml:2: malformed XML: unexpected EOF; write UTF-8 and close every element"},
		{"encoding", "-- entities.xml --\n<?xml version=\"1.0\" encoding=\"gbk\"?>\n<root/>", `entities.xml:1: malformed XML: encoding "gbk" declared but Decoder.CharsetReader is nil; write UTF-8 and close every element`},
		{"entity", "-- entities.xml --\n<root>&boom;</root>", "entities.xml:1: malformed XML: invalid character entity &boom;; write UTF-8 and close every element"},
		{"two roots", "-- entities.xml --\n<root/>\n<root/>", "entities.xml:2: root: a second root element; wrap everything in one <root>"},
		{"text after root", "-- entities.xml --\n<root/>\nmore", "entities.xml:1: text after the root element; remove it"},
		{"deep", "-- entities.xml --\n" + strings.Repeat("<a>", MaxDepth+1) + strings.Repeat("</a>", MaxDepth+1), "entities.xml:1: a: elements are nested deeper than 48; flatten the definition"},
		{"text between", one("words <Persistent> true </Persistent>"), a + `:1: root: text "words" between elements; remove it`},

		// The list.
		{"type twice", "-- entities.xml --\n<root> <A/>\n<A/> </root>\n-- entity_defs/A.def --\n<root/>", a + ":1: A: entity type is declared twice; remove one of the two"},
		{"attribute", strings.Replace(one(""), "<A/>", `<A hasSoul="true"/>`, 1), `entities.xml:1: A: unknown attribute "hasSoul"; use hasCell, hasBase and hasClient`},
		{"attribute value", strings.Replace(one(""), "<A/>", `<A hasCell="perhaps"/>`, 1), `entities.xml:1: A: hasCell is "perhaps"; state true or false`},
		{"type name", "-- entities.xml --\n<root>\n<A.b/> </root>", `entities.xml:2: entity type: "A.b" is not a name; use letters, digits and _, not beginning with a digit`},
		{"no side", one("<Distribution> <Cell> false </Cell> <Base> false </Base> <Client> false </Client> </Distribution>"), a + ":1: the type has no side; let it have a cell, a base or a client"},

		// Inheritance.
		{"cycle of parents", one("<Parent> B </Parent>") + "-- entity_defs/B.def --\n<root>\n\n<Parent> A </Parent></root>\n", "entity_defs/B.def:3: Parent: cycle: entity_defs/A.def inherits from itself; remove one Parent or Interface of the cycle"},
		{"own parent", one("<Parent> A </Parent>"), a + ":2: Parent: cycle: entity_defs/A.def inherits from itself; remove one Parent or Interface of the cycle"},
		{"cycle of interfaces", one("<Implements> <Interface> I </Interface> </Implements>") + "-- entity_defs/interfaces/I.def --\n<root> <Implements> <Interface> J </Interface> </Implements> </root>\n-- entity_defs/interfaces/J.def --\n<root>\n<Implements> <Interface> I </Interface> </Implements> </root>\n",
			"entity_defs/interfaces/J.def:2: Implements/Interface: cycle: entity_defs/interfaces/I.def inherits from itself; remove one Parent or Interface of the cycle"},
		{"two interfaces", one("<Implements> <Interface> I </Interface> <Interface> J </Interface> </Implements>") +
			"-- entity_defs/interfaces/I.def --\n<root> <CellMethods> <m/> </CellMethods> </root>\n-- entity_defs/interfaces/J.def --\n<root>\n<CellMethods> <m/> </CellMethods> </root>\n",
			a + ":1: CellMethods/m: inherited both from entity_defs/interfaces/I.def:1 and from entity_defs/interfaces/J.def:2; rename one of the two, or declare it here"},
		{"two interfaces, property", one("<Implements> <Interface> I </Interface> <Interface> J </Interface> </Implements>") +
			"-- entity_defs/interfaces/I.def --\n<root> <Properties> <p> <Type> INT8 </Type> <Flags> BASE </Flags> </p> </Properties> </root>\n-- entity_defs/interfaces/J.def --\n<root> <Properties> <p> <Type> INT8 </Type> <Flags> BASE </Flags> </p> </Properties> </root>\n",
			a + ":1: Properties/p: inherited both from entity_defs/interfaces/I.def:1 and from entity_defs/interfaces/J.def:1; rename one of the two, or declare it here"},
		{"volatile in interface", one("<Implements> <Interface> I </Interface> </Implements>") + "-- entity_defs/interfaces/I.def --\n<root> <Volatile/> </root>\n", "entity_defs/interfaces/I.def:1: Volatile: an interface cannot have it; move it to the types that implement the interface"},
		{"unknown in implements", one("<Implements> <Thing> I </Thing> </Implements>"), a + ":2: Implements/Thing: unknown element; remove it, or correct its name"},

		// Sections.
		{"unknown section", one("<Propertys/>"), a + ":2: Propertys: unknown element; remove it, or correct its name"},
		{"section twice", one("<Properties/>\n<Properties/>"), a + ":3: root/Properties: element is given twice; remove one of the two"},
		{"components", one("<Components> <c> <Type> T </Type> </c> </Components>"), a + ":2: Components: components are not supported; make each an interface"},
		{"persistent", one("<Persistent> yes </Persistent>"), a + `:2: Persistent: "yes" is neither true nor false; state true or false`},
		{"appeal", one("<AppealRadius> far </AppealRadius>"), a + `:2: AppealRadius: "far" is not a distance; state metres`},
		{"appeal below 0", one("<AppealRadius> -1 </AppealRadius>"), a + ":1: AppealRadius: -1 is not a distance; state metres, 0 or more"},
		{"distribution", one("<Distribution> <Moon> true </Moon> </Distribution>"), a + ":2: Distribution/Moon: unknown element; remove it, or correct its name"},
		{"volatile", one("<Volatile> <yaw> 10 </yaw> <pitch> 20 </pitch> </Volatile>"), a + ":1: Volatile: roll reaches further than pitch, or pitch further than yaw; a direction is sent as yaw, yaw and pitch, or all three: order the distances so"},
		{"volatile below 0", one("<Volatile> <yaw> -10 </yaw> </Volatile>"), a + ":1: Volatile: -10 is not a distance; state metres, or leave the element empty for always"},
		{"volatile unknown", one("<Volatile> <scale/> </Volatile>"), a + ":2: Volatile/scale: unknown element; remove it, or correct its name"},
		{"volatile NaN", one("<Volatile> <yaw> NaN </yaw> </Volatile>"), a + `:2: Volatile/yaw: "NaN" is not a distance; state metres`},

		// Levels.
		{"no label", one("<LoDLevels> <level> 20 </level> </LoDLevels>"), a + ":1: LoDLevels: label of a detail level: name is empty; use letters, digits and _, not beginning with a digit"},
		{"levels out of order", one("<LoDLevels> <level> 20 <label>N</label> </level> <level> 20 <label>F</label> </level> </LoDLevels>"), a + ":1: LoDLevels/F: radius 20 is not beyond that of N; list the levels from near to far"},
		{"level twice", one("<LoDLevels> <level> 20 <label>N</label> </level> <level> 30 <label>N</label> </level> </LoDLevels>"), a + ":1: LoDLevels/N: detail level is declared twice; rename one of the two"},
		{"hysteresis", one("<LoDLevels> <level> 20 <label>N</label> <hyst> -1 </hyst> </level> </LoDLevels>"), a + ":1: LoDLevels/N: radius 20 with hysteresis -1 is not a ring; state a radius above 0 and a hysteresis of 0 or more, in metres"},
		{"radius", one("<LoDLevels> <level> x <label>N</label> </level> </LoDLevels>"), a + `:2: LoDLevels/level: "x" is not a distance; state metres`},
		{"element of level", one("<LoDLevels> <level> 1 <label>N</label> <slack/> </level> </LoDLevels>"), a + ":2: LoDLevels/level/slack: unknown element; remove it, or correct its name"},
		{"many levels", one("<LoDLevels>" + levels(MaxLevels+1) + "</LoDLevels>"), a + ":1: LoDLevels: more than 16 detail levels; merge some"},

		// Properties.
		{"unknown type", prop("<Type> INT9 </Type> <Flags> BASE </Flags>"), a + `:3: Properties/p/Type: unknown type "INT9"; use a data type, or declare the name in alias.xml or types.xml`},
		{"no type text", prop("<Type/> <Flags> BASE </Flags>"), a + `:3: Properties/p/Type: unknown type ""; use a data type, or declare the name in alias.xml or types.xml`},
		{"refused type", prop("<Type> PYTHON </Type> <Flags> BASE </Flags>"), a + ":3: Properties/p/Type: type PYTHON is not supported; describe the value as FIXED_DICT, or encode it into a BLOB"},
		{"unknown flag", prop("<Type> INT8 </Type> <Flags> EVERYWHERE </Flags>"), a + `:3: Properties/p/Flags: unknown flag "EVERYWHERE"; ` + flagsRemedy},
		{"no flag, no type", prop(""), a + ":3: Properties/p: property has no Flags; add <Flags> with one of" + strings.TrimPrefix(flagsRemedy, "use one of") + "\n" + a + ":3: Properties/p: property has no Type; add <Type> TYPE </Type>"},
		{"unknown element", prop("<Type> INT8 </Type> <Flags> BASE </Flags> <Colour/>"), a + ":3: Properties/p/Colour: unknown element; remove it, or correct its name"},
		{"element twice", prop("<Type> INT8 </Type> <Flags> BASE </Flags> <Flags> BASE </Flags>"), a + ":3: Properties/p/Flags: element is given twice; remove one of the two"},
		{"unknown level", prop("<Type> INT8 </Type> <Flags> OTHER_CLIENTS </Flags> <DetailLevel> NEAR </DetailLevel>"), a + `:3: Properties/p/DetailLevel: A has no detail level "NEAR"; declare it in LoDLevels, or use a label from there`},
		{"property twice", one("<Properties> <p> <Type> INT8 </Type> <Flags> BASE </Flags> </p>\n<p> <Type> INT8 </Type> <Flags> BASE </Flags> </p> </Properties>"), a + ":3: Properties/p: property is declared twice; remove one of the two"},
		{"property name", one("<Properties> <p.q> <Type> INT8 </Type> <Flags> BASE </Flags> </p.q> </Properties>"), a + `:2: Properties: "p.q" is not a name; use letters, digits and _, not beginning with a digit`},
		{"default", prop("<Type> INT8 </Type> <Flags> BASE </Flags> <Default> 200 </Default>"), a + `:3: Properties/p/Default: "200" is not a INT8; state a value of that type`},
		{"default of unsigned", prop("<Type> UINT8 </Type> <Flags> BASE </Flags> <Default> -1 </Default>"), a + `:3: Properties/p/Default: "-1" is not a UINT8; state a value of that type`},
		{"default of float", prop("<Type> FLOAT32 </Type> <Flags> BASE </Flags> <Default> 1e300 </Default>"), a + `:3: Properties/p/Default: "1e300" is not a FLOAT32; state a value of that type`},
		{"default of vector", prop("<Type> VECTOR3 </Type> <Flags> BASE </Flags> <Default> 1 2 </Default>"), a + `:3: Properties/p/Default: "1 2" is not a VECTOR3; state a value of that type`},
		{"default of blob", prop("<Type> BLOB </Type> <Flags> BASE </Flags> <Default> ? </Default>"), a + `:3: Properties/p/Default: "?" is not a BLOB; state a value of that type`},
		{"default of mailbox", prop("<Type> MAILBOX </Type> <Flags> BASE </Flags> <Default> me </Default>"), a + `:3: Properties/p/Default: "me" is not a MAILBOX; remove it: a mailbox begins empty`},
		{"default of list", prop("<Type> ARRAY <of> INT8 </of> <size> 2 </size> </Type> <Flags> BASE </Flags> <Default> <item> 1 </item> </Default>"), a + ":3: Properties/p/Default: 1 elements for a size of 2; state all elements, or none of the default"},
		{"default of element", prop("<Type> ARRAY <of> INT8 </of> </Type> <Flags> BASE </Flags> <Default> <item> 1 </item> <item> x </item> </Default>"), a + `:3: Properties/p/Default/item[1]: "x" is not a INT8; state a value of that type`},
		{"default of record", withAlias("<R> FIXED_DICT <Properties> <x> <Type> INT8 </Type> </x> </Properties> </R>", "<Properties> <p> <Type> R </Type> <Flags> BASE </Flags> <Default> <y> 1 </y> </Default> </p> </Properties>"), a + ":2: Properties/p/Default/y: the FIXED_DICT has no such field; remove it, or correct its name"},
		{"mailbox to client", prop("<Type> ARRAY <of> MAILBOX </of> </Type> <Flags> ALL_CLIENTS </Flags>"), a + ":3: Properties/p: flag ALL_CLIENTS shows a MAILBOX to clients; use ENTITY_ID, or a flag without clients"},
		{"no cell", strings.Replace(prop("<Type> INT8 </Type> <Flags> CELL_PUBLIC </Flags>"), "<A/>", `<A hasCell="0"/>`, 1), a + ":3: Properties/p: flag CELL_PUBLIC, but A has no cell; change the flag, or let the type have a cell"},
		{"no base", strings.Replace(prop("<Type> INT8 </Type> <Flags> BASE </Flags>"), "<A/>", `<A hasBase="0"/>`, 1), a + ":3: Properties/p: flag BASE, but A has no base; change the flag, or let the type have a base"},
		{"identifier", prop("<Type> INT8 </Type> <Flags> BASE </Flags> <Identifier> true </Identifier>"), a + ":3: Properties/p: property is looked up in the store but not kept there; state Persistent true"},
		{"index", prop("<Type> INT8 </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> <Index> SOME </Index>"), a + `:3: Properties/p/Index: "SOME" is no index; use UNIQUE or INDEX`},
		{"database length", prop("<Type> INT8 </Type> <Flags> BASE </Flags> <DatabaseLength> -1 </DatabaseLength>"), a + `:3: Properties/p/DatabaseLength: "-1" is not a length; state bytes`},

		// Types and aliases.
		{"array of nothing", prop("<Type> ARRAY </Type> <Flags> BASE </Flags>"), a + ":3: Properties/p/Type: ARRAY without element type; add <of> TYPE </of>"},
		{"array size", prop("<Type> ARRAY <of> INT8 </of> <size> many </size> </Type> <Flags> BASE </Flags>"), a + `:3: Properties/p/Type/size: "many" is not a number of elements; state a number, 0 for any number`},
		{"array too big", prop("<Type> ARRAY <of> INT8 </of> <size> 5000 </size> </Type> <Flags> BASE </Flags>"), a + ":3: Properties/p/Type: size 5000 of ARRAY is not within 0 to 4096; simplify the type"},
		{"arrays multiply", prop("<Type> ARRAY <of> ARRAY <of> INT8 </of> <size> 100 </size> </of> <size> 100 </size> </Type> <Flags> BASE </Flags>"), a + ":3: Properties/p/Type: data type has more than 4096 elements; simplify the type"},
		{"child of scalar", prop("<Type> INT8 <of> INT8 </of> </Type> <Flags> BASE </Flags>"), a + ":3: Properties/p/Type/of: unknown element; remove it, or correct its name"},
		{"types too deep", prop("<Type> " + strings.Repeat("ARRAY <of> ", MaxTypeDepth) + "INT8" + strings.Repeat(" </of>", MaxTypeDepth) + " </Type> <Flags> BASE </Flags>"), a + ":3: Properties/p/Type: data types are nested deeper than 16; simplify the type"},
		{"no fields", withAlias("<R> FIXED_DICT </R>", ""), "alias.xml:2: R: FIXED_DICT has no fields; simplify the type"},
		{"field twice", withAlias("<R> FIXED_DICT <Properties> <x> <Type> INT8 </Type> </x> <x> <Type> INT8 </Type> </x> </Properties> </R>", ""), `alias.xml:2: R: field "x" is declared twice; simplify the type`},
		{"field without type", withAlias("<R> FIXED_DICT <Properties>\n<x/> </Properties> </R>", ""), "alias.xml:3: R/Properties/x: field has no Type; add <Type> TYPE </Type>"},
		{"parent of dict", withAlias("<R> FIXED_DICT <Parent> INT8 </Parent> </R>", ""), "alias.xml:2: R/Parent: INT8 is not a FIXED_DICT; name an alias of a FIXED_DICT"},
		{"allow none", withAlias("<R> FIXED_DICT <Properties> <x> <Type> INT8 </Type> </x> </Properties> <AllowNone> maybe </AllowNone> </R>", ""), `alias.xml:2: R/AllowNone: "maybe" is neither true nor false; state true or false`},
		{"cycle of aliases", withAlias("<R> S </R>\n<S> ARRAY <of> R </of> </S>", ""), "alias.xml:2: R: cycle of aliases: R → S → R; let one of them end in a data type"},
		{"alias twice", withAlias("<R> INT8 </R>\n<R> INT16 </R>", ""), "alias.xml:3: R: alias is declared twice, first at alias.xml:2; remove one of the two"},
		{"alias of a type's name", withAlias("<INT8> INT16 </INT8>", ""), "alias.xml:2: INT8: alias has the name of a data type; rename it"},
		{"alias name", withAlias("<R.x> INT16 </R.x>", ""), `alias.xml:2: alias: "R.x" is not a name; use letters, digits and _, not beginning with a digit`},
		{"alias default", withAlias("<R> INT8 <Default> x </Default> </R>", ""), `alias.xml:2: R/Default: "x" is not a INT8; state a value of that type`},

		{"element of sequence", prop("<Type> ARRAY <of> INT8 </of> <by/> </Type> <Flags> BASE </Flags>"), a + ":3: Properties/p/Type/by: unknown element; remove it, or correct its name"},
		{"element of dict", withAlias("<R> FIXED_DICT <Properties> <x> <Type> INT8 </Type> </x> </Properties> <by/> </R>", ""), "alias.xml:2: R/by: unknown element; remove it, or correct its name"},
		{"element of field", withAlias("<R> FIXED_DICT <Properties> <x> <Type> INT8 </Type> <by/> </x> </Properties> </R>", ""), "alias.xml:2: R/Properties/x/by: unknown element; remove it, or correct its name"},
		{"parent of dict unknown", withAlias("<R> FIXED_DICT <Parent> Q </Parent> </R>", ""), `alias.xml:2: R/Parent: unknown type "Q"; use a data type, or declare the name in alias.xml or types.xml`},
		{"broken alias file", one("") + "-- alias.xml --\n", "alias.xml:1: no XML element; begin with <root>"},
		{"default of vector word", prop("<Type> VECTOR2 </Type> <Flags> BASE </Flags> <Default> 1 x </Default>"), a + `:3: Properties/p/Default: "1 x" is not a VECTOR2; state a value of that type`},
		{"long default", prop("<Type> ARRAY <of> INT8 </of> </Type> <Flags> BASE </Flags> <Default> " + strings.Repeat("<i>1</i>", MaxList+1) + " </Default>"), a + ":3: Properties/p/Default: 65537 elements, more than 65536; shorten the default"},
		{"long default of alias", withAlias("<R> ARRAY <of> INT8 </of> <Default> "+strings.Repeat("<i>1</i>", MaxList+1)+" </Default> </R>", ""), "alias.xml:2: R/Default: 65537 elements, more than 65536; shorten the default"},
		{"long text is cut", prop("<Type> " + strings.Repeat("x", 90) + " </Type> <Flags> BASE </Flags>"), a + `:3: Properties/p/Type: unknown type "` + strings.Repeat("x", 60) + `…"; use a data type, or declare the name in alias.xml or types.xml`},

		// Methods.
		{"method twice", one("<CellMethods> <m/>\n<m/> </CellMethods>"), a + ":3: CellMethods/m: method is declared twice; remove one of the two"},
		{"method name", one("<CellMethods> <m.x/> </CellMethods>"), a + `:2: CellMethods: "m.x" is not a name; use letters, digits and _, not beginning with a digit`},
		{"argument type", one("<CellMethods> <m> <Arg> INT8 </Arg> <Arg> INT9 </Arg> </m> </CellMethods>"), a + `:2: CellMethods/m/Arg[1]: unknown type "INT9"; use a data type, or declare the name in alias.xml or types.xml`},
		{"both styles", one("<CellMethods> <m> <Arg> INT8 </Arg> <Args> <x> INT8 </x> </Args> </m> </CellMethods>"), a + ":2: CellMethods/m: both Arg and Args; use Args, which names the arguments"},
		{"argument twice", one("<CellMethods> <m> <Args> <x> INT8 </x> <x> INT8 </x> </Args> </m> </CellMethods>"), a + ":2: CellMethods/m/Args/x: argument is declared twice; rename one of the two"},
		{"many arguments", one("<CellMethods> <m> " + strings.Repeat("<Arg> INT8 </Arg>", MaxArgs+1) + " </m> </CellMethods>"), a + ":2: CellMethods/m/Args: more than 64; gather some in a FIXED_DICT"},
		{"exposed to what", one("<CellMethods> <m> <Exposed> SOME </Exposed> </m> </CellMethods>"), a + `:2: CellMethods/m/Exposed: "SOME" is no exposure; leave it empty, or use ALL_CLIENTS or OWN_CLIENT`},
		{"exposed base", one("<BaseMethods> <m> <Exposed> ALL_CLIENTS </Exposed> </m> </BaseMethods>"), a + ":2: BaseMethods/m/Exposed: a base method cannot be exposed to ALL_CLIENTS; leave Exposed empty or state OWN_CLIENT: only the own client reaches a base"},
		{"exposed client", one("<ClientMethods> <m> <Exposed/> </m> </ClientMethods>"), a + ":2: ClientMethods/m/Exposed: a client method cannot be exposed; remove Exposed: the server may call every client method"},
		{"mailbox from client", one("<CellMethods> <m> <Exposed/> <Arg> MAILBOX </Arg> </m> </CellMethods>"), a + ":2: CellMethods/m/Args/1: a MAILBOX cannot be passed from or to a client; use ENTITY_ID"},
		{"client returns", one("<ClientMethods> <m> <ReturnValues> <x> INT8 </x> </ReturnValues> </m> </ClientMethods>"), a + ":2: ClientMethods/m/ReturnValues: a client method cannot return values; let the client call an exposed method instead"},
		{"distance", one("<ClientMethods> <m> <DetailDistance> -5 </DetailDistance> </m> </ClientMethods>"), a + ":2: ClientMethods/m/DetailDistance: -5 is not a distance; state metres, 0 for no limit"},
		{"element of method", one("<ClientMethods> <m> <Loud/> </m> </ClientMethods>"), a + ":2: ClientMethods/m/Loud: unknown element; remove it, or correct its name"},
		{"no base for method", strings.Replace(one("<BaseMethods> <m/> </BaseMethods>"), "<A/>", `<A hasBase="0"/>`, 1), a + ":2: BaseMethods/m: A has no base; move the method, or let the type have a base"},
		{"property and method", one("<Properties> <m> <Type> INT8 </Type> <Flags> BASE </Flags> </m> </Properties> <BaseMethods> <m/> </BaseMethods>"), a + ":2: BaseMethods/m: a property of the base has that name too; rename one of the two: a struct cannot have both"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Load(tree(c.tree))
			if s != nil {
				t.Error("a schema came with the faults")
			}
			if err == nil {
				t.Fatal("no fault")
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
			var f *Fault
			if !errors.As(err, &f) || f.Remedy == "" || f.File == "" {
				t.Errorf("errors.As gives %+v", f)
			}
		})
	}
}

// The files that one tree may pull in are bounded, so that a chain of parents cannot go on for ever.
func TestLoadManyFiles(t *testing.T) {
	files := fstest.MapFS{"entities.xml": {Data: []byte("<root> <E0/> </root>")}}
	for i := range MaxFiles + 1 {
		files[fmt.Sprintf("entity_defs/E%d.def", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "<root> <Parent> E%d </Parent> </root>", i+1)}
	}
	_, err := Load(files)
	if got, want := fmt.Sprint(err), "entity_defs/E8191.def:1: Parent: more than 8192 files; merge some"; got != want {
		t.Error(got)
	}
}

// Every setting of a property, method and type is kept, and each form of default is read.
func TestLoadSettings(t *testing.T) {
	s := mustLoad(t, withAlias("<W> <Type> INT8 </Type> </W> <R> FIXED_DICT <Properties> <x> <Type> INT8 </Type> </x> <y> <Type> INT8 </Type> <Default> 2 </Default> </y> </Properties> <AllowNone> true </AllowNone> </R>", `
		<ShouldSendDetailedVolatilePosition> true </ShouldSendDetailedVolatilePosition> <IsManualAoI> true </IsManualAoI>
		<TempProperties> <t/> </TempProperties>
		<Properties>
		<a> <Type> BOOL </Type> <Flags> BASE </Flags> <Default> true </Default> <Persistent> true </Persistent> <Indexed> true </Indexed> <Unique> true </Unique> </a>
		<b> <Type> STRING </Type> <Flags> BASE </Flags> <Default> hi </Default> <Persistent> true </Persistent> <Indexed> <Unique> false </Unique> </Indexed> <DatabaseLength> 20 </DatabaseLength> </b>
		<c> <Type> VECTOR2 </Type> <Flags> ALL_CLIENTS </Flags> <Default> 1, 2 </Default> <SendLatestOnly> true </SendLatestOnly> <IsReliable> false </IsReliable> </c>
		<d> <Type> VECTOR4 </Type> <Flags> BASE </Flags> <Default> 1 2 3 4 </Default> </d>
		<e> <Type> R </Type> <Flags> BASE </Flags> <Default> <x> 5 </x> </Default> </e>
		<f> <Type> R </Type> <Flags> BASE </Flags> <Default/> </f>
		<g> <Type> ARRAY <of> W </of> <persistAsBlob> true </persistAsBlob> </Type> <Flags> BASE </Flags> </g>
		<h> <Type> BLOB </Type> <Flags> BASE </Flags> <Default> aGk= </Default> </h>
		</Properties>
		<ClientMethods> <m> <IsReliable> false </IsReliable> <VariableLengthHeaderSize> 2 </VariableLengthHeaderSize> </m> </ClientMethods>
		<BaseMethods> <sum> <Args> <x> INT8 </x> </Args> <ReturnValues> <total> INT16 </total> </ReturnValues> </sum> </BaseMethods>`))
	d := s.Type("A")
	if !d.DetailedVolatile || !d.ManualAoI || !d.ClientMethod("m").Unreliable {
		t.Error("settings of the type or method")
	}
	for name, want := range map[string]string{"a": "true", "b": `"hi"`, "c": "(1 2)", "d": "(1 2 3 4)", "e": "[5 2]", "f": "none", "g": "[]", "h": `"hi"`} {
		if got := d.Property(name).Default.String(); got != want {
			t.Errorf("default of %s is %s, want %s", name, got, want)
		}
	}
	p, q, c := d.Property("a"), d.Property("b"), d.Property("c")
	if !p.Indexed || !p.Unique || !q.Indexed || q.Unique || q.DatabaseLength != 20 || !c.SendLatestOnly || !c.Unreliable {
		t.Errorf("%+v %+v %+v", p, q, c)
	}
	m := d.BaseMethod("sum")
	b, err := m.AppendReturns(nil, []Value{Int(300)})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.ReadReturns(b); err != nil || got[0].Int() != 300 {
		t.Error(got, err)
	}
}

func levels(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<level> %d <label> L%d </label> </level>", i+1, i)
	}
	return b.String()
}

// Faults of several files come in one error, and a shared interface's only once.
func TestLoadAllFaults(t *testing.T) {
	_, err := Load(tree(`-- entities.xml --
<root> <A/> <B/> <C/> </root>
-- alias.xml --
<root> <X> NOPE </X> </root>
-- entity_defs/A.def --
<root> <Implements> <Interface> I </Interface> </Implements> </root>
-- entity_defs/B.def --
<root> <Implements> <Interface> I </Interface> </Implements> <What/> </root>
-- entity_defs/interfaces/I.def --
<root> <Properties> <p> <Type> X </Type> <Flags> NOWHERE </Flags> </p> </Properties> </root>
`))
	want := `alias.xml:1: X: unknown type "NOPE"; use a data type, or declare the name in alias.xml or types.xml
entity_defs/interfaces/I.def:1: Properties/p/Flags: unknown flag "NOWHERE"; ` + flagsRemedy + `
entity_defs/B.def:1: What: unknown element; remove it, or correct its name
entities.xml:1: C: there is no file entity_defs/C.def; create it, or correct the name`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Error(diff)
	}
}

func TestLoadManyFaults(t *testing.T) {
	var b strings.Builder
	for i := range 2 * MaxFaults {
		fmt.Fprintf(&b, "<Odd%d/>\n", i)
	}
	_, err := Load(tree(one(b.String())))
	var faults Faults
	if !errors.As(err, &faults) || len(faults) != MaxFaults {
		t.Fatalf("%d faults", len(faults))
	}
	if got := faults[MaxFaults-1].Error(); got != "more than 255 faults; repair those listed first" {
		t.Error(got)
	}
}

func TestLoadManyAliases(t *testing.T) {
	var b strings.Builder
	for i := range MaxAliases + 1 {
		fmt.Fprintf(&b, "<X%d>INT8</X%d>", i, i)
	}
	_, err := Load(tree(withAlias(b.String(), "")))
	if got, want := fmt.Sprint(err), "alias.xml:2: X4096: more than 4096 aliases; remove those that are not used"; got != want {
		t.Error(got)
	}
}

// Many types of the largest size each must not add up to a process of gigabytes.
func TestLoadTreeElements(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "<X%d>ARRAY<of>INT8</of><size>4000</size></X%d>\n", i, i)
	}
	_, err := Load(tree(withAlias(b.String(), "")))
	want := "alias.xml:264: X262: the data types of the tree have more than 1048576 elements; use variable sizes instead of fixed ones"
	if got, _, _ := strings.Cut(fmt.Sprint(err), "\n"); got != want {
		t.Error(got)
	}
}

// A chain of aliases, each twice the one before, would have 2^20 fields written out.
func TestLoadDoubling(t *testing.T) {
	var b strings.Builder
	b.WriteString("<X0> INT8 </X0>\n")
	for i := range 14 {
		fmt.Fprintf(&b, "<X%d>FIXED_DICT<Properties><a><Type>X%d</Type></a><b><Type>X%d</Type></b></Properties></X%d>\n", i+1, i, i, i+1)
	}
	_, err := Load(tree(withAlias(b.String(), "")))
	want := "alias.xml:14: X12: data type has more than 4096 elements; simplify the type"
	if got, _, _ := strings.Cut(fmt.Sprint(err), "\n"); got != want {
		t.Error(got)
	}
}

func FuzzLoad(f *testing.F) {
	good := tree(goodTree)
	f.Add(good["entities.xml"].Data, good["alias.xml"].Data, good["entity_defs/Avatar.def"].Data, good["entity_defs/interfaces/Talker.def"].Data)
	f.Add([]byte("<root><Avatar/></root>"), []byte("<root><A> B </A><B> A </B></root>"), []byte("<root><Parent> Avatar </Parent></root>"), []byte("<"))
	f.Add([]byte(`<root><Avatar hasCell="0"/></root>`), []byte("<root/>"), good["entity_defs/Seat.def"].Data, []byte("<root><Implements><Interface>Talker</Interface></Implements></root>"))
	f.Fuzz(func(t *testing.T, entities, alias, def, iface []byte) {
		files := fstest.MapFS{
			"entities.xml": {Data: entities}, "alias.xml": {Data: alias},
			"entity_defs/Avatar.def": {Data: def}, "entity_defs/interfaces/Talker.def": {Data: iface},
			"entity_defs/Being.def": good["entity_defs/Being.def"],
		}
		s, err := Load(files)
		if (s == nil) == (err == nil) {
			t.Fatalf("schema %v with error %v", s, err)
		}
		if err != nil {
			var faults Faults
			if !errors.As(err, &faults) || len(faults) == 0 || len(faults) > MaxFaults {
				t.Fatalf("error is %T", err)
			}
			return
		}
		for _, d := range s.Types {
			for side := range sides {
				v := NewValues(d, side, nil)
				for dom := range domains {
					if !side.Carries(dom) {
						continue
					}
					if rest, err := v.ReadStream(v.AppendStream(nil, dom), dom); err != nil || len(rest) > 0 {
						t.Fatalf("%s: defaults of the %v do not come back: %v, %d bytes left", d.Name, dom, err, len(rest))
					}
				}
			}
		}
	})
}
