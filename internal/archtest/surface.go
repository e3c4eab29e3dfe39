package archtest

import (
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// surface is a line of the table of surfaces: how much a package or a type may show.
type surface struct {
	name string // "entity" or "space.Cell"
	most int
	line int
}

func (c *checker) parseSurfaces(text string) []surface {
	var list []surface
	for i, line := range tableLines(text) {
		if line == "" {
			continue
		}
		name, most, _ := strings.Cut(line, ":")
		n, err := strconv.Atoi(strings.TrimSpace(most))
		if err != nil {
			c.report("table of surfaces", i+1, "neither \"package: names\" nor \"package.Type: methods\": %s", line)
			continue
		}
		list = append(list, surface{name, n, i + 1})
	}
	return list
}

// checkSurface reports a package that exports more names, or a type with more exported methods, than
// the table allows: the names that a newcomer has to read before the one that is sought.
func (c *checker) checkSurface(p *packages.Package, name string) {
	for _, s := range c.surfaces {
		typeName, isType := strings.CutPrefix(s.name, name+".")
		switch {
		case s.name == name:
			if n := exportedNames(p.Types.Scope()); n > s.most {
				c.reportAt(p, p.Syntax[0].Package, "package %s exports %d names, more than %d: what belongs together goes into a package of its own", p.Name, n, s.most)
			}
		case isType:
			c.checkMethods(p, typeName, s)
		}
	}
}

func (c *checker) checkMethods(p *packages.Package, typeName string, s surface) {
	obj := p.Types.Scope().Lookup(typeName)
	if obj == nil {
		c.report("table of surfaces", s.line, "%s is not there: remove the line", s.name)
		return
	}
	n := 0
	if named, ok := types.Unalias(obj.Type()).(*types.Named); ok {
		for m := range named.Methods() {
			if m.Exported() {
				n++
			}
		}
	}
	if n > s.most {
		c.reportAt(p, obj.Pos(), "%s has %d exported methods, more than %d: give a part of them a type of its own", typeName, n, s.most)
	}
}

func exportedNames(scope *types.Scope) (n int) {
	for _, name := range scope.Names() {
		if token.IsExported(name) {
			n++
		}
	}
	return n
}
