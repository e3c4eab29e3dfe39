package main

import (
	"slices"
	"strings"

	"github.com/cellscape/cellscape/property"
)

// writeHandles writes the struct of handles for the properties that one side has, and one for each
// component of it.
func (g *generator) writeHandles(d *property.Definition, x *side) {
	if len(d.Held(x.holds)) == 0 {
		return
	}
	own, components := parts(d, x)
	part := strings.ToLower(x.name)
	name := g.declare(d, x.name, "the handles of the "+part+" part")
	fields := newScope(name, &g.faults)
	g.printf("// %s has the properties of the %s part of %s: embed it in the script.\ntype %s struct {\n", name, part, d.Name, name)
	for _, p := range own {
		g.writeHandle(fields, p, p.Name)
	}
	for _, c := range components {
		field := goField(c.name)
		fields.declare(field, "component "+c.name)
		g.printf("// %s is the component %s.\n%s %s `component:%q`\n", field, c.name, field, name+field, c.name)
	}
	g.printf("}\n\n")
	for _, c := range components {
		name := g.declare(d, x.name+goField(c.name), "the handles of the "+part+" part of component "+c.name)
		fields := newScope(name, &g.faults)
		g.printf("// %s has the properties of component %s of %s on its %s part.\ntype %s struct {\n", name, c.name, d.Name, part, name)
		for _, p := range c.properties {
			g.writeHandle(fields, p, strings.TrimPrefix(p.Name, c.name+"."))
		}
		g.printf("}\n\n")
	}
}

// component is what one side holds of a component.
type component struct {
	name       string
	properties []*property.Property
}

// parts divides the properties that a side holds into the type's own and those of components, in
// order.
func parts(d *property.Definition, x *side) (own []*property.Property, components []*component) {
	for _, i := range d.Held(x.holds) {
		p := d.Properties[i]
		if p.Component == "" {
			own = append(own, p)
			continue
		}
		at := slices.IndexFunc(components, func(c *component) bool { return c.name == p.Component })
		if at < 0 {
			at, components = len(components), append(components, &component{name: p.Component})
		}
		components[at].properties = append(components[at].properties, p)
	}
	return own, components
}

// writeHandle writes the field for a property, which has name within its struct.
func (g *generator) writeHandle(fields *scope, p *property.Property, name string) {
	field := goField(name)
	fields.declare(field, "property "+p.Name)
	g.printf("// %s: %s.\n%s %s%s\n", name, g.propertyNotes(p), field, g.handle(p.Type), tag(field, name))
}
