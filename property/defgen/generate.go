package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"go/token"
	"slices"
	"strings"

	"github.com/cellscape/cellscape/property"
)

// generator writes one file.
type generator struct {
	opts   *options
	schema *property.Schema
	types  []*property.Definition
	dicts  *dicts
	body   bytes.Buffer
	pkg    *scope
	faults []string
}

// printf adds to the file.
func (g *generator) printf(format string, args ...any) { fmt.Fprintf(&g.body, format, args...) }

// generate returns the file for a schema. The error lists all that is at fault.
func generate(schema *property.Schema, o *options) ([]byte, error) {
	g := &generator{opts: o, schema: schema, dicts: survey(schema, o.names)}
	g.pkg = newScope("", &g.faults)
	g.choose()
	g.checkMethods()
	g.need()
	g.writeSchema()
	g.writeDicts()
	for _, d := range g.types {
		g.writeType(d)
	}
	g.writeHandlers()
	g.writeConversions()
	g.unused()
	if len(g.faults) > 0 {
		return nil, errors.New("cannot generate:\n\t" + strings.Join(g.faults, "\n\t"))
	}
	var file bytes.Buffer
	g.writeHeader(&file)
	file.Write(g.body.Bytes())
	source, err := format.Source(file.Bytes())
	if err != nil {
		return nil, fmt.Errorf("the generated code does not parse, which is a fault of defgen: %w", err)
	}
	return source, nil
}

func (g *generator) fault(format string, args ...any) {
	g.faults = append(g.faults, fmt.Sprintf(format, args...))
}

// definitions lists the entity types and the services.
func definitions(schema *property.Schema) []*property.Definition {
	return slices.Concat(schema.Types, schema.Services)
}

// choose lists the types of -types in the order of the schema.
func (g *generator) choose() {
	for _, d := range definitions(g.schema) {
		if len(g.opts.types) == 0 || slices.Contains(g.opts.types, d.Name) {
			g.types = append(g.types, d)
		}
	}
	var known []string
	for _, d := range definitions(g.schema) {
		known = append(known, d.Name)
	}
	if len(known) == 0 {
		g.fault("the definitions have neither entity types nor services")
	}
	for _, name := range g.opts.types {
		if !slices.Contains(known, name) {
			g.fault("-types: there is no entity type or service %q; there are %s", name, strings.Join(known, ", "))
		}
	}
}

// checkMethods refuses methods that no script can have, since Go does not export them.
func (g *generator) checkMethods() {
	for _, d := range g.types {
		for _, x := range sidesOf(d) {
			for _, m := range x.methods {
				if !token.IsExported(goMethod(m)) {
					g.fault("%s/%s of %s: Go exports no method %s; let the name begin with a letter", x.section, m.Name, d.Name, goMethod(m))
				}
			}
		}
	}
}

// need notes which structures the chosen types need.
func (g *generator) need() {
	for _, d := range g.types {
		for _, p := range d.Properties {
			if p.Flags&property.EditorOnly == 0 {
				g.dicts.needField(p.Type)
			}
		}
		for _, x := range sidesOf(d) {
			for _, m := range x.methods {
				for _, a := range m.Args {
					g.dicts.needData(a.Type)
				}
			}
		}
	}
}

// unused refuses flags without effect: most are misspelt.
func (g *generator) unused() {
	for _, n := range g.opts.names {
		if !n.used {
			g.fault("-name %s: there is no FIXED_DICT to name; there are %s", n.place, strings.Join(g.places(), ", "))
		}
	}
	for _, u := range g.opts.users {
		if !slices.Contains(g.dicts.users, u.name) {
			g.fault("-user %s: the definitions have no USER_TYPE of that name", u.name)
		}
	}
}

func (g *generator) places() []string {
	list := []string{"none"}
	for _, d := range g.dicts.list {
		list = append(list, d.place)
	}
	return list[min(1, len(list)-1):]
}
