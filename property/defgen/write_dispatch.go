package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cellscape/cellscape/property"
)

// What client.Events.PropertyChanged tells of a change, and what a setter takes of it: the form
// that property.FindSetters asks for. All that depends on either is here.
const (
	changeType  = "c *property.Change"
	changeIndex = "c.Index"
	changeArg   = "c"
	setterType  = "c *property.Change"
	setterArg   = "c"
)

// setterMethod returns the name of a setter, as property.FindSetters has it.
func setterMethod(p *property.Property) string { return "OnSet" + property.GoName(p.Name) }

// writeDispatch writes the functions that hand one event to a handler.
func (g *generator) writeDispatch(d *property.Definition) {
	if hasClientMethods(d) {
		g.writeDispatchCall(d)
	}
	if hasClientProperties(d) {
		g.writeDispatchChange(d)
	}
}

// clientProperties lists the properties that clients see.
func clientProperties(d *property.Definition) []*property.Property {
	return slices.DeleteFunc(slices.Clone(d.Properties), func(p *property.Property) bool { return p.ClientIndex < 0 })
}

func (g *generator) writeDispatchCall(d *property.Definition) {
	name := goField(d.Name)
	g.pkg.declare("Dispatch"+name+"Call", "a function of "+d.Name)
	g.printf("// Dispatch%sCall calls on h what client.Events.Called tells of an entity of type %s. It reports whether there is\n"+
		"// such a method with that many arguments.\n"+
		"func Dispatch%sCall(h %sClientMethods, m *property.Method, args []property.Value) bool {\n", name, d.Name, name, name)
	g.printf("switch {\n")
	for _, m := range d.ClientMethods {
		list := make([]string, len(m.Args))
		for i, a := range m.Args {
			list[i] = g.fromValue(a.Type, "args["+strconv.Itoa(i)+"]")
		}
		g.printf("case m.Name == %q && len(args) == %d:\nh.%s(%s)\n", m.Name, len(m.Args), goMethod(m), strings.Join(list, ", "))
	}
	g.printf("default:\nreturn false\n}\nreturn true\n}\n\n")
}

func (g *generator) writeDispatchChange(d *property.Definition) {
	name := goField(d.Name)
	g.pkg.declare("Dispatch"+name+"Change", "a function of "+d.Name)
	g.printf("// Dispatch%sChange tells h of a change that client.Events.PropertyChanged tells of, if h wants to hear of that property\n"+
		"// of %s.\nfunc Dispatch%sChange(h any, r *client.Replica, %s) {\n", name, d.Name, name, changeType)
	g.printf("switch genName(r, %s) {\n", changeIndex)
	for _, p := range clientProperties(d) {
		g.printf("case %q:\nif s, ok := h.(%s%sSetter); ok {\ns.%s(%s)\n}\n", p.Name, name, goPath(p.Name), setterMethod(p), setterArg)
	}
	g.printf("}\n}\n\n")
}

// writeHandlers writes what hands every event to the handler of its replica.
func (g *generator) writeHandlers() {
	types := g.replicas()
	if len(types) == 0 {
		return
	}
	g.pkg.declare("ClientHandlers", "the handlers of all types")
	fields := newScope("ClientHandlers", &g.faults)
	fields.declare("Called", "a method")
	fields.declare("PropertyChanged", "a method")
	g.printf("// ClientHandlers finds who answers for a replica: a function for each type, which may be nil, as may what it returns.\n" +
		"// A handler hears of changes by the interfaces named Setter that it has. Its methods are for client.Events:\n//\n" +
		"//\tclient.Events{Called: h.Called, PropertyChanged: h.PropertyChanged}\ntype ClientHandlers struct {\n")
	for _, d := range types {
		field := goField(d.Name)
		fields.declare(field, "the handler of "+d.Name)
		g.printf("%s func(r %sReplica) %s\n", field, field, answers(d))
	}
	g.printf("}\n\n")
	g.writeHandler(types, "// Called is for client.Events.Called.", "Called(r *client.Replica, m *property.Method, args []property.Value)",
		hasClientMethods, func(d *property.Definition) string { return "Dispatch" + goField(d.Name) + "Call(to, m, args)" })
	g.writeHandler(types, "// PropertyChanged is for client.Events.PropertyChanged.", "PropertyChanged(r *client.Replica, "+changeType+")",
		hasClientProperties, func(d *property.Definition) string {
			return "Dispatch" + goField(d.Name) + "Change(to, r, " + changeArg + ")"
		})
}

func hasClientMethods(d *property.Definition) bool { return len(d.ClientMethods) > 0 }

func hasClientProperties(d *property.Definition) bool { return len(clientProperties(d)) > 0 }

// answers names the interface of a handler of a type.
func answers(d *property.Definition) string {
	if hasClientMethods(d) {
		return goField(d.Name) + "ClientMethods"
	}
	return "any"
}

// writeHandler writes one method of ClientHandlers; has says for which types there is something to
// call.
func (g *generator) writeHandler(types []*property.Definition, doc, signature string,
	has func(*property.Definition) bool, call func(*property.Definition) string) {
	g.printf("%s\nfunc (h *ClientHandlers) %s {\nswitch r.Def.Name {\n", doc, signature)
	for _, d := range types {
		if !has(d) {
			continue
		}
		name := goField(d.Name)
		g.printf("case %q:\nif h.%s == nil {\nreturn\n}\nif to := h.%s(%sReplica{r}); to != nil {\n%s\n}\n", d.Name, name, name, name, call(d))
	}
	g.printf("}\n}\n\n")
}
