// Package archtest keeps the architecture: which package may import which, what a package that must
// be deterministic may not touch, that every package says what it is for, that no function is too
// long to read and no comment too wide, and that the packages of game programmers show no more
// names than can be read, and none that takes what only the house can make.
//
// Only its own test uses it: that runs [Check] with the rules of this module ([House]) over every
// package and fails on any fault. The rules are tables of text. A new edge, an impure package or a
// package-level table is a decision, made by a line in house.go that gives its reason.
//
// # What it sees
//
// [Check] loads, with types, the non-test files of a module that are built on the host's system. It
// does not follow values: a clock behind an interface is the business of whoever hands it in, and
// that is the point of the rule.
//
// # Traps
//
// In a pure package (every package that the table of impure ones does not name) these are faults:
//
//   - go statements, and the packages that bring processes, sockets, locks and unseeded chance;
//   - reading the clock or setting timers ([time.Now], [time.After], [context.WithTimeout], ...);
//   - functions of math/rand and math/rand/v2 that draw from the process's own source;
//   - anything that shows the order of a map: a range over one, maps.Keys, maps.Values and maps.All
//     outside slices.Sorted and its kin, sync.Map.Range, reflect's MapRange and MapKeys;
//   - %p in a format, which prints where the allocator put something;
//   - a send on a transport of mercury whose error is thrown away: someone has to count what was
//     not sent;
//   - package-level variables and func init, which are state that no one was given. Errors,
//     embed.FS and the tables that house.go names are allowed; writing to them, or to another
//     package's variables, is still a fault.
//
// A range over a map whose order cannot show carries this comment on the line above it, with the
// reason:
//
//	// order does not show: the sum is of integers
package archtest

import (
	"cmp"
	"fmt"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Rules are the tables that a module is checked against. In each, a line is one entry, and # starts
// a comment.
type Rules struct {
	// Edges says what each package may import: "space: bsp FLOOR1 example.com/lib". Paths are below
	// the module's, which itself is "."; a path with a dot in its first element belongs to another
	// module. "x/..." stands for everything below x. NAME = ... names a set. A package may use only
	// what stands above it, so that the table has no cycles.
	Edges string
	// Impure says which packages, or single files of otherwise pure ones, may use what the traps
	// forbid, and why: "mercury/udp: owns sockets".
	Impure string
	// Variables says which package-level variables may exist, and why: "property.kindNames: a
	// table, never written".
	Variables string
	// Surfaces says how many names a package may export, and how many methods a type: "entity: 59",
	// "space.Cell: 29".
	Surfaces string
	// Shown says which exported names may show types of internal packages, and why: "ghost.Haunts.Read:
	// for the decoders of space".
	Shown string
}

// Fault is one breach of the rules.
type Fault struct {
	Pos  string // "aoi/list.go:12", below the module's root; or the line of a table
	Text string // what is wrong, and the remedy where that is not plain
}

func (f Fault) String() string { return f.Pos + ": " + f.Text }

// Check loads every package of the module in dir and returns its faults, in the order of their
// positions. The error is about loading: without a Go toolchain and the module's dependencies there
// is nothing to check.
func Check(dir string, rules Rules) ([]Fault, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("archtest: %w", err)
	}
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.LoadSyntax | packages.NeedModule,
		Dir:  abs,
	}, "./...")
	if err != nil {
		return nil, fmt.Errorf("archtest: loading %s: %w", dir, err)
	}
	c := newChecker(abs, rules)
	for _, p := range pkgs {
		if p.Module == nil || len(p.Errors) > 0 {
			c.unloadable(p)
			continue
		}
		if len(p.Syntax) > 0 { // a folder that holds only tests has none
			c.checkPackage(p)
		}
	}
	c.checkUnused()
	slices.SortStableFunc(c.faults, func(a, b fault) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.text, b.text))
	})
	faults := make([]Fault, len(c.faults))
	for i, f := range c.faults {
		faults[i] = Fault{Pos: fmt.Sprintf("%s:%d", f.file, f.line), Text: f.text}
	}
	return slices.Compact(faults), nil
}

// fault is a Fault while it can still be sorted by line.
type fault struct {
	file string
	line int
	text string
}

// checker is one run of Check.
type checker struct {
	root      string
	edges     *edges
	impure    *reasons
	variables *reasons
	surfaces  []surface
	shown     *reasons
	faults    []fault
}

func newChecker(root string, rules Rules) *checker {
	c := &checker{root: root}
	c.edges = c.parseEdges(rules.Edges)
	c.impure = c.parseReasons("table of impure packages", rules.Impure)
	c.variables = c.parseReasons("table of variables", rules.Variables)
	c.surfaces = c.parseSurfaces(rules.Surfaces)
	c.shown = c.parseReasons("table of shown types", rules.Shown)
	return c
}

func (c *checker) report(file string, line int, format string, args ...any) {
	c.faults = append(c.faults, fault{file, line, fmt.Sprintf(format, args...)})
}

func (c *checker) reportAt(p *packages.Package, pos token.Pos, format string, args ...any) {
	at := p.Fset.Position(pos)
	c.report(c.below(at.Filename), at.Line, format, args...)
}

// below names a file as seen from the module's root.
func (c *checker) below(file string) string {
	if rel, err := filepath.Rel(c.root, file); err == nil && filepath.IsAbs(file) {
		return filepath.ToSlash(rel)
	}
	return file
}

// unloadable reports a package that the compiler refuses: little else can be said about it.
func (c *checker) unloadable(p *packages.Package) {
	errs := p.Errors
	repeated := func(e packages.Error) bool { return e.Kind == packages.ListError }
	if precise := slices.DeleteFunc(slices.Clone(errs), repeated); len(precise) > 0 {
		errs = precise // the go command repeats what the compiler said, without a position
	}
	for _, e := range errs {
		file, rest, _ := strings.Cut(e.Pos, ":")
		at, _, _ := strings.Cut(rest, ":")
		line, _ := strconv.Atoi(at) // some errors have no position
		if !filepath.IsAbs(file) {
			file = p.PkgPath
		}
		c.report(c.below(file), line, "does not compile: %s", e.Msg)
	}
	if p.Module == nil {
		c.report(p.PkgPath, 0, "is not in a module")
	} else if len(p.Syntax) > 0 { // imports can be checked without types
		c.checkImports(p, local(p.Module.Path, p.PkgPath))
	}
}

func (c *checker) checkPackage(p *packages.Package) {
	name := local(p.Module.Path, p.PkgPath)
	c.checkDoc(p)
	c.checkLength(p)
	c.checkWidth(p)
	c.checkImports(p, name)
	c.checkSurface(p, name)
	c.checkShown(p, name)
	if !c.impure.has(name) {
		c.checkTraps(p, name)
	}
}

// local turns an import path into the one that the tables use.
func local(module, path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

// checkDoc demands a package comment: in a list of packages, go doc shows its first sentence.
func (c *checker) checkDoc(p *packages.Package) {
	want := "Package " + p.Name + " "
	for _, f := range p.Syntax {
		if f.Doc == nil {
			continue
		}
		if text := f.Doc.Text(); p.Name != "main" && !strings.HasPrefix(text, want) {
			c.reportAt(p, f.Doc.Pos(), "package comment does not start with %q", want)
		}
		return
	}
	c.reportAt(p, p.Syntax[0].Package, "package %s has no package comment", p.Name)
}

// reasons is a table of names that are exempt from a rule, each with its reason.
type reasons struct {
	title string
	lines []reason
}

type reason struct {
	name string
	line int
	used bool
}

func (c *checker) parseReasons(title, text string) *reasons {
	r := &reasons{title: title}
	for i, line := range tableLines(text) {
		if line == "" {
			continue
		}
		name, why, _ := strings.Cut(line, ":")
		if strings.TrimSpace(why) == "" {
			c.report(title, i+1, "%s has no reason", name)
		}
		r.lines = append(r.lines, reason{name: strings.TrimSpace(name), line: i + 1})
	}
	return r
}

func (r *reasons) has(name string) bool {
	for i := range r.lines {
		if matches(r.lines[i].name, name) {
			r.lines[i].used = true
			return true
		}
	}
	return false
}

// checkUnused reports exceptions for variables and names that are gone; a package that does not exist
// yet may have a line already.
func (c *checker) checkUnused() {
	for _, r := range []*reasons{c.variables, c.shown} {
		for _, l := range r.lines {
			folder, last := path.Split(l.name)
			pkg, _, _ := strings.Cut(last, ".")
			if !l.used && c.edges.seen(folder+pkg) {
				c.report(r.title, l.line, "%s is not there: remove the line", l.name)
			}
		}
	}
}

// tableLines returns the lines of a table without comments, so that an index is a line number less
// one.
func tableLines(text string) []string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line, _, _ = strings.Cut(line, "#")
		lines[i] = strings.TrimSpace(line)
	}
	return lines
}

// matches reports whether a name of a table stands for path.
func matches(name, path string) bool {
	if all, ok := strings.CutSuffix(name, "/..."); ok {
		return strings.HasPrefix(path, all+"/")
	}
	return name == path
}
