package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/property"
)

// tree writes a definition tree of one type A, and of others without content, and returns its
// folder.
func tree(t *testing.T, def string, others ...string) string {
	t.Helper()
	dir := t.TempDir()
	list := "<A/>"
	for _, name := range others {
		list += "<" + name + "/>"
	}
	files := map[string]string{"entities.xml": "<root>" + list + "</root>", "entity_defs/A.def": "<root>" + def + "</root>"}
	for _, name := range others {
		files["entity_defs/"+name+".def"] = "<root/>"
	}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFaultyFlagsAreRefused(t *testing.T) {
	for _, x := range []struct {
		args, want string
	}{
		{"-package p extra", `defgen: unexpected argument "extra": everything is said by flags`},
		{"", `defgen: no -package: name the package that the file is for`},
		{"-package my-game", `defgen: -package "my-game" is no Go identifier`},
		{"-user Coins", `invalid value "Coins" for flag -user: want name=importpath.Type, or name=Type for a type of the same package`},
		{"-user =Coins", `invalid value "=Coins" for flag -user: want name=importpath.Type, or name=Type for a type of the same package`},
		{"-user Coins=.Coins", `invalid value "Coins=.Coins" for flag -user: want name=importpath.Type, or name=Type for a type of the same package`},
		{`-user Coins=a".B`, `invalid value "Coins=a\".B" for flag -user: want name=importpath.Type, or name=Type for a type of the same package`},
		{"-user C=a.B -user C=a.D", `invalid value "C=a.D" for flag -user: USER_TYPE C has a Go type already`},
		{"-name Avatar.bag", `invalid value "Avatar.bag" for flag -name: want place=Name, such as Avatar.weapon=Weapon`},
		{"-name Avatar.bag=item", `invalid value "Avatar.bag=item" for flag -name: want place=Name, such as Avatar.weapon=Weapon`},
		{"-name A.b=C -name A.b=D", `invalid value "A.b=D" for flag -name: A.b has a name already`},
		{"-colour", `flag provided but not defined: -colour`},
	} {
		var out, errs bytes.Buffer
		status := run(strings.Fields(x.args), "", &out, &errs)
		first, _, _ := strings.Cut(errs.String(), "\n")
		if status != 2 || first != x.want || out.Len() > 0 {
			t.Errorf("%s: status %d, %d bytes, error\n\t%s\nwant\n\t%s", x.args, status, out.Len(), first, x.want)
		}
	}
}

func TestHelpIsNoError(t *testing.T) {
	var out, errs bytes.Buffer
	if status := run([]string{"-h"}, "", &out, &errs); status != 0 || !strings.HasPrefix(errs.String(), "Usage of defgen:\n") {
		t.Errorf("status %d: %s", status, errs.String())
	}
}

const dictOf = `<Type> FIXED_DICT <Properties> <n> <Type> %s </Type> </n> </Properties> </Type> <Flags> CELL_PRIVATE </Flags>`

func TestDefinitionsThatGoCannotSayAreRefused(t *testing.T) {
	const remedy = "; rename one in the definitions, or a FIXED_DICT with -name"
	prop := func(name, typ string) string {
		return fmt.Sprintf("<%s> <Type> %s </Type> <Flags> CELL_PRIVATE </Flags> </%s>", name, typ, name)
	}
	for _, x := range []struct {
		what, def, args string
		others          []string
		want            []string
	}{
		{what: "fields", def: "<Properties>" + prop("hp", "INT8") + prop("_hp", "INT8") + prop("Hp", "INT8") + "</Properties>", want: []string{
			"ACell.Hp would be both property hp and property _hp" + remedy,
			"ACell.Hp would be both property hp and property Hp" + remedy,
		}},
		{what: "methods", def: "<BaseMethods> <go/> <Go/> <_tick/> <mailbox/> </BaseMethods>", want: []string{
			"BaseMethods/_tick of A: Go exports no method _tick; let the name begin with a letter",
			"ABaseMethods.Go would be both method go and method Go" + remedy,
			"ABaseMailbox.Go would be both method go and method Go" + remedy,
			"ABaseMailbox.Mailbox would be both the embedded entity.Mailbox and method mailbox" + remedy,
		}},
		{what: "types", others: []string{"_A"}, want: []string{
			"AReplica would be both the replica of A and the replica of _A" + remedy,
			"NewAReplica would be both the maker of the replica of A and the maker of the replica of _A" + remedy,
			"ClientHandlers.A would be both the handler of A and the handler of _A" + remedy,
		}},
		{what: "one of the types", others: []string{"_A"}, args: "-types A", want: nil},
		{what: "structures", def: "<Properties> <bag> " + fmt.Sprintf(dictOf, "INT8") + "</bag> <Bag> " + fmt.Sprintf(dictOf, "INT16") + "</Bag> </Properties>", want: []string{
			"ABag would be both the handles of FIXED_DICT A.bag and the handles of FIXED_DICT A.Bag" + remedy,
			"ABagData would be both the values of FIXED_DICT A.bag and the values of FIXED_DICT A.Bag" + remedy,
			"ValueOfABag would be both a conversion of FIXED_DICT A.bag and a conversion of FIXED_DICT A.Bag" + remedy,
			"ABagDataOf would be both a conversion of FIXED_DICT A.bag and a conversion of FIXED_DICT A.Bag" + remedy,
			"ACell.Bag would be both property bag and property Bag" + remedy,
		}},
		{what: "a structure and a part", def: "<Properties> <bag> " + fmt.Sprintf(dictOf, "INT8") + "</bag> </Properties>", args: "-name A.bag=ACell", want: []string{
			"ACell would be both the handles of FIXED_DICT A.bag and the handles of the cell part of A" + remedy,
		}},
		{what: "a field dict", def: "<Properties> <bag> " + strings.NewReplacer("<n>", "<dict>", "</n>", "</dict>").Replace(fmt.Sprintf(dictOf, "INT8")) + "</bag> </Properties>", want: []string{
			"ABag.Dict would be both the embedded property.Dict and field dict" + remedy,
		}},
		{what: "replica", def: "<Properties> <replica> <Type> INT8 </Type> <Flags> ALL_CLIENTS </Flags> </replica> </Properties>", want: []string{
			"AReplica.Replica would be both the embedded client.Replica and property replica" + remedy,
		}},
		{what: "unknown types", args: "-types B,A,C", others: []string{"D"}, want: []string{
			`-types: there is no entity type or service "B"; there are A, D`,
			`-types: there is no entity type or service "C"; there are A, D`,
		}},
		{what: "unused flags", def: "<Properties> <bag> " + fmt.Sprintf(dictOf, "INT8") + "</bag> </Properties>", args: "-name A.bog=Bog -user Coins=Coins", want: []string{
			"-name A.bog: there is no FIXED_DICT to name; there are A.bag",
			"-user Coins: the definitions have no USER_TYPE of that name",
		}},
		{what: "no structures", args: "-name A.bag=Bag", want: []string{"-name A.bag: there is no FIXED_DICT to name; there are none"}},
	} {
		t.Run(x.what, func(t *testing.T) {
			var out, errs bytes.Buffer
			args := append([]string{"-package", "p", "-defs", tree(t, x.def, x.others...)}, strings.Fields(x.args)...)
			status := run(args, "", &out, &errs)
			want := "defgen: cannot generate:\n\t" + strings.Join(x.want, "\n\t") + "\n"
			if x.want == nil {
				want = ""
			}
			if (status == 0) != (x.want == nil) || errs.String() != want || (out.Len() > 0) != (x.want == nil) {
				t.Errorf("status %d, error\n%s\nwant\n%s", status, errs.String(), want)
			}
		})
	}
}

func TestUserTypesNeedAGoType(t *testing.T) {
	u, err := property.NewUserType[int8]("Coins", codec{})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := property.NewSchema(&property.Definition{Name: "A", HasCell: true, HasBase: true, Properties: []*property.Property{
		{Name: "purse", Type: u}, {Name: "bank", Type: u, Flags: property.Base},
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = generate(schema, &options{pkg: "p"})
	if want := "cannot generate:\n\tUSER_TYPE Coins has no Go type: add -user Coins=importpath.Type"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// codec is of a USER_TYPE that nobody uses.
type codec struct{}

func (codec) Default() int8                           { return 0 }
func (codec) Append(b []byte, x int8) ([]byte, error) { return append(b, byte(x)), nil }
func (codec) Read(b []byte) (int8, []byte, error)     { return 0, b, property.ErrTruncated }
func (codec) ToStore(x int8) (property.Value, error)  { return property.Int(int64(x)), nil }
func (codec) FromStore(v property.Value) (int8, error) {
	return int8(v.Int()), nil
}
func (codec) StoreType() *property.DataType { return property.Scalar(property.KindInt8) }

func TestImportsOfOneNameAreToldApart(t *testing.T) {
	g := &generator{opts: &options{users: []user{
		{name: "A", path: "x/items", goType: "A"}, {name: "B", path: "y/items", goType: "B"}, {name: "C", path: "x/items", goType: "C"},
		{name: "D", path: "z/property", goType: "D"}, {name: "E", goType: "E"}, {name: "F", path: "gopkg.in/go-set.v2", goType: "F"},
		{name: "G", path: "x/go", goType: "G"}, {name: "H", path: "x/v2", goType: "H"}, {name: "I", path: "x/1", goType: "I"},
	}}}
	for name, want := range map[string]string{"A": "items.A", "B": "itemsx.B", "C": "items.C", "D": "propertyx.D", "E": "E", "F": "gosetv.F", "G": "gox.G", "H": "vx.H", "I": "xx.I"} {
		if got := g.userType(name); got != want {
			t.Errorf("type of %s is %s, want %s", name, got, want)
		}
	}
}

func TestFaultyDefinitionsAreToldAsTheLoaderDoes(t *testing.T) {
	dir := tree(t, "<Properties> <x/> </Properties>")
	var out, errs bytes.Buffer
	status := run([]string{"-package", "p", "-defs", dir}, "", &out, &errs)
	want := "defgen: definitions in " + dir + ":\nentity_defs/A.def:1: Properties/x: property has no Flags; add <Flags> with one of "
	if status != 1 || !strings.HasPrefix(errs.String(), want) {
		t.Errorf("status %d: %s", status, errs.String())
	}
	if status := run([]string{"-package", "p", "-defs", filepath.Join(dir, "none")}, "", &out, &errs); status != 1 || out.Len() > 0 {
		t.Errorf("status %d for no definitions", status)
	}
}

// A fault leaves the file of an earlier run as it was.
func TestTheFileIsWrittenWholeOrNotAtAll(t *testing.T) {
	dir := tree(t, "<Properties> <x> <Type> INT8 </Type> <Flags> BASE </Flags> </x> </Properties>")
	file := filepath.Join(dir, "gen.go")
	var out, errs bytes.Buffer
	if status := run([]string{"-defs", dir, "-out", file}, "game", &out, &errs); status != 0 || out.Len() > 0 {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	first, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(first, []byte("\npackage game\n")) {
		t.Fatalf("%v\n%s", err, first)
	}
	if status := run([]string{"-defs", dir, "-out", file, "-types", "B"}, "game", &out, &errs); status != 1 {
		t.Errorf("status %d", status)
	}
	if second, err := os.ReadFile(file); err != nil || !bytes.Equal(first, second) {
		t.Errorf("the file has changed: %v", err)
	}
	if status := run([]string{"-defs", dir, "-out", filepath.Join(dir, "none", "gen.go")}, "game", &out, &errs); status != 1 {
		t.Errorf("status %d for a folder that is not there", status)
	}
}

// A structure without an alias is named after where it is met first in all types, chosen or not.
func TestNamesDoNotDependOnTheChoice(t *testing.T) {
	var out, errs bytes.Buffer
	if status := run([]string{"-defs", "internal/sample/defs", "-package", "p", "-types", "Chest"}, "", &out, &errs); status != 0 {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	text := out.String()
	if !strings.Contains(text, "Content property.Array[Item]") || !strings.Contains(text, "Pets property.Array[AvatarPet]") || strings.Contains(text, "AvatarCell") ||
		strings.Contains(text, "Weapon") {
		t.Errorf("generated\n%s", text)
	}
}

// The command has no codec of a USER_TYPE: it needs to know only what Go type to write, and leaves
// out what it cannot know.
func TestUserTypesOfATree(t *testing.T) {
	dir := tree(t, `<Properties> <purse> <Type> USER_TYPE <implementedBy> coins.inst </implementedBy> </Type> <Flags> BASE </Flags> </purse> </Properties>`)
	var out, errs bytes.Buffer
	if status := run([]string{"-defs", dir, "-package", "p", "-user", "coins.inst=example.com/game/money.Coins"}, "", &out, &errs); status != 0 {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	for _, want := range []string{"Purse property.Custom[money.Coins]", `money "example.com/game/money"`, "func CheckClientSchema(", "USER_TYPE coins.inst"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "SchemaDigest ") || strings.Contains(out.String(), "CheckSchema(") {
		t.Errorf("it has a digest that the game's definitions cannot have:\n%s", out.String())
	}
	out.Reset()
	status := run([]string{"-defs", dir, "-package", "p"}, "", &out, &errs)
	want := "\nFor defgen, the type of a USER_TYPE is given by -user name=importpath.Type, with the name that it is implementedBy\n"
	if status != 1 || !strings.HasSuffix(errs.String(), want) || out.Len() > 0 {
		t.Errorf("status %d: %s", status, errs.String())
	}
}
