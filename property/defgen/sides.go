package main

import (
	"fmt"
	"strings"

	"github.com/cellscape/cellscape/property"
)

// side is a part of an entity type, as far as code is written for it.
type side struct {
	name    string // Cell
	section string // of the definition: CellMethods
	holds   property.Side
	methods []*property.Method
	exposed bool // its methods can be exposed, and say who called
}

// sidesOf lists the parts that a type has. A service is one part.
func sidesOf(d *property.Definition) []side {
	if d.Service {
		return []side{{"Service", "Methods", property.BaseSide, d.BaseMethods, false}}
	}
	var list []side
	if d.HasCell {
		list = append(list, side{"Cell", "CellMethods", property.CellSide, d.CellMethods, true})
	}
	if d.HasBase {
		list = append(list, side{"Base", "BaseMethods", property.BaseSide, d.BaseMethods, false})
	}
	if d.HasClient {
		list = append(list, side{"Client", "ClientMethods", property.OwnClientSide, d.ClientMethods, false})
	}
	return list
}

func (x *side) isClient() bool { return x.name == "Client" }

// writeType writes everything of one entity type.
func (g *generator) writeType(d *property.Definition) {
	for _, x := range sidesOf(d) {
		if !x.isClient() {
			g.writeHandles(d, &x)
		}
		g.writeMethods(d, &x)
		g.writeMailbox(d, &x)
		g.writeAnswers(d, &x)
	}
	if seenByClients(d) {
		g.writeReplica(d)
		g.writeSetters(d)
		g.writeDispatch(d)
	}
}

// declare notes a name of the package.
func (g *generator) declare(d *property.Definition, suffix, what string) string {
	name := goField(d.Name) + suffix
	g.pkg.declare(name, fmt.Sprintf("%s of %s", what, d.Name))
	return name
}

// goMethod returns the Go name of a method, by which package entity finds it on a script; that of a
// component's method is of both.
func goMethod(m *property.Method) string { return property.GoName(m.Name) }

// notes gathers what a comment says in one line.
type notes []string

func (n *notes) add(when bool, format string, args ...any) {
	if when {
		*n = append(*n, fmt.Sprintf(format, args...))
	}
}

func (n notes) String() string { return strings.Join(n, ", ") }

// propertyNotes says what the definition says of a property.
func (g *generator) propertyNotes(p *property.Property) string {
	n := notes{g.describe(p.Type), p.Flags.String()}
	n.add(!property.Equal(p.Default, p.Type.Default()), "default %s", shorten(p.Default.String()))
	n.add(p.Detail != "", "detail level %s", p.Detail)
	n.add(p.Identifier, "identifier")
	n.add(p.Persistent, "persistent")
	n.add(p.Indexed && !p.Identifier, "indexed")
	n.add(p.Unique && !p.Identifier, "unique")
	n.add(p.SendLatestOnly, "only the latest is sent")
	n.add(p.Unreliable, "unreliable")
	return n.String()
}

// shorten keeps the default of a structure from filling a screen.
func shorten(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}

// methodNotes says what the definition says of a method but its name.
func (g *generator) methodNotes(m *property.Method) string {
	n := notes{"no arguments"}
	if len(m.Args) > 0 {
		n[0] = g.list(m.Args)
	}
	n.add(len(m.Returns) > 0, "returns %s", g.list(m.Returns))
	n.add(m.Exposed != property.NotExposed, "exposed to %v", m.Exposed)
	n.add(m.DetailDistance > 0, "within %v m", m.DetailDistance)
	n.add(m.SendLatestOnly, "only the latest is sent")
	n.add(m.Unreliable, "unreliable")
	return n.String()
}

// list says the types of arguments or results.
func (g *generator) list(args []property.Arg) string {
	var parts []string
	for _, a := range args {
		parts = append(parts, strings.TrimSpace(a.Name+" "+g.describe(a.Type)))
	}
	return strings.Join(parts, ", ")
}
