package property

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const flagsRemedy = "use one of CELL_PRIVATE, CELL_PUBLIC, OTHER_CLIENTS, OWN_CLIENT, CELL_PUBLIC_AND_OWN, ALL_CLIENTS, BASE, BASE_AND_CLIENT, EDITOR_ONLY"

// textCase is a tree or other input and the exact text of all faults or notices that it makes.
type textCase struct{ name, tree, want string }

func loadFaultCases() []textCase {
	prop := func(elements string) string {
		return one("<Properties>\n<p> " + elements + " </p>\n</Properties>")
	}
	const a = "entity_defs/A.def"
	component := func(elements string) string {
		return one("<Components> <c> <Type> T </Type> </c> </Components>") + "-- component_defs/T.def --\n<root>\n" + elements + "\n</root>\n"
	}
	two := func(a, b string) string {
		return "-- entities.xml --\n<root> <A/> <B/> </root>\n-- entity_defs/A.def --\n<root>\n" + a + "\n</root>\n-- entity_defs/B.def --\n<root>\n" + b + "\n</root>\n"
	}
	asParent := func(elements string) string {
		return two("<Properties> <p> <Type> INT8 </Type> <Flags> ALL_CLIENTS </Flags> </p> </Properties> <CellMethods> <m> <Exposed/> </m> </CellMethods> <ClientMethods> <c/> </ClientMethods>",
			"<Parent> A </Parent> <ClientName> A </ClientName> "+elements)
	}
	return []textCase{
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
		{"encoding", "-- entities.xml --\n<?xml version=\"1.0\" encoding=\"gbk\"?>\n<root/>", `entities.xml:1: the file says that it is in "gbk"; save it as UTF-8, and write encoding="UTF-8" or nothing`},
		{"entity", "-- entities.xml --\n<root>&boom;</root>", "entities.xml:1: malformed XML: invalid character entity &boom;; write UTF-8 and close every element"},
		{"two roots", "-- entities.xml --\n<root/>\n<root/>", "entities.xml:2: root: a second root element; wrap everything in one <root>"},
		{"text after root", "-- entities.xml --\n<root/>\nmore", "entities.xml:1: text after the root element; remove it"},
		{"text before root", "-- entities.xml --\nwords <root/>", "entities.xml:1: text before the root element; remove it"},
		{"prefix", "-- entities.xml --\n<root>\n<x:A/></root>", `entities.xml:2: entity type: "x:A" is not a name; use letters, digits and _, not beginning with a digit`},
		{"prefix of an element", one("<x:Properties/>"), a + ":2: x:Properties: unknown element; remove it, or correct its name"},
		{"deep", "-- entities.xml --\n" + strings.Repeat("<a>", MaxDepth+1) + strings.Repeat("</a>", MaxDepth+1), "entities.xml:1: a: elements are nested deeper than 48; flatten the definition"},
		{"text between", one("words <Persistent> true </Persistent>"), a + `:1: root: text "words" between elements; remove it`},

		// The list.
		{"type twice", "-- entities.xml --\n<root> <A/>\n<A/> </root>\n-- entity_defs/A.def --\n<root/>", a + ":1: A: entity type is declared twice; remove one of the two"},
		{"attribute", strings.Replace(one(""), "<A/>", `<A hasSoul="true"/>`, 1), `entities.xml:1: A: unknown attribute "hasSoul"; use hasCell, hasBase and hasClient`},
		{"attribute value", strings.Replace(one(""), "<A/>", `<A hasCell="perhaps"/>`, 1), `entities.xml:1: A: hasCell is "perhaps"; state true or false`},
		{"attribute twice", strings.Replace(one(""), "<A/>", `<A hasClient="true" hasClient="false"/>`, 1), `entities.xml:1: A: attribute "hasClient" is given twice; remove one of the two`},
		{"type name", "-- entities.xml --\n<root>\n<A.b/> </root>", `entities.xml:2: entity type: "A.b" is not a name; use letters, digits and _, not beginning with a digit`},
		{"no side", one("<Distribution> <Cell> false </Cell> <Base> false </Base> <Client> false </Client> </Distribution>"), a + ":1: the type has no side; let it have a cell, a base or a client"},

		// Inheritance.
		{"cycle of parents", one("<Parent> B </Parent>") + "-- entity_defs/B.def --\n<root>\n\n<Parent> A </Parent></root>\n", "entity_defs/B.def:3: Parent: cycle: entity_defs/A.def inherits from itself; remove one Parent or Interface of the cycle"},
		{"own parent", one("<Parent> A </Parent>"), a + ":2: Parent: cycle: entity_defs/A.def inherits from itself; remove one Parent or Interface of the cycle"},
		{"cycle of interfaces", one("<Implements> <Interface> I </Interface> </Implements>") + "-- entity_defs/interfaces/I.def --\n<root> <Implements> <Interface> J </Interface> </Implements> </root>\n-- entity_defs/interfaces/J.def --\n<root>\n<Implements> <Interface> I </Interface> </Implements> </root>\n",
			"entity_defs/interfaces/J.def:2: Implements/Interface: cycle: entity_defs/interfaces/I.def inherits from itself; remove one Parent or Interface of the cycle"},
		{"sides in interface", one("<Implements> <Interface> I </Interface> </Implements>") + "-- entity_defs/interfaces/I.def --\n<root> <Distribution/> </root>\n", "entity_defs/interfaces/I.def:1: Distribution: an interface cannot have it; move it to the types that implement the interface"},
		{"unknown in implements", one("<Implements> <Thing> I </Thing> </Implements>"), a + ":2: Implements/Thing: unknown element; remove it, or correct its name"},

		// Sections.
		{"unknown section", one("<Propertys/>"), a + ":2: Propertys: unknown element; remove it, or correct its name"},
		{"section twice", one("<Properties/>\n<Properties/>"), a + ":3: root/Properties: element is given twice; remove one of the two"},
		{"components", one("<Components> <c> <Type> T </Type> </c> </Components>"), a + ":2: Components/c/Type: there is neither a file component_defs/T.def nor entity_defs/components/T.def; create it, or correct the name"},
		{"persistent", one("<Persistent> yes </Persistent>"), a + `:2: Persistent: "yes" is neither true nor false; state true or false`},
		{"appeal", one("<AppealRadius> far </AppealRadius>"), a + `:2: AppealRadius: "far" is not a distance; state metres`},
		{"appeal below 0", one("<AppealRadius> -1 </AppealRadius>"), a + ":1: AppealRadius: -1 is not a distance; state metres, 0 or more"},
		{"distribution", one("<Distribution> <Cell> true </Cell> <Moon> true </Moon> </Distribution>"), a + ":2: Distribution/Moon: unknown element; remove it, or correct its name"},
		{"volatile", one("<Volatile> <yaw> 10 </yaw> <pitch> 20 </pitch> </Volatile>"), a + ":1: Volatile: roll reaches further than pitch, or pitch further than yaw; a direction is sent as yaw, yaw and pitch, or all three: order the distances so"},
		{"scheme backwards", one("<UpdateScheme> <minDelta> 5 </minDelta> <maxDelta> 2 </maxDelta> </UpdateScheme>"), a + ":1: UpdateScheme: there are no steps from 5 to 2; " + schemeRemedy},
		{"scheme from 0", one("<UpdateScheme> <maxDelta> 2 </maxDelta> </UpdateScheme>"), a + ":1: UpdateScheme: there are no steps from 0 to 2; " + schemeRemedy},
		{"distance of a scheme", one("<UpdateScheme> <minDelta> 1 </minDelta> <maxDelta> 2 </maxDelta> <distance> -3 </distance> </UpdateScheme>"), a + ":1: UpdateScheme: -3 is not a distance; " + schemeRemedy},
		{"element of a scheme", one("<UpdateScheme> <minDelta> 1 </minDelta> <maxDelta> 2 </maxDelta> <speed/> </UpdateScheme>"), a + ":2: UpdateScheme/speed: unknown element; remove it, or correct its name"},
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
		{"user data object", prop("<Type> UDO_REF </Type> <Flags> BASE </Flags>"), a + ":3: Properties/p/Type: type UDO_REF is not supported; spaces hold no user data objects: use ENTITY_ID of an entity that stands for the object"},
		{"component as a value", prop("<Type> ENTITY_COMPONENT </Type> <Flags> BASE </Flags>"), a + ":3: Properties/p/Type: type ENTITY_COMPONENT is not supported; a component is no value: list it in Components"},
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
		{"default of list text", prop("<Type> ARRAY <of> INT8 </of> </Type> <Flags> BASE </Flags> <Default> [1, 300] </Default>"), a + ":3: Properties/p/Default: \"[1, 300]\" is not a ARRAY<INT8>: element 1: property: value does not fit its type: 300 is not a INT8; state it as elements, or as a literal of lists, dictionaries, numbers and strings"},
		{"default of list", prop("<Type> ARRAY <of> INT8 </of> <size> 2 </size> </Type> <Flags> BASE </Flags> <Default> <item> 1 </item> </Default>"), a + ":3: Properties/p/Default: 1 elements for a size of 2; state all elements, or none of the default"},
		{"default of element", prop("<Type> ARRAY <of> INT8 </of> </Type> <Flags> BASE </Flags> <Default> <item> 1 </item> <item> x </item> </Default>"), a + `:3: Properties/p/Default/item[1]: "x" is not a INT8; state a value of that type`},
		{"default of record", withAlias("<R> FIXED_DICT <Properties> <x> <Type> INT8 </Type> </x> </Properties> </R>", "<Properties> <p> <Type> R </Type> <Flags> BASE </Flags> <Default> <y> 1 </y> </Default> </p> </Properties>"), a + ":2: Properties/p/Default/y: the FIXED_DICT has no such field; remove it, or correct its name"},
		{"mailbox to client", prop("<Type> ARRAY <of> MAILBOX </of> </Type> <Flags> ALL_CLIENTS </Flags>"), a + ":3: Properties/p: flag ALL_CLIENTS shows a MAILBOX to clients; use ENTITY_ID, or a flag without clients"},
		{"no cell", strings.Replace(prop("<Type> INT8 </Type> <Flags> CELL_PUBLIC </Flags>"), "<A/>", `<A hasCell="0"/>`, 1), a + ":3: Properties/p: flag CELL_PUBLIC, but A has no cell; change the flag, or let the type have a cell"},
		{"no base", strings.Replace(prop("<Type> INT8 </Type> <Flags> BASE </Flags>"), "<A/>", `<A hasBase="0"/>`, 1), a + ":3: Properties/p: flag BASE, but A has no base; change the flag, or let the type have a base"},
		{"identifier", prop("<Type> INT8 </Type> <Flags> BASE </Flags> <Identifier> true </Identifier>"), a + ":3: Properties/p: property is looked up in the store but not kept there; state Persistent true"},
		{"two identifiers", one("<Properties> <p> <Type> INT8 </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> <Identifier> true </Identifier> </p>\n<q> <Type> INT8 </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> <Identifier> true </Identifier> </q> </Properties>"),
			a + ":3: Properties/q/Identifier: A has an Identifier already, p; make one of the two Unique instead"},
		{"index", prop("<Type> INT8 </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> <Index> SOME </Index>"), a + `:3: Properties/p/Index: "SOME" is no index; use UNIQUE or INDEX`},
		{"database length", prop("<Type> INT8 </Type> <Flags> BASE </Flags> <DatabaseLength> -1 </DatabaseLength>"), a + `:3: Properties/p/DatabaseLength: "-1" is not a length; state bytes, or characters of a UNICODE_STRING`},

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

		// Attributes.
		{"attribute elsewhere", one(`<Properties kind="x"/>`), a + `:2: Properties: unknown attribute "kind"; remove it`},
		{"attribute of a group", "-- entities.xml --\n<root> <ServerOnlyEntities hasCell=\"1\"/> </root>", `entities.xml:1: ServerOnlyEntities: unknown attribute "hasCell"; remove it`},

		// Components.
		{"component without type", one("<Components>\n<c/> </Components>"), a + ":3: Components/c: component has no Type; add <Type> with the name of its definition"},
		{"component type is a path", one("<Components> <c> <Type> ../T </Type> </c> </Components>"), a + `:2: Components/c/Type: "../T" is not a name; use letters, digits and _, not beginning with a digit`},
		{"parent in component", component("<Parent> B </Parent>"), "component_defs/T.def:2: Parent: a component cannot have it; move it to the types that have the component, or make the component an interface"},
		{"element of component", one("<Components> <c> <Type> T </Type> <Kind/> </c> </Components>") + "-- component_defs/T.def --\n<root/>\n", a + ":2: Components/c/Kind: unknown element; remove it, or correct its name"},
		{"component in conflict", one("<Implements> <Interface> I </Interface> </Implements> <Components> <c> <Type> T </Type> </c> </Components>") + "-- component_defs/T.def --\n<root/>\n-- component_defs/U.def --\n<root/>\n-- entity_defs/interfaces/I.def --\n<root> <Components> <c> <Type> U </Type> </c> </Components> </root>\n",
			a + ":1: Components/c: component is inherited as U and is here T; rename one of the two"},
		{"component and property", one("<Components> <c> <Type> T </Type> </c> </Components> <Properties> <c> <Type> INT8 </Type> <Flags> BASE </Flags> </c> </Properties>") + "-- component_defs/T.def --\n<root/>\n", a + ":1: Components/c: a property has that name too; rename one of the two: a struct cannot have both"},
		{"component twice", one("<Components> <c> <Type> T </Type> </c> <c> <Type> T </Type> </c> </Components>") + "-- component_defs/T.def --\n<root/>\n", a + ":2: Components/c: element is given twice; remove one of the two"},
		{"name in component", component("<Properties> <x.y> <Type> INT8 </Type> <Flags> BASE </Flags> </x.y> </Properties>"), `component_defs/T.def:2: Properties: "x.y" is not a name; use letters, digits and _, not beginning with a digit`},
		{"fault in component", component("<CellMethods> <m> <Arg> INT9 </Arg> </m> </CellMethods>"), `component_defs/T.def:2: CellMethods/m/Arg[0]: unknown type "INT9"; use a data type, or declare the name in alias.xml or types.xml`},

		// Services.
		{"service with more", one("") + "-- services.xml --\n<root> <S/> </root>\n-- service_defs/S.def --\n<root>\n<Properties/> </root>\n", "service_defs/S.def:2: Properties: a service cannot have it; a service has Methods only: make it an entity type if it needs more"},
		{"service without definition", one("") + "-- services.xml --\n<root> <S/> </root>\n", "services.xml:1: S: there is no file service_defs/S.def; create it, or correct the name"},
		{"service name", one("") + "-- services.xml --\n<root> <S.a/> </root>\n", `services.xml:1: service: "S.a" is not a name; use letters, digits and _, not beginning with a digit`},
		{"exposed service", one("") + "-- services.xml --\n<root> <S/> </root>\n-- service_defs/S.def --\n<root> <Methods> <m> <Exposed> OWN_CLIENT </Exposed> </m> </Methods> </root>\n", "service_defs/S.def:1: Methods/m: a method of a service cannot be exposed; let the client call an exposed method of its own entity instead"},
		{"service twice", one("") + "-- services.xml --\n<root> <A/> </root>\n-- service_defs/A.def --\n<root/>\n", "service_defs/A.def:1: A: service is declared twice; remove one of the two"},
		{"methods of a type", one("<Methods/>"), a + ":2: Methods: an entity type cannot have it; use CellMethods, BaseMethods or ClientMethods"},

		// Settings.
		{"compression", one("<NetworkCompression>\n<internal> zip </internal> <external> " + strings.Repeat("z", 99) + " </external> </NetworkCompression>"),
			a + `:3: NetworkCompression/internal: there is no compression "zip"; ` + compressionRemedy + "\n" +
				a + `:3: NetworkCompression/external: there is no compression "` + strings.Repeat("z", 60) + `…"; ` + compressionRemedy},
		{"level of compression", one("<NetworkCompression> <internal> ZIP\n<level> 10 </level> </internal> <external> ZIP <level> six </level> </external> </NetworkCompression>"),
			a + `:3: NetworkCompression/internal/level: "10" is no level; state 1, the fastest, to 9, the smallest` + "\n" +
				a + `:3: NetworkCompression/external/level: "six" is no level; state 1, the fastest, to 9, the smallest`},
		{"level without ZIP", one("<NetworkCompression> <internal> ZIP_2 <level> 3 </level> </internal> <external> ZIP <depth/> </external> </NetworkCompression>"),
			a + ":2: NetworkCompression/internal/level: unknown element; remove it, or correct its name\n" +
				a + ":2: NetworkCompression/external/depth: unknown element; remove it, or correct its name"},
		{"side of compression", one("<NetworkCompression> <sideways/> </NetworkCompression>"), a + ":2: NetworkCompression/sideways: unknown element; remove it, or correct its name"},
		{"temporary property", one("<Properties> <p> <Type> INT8 </Type> <Flags> BASE </Flags> </p> </Properties> <TempProperties> <p/> </TempProperties>"), a + ":1: TempProperties/p: the name is a property too; remove one of the two"},
		{"temporary property name", one("<TempProperties> <p.q/> </TempProperties>"), a + `:1: TempProperties: "p.q" is not a name; use letters, digits and _, not beginning with a digit`},
		{"many temporary properties", one("<TempProperties> " + numbered(MaxProperties+1) + " </TempProperties>"), a + ":1: TempProperties: more than 4096 names; remove those that are not used"},
		{"many components", one("<Components> "+components(MaxComponents+1)+" </Components>") + "-- component_defs/T.def --\n<root/>\n", a + ":1: Components: more than 64 components; gather some in one"},
		{"header size", prop("<Type> INT8 </Type> <Flags> BASE </Flags> <VariableLengthHeaderSize> 5 </VariableLengthHeaderSize>"), a + `:3: Properties/p/VariableLengthHeaderSize: "5" is not the size of a length; state 1, 2, 3 or 4 bytes`},
		{"replay", one("<ClientMethods> <m> <ReplayExposureLevel> SOME </ReplayExposureLevel> </m> </ClientMethods>"), a + `:2: ClientMethods/m/ReplayExposureLevel: "SOME" is no replay exposure; use NONE, OTHER_CLIENTS or ALL_CLIENTS`},
		{"child of a setting", one("<Persistent> true <x/> </Persistent>"), a + ":2: Persistent/x: unknown element; remove it, or correct its name"},

		// ClientName.
		{"client name unknown", one("<ClientName> B </ClientName>"), a + `:1: ClientName: there is no entity type "B"; name a Parent that is an entity type with a client side`},
		{"client name of a stranger", two("", "<ClientName> A </ClientName>"), "entity_defs/B.def:1: ClientName: A is no Parent of B; name a Parent that is an entity type with a client side"},
		{"client name of a server type", strings.Replace(two("", "<Parent> A </Parent> <ClientName> A </ClientName>"), "<A/>", "<ServerOnlyEntities> <A/> </ServerOnlyEntities>", 1), "entity_defs/B.def:1: ClientName: A has no client side; name a Parent that is an entity type with a client side"},
		{"client name of one that has one", strings.Replace(two("", "<Parent> A </Parent> <ClientName> A </ClientName>"), "<B/>", "<B/> <C/>", 1) + "-- entity_defs/C.def --\n<root> <Parent> B </Parent> <ClientName> B </ClientName> </root>\n", "entity_defs/C.def:1: ClientName: clients see B as A; name A"},
		{"client name, type", asParent("<Properties> <p> <Type> INT16 </Type> <Flags> ALL_CLIENTS </Flags> </p> </Properties>"), "entity_defs/B.def:2: Properties/p: clients see the type as A, where it is INT8 with flag ALL_CLIENTS; give it that type and flag, or remove ClientName"},
		{"client name, flag", asParent("<Properties> <p> <Type> INT8 </Type> <Flags> CELL_PUBLIC </Flags> </p> </Properties>"), "entity_defs/B.def:2: Properties/p: clients see the type as A, where it is INT8 with flag ALL_CLIENTS; give it that type and flag, or remove ClientName"},
		{"client name, argument", asParent("<ClientMethods> <c> <Arg> INT8 </Arg> </c> </ClientMethods>"), "entity_defs/B.def:2: ClientMethods/c: clients see the type as A, where it has other arguments or is exposed otherwise; declare it as there, or remove ClientName"},
		{"client name, exposure", asParent("<CellMethods> <m/> </CellMethods>"), "entity_defs/B.def:2: CellMethods/m: clients see the type as A, where it has other arguments or is exposed otherwise; declare it as there, or remove ClientName"},

		// More types.
		{"map without key", prop("<Type> MAP <of> INT8 </of> </Type> <Flags> BASE </Flags>"), a + ":3: Properties/p/Type: MAP without type of key or value; add <key> TYPE </key> and <of> TYPE </of>"},
		{"map of vectors", prop("<Type> MAP <key> VECTOR2 </key> <of> INT8 </of> </Type> <Flags> BASE </Flags>"), a + ":3: Properties/p/Type: VECTOR2 cannot be the key of a MAP; simplify the type"},
		{"map default without key", prop("<Type> MAP <key> INT8 </key> <of> INT8 </of> </Type> <Flags> BASE </Flags> <Default> <item> <value> 1 </value> </item> </Default>"), a + ":3: Properties/p/Default/item[0]: pair without key or value; add <key> and <value>"},
		{"map default twice", prop("<Type> MAP <key> INT8 </key> <of> INT8 </of> </Type> <Flags> BASE </Flags> <Default> " + strings.Repeat("<item> <key>1</key> <value> 1 </value> </item>", 2) + " </Default>"), a + ":3: Properties/p/Default: property: value does not fit its type: MAP with a key twice; state each key once"},
		{"user type without name", prop("<Type> USER_TYPE </Type> <Flags> BASE </Flags>"), a + ":3: Properties/p/Type: USER_TYPE without implementedBy; add <implementedBy> NAME </implementedBy>"},
		{"user type not given", prop("<Type> USER_TYPE <implementedBy> mod.inst </implementedBy> </Type> <Flags> BASE </Flags>"), a + `:3: Properties/p/Type/implementedBy: USER_TYPE mod.inst needs a codec in Go, and none is given; write a property.UserCodec, and give what property.NewUserType makes of it in Options.UserTypes under this name`},
		{"free value", prop("<Type> ANY </Type> <Flags> BASE </Flags> <Default> {1} </Default>"), a + `:3: Properties/p/Default: "{1}" is not a ANY; state a JSON value`},
		{"default of an inline type", prop("<Type> INT8 <Default> x </Default> </Type> <Flags> BASE </Flags>"), a + `:3: Properties/p/Type/Default: "x" is not a INT8; state a value of that type`},
		{"length of a field", withAlias("<R> FIXED_DICT <Properties> <x> <Type> INT8 </Type> <DatabaseLength> long </DatabaseLength> </x> </Properties> </R>", ""), `alias.xml:2: R/Properties/x/DatabaseLength: "long" is not a length; state bytes, or characters of a UNICODE_STRING`},
	}
}

func TestLoadFaults(t *testing.T) {
	for _, c := range loadFaultCases() {
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

// numbered is n elements of different names.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<x%d/>", i)
	}
	return b.String()
}

// components is n components of different names.
func components(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<c%d> <Type> T </Type> </c%d>", i, i)
	}
	return b.String()
}
