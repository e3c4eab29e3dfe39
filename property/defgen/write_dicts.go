package main

import (
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

// conversions are the functions that lists, maps and structures of several depths share: a type, or
// function, and its text.
func conversions() [][2]string {
	return [][2]string{
		{"Pair[", `// Pair is an entry of a MAP. Pairs come sorted by key; they may be given in any order.
type Pair[K, V any] struct {
	Key   K
	Value V
}
`},
		{"genList(", `func genList[T any](list []T, value func(T) property.Value) property.Value {
	values := make([]property.Value, len(list))
	for i, x := range list {
		values[i] = value(x)
	}
	return property.List(values...)
}
`},
		{"genSlice(", `func genSlice[T any](v property.Value, element func(property.Value) T) []T {
	list := make([]T, v.Len())
	for i := range list {
		list[i] = element(v.At(i))
	}
	return list
}
`},
		{"genOptional(", `func genOptional[T any](x *T, value func(T) property.Value) property.Value {
	if x == nil {
		return property.Value{} // None
	}
	return value(*x)
}
`},
		{"genPointer(", `func genPointer[T any](v property.Value, structure func(property.Value) T) *T {
	if v.IsNone() {
		return nil
	}
	x := structure(v)
	return &x
}
`},
		{"genPairs(", `func genPairs[K, V any](list []Pair[K, V], key func(K) property.Value, value func(V) property.Value) property.Value {
	values := make([]property.Value, 0, 2*len(list))
	for _, x := range list {
		values = append(values, key(x.Key), value(x.Value))
	}
	return property.List(values...)
}
`},
		{"genPairsOf(", `func genPairsOf[K, V any](v property.Value, key func(property.Value) K, value func(property.Value) V) []Pair[K, V] {
	list := make([]Pair[K, V], v.Len()/2)
	for i := range list {
		list[i] = Pair[K, V]{key(v.At(2 * i)), value(v.At(2*i + 1))}
	}
	return list
}
`},
		{"genGet(", `// genGet finds a property by name: a client's definitions may have other properties that concern servers only.
func genGet(r *client.Replica, name string) property.Value {
	if p := r.Def.Property(name); p != nil {
		return r.Props.Get(p.Index)
	}
	return property.Value{}
}
`},
		{"genName(", `func genName(r *client.Replica, index int) string {
	if index < 0 || index >= len(r.Def.Properties) {
		return ""
	}
	return r.Def.Properties[index].Name
}
`},
	}
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
