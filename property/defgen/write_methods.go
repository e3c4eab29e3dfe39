package main

import (
	"fmt"
	"strings"

	"github.com/cellscape/cellscape/property"
)

// writeMethods writes the interface of the methods that answer on one side, if there are any.
func (g *generator) writeMethods(d *property.Definition, x *side) {
	if len(x.methods) == 0 {
		return
	}
	part := strings.ToLower(x.name)
	name := g.declare(d, x.name+"Methods", "the methods of the "+part+" part")
	if x.isClient() {
		g.printf("// %s is what a client program does when the server calls client methods of %s.\n", name, d.Name)
	} else {
		g.printf("// %s is the methods that the script of the %s part of %s must have. In the script's file, the line\n//\n"+
			"//\tvar _ %s.%s = (*%s)(nil)\n//\n// lets the compiler check it.\n", name, part, d.Name, g.opts.pkg, name, goField(d.Name))
	}
	g.printf("type %s interface {\n", name)
	methods := newScope(name, &g.faults)
	for _, m := range x.methods {
		method := goMethod(m)
		methods.declare(method, "method "+m.Name)
		g.printf("// %s: %s.\n", method, g.methodNotes(m))
		if x.isClient() {
			g.printf("%s(%s)\n", method, g.signature(m, g.plain))
			continue
		}
		for _, a := range m.Args {
			g.printf("%s", g.takeApart(a))
		}
		g.printf("%s(%s)%s\n", method, g.answer(x, m), g.results(m))
	}
	g.printf("}\n\n")
}

// answer is the parameters with which script.BindMethods finds a script's method fitting.
func (g *generator) answer(x *side, m *property.Method) string {
	if !x.exposed || m.Exposed == property.NotExposed {
		return g.signature(m, parameter)
	}
	return strings.TrimSuffix("caller entity.ID, "+g.signature(m, parameter, "caller"), ", ")
}

// results is what a script's method returns, as script.BindMethods finds it fitting: the results and
// an error, or nothing.
func (g *generator) results(m *property.Method) string {
	if len(m.Returns) == 0 {
		return ""
	}
	list := make([]string, 0, len(m.Returns)+1)
	for i, name := range g.resultNames(m) {
		list = append(list, name+" "+parameter(m.Returns[i].Type))
	}
	return " (" + strings.Join(append(list, "err error"), ", ") + ")"
}

func (g *generator) resultNames(m *property.Method) []string {
	names := make([]string, len(m.Returns))
	for i, a := range m.Returns {
		names[i] = a.Name
	}
	return parameters(names, []string{"entity", "property", "client", "fmt", "m", "r", "err"})
}

// takeApart says how a script makes plain structs of an argument that it gets as a Value.
func (g *generator) takeApart(a property.Arg) string {
	what, t := strings.TrimSpace("argument "+a.Name), a.Type
	if t.Elem() != nil && t.Elem().Kind() == property.KindFixedDict {
		each := "an element"
		if t.Kind() == property.KindMap {
			each = "a value"
		}
		what, t = each+" of "+what, t.Elem()
	}
	if t.Kind() != property.KindFixedDict {
		return ""
	}
	return fmt.Sprintf("// %s takes %s apart.\n", g.dicts.of(t).fromValue(), what)
}

// signature writes the parameters for the arguments of a method.
func (g *generator) signature(m *property.Method, goType func(*property.DataType) string, taken ...string) string {
	names := g.parameters(m, taken...)
	list := make([]string, len(names))
	for i, a := range m.Args {
		list[i] = names[i] + " " + goType(a.Type)
	}
	return strings.Join(list, ", ")
}

// parameters names the arguments of a method; taken are the receiver and other parameters.
func (g *generator) parameters(m *property.Method, taken ...string) []string {
	taken = append(taken, "entity", "property", "client", "fmt", "x", "v")
	for _, u := range g.opts.users {
		taken = append(taken, g.importName(u.path))
	}
	names := make([]string, len(m.Args))
	for i, a := range m.Args {
		names[i] = a.Name
	}
	return parameters(names, taken)
}

// arguments writes the arguments of a method, converted, for a call; each begins with a comma. What
// a call takes stays as it is.
func (g *generator) arguments(m *property.Method, names []string) string {
	var b strings.Builder
	for i, a := range m.Args {
		x := names[i]
		if _, scalar := scalars[a.Type.Kind()]; !scalar || a.Type.Kind() == property.KindMailbox {
			x = g.toValue(a.Type, x)
		}
		fmt.Fprintf(&b, ", %s", x)
	}
	return b.String()
}
