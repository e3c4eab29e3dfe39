// Defgen writes typed Go for a tree of entity definitions: what a game would otherwise write by
// hand, by name, and find wrong only when it starts.
//
//	//go:generate go tool defgen -defs ./defs -package world -out gen_world.go
//
// For a game without the tool line in its go.mod:
//
//	//go:generate go run github.com/cellscape/cellscape/property/defgen -defs ./defs -package world -out gen_world.go
//
// # What it writes
//
// For an entity type Avatar, as far as there is something to write:
//
//	AvatarCell, AvatarBase                 the properties of a part as handles, to embed in its script
//	AvatarCellMethods, AvatarBaseMethods   the methods that its script must have, for the compiler to check
//	AvatarCellMailbox, AvatarBaseMailbox,
//	AvatarClientMailbox                    an entity.Mailbox with typed calls
//	AvatarCellAnswers, AvatarBaseAnswers   typed answers to calls that Later has kept
//	AvatarReplica                          a client.Replica with a typed getter for each property that clients see
//	AvatarCellCalls, AvatarBaseCalls       typed calls from a client, of exposed methods
//	AvatarClientMethods                    what a client program does when the server calls it
//	AvatarHealthSetter                     what may hear that a client's copy of property health has changed
//
// For a service Shop, ShopServiceMethods and ShopServiceMailbox. For all of them together:
//
//	ClientHandlers                         hands what client.Events tell to those interfaces
//	SchemaDigest, SchemaClientDigest       of the definitions, and CheckSchema, CheckClientSchema to compare them
//
// A script says once that it has all methods, and from then on the compiler does:
//
//	type Avatar struct {
//		*space.Real
//		world.AvatarCell
//	}
//
//	var _ world.AvatarCellMethods = (*Avatar)(nil)
//
//	func (a *Avatar) Say(caller entity.ID, text string) {
//		a.Words.Set(a.Words.Get() + 1)
//		_ = world.NewAvatarClientMailbox(a.AllClients()).Heard(text)
//	}
//
// A client program calls through a replica, says what answers for an entity, and hears of calls and
// changes by methods:
//
//	type figure struct{ world.AvatarReplica }
//
//	func (f figure) Heard(text string)               { fmt.Println(f.Name(), "says", text) }
//	func (f figure) OnSetHealth(c *property.Change) { fmt.Println(f.Name(), "has", f.Health()) }
//
//	own, _ := world.NewAvatarReplica(c.Player())
//	err := own.Cell().Say("hello")
//
//	h := &world.ClientHandlers{Avatar: func(r world.AvatarReplica) world.AvatarClientMethods { return figure{r} }}
//	client.Config{Events: client.Events{Called: h.Called, PropertyChanged: h.PropertyChanged}, ...}
//
// A component of a type is a struct within AvatarCell, with the tag component:"name"; its methods
// and getters have both names, LegsJump. A type with a ClientName has no replica: clients see it as
// that type.
//
// The results of a two-way call are told by a method of the mailbox, named after the called one. A method
// that answers later answers by its name, too:
//
//	func (b *Bank) Balance(of string) (gold uint32, err error) {
//		token, err := b.Later()
//		...
//		return 0, err
//	}
//
//	func (b *Bank) OnFound(r entity.Reply) {
//		gold, err := world.NewVaultBaseMailbox(b.vault()).GoldResults(r)
//		...
//		err = world.BankBaseAnswers{b}.AnswerBalance(entity.AnswerToken(r.User), gold)
//	}
//
// # Structures
//
// A FIXED_DICT becomes two types: Weapon, a struct of handles for one that is a property, and
// WeaponData, a plain struct for arguments and copies, with the functions ValueOfWeapon and
// WeaponDataOf to and from a property.Value. None is a nil pointer. Lists are slices, a MAP is a
// slice of Pair, ANY and USER_TYPE stay a property.Value, which property.AnyValue and
// property.UserValue make. A script gets structured arguments as a property.Value too, as package
// entity calls it.
//
// One structure that stands in several places is one type. It is named after its alias, WEAPON or
// AVATAR_INFO becoming Weapon and AvatarInfo; without one, after the place where it is met first:
// property weapon of Avatar makes AvatarWeapon, an element of the list bag AvatarBagItem, argument
// item of cell method give AvatarGiveItem. The flag -name gives another:
//
//	-name WEAPON=Arms -name Avatar.bag=Item -name Avatar.CellMethods.give.item=Gift
//
// # Names
//
// A name of a definition becomes a Go name by its first letter, raised, as package entity binds
// methods; leading underscores of properties go. What would be declared twice is refused, and all
// such names are listed at once. Names do not depend on -types. Two files of one package would both
// declare what their types share: generate one.
//
// # USER_TYPE
//
// The flag -user says for the name that a USER_TYPE is implementedBy which Go type its handles
// have. The command has not the codec: it leaves SchemaDigest out, since what the store keeps is
// part of it, and SchemaClientDigest is that of the game if property.NewUserType was given the same
// name.
//
// # Flags
//
//	-defs dir          the definition tree, with entities.xml at its top; default "defs"
//	-package name      package of the generated file; default the name in $GOPACKAGE, which go generate sets
//	-out file          file to write; default standard output
//	-types A,B         entity types and services to write; default all
//	-user name=type    Go type of a USER_TYPE, as importpath.Type, or Type in the same package; may be repeated
//	-name place=name   name of the FIXED_DICT in a place; may be repeated
//
// The exit status is 0, 1 if the definitions or the file are at fault, or 2 if the flags are.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(run(os.Args[1:], os.Getenv("GOPACKAGE"), os.Stdout, os.Stderr)) }

// run is the command; pkg is the default of -package.
func run(args []string, pkg string, stdout, stderr io.Writer) int {
	o, status := parseOptions(args, pkg, stderr)
	if o == nil {
		return status
	}
	if err := write(o, stdout); err != nil {
		fmt.Fprintf(stderr, "defgen: %v\n", err)
		return 1
	}
	return 0
}

// write generates, and writes only what is whole: a file of an earlier run stays if anything is at
// fault.
func write(o *options, stdout io.Writer) error {
	schema, err := load(o)
	if err != nil {
		return err
	}
	source, err := generate(schema, o)
	if err != nil {
		return err
	}
	if o.out == "" {
		_, err = stdout.Write(source)
		return err
	}
	return os.WriteFile(o.out, source, 0o644)
}
