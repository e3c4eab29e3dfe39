package main

import (
	"fmt"
	"strings"

	"github.com/cellscape/cellscape/property"
)

// dict is one structure of a FIXED_DICT and the Go types made for it.
type dict struct {
	name      string
	place     string // its alias, or where it was met first
	typ       *property.DataType
	needData  bool // what the chosen entity types need of it
	needField bool
}

func (d *dict) data() string      { return d.name + "Data" }
func (d *dict) toValue() string   { return "ValueOf" + d.name }
func (d *dict) fromValue() string { return d.name + "DataOf" }

// dicts are the structures of a schema, in the order in which they are met.
type dicts struct {
	list  []*dict
	byKey map[string]*dict
	names []naming
	users []string // names of the USER_TYPEs that are met, perhaps again and again
}

// key is equal for types that one Go struct serves: None is said by a pointer, or by the handle.
func key(t *property.DataType) string {
	return strings.TrimPrefix(t.String(), t.Kind().String()+"?")
}

func (s *dicts) of(t *property.DataType) *dict { return s.byKey[key(t)] }

// survey names every structure of a schema, whether the chosen types need it or not: names must not
// depend on the choice. Aliases come first, and all of them before what they contain, which may be
// of another alias.
func survey(schema *property.Schema, names []naming) *dicts {
	s := &dicts{byKey: make(map[string]*dict), names: names}
	for _, a := range schema.Aliases {
		if a.Type.Kind() == property.KindFixedDict && s.of(a.Type) == nil {
			s.name(a.Type, a.Name, goAlias(a.Name))
		}
	}
	for _, a := range schema.Aliases {
		s.within(a.Type, a.Name, goAlias(a.Name))
	}
	for _, d := range definitions(schema) {
		for _, p := range d.Properties {
			s.add(p.Type, d.Name+"."+p.Name, goField(d.Name)+goPath(p.Name))
		}
		for _, x := range sidesOf(d) {
			for _, m := range x.methods {
				s.addArgs(m.Args, d.Name+"."+x.section+"."+m.Name, goField(d.Name)+goPath(m.Name), "")
				s.addArgs(m.Returns, d.Name+"."+x.section+"."+m.Name+".return", goField(d.Name)+goPath(m.Name), "Result")
			}
		}
	}
	return s
}

func (s *dicts) addArgs(args []property.Arg, place, name, what string) {
	for i, a := range args {
		of := a.Name
		if of == "" {
			of = fmt.Sprintf("arg%d", i+1)
		}
		s.add(a.Type, place+"."+of, name+what+goField(of))
	}
}

// add names the structures of a type, itself or within.
func (s *dicts) add(t *property.DataType, place, name string) {
	if t.Kind() == property.KindFixedDict {
		if s.of(t) != nil {
			return
		}
		s.name(t, place, name)
	}
	s.within(t, place, name)
}

// within names the structures within a type.
func (s *dicts) within(t *property.DataType, place, name string) {
	if e := t.Elem(); e != nil {
		if e.Kind() == property.KindFixedDict {
			name += "Item"
		}
		s.add(e, place, name)
	}
	if t.Kind() == property.KindUser {
		s.users = append(s.users, t.UserName())
	}
	for _, f := range t.Fields() {
		s.add(f.Type, s.of(t).place+"."+f.Name, s.of(t).name+goField(f.Name))
	}
}

// name gives a structure its name, that of -name if there is one for the place.
func (s *dicts) name(t *property.DataType, place, name string) {
	d := &dict{name: name, place: place, typ: t}
	for i := range s.names {
		if s.names[i].place == place {
			d.name, s.names[i].used = s.names[i].name, true
		}
	}
	s.byKey[key(t)], s.list = d, append(s.list, d)
}

// needData notes that the plain structs of a type are needed.
func (s *dicts) needData(t *property.DataType) {
	if t.Elem() != nil {
		s.needData(t.Elem())
	}
	if t.Kind() != property.KindFixedDict || s.of(t).needData {
		return
	}
	s.of(t).needData = true
	for _, f := range t.Fields() {
		s.needData(f.Type)
	}
}

// needField notes that the handles of a type are needed, and so the plain structs too: they are
// what is put in.
func (s *dicts) needField(t *property.DataType) {
	s.needData(t)
	if t.Kind() == property.KindArray {
		t = t.Elem()
	}
	if t.Kind() != property.KindFixedDict || s.of(t).needField {
		return
	}
	s.of(t).needField = true
	for _, f := range t.Fields() {
		s.needField(f.Type)
	}
}
