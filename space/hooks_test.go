package space

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// hasty has callbacks as people write them from memory.
type hasty struct{ *Real }

func (*hasty) OnCreate()                             {}
func (*hasty) OnClient()                             {}
func (*hasty) OnEnterCell()                          {}
func (*hasty) OnBeat(entity.Callback)                {}
func (*hasty) OnTick()                               {}
func (*hasty) Online() bool                          { return true }
func (*hasty) OnDestroy()                            {}
func (*hasty) Onward(to property.Vector3)            {}
func (*hasty) OnGetCell()                            {}
func (*hasty) OnRestored(fromBackup entity.Callback) {}
func (*hasty) OnSetHealth(*property.Change)          {}

type hastyGhost struct{ *Ghost }

func (*hastyGhost) OnCreated()                  {}
func (*hastyGhost) OnSetNothing(int)            {}
func (*hastyGhost) OnHealth(c *property.Change) {}

func TestMisspeltCallbacksAreRefused(t *testing.T) {
	s := NewScripts(testSchema(t))
	Register[hasty](s, "Rock")
	RegisterGhost[hastyGhost](s, "Rock")
	err := s.Err()
	if err == nil {
		t.Fatal("no faults")
	}
	for _, want := range []string{
		"*space.hasty.OnCreate: nothing calls it: did you mean func (*space.hasty) OnCreated()?",
		"*space.hasty.OnClient: its signature is func(), so that it is never called; the hook is func (*space.hasty) OnClient(bool)",
		"*space.hasty.OnEnterCell: nothing calls it: did you mean func (*space.hasty) OnEnteredCell()?",
		"*space.hasty.OnTick: nothing calls it: ",
		"func (T) OnX(entity.Callback)",
		"*space.hasty.OnGetCell: nothing calls it",
		"*space.hasty.OnRestored: its signature is func(entity.Callback), so that it is never called; the hook is func (*space.hasty) OnRestored()",
		"*space.hasty.OnSetHealth: nothing calls it: a setter hears of a change that was made elsewhere, at ghosts and at clients; here the script itself makes it. ",
		"*space.hastyGhost.OnCreated: nothing calls it: ",
		"*space.hastyGhost.OnHealth: nothing calls it: ",
		"a setter, func (T) OnSetHealth(c *property.Change)",
		"*space.hastyGhost.OnSetNothing: Rock has no property that it could be the setter of",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in\n%v", want, err)
		}
	}
	for _, legitimate := range []string{"OnBeat", "Online", "OnDestroy:", "Onward"} {
		if strings.Contains(err.Error(), "hasty."+legitimate) {
			t.Errorf("%s is refused:\n%v", legitimate, err)
		}
	}
}

// Every interface of this package that a script may have is one that the registration knows.
func TestHooksAreComplete(t *testing.T) {
	known := make(map[string]bool)
	for _, own := range hooks() {
		known[own.Method(0).Name] = true
	}
	declared := callbacksDeclared(t)
	if len(declared) < 6 {
		t.Fatalf("only %v found", declared)
	}
	for _, name := range declared {
		if !known[name] {
			t.Errorf("%s is called on scripts, and Register refuses it", name)
		}
	}
}

// callbacksDeclared lists the methods On… of the package's interfaces.
func callbacksDeclared(t *testing.T) (names []string) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := goparser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if x, ok := n.(*ast.InterfaceType); ok {
				for _, m := range x.Methods.List {
					if len(m.Names) == 1 && strings.HasPrefix(m.Names[0].Name, "On") {
						names = append(names, m.Names[0].Name)
					}
				}
			}
			return true
		})
	}
	return names
}
