package main

import (
	"errors"
	"flag"
	"fmt"
	"go/token"
	"io"
	"slices"
	"strings"
	"unicode"
)

// options are the command line.
type options struct {
	defs, pkg, out string
	types          []string
	users          []user
	names          []naming
	// standIns is true if the schema has stand-ins for its USER_TYPEs, and so another digest than
	// that of the game.
	standIns bool
}

// user is the Go type of a USER_TYPE.
type user struct {
	name   string // by which the tree says that the USER_TYPE is implemented
	path   string // import path, "" for the generated package itself
	goType string
}

// naming is a name that the command line gives to a FIXED_DICT.
type naming struct {
	place, name string
	used        bool
}

// parseOptions reads the flags. Without options, the second result is the exit status.
func parseOptions(args []string, pkg string, stderr io.Writer) (*options, int) {
	var o options
	set := flag.NewFlagSet("defgen", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&o.defs, "defs", "defs", "the definition tree, a `dir` with entities.xml at its top")
	set.StringVar(&o.pkg, "package", pkg, "package `name` of the generated file; default $GOPACKAGE")
	set.StringVar(&o.out, "out", "", "`file` to write; default standard output")
	set.Func("types", "entity types and services to write, as `A,B`; default all", func(s string) error {
		o.types = append(o.types, strings.Split(s, ",")...)
		return nil
	})
	set.Func("user", "Go type of the USER_TYPE implementedBy a name, as `name=importpath.Type`; may be repeated", o.addUser)
	set.Func("name", "name of the FIXED_DICT in a place, as `Avatar.weapon=Weapon`; may be repeated", o.addName)
	if err := set.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil, 0
	} else if err != nil {
		return nil, 2
	}
	problem := ""
	switch {
	case set.NArg() > 0:
		problem = fmt.Sprintf("unexpected argument %q: everything is said by flags", set.Arg(0))
	case o.pkg == "":
		problem = "no -package: name the package that the file is for"
	case !token.IsIdentifier(o.pkg):
		problem = fmt.Sprintf("-package %q is no Go identifier", o.pkg)
	}
	if problem != "" {
		fmt.Fprintf(stderr, "defgen: %s\n", problem)
		return nil, 2
	}
	return &o, 0
}

func (o *options) addUser(s string) error {
	name, goType, _ := strings.Cut(s, "=")
	u := user{name: name, goType: goType}
	if i := strings.LastIndexByte(goType, '.'); i >= 0 {
		u.path, u.goType = goType[:i], goType[i+1:]
	}
	if name == "" || !token.IsIdentifier(u.goType) || strings.ContainsFunc(u.path, notInPath) || strings.HasPrefix(goType, ".") {
		return errors.New("want name=importpath.Type, or name=Type for a type of the same package")
	}
	if slices.ContainsFunc(o.users, func(v user) bool { return v.name == name }) {
		return fmt.Errorf("USER_TYPE %s has a Go type already", name)
	}
	o.users = append(o.users, u)
	return nil
}

func (o *options) addName(s string) error {
	place, name, _ := strings.Cut(s, "=")
	if place == "" || !token.IsIdentifier(name) || !token.IsExported(name) {
		return errors.New("want place=Name, such as Avatar.weapon=Weapon")
	}
	if slices.ContainsFunc(o.names, func(n naming) bool { return n.place == place }) {
		return fmt.Errorf("%s has a name already", place)
	}
	o.names = append(o.names, naming{place: place, name: name})
	return nil
}

// notInPath reports a rune that no import path has.
func notInPath(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/.-_~+", r)
}
