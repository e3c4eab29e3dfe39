package property

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// benchTree is a game of 100 types with 20 properties and 10 methods of its own each, on 4 parents
// and 10 interfaces, with 20 aliases. The comments and the blank space are as people write them.
func benchTree() (files fstest.MapFS, size int) {
	files = fstest.MapFS{}
	add := func(name, text string) {
		files[name] = &fstest.MapFile{Data: []byte(text)}
		size += len(text)
	}
	var list, aliases strings.Builder
	list.WriteString("<root>\n\t<ClientServerEntities>\n")
	for i := range 100 {
		fmt.Fprintf(&list, "\t\t<Type%02d/>\n", i)
	}
	list.WriteString("\t</ClientServerEntities>\n</root>\n")
	add("entities.xml", list.String())
	aliases.WriteString("<root>\n")
	for i := range 10 {
		fmt.Fprintf(&aliases, "\t<ITEM%d> FIXED_DICT\n\t\t<Properties>\n\t\t\t<kind> <Type> UINT16 </Type> </kind>\n\t\t\t<count> <Type> UINT32 </Type> <Default> 1 </Default> </count>\n\t\t\t<name> <Type> UNICODE_STRING </Type> </name>\n\t\t</Properties>\n\t</ITEM%d>\n", i, i)
		fmt.Fprintf(&aliases, "\t<BAG%d> ARRAY <of> ITEM%d </of> </BAG%d>\n", i, i, i)
	}
	add("entity_defs/alias.xml", aliases.String()+"</root>\n")
	for i := range 4 {
		add(fmt.Sprintf("entity_defs/Base%d.def", i), "<root>\n"+benchMembers(fmt.Sprintf("base%d", i), 20, 10)+"</root>\n")
	}
	for i := range 10 {
		add(fmt.Sprintf("entity_defs/interfaces/Talks%d.def", i), "<root>\n"+benchMembers(fmt.Sprintf("talks%d", i), 5, 5)+"</root>\n")
	}
	for i := range 100 {
		add(fmt.Sprintf("entity_defs/Type%02d.def", i), fmt.Sprintf(`<root>
	<Parent> Base%d </Parent>
	<Implements>
		<Interface> Talks%d </Interface>
		<Interface> Talks%d </Interface>
	</Implements>
	<Volatile> <position/> <yaw/> </Volatile>
	<LoDLevels>
		<level> 20 <hyst> 4 </hyst> <label> NEAR </label> </level>
		<level> 100 <hyst> 10 </hyst> <label> MEDIUM </label> </level>
	</LoDLevels>
`, i%4, i%10, (i+3)%10)+benchMembers("own", 20, 10)+"</root>\n")
	}
	return files, size
}

func benchMembers(prefix string, properties, methods int) string {
	var b strings.Builder
	types := []string{"INT32", "FLOAT32", "VECTOR3", "UNICODE_STRING", "BAG1", "ITEM2", "UINT8", "ARRAY <of> INT32 </of>"}
	flags := []string{"ALL_CLIENTS", "CELL_PUBLIC", "OWN_CLIENT", "BASE", "CELL_PRIVATE", "OTHER_CLIENTS"}
	b.WriteString("\t<Properties>\n")
	for i := range properties {
		fmt.Fprintf(&b, "\t\t<%sProperty%d> <!-- what it is for -->\n\t\t\t<Type> %s </Type>\n\t\t\t<Flags> %s </Flags>\n", prefix, i, types[i%len(types)], flags[i%len(flags)])
		if i%len(types) < 2 {
			b.WriteString("\t\t\t<Default> 7 </Default>\n\t\t\t<Persistent> true </Persistent>\n")
		}
		fmt.Fprintf(&b, "\t\t</%sProperty%d>\n", prefix, i)
	}
	b.WriteString("\t</Properties>\n\t<CellMethods>\n")
	for i := range methods {
		if i == methods/2 {
			b.WriteString("\t</CellMethods>\n\t<ClientMethods>\n")
		}
		exposed := ""
		if i%4 == 0 && i < methods/2 {
			exposed = "\t\t\t<Exposed/>\n"
		}
		fmt.Fprintf(&b, "\t\t<%sMethod%d>\n%s\t\t\t<Arg> INT32 </Arg> <!-- who -->\n\t\t\t<Arg> UNICODE_STRING </Arg>\n\t\t</%sMethod%d>\n", prefix, i, exposed, prefix, i)
	}
	b.WriteString("\t</ClientMethods>\n")
	return b.String()
}

func BenchmarkLoad100(b *testing.B) {
	files, size := benchTree()
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(files); err != nil {
			b.Fatal(err)
		}
	}
}

// The cheapest that encoding/xml can do with the same bytes: every token read and thrown away. Load
// is to stay within three times of it.
func BenchmarkLoad100XMLOnly(b *testing.B) {
	readTree(b, func(xmlText []byte) error {
		d := xml.NewDecoder(bytes.NewReader(xmlText))
		for {
			if _, err := d.Token(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	})
}

// For reference: what a program pays that unmarshals the same bytes into a struct which wants
// nothing of them.
func BenchmarkLoad100XMLUnmarshal(b *testing.B) {
	readTree(b, func(xmlText []byte) error {
		var nothing struct{}
		return xml.Unmarshal(xmlText, &nothing)
	})
}

// readTree has each file of the tree read, as its bare bytes.
func readTree(b *testing.B, read func(xmlText []byte) error) {
	files, size := benchTree()
	names := slices.Sorted(maps.Keys(files))
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, name := range names {
			if err := read(files[name].Data); err != nil {
				b.Fatal(err)
			}
		}
	}
}
