package main

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// writeDicts writes the structures that the chosen types need.
func (g *generator) writeDicts() {
	for _, d := range g.dicts.list {
		if d.needField {
			g.writeDictHandles(d)
		}
		if d.needData {
			g.writeData(d)
		}
	}
}

// writeDictHandles writes the struct of handles for a FIXED_DICT that is a property.
func (g *generator) writeDictHandles(d *dict) {
	g.pkg.declare(d.name, "the handles of FIXED_DICT "+d.place)
	fields := newScope(d.name, &g.faults)
	fields.declare("Dict", "the embedded property.Dict")
	g.printf("// %s is FIXED_DICT %s as a property: handles of its fields.\ntype %s struct {\nproperty.Dict\n\n", d.name, d.place, d.name)
	for _, f := range d.typ.Fields() {
		field := goField(f.Name)
		fields.declare(field, "field "+f.Name)
		g.printf("// %s: %s.\n%s %s%s\n", f.Name, g.describe(f.Type), field, g.handle(f.Type), tag(field, f.Name))
	}
	g.printf("}\n\n")
}

// writeData writes the plain struct of a FIXED_DICT and its conversions, which are functions: a
// field may have any name.
func (g *generator) writeData(d *dict) {
	g.pkg.declare(d.data(), "the values of FIXED_DICT "+d.place)
	g.pkg.declare(d.toValue(), "a conversion of FIXED_DICT "+d.place)
	g.pkg.declare(d.fromValue(), "a conversion of FIXED_DICT "+d.place)
	fields := newScope(d.data(), &g.faults)
	all := d.typ.Fields()
	g.printf("// %s is FIXED_DICT %s as plain values.\ntype %s struct {\n", d.data(), d.place, d.data())
	for _, f := range all {
		fields.declare(goField(f.Name), "field "+f.Name)
		g.printf("// %s: %s.\n%s %s\n", f.Name, g.describe(f.Type), goField(f.Name), g.plain(f.Type))
	}
	g.printf("}\n\n// %s makes a property.Value of d.\nfunc %s(d %s) property.Value {\nreturn property.List(\n", d.toValue(), d.toValue(), d.data())
	for _, f := range all {
		g.printf("%s,\n", g.toValue(f.Type, "d."+goField(f.Name)))
	}
	g.printf(")\n}\n\n// %s takes v apart. A value of another type, and None, give the zero %s.\nfunc %s(v property.Value) %s {\n",
		d.fromValue(), d.data(), d.fromValue(), d.data())
	g.printf("if v.Len() != %d {\nreturn %s{}\n}\nreturn %s{\n", len(all), d.data(), d.data())
	for i, f := range all {
		g.printf("%s: %s,\n", goField(f.Name), g.fromValue(f.Type, "v.At("+strconv.Itoa(i)+")"))
	}
	g.printf("}\n}\n\n")
}

// conversionText are the functions that lists, maps and structures of several depths share, each
// ended by an empty line.
//
//go:embed conversions.go.txt
var conversionText string

// conversion finds the name of a type or function.
var conversion = regexp.MustCompile(`(?m)^(type|func) (\w+)`)

// conversions are those of conversionText: how generated code uses each, and its text.
func conversions() (list [][2]string) {
	opens := map[string]string{"type": "[", "func": "("}
	for _, text := range strings.SplitAfter(conversionText, "\n}\n\n") {
		found := conversion.FindStringSubmatch(text)
		list = append(list, [2]string{found[2] + opens[found[1]], strings.TrimSpace(text) + "\n"})
	}
	return list
}

// isConversion reports whether a name is that of a function that generated bodies may call.
func isConversion(name string) bool {
	return slices.ContainsFunc(conversions(), func(c [2]string) bool { return c[0] == name+"(" })
}

// writeConversions writes those that the file uses.
func (g *generator) writeConversions() {
	for _, c := range conversions() {
		if strings.Contains(g.body.String(), c[0]) {
			if c[0] == "Pair[" {
				g.pkg.declare("Pair", "the entries of a MAP")
			}
			g.printf("%s\n", c[1])
		}
	}
}
