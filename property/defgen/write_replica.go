package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cellscape/cellscape/property"
)

// seenByClients reports whether clients know a type by its own name. One with another ClientName
// appears as that type.
func seenByClients(d *property.Definition) bool {
	return d.HasClient && (d.ClientName == "" || d.ClientName == d.Name)
}

// replicas lists the chosen types that clients know.
func (g *generator) replicas() []*property.Definition {
	return slices.DeleteFunc(slices.Clone(g.types), func(d *property.Definition) bool { return !seenByClients(d) })
}

// writeReplica writes what a client program sees of an entity, and its calls to the server.
func (g *generator) writeReplica(d *property.Definition) {
	name := g.declare(d, "Replica", "the replica")
	g.pkg.declare("New"+name, "the maker of the replica of "+d.Name)
	g.printf("// %s is a client's copy of an entity of type %s. A property that this client does not see reads as zero.\n"+
		"type %s struct{ *client.Replica }\n\n", name, d.Name, name)
	g.printf("// New%s makes the getters of r typed; ok is false if r is of another type.\n"+
		"func New%s(r *client.Replica) (typed %s, ok bool) { return %s{r}, r.Def.Name == %q }\n\n", name, name, name, name, d.Name)
	members := newScope(name, &g.faults)
	members.declare("Replica", "the embedded client.Replica")
	for _, x := range sidesOf(d) {
		if methods := exposed(&x); len(methods) > 0 {
			members.declare(x.name, "the calls of exposed "+strings.ToLower(x.name)+" methods")
			g.writeExposed(d, &x, name, methods)
		}
	}
	for _, p := range clientProperties(d) {
		members.declare(goPath(p.Name), "property "+p.Name)
		g.writeGetter(name, p)
	}
}

// writeGetter writes the getter of one property.
func (g *generator) writeGetter(replica string, p *property.Property) {
	name := goPath(p.Name)
	g.printf("// %s returns %s: %s.\nfunc (r %s) %s() ", name, p.Name, g.propertyNotes(p), replica, name)
	value := fmt.Sprintf("genGet(r.Replica, %q)", p.Name)
	switch p.Type.Kind() {
	case property.KindAny:
		g.printf("any { return %s.Any() }\n\n", value)
	case property.KindUser:
		t := g.userType(p.Type.UserName())
		g.printf("%s {\nx, _ := property.UserOf[%s](%s)\nreturn x\n}\n\n", t, t, value)
	default:
		g.printf("%s { return %s }\n\n", g.plain(p.Type), g.fromValue(p.Type, value))
	}
}

// exposed lists the methods of a side that clients may call.
func exposed(x *side) []*property.Method {
	return slices.DeleteFunc(slices.Clone(x.methods), func(m *property.Method) bool { return m.ExposedIndex < 0 })
}

// writeExposed writes the typed calls of exposed methods from a client.
func (g *generator) writeExposed(d *property.Definition, x *side, replica string, methods []*property.Method) {
	part := strings.ToLower(x.name)
	name := g.declare(d, x.name+"Calls", "the client's calls of the "+part+" part")
	g.printf("// %s calls the exposed %s methods of %s from a client. The errors are those of client.Replica.%s.\n"+
		"type %s struct{ entity.Mailbox }\n\n", name, part, d.Name, x.name, name)
	g.printf("// %s calls exposed %s methods of the entity.\n"+
		"func (r %s) %s() %s { return %s{r.Replica.%s()} }\n\n", x.name, part, replica, x.name, name, name, x.name)
	g.writeCalls(name, methods)
}

// writeSetters writes the optional interfaces through which a client program hears of changes.
func (g *generator) writeSetters(d *property.Definition) {
	var lines []string
	for _, p := range clientProperties(d) {
		name := g.declare(d, goPath(p.Name)+"Setter", "the callback of property "+p.Name)
		lines = append(lines, fmt.Sprintf("// %s hears that %s has changed.\n%s interface{ %s(%s) }\n",
			name, p.Name, name, setterMethod(p), setterType))
	}
	if len(lines) > 0 {
		g.printf("// What may hear of changes of %s at a client, each as it likes.\ntype (\n%s)\n\n", d.Name, strings.Join(lines, ""))
	}
}
