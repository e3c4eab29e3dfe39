package main

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/cellscape/cellscape/property"
)

// goField returns the exported Go name for a property, a field or an argument. Methods are not free
// to lose their underscores: a script's method is looked up by property.GoName of the definition's.
func goField(name string) string {
	name = strings.TrimLeft(name, "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "X" + name
	}
	return property.GoName(name)
}

// goAlias returns the Go name for an alias, which is often all capitals: AVATAR_INFOS →
// AvatarInfos.
func goAlias(name string) string {
	if strings.ToUpper(name) != name {
		return goField(name)
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' })
	for i, word := range words {
		words[i] = property.GoName(word)
	}
	return goField(strings.Join(words, ""))
}

// goPath joins the Go names of the parts of a dotted name: legs.speed → LegsSpeed.
func goPath(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, ".") {
		b.WriteString(goField(part))
	}
	return b.String()
}

// tag returns the struct tag with which a field finds its property, or "" if the field's name in
// lower camel case is the property's name. The rule is that of property.CheckFields.
func tag(field, name string) string {
	if property.FieldProperty(field) == name {
		return ""
	}
	return fmt.Sprintf(" `property:%q`", name)
}

// parameters returns a Go name for each argument: none is a word of the language, a predeclared
// name, one of the others, or one that generated bodies use.
func parameters(names, taken []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		p := strings.TrimLeft(name, "_")
		if p == "" || p[0] >= '0' && p[0] <= '9' {
			p = fmt.Sprintf("arg%d", i+1)
		}
		p = strings.ToLower(p[:1]) + p[1:]
		for token.IsKeyword(p) || isPredeclared(p) || isConversion(p) || slices.Contains(taken, p) || slices.Contains(out[:i], p) {
			p += "Arg"
		}
		out[i] = p
	}
	return out
}

// isPredeclared reports whether generated code needs a predeclared name of Go for what it means.
func isPredeclared(name string) bool {
	switch name {
	case "any", "bool", "byte", "error", "false", "float32", "float64", "int8", "int16", "int32", "int64", "len", "make",
		"nil", "range", "string", "true", "uint8", "uint16", "uint32", "uint64":
		return true
	}
	return false
}

// scope is a place in which every Go name may be declared once: the package, a struct with its
// methods, an interface.
type scope struct {
	title  string // "" for the package
	origin map[string]string
	faults *[]string
}

func newScope(title string, faults *[]string) *scope {
	return &scope{title, make(map[string]string), faults}
}

// declare notes that a name is declared for something, and a fault if it is declared already.
func (s *scope) declare(name, origin string) {
	first, taken := s.origin[name]
	if !taken {
		s.origin[name] = origin
		return
	}
	if s.title != "" {
		name = s.title + "." + name
	}
	*s.faults = append(*s.faults, fmt.Sprintf("%s would be both %s and %s; rename one in the definitions, or a FIXED_DICT with -name", name, first, origin))
}
