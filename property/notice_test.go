package property

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Trees that load, and what they are told.
func noticeCases() []textCase {
	const a = "entity_defs/A.def"
	free := func(name string) string {
		return one("<Properties> <p> <Type> " + name + " </Type> <Flags> BASE </Flags> </p> </Properties>")
	}
	return []textCase{
		{"nothing", one(""), ""},
		{"BOOL", withAlias("<BOOL> UINT8 </BOOL>", ""), "alias.xml:2: BOOL: BOOL is a type of its own here; what the alias says is not used; remove the alias"},
		{"implementedBy", withAlias("<R> FIXED_DICT <implementedBy> mod.inst </implementedBy> <Properties> <x> <Type> INT8 </Type> </x> </Properties> </R>", ""), "alias.xml:2: R/implementedBy: a FIXED_DICT is a plain record here; convert values in the script that uses them"},
		{"CLASS", withAlias("<R> CLASS <Properties> <x> <Type> INT8 </Type> </x> </Properties> </R>", ""), "alias.xml:2: R: CLASS is a FIXED_DICT here; write FIXED_DICT"},
		{"PYTHON", free("PYTHON"), a + ":2: Properties/p/Type: PYTHON is ANY here: a free value, sent as MessagePack; describe the value as FIXED_DICT, ARRAY or MAP if its form is known"},
		{"PY_DICT", free("PY_DICT"), a + ":2: Properties/p/Type: PY_DICT is ANY here: a free value, sent as MessagePack; describe the value as FIXED_DICT, ARRAY or MAP if its form is known"},
		{"PY_TUPLE", free("PY_TUPLE"), a + ":2: Properties/p/Type: PY_TUPLE is ANY here: a free value, sent as MessagePack; describe the value as FIXED_DICT, ARRAY or MAP if its form is known"},
		{"PY_LIST", free("PY_LIST"), a + ":2: Properties/p/Type: PY_LIST is ANY here: a free value, sent as MessagePack; describe the value as FIXED_DICT, ARRAY or MAP if its form is known"},
		{"OBJECT_ID", free("OBJECT_ID"), a + ":2: Properties/p/Type: OBJECT_ID is ENTITY_ID here, 64 bits wide; write ENTITY_ID"},
		{"user data objects", one("") + "-- user_data_objects.xml --\n<root>\n<PatrolNode/> </root>\n", "user_data_objects.xml:2: PatrolNode: user data object is not loaded: spaces hold entities and nothing else; make it an entity type, and refer to it by ENTITY_ID"},
		{"a setting without effect", one("<Properties> <p> <Type> INT8 </Type> <Flags> ALL_CLIENTS </Flags> <Editable> true </Editable> </p>\n<q> <Type> INT8 </Type> <Flags> ALL_CLIENTS </Flags> <Editable> true </Editable> </q> </Properties>"), a + ":2: Properties/p/Editable: it is read and not acted by yet: no process of a server edits a property; it is kept for tools (and so for 1 more in this file); leave it for the tools that read it, or remove it"},
		{"hexadecimal default", one("<Properties> <p> <Type> INT32 </Type> <Flags> BASE </Flags> <Default> 0x1F </Default> </p> </Properties>"), a + ":2: Properties/p/Default: \"0x1F\" is read as 31; the original reads 0; state it in decimal"},
		{"default with a rest", one("<Properties> <p> <Type> INT32 </Type> <Flags> BASE </Flags> <Default> 30 metres </Default> </p> </Properties>"), a + ":2: Properties/p/Default: \"30 metres\" is read as 30, as the original does; state the number alone"},
		{"mailbox default", one("<Properties> <p> <Type> ENTITYCALL </Type> <Flags> BASE </Flags> <Default> me </Default> </p> </Properties>"), a + ":2: Properties/p/Default: \"me\" is not read: a mailbox begins empty; remove it"},
		{"cell events", one("<CellEvents> <hello> <Exposed/> </hello> </CellEvents>"), a + ":2: CellEvents: it is not read, by the original neither: no event of it exists; remove it, or make them CellMethods"},
		{"two dialects", one("<Interfaces/>\n<LoDLevels/>\n<TempProperties/>"), a + ":2: Interfaces: it is of the dialect of KBEngine, but LoDLevels at entity_defs/A.def:3 is of that of BigWorld; both are understood; write one of them throughout"},
		{"undeclared level", one("<Interfaces/> <Properties> <p> <Type> INT8 </Type> <Flags> ALL_CLIENTS </Flags> <DetailLevel> NEAR </DetailLevel> </p> </Properties>"), a + ":2: Properties/p/DetailLevel: A declares no detail level NEAR; it reaches everywhere; declare it in DetailLevels, or remove the element"},
		{"two interfaces", one("<Implements> <Interface> I </Interface> <Interface> J </Interface> </Implements>") +
			"-- entity_defs/interfaces/I.def --\n<root> <CellMethods> <m/> </CellMethods> </root>\n-- entity_defs/interfaces/J.def --\n<root>\n<CellMethods> <m/> </CellMethods> </root>\n",
			a + ":1: CellMethods/m: inherited both from entity_defs/interfaces/I.def:1 and from entity_defs/interfaces/J.def:2; the second counts; rename one of the two, or declare it here"},
		{"no client", "-- entities.xml --\n<root> <ServerOnlyEntities> <A/> </ServerOnlyEntities> </root>\n-- entity_defs/A.def --\n<root>\n<CellMethods> <m> <Exposed/> </m> </CellMethods> <ClientMethods> <c/> </ClientMethods>\n</root>\n",
			a + ":2: CellMethods/m: it is exposed, but A has no client side; no client can call it\n" + a + ":1: A: it has client methods but no client side; no client ever hears them"},
		{"client name without client", "-- entities.xml --\n<root> <B/> <ServerOnlyEntities> <A/> </ServerOnlyEntities> </root>\n-- entity_defs/B.def --\n<root/>\n-- entity_defs/A.def --\n<root> <Parent> B </Parent> <ClientName> B </ClientName> </root>\n",
			a + ":1: ClientName: A has no client side; no client sees it, under any name"},
		{"client name, more members", "-- entities.xml --\n<root> <B/> <A/> </root>\n-- entity_defs/B.def --\n<root/>\n-- entity_defs/A.def --\n<root> <Parent> B </Parent> <ClientName> B </ClientName> <Properties> <p> <Type> INT8 </Type> <Flags> OWN_CLIENT </Flags> </p> </Properties>" +
			" <CellMethods> <m> <Exposed/> </m> </CellMethods> <BaseMethods> <n> <Exposed/> </n> </BaseMethods> <ClientMethods> <c/> </ClientMethods> </root>\n",
			a + ":1: ClientName: clients see the type as B, which lacks Properties/p, CellMethods/m, BaseMethods/n, ClientMethods/c; they stay on the servers, and no client is sent them or can call them"},
		{"client name, other compression", "-- entities.xml --\n<root> <B/> <A/> </root>\n-- entity_defs/B.def --\n<root/>\n-- entity_defs/A.def --\n<root> <Parent> B </Parent> <ClientName> B </ClientName>" +
			" <NetworkCompression> <external> ZIP </external> </NetworkCompression> </root>\n",
			a + ":1: NetworkCompression/external: clients see the type as B, which has another; that one is used; state it here, too, or leave it out"},
	}
}

func TestNotices(t *testing.T) {
	for _, c := range noticeCases() {
		t.Run(c.name, func(t *testing.T) {
			s, err := Load(tree(c.tree))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, s.Notices.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
	// The same of types described in Go.
	s, err := NewSchema(&Definition{Name: "A", HasCell: true, ClientMethods: []*Method{{Name: "c"}}, CellMethods: []*Method{{Name: "m", Exposed: ExposedAll}}})
	if err != nil {
		t.Fatal(err)
	}
	want := "CellMethods/m: it is exposed, but A has no client side; no client can call it\nA: it has client methods but no client side; no client ever hears them"
	if diff := cmp.Diff(want, fmt.Sprint(s.Notices)); diff != "" {
		t.Error(diff)
	}
	if m := s.Types[0].CellMethod("m"); m.ExposedIndex != -1 {
		t.Errorf("%+v", m)
	}
}
