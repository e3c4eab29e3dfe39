package archtest

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

const edgesTitle = "table of edges"

// edges is the parsed table of who may import whom.
type edges struct {
	rows []row
}

// row is one package, or everything below one.
type row struct {
	name string
	may  []string // with sets resolved
	seen bool     // a package of the module stands for it
}

// parseEdges reads the table and reports what is wrong with it: a name that does not stand above,
// or a set or package that is there twice.
func (c *checker) parseEdges(text string) *edges {
	e := &edges{}
	var sets []row
	for i, line := range tableLines(text) {
		if line == "" {
			continue
		}
		into := &e.rows
		name, rest, ok := strings.Cut(line, ":")
		if !ok {
			into = &sets
			name, rest, ok = strings.Cut(line, "=")
		}
		name = strings.TrimSpace(name)
		if !ok || name == "" {
			c.report(edgesTitle, i+1, "neither %q nor %q: %s", "package: may use", "SET = packages", line)
			continue
		}
		if find(*into, name) != nil {
			c.report(edgesTitle, i+1, "%s is there twice", name)
		}
		r := row{name: name}
		for _, item := range strings.Fields(rest) {
			if set := find(sets, item); set != nil {
				r.may = append(r.may, set.may...)
				continue
			}
			if !foreign(item) && item != name && find(e.rows, item) == nil {
				c.report(edgesTitle, i+1, "%s may use %s, which does not stand above it", name, item)
			}
			r.may = append(r.may, item)
		}
		*into = append(*into, r)
	}
	return e
}

func find(rows []row, name string) *row {
	for i := range rows {
		if rows[i].name == name {
			return &rows[i]
		}
	}
	return nil
}

// row returns the line for a package: its own, or else the longest match that ends in "...".
func (e *edges) row(name string) *row {
	var best *row
	for i := range e.rows {
		r := &e.rows[i]
		if r.name == name {
			return r
		}
		if matches(r.name, name) && (best == nil || len(r.name) > len(best.name)) {
			best = r
		}
	}
	return best
}

// seen reports whether a package with that name was checked.
func (e *edges) seen(name string) bool {
	r := find(e.rows, name)
	return r != nil && r.seen
}

// foreign reports whether an import path belongs to another module: those start with a domain.
func foreign(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first != "." && strings.Contains(strings.TrimSuffix(first, "..."), ".")
}

func (c *checker) checkImports(p *packages.Package, name string) {
	r := c.edges.row(name)
	if r == nil {
		c.reportAt(p, p.Syntax[0].Package, "package %s is not in the table of edges: say there what it may use", name)
		return
	}
	r.seen = true
	for _, f := range p.Syntax {
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue // the parser has refused it
			}
			own := path == p.Module.Path || strings.HasPrefix(path, p.Module.Path+"/")
			if !own && !foreign(path) {
				continue // the standard library is the traps' business
			}
			if own {
				path = local(p.Module.Path, path)
			}
			if !slices.ContainsFunc(r.may, func(m string) bool { return matches(m, path) }) {
				c.reportAt(p, spec.Pos(), "%s may not import %s", name, path)
			}
		}
	}
}
