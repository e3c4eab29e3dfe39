package balance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestNotices(t *testing.T) {
	if n := (Config{TargetLoad: 0.3, MinCells: 2}).Notices(); len(n) != 0 {
		t.Errorf("the default policy uses it: %q", n)
	}
	n := Config{MaxAggression: 0.5, AggressionIncreasePeriod: time.Second, TargetLoad: 0.3}.Notices()
	if len(n) != 2 || !strings.HasPrefix(n[0], "balance: AggressionIncreasePeriod is set and does nothing: policy ") {
		t.Errorf("%q", n)
	}
	if n := (Config{Policy: ClassicPolicy, MaxAggression: 0.5, TargetLoad: 0.3}).Notices(); len(n) != 1 || !strings.Contains(n[0], "TargetLoad") {
		t.Errorf("%q", n)
	}
}

// The list of policyFields is that of the comments in Config, and the code agrees: what is Classic's is read in classic*.go
// alone, what is Profile's never there.
func TestPolicyFieldsAreThoseOfTheCode(t *testing.T) {
	listed := make(map[string]string)
	for _, f := range (Config{}).policyFields() {
		listed[f.name] = f.of
		if _, ok := reflect.TypeFor[Config]().FieldByName(f.name); !ok {
			t.Errorf("there is no field %s", f.name)
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	documented := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "notices.go" {
			continue
		}
		f, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				doc := strings.TrimSpace(n.Doc.Text())
				for policy, end := range map[string]string{ClassicPolicy: "Classic.", ProfilePolicy: "Profile."} {
					if file != "config.go" || !strings.HasSuffix(doc, end) {
						continue
					}
					for _, id := range n.Names {
						if documented++; listed[id.Name] != policy {
							t.Errorf("%s is documented as %s and listed as %q", id.Name, end, listed[id.Name])
						}
					}
				}
			case *ast.SelectorExpr:
				of := listed[n.Sel.Name]
				classic := strings.HasPrefix(file, "classic")
				if file != "config.go" && (of == ClassicPolicy && !classic || of == ProfilePolicy && classic) {
					t.Errorf("%v: %s is of %s alone", fset.Position(n.Pos()), n.Sel.Name, of)
				}
			}
			return true
		})
	}
	if documented != len(listed) || !slices.Contains(files, "config.go") {
		t.Errorf("%d fields are documented as one policy's, %d listed", documented, len(listed))
	}
}
