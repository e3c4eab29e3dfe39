package property

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Every fault and notice that the package can make is made by a case of a table, with its exact
// text: the package's source is searched for all calls that report, and what each would say for
// what the cases do say. (Handles are bound in files of their own, whose cases are looked for among
// the texts of the tests.)
func TestEveryTextHasACase(t *testing.T) {
	var said []string
	for _, c := range slices.Concat(loadFaultCases(), noticeCases()) {
		said = append(said, strings.Split(c.want, "\n")...)
	}
	for _, c := range schemaFaultCases() {
		said = append(said, strings.Split(c.want, "\n")...)
	}
	said = append(said, moreTexts...)
	files := token.NewFileSet()
	parsed := make(map[string]*ast.File)
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if parsed[name], err = parser.ParseFile(files, name, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	constants := make(map[string]ast.Expr)
	var inTests []string
	for name, f := range parsed {
		test := strings.HasSuffix(name, "_test.go")
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, id := range n.Names {
					if i < len(n.Values) && !test {
						constants[id.Name] = n.Values[i]
					}
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); test && n.Kind == token.STRING && err == nil {
					inTests = append(inTests, text)
				}
			}
			return true
		})
	}
	calls := 0
	for name, f := range parsed {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		cases := said
		if strings.HasPrefix(name, "bind") || name == "setter.go" {
			cases = append(cases[:len(cases):len(cases)], inTests...)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 4 {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "fault" && sel.Sel.Name != "notice" && sel.Sel.Name != "problem" {
				return true
			}
			if id, ok := call.Args[2].(*ast.Ident); ok && id.Name == "problem" {
				return true // hands on what its caller says
			}
			calls++
			form := pattern(call.Args[2], constants) + "; " + pattern(call.Args[3], constants)
			if form == ".*; .*" {
				t.Errorf("%v: nothing of the text is constant", files.Position(call.Pos()))
			}
			if matches := regexp.MustCompile("(^|: )" + form + "($|\n)"); !slices.ContainsFunc(cases, matches.MatchString) {
				t.Errorf("%v: no case has the text %s", files.Position(call.Pos()), form)
			}
			return true
		})
	}
	if calls < 100 {
		t.Errorf("only %d calls found: the search looks for the wrong thing", calls)
	}
}

// moreTexts are of tests that are no tables, or of those that another text hides.
var moreTexts = []string{
	"entity_defs/E8191.def:1: Parent: more than 8192 files; merge some",
	"alias.xml:2: X4096: more than 4096 aliases; remove those that are not used",
	"alias.xml:264: X262: the data types of the tree have more than 1048576 elements; use variable sizes instead of fixed ones",
	": Default: text is longer than 1048576 bytes; shorten the value",
	"entity_defs/A.def:3: Properties/p/Default: clock refuses the value: property: value does not fit its type: USER_TYPE clock from the store: property: value does not fit its type: hour 25; state a value that it takes",
}

// pattern is a regular expression of what an expression can say: its constants as they are,
// anything for the rest.
func pattern(e ast.Expr, constants map[string]ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		if err == nil {
			return regexp.QuoteMeta(text)
		}
	case *ast.BinaryExpr:
		return pattern(e.X, constants) + pattern(e.Y, constants)
	case *ast.Ident:
		if c, ok := constants[e.Name]; ok && c != nil {
			return pattern(c, nil)
		}
	case *ast.CallExpr:
		if sel, ok := e.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sprintf" {
			if lit, ok := e.Args[0].(*ast.BasicLit); ok {
				return verbs.ReplaceAllString(pattern(lit, constants), ".*")
			}
		}
	}
	return ".*"
}

var verbs = regexp.MustCompile("%(#)?[a-z]")
