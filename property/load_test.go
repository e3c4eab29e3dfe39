package property

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
	const want = `type Avatar cell=true base=true client=true persistent=true id=false detailed=false manual=false appeal=3 position=+Inf yaw=+Inf pitch=20 roll=0 internal="" external="" as=
 level NEAR 20 4
 level MEDIUM 100 10
 property health INT16 ALL_CLIENTS level=2 default="50" component= replay length=0 warn=0
 property mana FLOAT32 OWN_CLIENT level=2 default="1.5" component= length=0 warn=0
 property mood INT8 OTHER_CLIENTS level=0 default="0" component= replay length=0 warn=0
 property name UNICODE_STRING BASE_AND_CLIENT level=2 default="" component= persistent identifier indexed unique length=0 warn=0
 property slots ARRAY<FIXED_DICT{kind:UINT16="7" tags:ARRAY<STRING 0>=""} 2> CELL_PRIVATE level=2 default="<item><kind>7</kind><tags></tags></item><item><kind>7</kind><tags></tags></item>" component= length=0 warn=0
 property best FIXED_DICT?{kind:UINT16="7" tags:ARRAY<STRING 0>="" owner:ENTITY_ID="0"} CELL_PUBLIC level=2 default="" component= length=0 warn=0
 property home VECTOR3 CELL_PUBLIC_AND_OWN level=2 default="1 2.5 -3" component= length=0 warn=0
 property colour TUPLE<UINT8 3> BASE level=2 default="<item>1</item><item>2</item><item>3</item>" component= length=0 warn=0
 property icon STRING EDITOR_ONLY level=2 default="" component= length=0 warn=0
 cell method chat exposed=ALL_CLIENTS UNICODE_STRING UINT8 distance=0 replay=OTHER_CLIENTS warn=0 component=
 base method logOut exposed=OWN_CLIENT distance=0 replay=OTHER_CLIENTS warn=0 component=
 base method credit exposed= INT64 returns INT64 distance=0 replay=OTHER_CLIENTS warn=0 component=
 client method say exposed= UNICODE_STRING distance=30 replay=OTHER_CLIENTS warn=0 component= latest
type Seat cell=true base=true client=true persistent=true id=false detailed=false manual=false appeal=0 position=0 yaw=0 pitch=0 roll=0 internal="" external="" as=
 level NEAR 20 4
 property seatType INT8 OTHER_CLIENTS level=0 default="-1" component= replay length=0 warn=0
 property ownerID INT32 OTHER_CLIENTS level=1 default="0" component= replay length=0 warn=0
 cell method sitDownRequest exposed=OWN_CLIENT ENTITY_ID distance=0 replay=OTHER_CLIENTS warn=0 component=
type Weather cell=true base=true client=false persistent=true id=false detailed=false manual=false appeal=0 position=0 yaw=0 pitch=0 roll=0 internal="" external="" as=
 property rain FLOAT32 OTHER_CLIENTS level=0 default="0" component= replay length=0 warn=0
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Error(diff)
	}
	wantNotices := `alias.xml:15: OBJECT_ID: ENTITY_ID is a type of its own here; what the alias says is not used; remove the alias
alias.xml:11: RARE_ITEM/Properties/owner/Type: OBJECT_ID is ENTITY_ID here, 64 bits wide; write ENTITY_ID
entity_defs/Seat.def:6: DetailLevels: it is of the dialect of KBEngine, but alias.xml at alias.xml:1 is of that of BigWorld; both are understood; write one of them throughout
entity_defs/Avatar.def:6: Properties/name/Editable: it is read and not acted by yet: no process of a server edits a property; it is kept for tools; leave it for the tools that read it, or remove it`
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
<root> <Parent></Parent> <Distribution> <Cell> true </Cell> </Distribution> <Volatile> <position/> <optimized> true </optimized> </Volatile> </root>
`)
	a, sp := s.Type("Account"), s.Type("Space")
	if a.HasCell || !a.HasBase || !a.HasClient || !sp.HasCell || sp.HasBase || sp.HasClient {
		t.Errorf("sides: %+v %+v", a, sp)
	}
	if p := a.Property("last"); !p.Indexed || !p.Unique {
		t.Errorf("index: %+v", p)
	}
}

// A flat list says nothing of clients; where client scripts lie beside it, they do.
func TestLoadClientScripts(t *testing.T) {
	const text = "-- entities.xml --\n<root> <A/> <B/> <C/> </root>\n-- entity_defs/A.def --\n<root/>\n-- entity_defs/B.def --\n<root/>\n-- entity_defs/C.def --\n<root> <Distribution> <Client> true </Client> </Distribution> </root>\n"
	for _, c := range []struct {
		more string
		want []bool
	}{
		{"", []bool{true, true, true}},
		{"-- client/A.py --\npass\n", []bool{true, false, true}},
		{"-- client/B.pyc --\n\n", []bool{false, true, true}},
	} {
		for i, d := range mustLoad(t, text+c.more).Types {
			if d.HasClient != c.want[i] {
				t.Errorf("with %q, %s has a client: %v", c.more, d.Name, d.HasClient)
			}
		}
	}
}

// Which dialect a tree is of is told by what only one of them has.
func TestDialect(t *testing.T) {
	for _, c := range []struct {
		tree string
		want Dialect
	}{
		{one(""), DialectNone},
		{one("<Implements/>"), DialectBigWorld},
		{one("<Interfaces/>"), DialectKBEngine},
		{one("<LoDLevels/>"), DialectBigWorld},
		{one("<Volatile> <optimized> true </optimized> </Volatile>"), DialectKBEngine},
		{one("<Properties> <p> <Type> ENTITYCALL </Type> <Flags> BASE </Flags> </p> </Properties>"), DialectKBEngine},
		{one("<CellMethods> <m> <Utype> 3 </Utype> </m> </CellMethods>"), DialectKBEngine},
		{one("") + "-- alias.xml --\n<root/>\n", DialectBigWorld},
		{one("") + "-- entity_defs/types.xml --\n<root/>\n", DialectKBEngine},
		{strings.Replace(one(""), "<A/>", `<A hasCell="true"/>`, 1), DialectKBEngine},
		{strings.Replace(one(""), "<A/>", "<ClientServerEntities> <A/> </ClientServerEntities>", 1), DialectBigWorld},
		{one("<Interfaces/> <Implements/>"), DialectBigWorld},
		{one("<Interfaces/>") + "-- services.xml --\n<root> <S/> </root>\n-- service_defs/S.def --\n<root/>\n", DialectKBEngine},
		{one("<Interfaces/> <Implements/> <DetailLevels/>"), DialectKBEngine},
	} {
		if s := mustLoad(t, c.tree); s.Dialect != c.want || s.Types[0].Dialect != c.want {
			t.Errorf("%v and %v, want %v, of\n%s", s.Dialect, s.Types[0].Dialect, c.want, c.tree)
		}
	}
}

// A name space that an editor declares on the root is no attribute.
func TestLoadNameSpace(t *testing.T) {
	mustLoad(t, strings.Replace(one(""), "<root>\n", `<root xmlns="urn:x" xmlns:xmlref="urn:y">`, 1))
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

// The files that one tree may pull in are bounded, so that a chain of parents cannot go on for
// ever.
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
		<UpdateScheme> <minDelta> 1 </minDelta> <maxDelta> 20 </maxDelta> <distance> 150 </distance> </UpdateScheme>
		<TempProperties> <t/> </TempProperties>
		<Properties>
		<a> <Type> BOOL </Type> <Flags> BASE </Flags> <Default> true </Default> <Persistent> true </Persistent> <Indexed> true </Indexed> <Unique> true </Unique> </a>
		<b> <Type> STRING </Type> <Flags> BASE </Flags> <Default> hi </Default> <Persistent> true </Persistent> <Indexed> <Unique> false </Unique> </Indexed> <DatabaseLength> 20 </DatabaseLength> </b>
		<c> <Type> VECTOR2 </Type> <Flags> ALL_CLIENTS </Flags> <Default> 1, 2 </Default> <SendLatestOnly> true </SendLatestOnly> <IsReliable> false </IsReliable> </c>
		<d> <Type> VECTOR4 </Type> <Flags> BASE </Flags> <Default> 1 2 3 4 </Default> </d>
		<e> <Type> R </Type> <Flags> BASE </Flags> <Default> <x> 5 </x> </Default> </e>
		<f> <Type> R </Type> <Flags> BASE </Flags> <Default/> </f>
		<g> <Type> ARRAY <of> W </of> <persistAsBlob> true </persistAsBlob> </Type> <Flags> BASE </Flags> </g>
		<h> <Type> BLOB </Type> <Flags> BASE </Flags> <Default> aGk= </Default> <VariableLengthHeaderSize> 4 </VariableLengthHeaderSize> </h>
		</Properties>
		<ClientMethods> <m> <IsReliable> false </IsReliable> <VariableLengthHeaderSize> 2 </VariableLengthHeaderSize> </m> </ClientMethods>
		<BaseMethods> <sum> <Args> <x> INT8 </x> </Args> <ReturnValues> <total> INT16 </total> </ReturnValues> </sum> </BaseMethods>`))
	d := s.Type("A")
	if d.UpdateScheme != (UpdateScheme{1, 20, 150}) || !d.DetailedVolatile || !d.ManualAoI || !d.ClientMethod("m").Unreliable {
		t.Error("settings of the type or method")
	}
	if got := d.ClientMethod("m").WarnBytes; got != 65535 || !d.Property("c").ExposedForReplay || d.Property("a").ExposedForReplay || !d.Property("g").Type.PersistAsBlob() || d.Property("h").WarnBytes != MaxPayload {
		t.Errorf("header size gives %d; %+v", got, d.Properties)
	}
	if diff := cmp.Diff([]string{"t"}, d.TempProperties); diff != "" {
		t.Error(diff)
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

// One file of a whole tree, of either dialect, is anything.
func FuzzLoadFile(f *testing.F) {
	var trees []fstest.MapFS
	for _, dir := range []string{"testdata/bigworld", "testdata/kbengine"} {
		files := fstest.MapFS{}
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				var data []byte
				data, err = os.ReadFile(filepath.Join(dir, name))
				files[name] = &fstest.MapFile{Data: data}
			}
			return err
		})
		if err != nil {
			f.Fatal(err)
		}
		for i, name := range slices.Sorted(maps.Keys(files)) {
			f.Add(uint8(len(trees)), uint8(i), files[name].Data)
		}
		trees = append(trees, files)
	}
	f.Fuzz(func(t *testing.T, dialect, which uint8, data []byte) {
		files := maps.Clone(trees[int(dialect)%len(trees)])
		names := slices.Sorted(maps.Keys(files))
		files[names[int(which)%len(names)]] = &fstest.MapFile{Data: data}
		s, err := Load(files)
		if (s == nil) == (err == nil) {
			t.Fatalf("schema %v with error %v", s, err)
		}
		if err != nil {
			return
		}
		for _, d := range s.Types {
			for _, p := range d.Properties {
				if v, err := p.Type.ParseText([]byte(p.Type.DefaultText(p.Default))); err != nil || !Equal(v, p.Default) {
					t.Fatalf("default of %s does not come back from its text: %v", p.Name, err)
				}
			}
		}
	})
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
