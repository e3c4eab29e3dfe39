package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestGuide holds the pages beside the README to what is in the tree: every path, name and command on
// them exists, and the README links to them.
func TestGuide(t *testing.T) {
	root := filepath.Join("..", "..")
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	g := readGuide(t, root)
	for _, name := range []string{"CONTRIBUTING.md", "PORTING.md"} {
		page, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range g.faults(string(page)) {
			t.Errorf("%s:%s", name, fault)
		}
		if !strings.Contains(string(readme), "]("+name+")") {
			t.Errorf("README.md does not link to %s", name)
		}
	}
}

// TestGuideFaults shows that each kind of mistake is found.
func TestGuideFaults(t *testing.T) {
	g := readGuide(t, filepath.Join("..", ".."))
	for _, page := range []string{
		"see [it](no/such.md)",
		"in `internal/wire/nowhere.go`",
		"in `space/nowhere`",
		"call `NoSuchName`",
		"call `Cell.NoSuchName`",
		"```sh\ngo test ./no/such\n```",
		"```sh\ngo test ./space -run '^TestNoSuch$'\n```",
		"```sh\ngo test ./internal/wire -run '^$' -fuzz '^FuzzParts$'\n```",
		"```sh\ngo run ./space\n```",
		"```sh\ngo run ./examples/arena -nosuchflag\n```",
		"```sh\nmake all\n```",
		"```text\n 1  mercury/nowhere\n```",
		"```sh\ngo test ./...",
		strings.Repeat("x", 101),
	} {
		if n := len(g.faults(page)); n != 1 {
			t.Errorf("%d faults in %q, want 1", n, page)
		}
	}
	sound := "[a](README.md) `space` `internal/wire/table.go` `IDOf` `.def`\n```sh\ngo test ./space -run '^$' -bench '^BenchmarkCellTick$'\n```"
	if faults := g.faults(sound); len(faults) > 0 {
		t.Errorf("faults in a sound page: %v", faults)
	}
}

// guide holds what the page may name.
type guide struct {
	root  string
	names map[string]bool            // declared anywhere in the module
	tests map[string]map[string]bool // functions of test files, by folder
	mains map[string]bool            // folders with a program
	texts map[string]string          // all strings of a folder's code, which has its flags among them
}

func readGuide(t *testing.T, root string) *guide {
	t.Helper()
	g := &guide{root: root, names: map[string]bool{}, tests: map[string]map[string]bool{}, mains: map[string]bool{}, texts: map[string]string{}}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		return g.readFile(path)
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *guide) readFile(path string) error {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(g.root, filepath.Dir(path))
	if err != nil {
		return err
	}
	folder := filepath.ToSlash(rel)
	g.names[f.Name.Name] = true
	g.mains[folder] = g.mains[folder] || f.Name.Name == "main"
	if g.tests[folder] == nil {
		g.tests[folder] = map[string]bool{}
	}
	var text strings.Builder
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			g.names[n.Name.Name] = true
			if strings.HasSuffix(path, "_test.go") {
				g.tests[folder][n.Name.Name] = true
			}
		case *ast.TypeSpec:
			g.names[n.Name.Name] = true
		case *ast.ValueSpec:
			g.declare(n.Names)
		case *ast.Field:
			g.declare(n.Names)
		case *ast.BasicLit:
			text.WriteString(n.Value + "\n")
		}
		return true
	})
	g.texts[folder] += text.String()
	return nil
}

func (g *guide) declare(names []*ast.Ident) {
	for _, n := range names {
		g.names[n.Name] = true
	}
}

var (
	guideLinks = regexp.MustCompile(`\]\(([^)#]+)\)`)
	guideSpans = regexp.MustCompile("`([^`]+)`")
	guideNames = regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$`)
	guidePaths = regexp.MustCompile(`[a-z.]\w*(/[\w.]+)+`)
	guideFuncs = regexp.MustCompile(`'\^(\w+)\$'`)
	guideFlags = regexp.MustCompile(` -([a-z][\w.]*)`)
)

// faults lists what is wrong with a page, each with its line.
func (g *guide) faults(page string) []string {
	const width = 100
	var faults []string
	fence := ""
	for i, line := range strings.Split(page, "\n") {
		found := func(format string, args ...any) {
			faults = append(faults, fmt.Sprintf("%d: ", i+1)+fmt.Sprintf(format, args...))
		}
		// A row of a table is one line, however long.
		if n := utf8.RuneCountInString(line); n > width && !strings.HasPrefix(line, "| ") {
			found("%d columns, wrap at %d", n, width)
		}
		mark, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isFence && fence == "":
			fence = "```" + mark
		case isFence:
			fence = ""
		case fence == "```sh":
			g.command(line, found)
		case fence != "":
			for _, path := range guidePaths.FindAllString(line, -1) {
				g.path(path, found)
			}
		default:
			g.prose(line, found)
		}
	}
	if fence != "" {
		faults = append(faults, "a fence that is not closed")
	}
	return faults
}

func (g *guide) prose(line string, found func(string, ...any)) {
	for _, m := range guideLinks.FindAllStringSubmatch(line, -1) {
		if !strings.Contains(m[1], "://") {
			g.path(m[1], found)
		}
	}
	for _, m := range guideSpans.FindAllStringSubmatch(line, -1) {
		g.span(m[1], found)
	}
}

// span checks one piece of code in the prose.
func (g *guide) span(code string, found func(string, ...any)) {
	switch {
	case strings.HasPrefix(code, "go "):
		g.command(code, found)
	case guidePaths.FindString(code) == code, filepath.Ext(code) == ".go":
		g.path(code, found)
	case guideNames.MatchString(code):
		for name := range strings.SplitSeq(code, ".") {
			if _, err := os.Stat(filepath.Join(g.root, name)); err != nil && !g.names[name] && !g.quoted(name) {
				found("%s: nothing in the module is called %s", code, name)
			}
		}
	}
}

// quoted reports whether a name is a figure, setting or type that stands in a string.
func (g *guide) quoted(name string) bool {
	for _, text := range g.texts {
		if strings.Contains(text, `"`+name+`"`) || strings.Contains(text, `"`+name+`,`) {
			return true
		}
	}
	return false
}

func (g *guide) path(path string, found func(string, ...any)) {
	if _, err := os.Stat(filepath.Join(g.root, filepath.FromSlash(path))); err != nil {
		found("there is no %s", path)
	}
}

// command checks a line that a reader would type.
func (g *guide) command(line string, found func(string, ...any)) {
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != "go" {
		if words[0] == "gofmt" {
			return
		}
		if _, err := os.Stat(filepath.Join(g.root, words[0])); err != nil {
			found("what is %s?", words[0])
		}
		return
	}
	folder := ""
	for _, w := range words[2:] {
		if rest, ok := strings.CutPrefix(w, "./"); ok && rest != "..." {
			folder = rest
		}
	}
	if folder == "" {
		return
	}
	if _, known := g.tests[folder]; !known {
		found("%s is not a package", folder)
		return
	}
	_, own, _ := strings.Cut(line, " -args")
	if words[1] == "run" {
		if !g.mains[folder] {
			found("%s is not a program", folder)
		}
		own = line
	}
	for _, m := range guideFlags.FindAllStringSubmatch(own, -1) {
		if !strings.Contains(g.texts[folder], `"`+m[1]+`"`) {
			found("%s has no flag -%s", folder, m[1])
		}
	}
	for _, m := range guideFuncs.FindAllStringSubmatch(line, -1) {
		if !g.tests[folder][m[1]] {
			found("%s has no %s", folder, m[1])
		}
	}
}
