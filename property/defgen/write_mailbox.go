package main

import (
	"slices"
	"strings"

	"github.com/cellscape/cellscape/property"
)

// writeMailbox writes the typed calls of one side's methods from within the server, if there are
// any.
func (g *generator) writeMailbox(d *property.Definition, x *side) {
	if len(x.methods) == 0 {
		return
	}
	part := strings.ToLower(x.name)
	name := g.declare(d, x.name+"Mailbox", "the mailbox of the "+part+" part")
	g.pkg.declare("New"+name, "the maker of the mailbox of the "+part+" part of "+d.Name)
	g.printf("// %s calls the %s methods of %s, wherever the part is. The errors are those of entity.Mailbox.Call.\n"+
		"type %s struct{ entity.Mailbox }\n\n", name, part, d.Name, name)
	g.printf("// New%s makes the calls of m typed: m leads to the %s part of %s.\n"+
		"func New%s(m entity.Mailbox) %s { return %s{m} }\n\n", name, part, d.Name, name, name, name)
	if hasResults(x.methods) {
		g.printf("// Then is that of entity.Mailbox, for the typed calls.\n"+
			"func (m %s) Then(method string, user int64) %s { return %s{m.Mailbox.Then(method, user)} }\n\n", name, name, name)
	}
	g.writeCalls(name, x.methods)
	for _, m := range x.methods {
		g.writeResults(name, m)
	}
}

// writeResults writes what takes the results of a two-way call out of its answer.
func (g *generator) writeResults(name string, m *property.Method) {
	if len(m.Returns) == 0 {
		return
	}
	names := g.resultNames(m)
	pointers := make([]string, len(names))
	for i, n := range names {
		pointers[i] = "&" + n
	}
	g.printf("// %sResults are the results of %s that an answer brings, or why there are none.\n"+
		"func (m %s) %sResults(r entity.Reply)%s {\nerr = r.Scan(%s)\nreturn %s, err\n}\n\n",
		goMethod(m), goMethod(m), name, goMethod(m), g.results(m), strings.Join(pointers, ", "), strings.Join(names, ", "))
}

// hasResults reports whether any of the methods has.
func hasResults(methods []*property.Method) bool {
	return slices.ContainsFunc(methods, func(m *property.Method) bool { return len(m.Returns) > 0 })
}

// writeAnswers writes what answers calls of one side's methods later, if any has results.
func (g *generator) writeAnswers(d *property.Definition, x *side) {
	if !hasResults(x.methods) {
		return
	}
	part := strings.ToLower(x.name)
	name := g.declare(d, x.name+"Answers", "the answers of the "+part+" part")
	g.printf("// %s answers calls of the %s methods of %s that Later has kept, with typed results. The errors are\n"+
		"// those of entity.Base.Answer, which it has, too.\n"+
		"type %s struct{ entity.Answerer }\n\n", name, part, d.Name, name)
	for _, m := range x.methods {
		if len(m.Returns) == 0 {
			continue
		}
		results := &property.Method{Name: m.Name, Args: m.Returns}
		g.printf("// Answer%s answers a call of %s.\n"+
			"func (a %s) Answer%s(token entity.AnswerToken, %s) error { return a.Answerer.Answer(token%s) }\n\n",
			goMethod(m), goMethod(m), name, goMethod(m), g.signature(results, g.plain, "a", "token"), g.arguments(results, g.parameters(results, "a", "token")))
	}
}

// writeCalls writes the typed calls of methods through a mailbox, the struct of that name.
func (g *generator) writeCalls(name string, methods []*property.Method) {
	members := newScope(name, &g.faults)
	members.declare("Mailbox", "the embedded entity.Mailbox")
	members.declare("Then", "of two-way calls")
	for _, m := range methods {
		if len(m.Returns) > 0 {
			members.declare(goMethod(m)+"Results", "the results of method "+m.Name)
		}
	}
	for _, m := range methods {
		method := goMethod(m)
		members.declare(method, "method "+m.Name)
		g.printf("// %s: %s.\n", method, g.methodNotes(m))
		g.printf("func (m %s) %s(%s) error { return m.Mailbox.Call(%q%s) }\n\n",
			name, method, g.signature(m, g.plain, "m"), m.Name, g.arguments(m, g.parameters(m, "m")))
	}
}
