package baseapp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// hasty has callbacks as people write them from memory.
type hasty struct{ *entity.Base }

func (*hasty) OnCreate()                     {}
func (*hasty) OnEntityEnabled()              {}
func (*hasty) OnClientDeath()                {}
func (*hasty) OnSpaceEnd()                   {}
func (*hasty) OnBeat(entity.Callback)        {}
func (*hasty) OnTick()                       {}
func (*hasty) OnRoom(r entity.SpaceReply)    {}
func (*hasty) OnDestroyed(entity.SpaceReply) {}
func (*hasty) OnGetCell()                    {}
func (*hasty) OnHit(n int)                   {}
func (*hasty) KeepWithoutClient()            {}
func (*hasty) Once()                         {}

func TestMisspeltCallbacksAreRefused(t *testing.T) {
	schema, err := property.NewSchema(&property.Definition{Name: "A", HasBase: true})
	if err != nil {
		t.Fatal(err)
	}
	s := NewScripts(schema)
	Register[hasty](s, "A")
	err = s.Err()
	if err == nil {
		t.Fatal("nothing is refused")
	}
	for _, want := range []string{
		"*baseapp.hasty.OnCreate: nothing calls it: did you mean func (*baseapp.hasty) OnCreated()?",
		"*baseapp.hasty.OnEntityEnabled: nothing calls it: did you mean func (*baseapp.hasty) OnEntitiesEnabled()?",
		"*baseapp.hasty.OnClientDeath: its signature is func(), so that it is never called; the hook is func (*baseapp.hasty) OnClientDeath(protocol.Code, string)",
		"*baseapp.hasty.OnSpaceEnd: nothing calls it: it is a hook of another part of the entity",
		"*baseapp.hasty.OnHit: nothing calls it: ",
		"*baseapp.hasty.OnTick: nothing calls it: ",
		"func (T) OnX(entity.Callback), or a callback by name, func (T) OnX(entity.SpaceReply)",
		"*baseapp.hasty.KeepWithoutClient: its signature is func(), so that it is never called; the hook is func (*baseapp.hasty) KeepWithoutClient() bool",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in\n%v", want, err)
		}
	}
	for _, legitimate := range []string{"OnBeat", "OnRoom", "OnDestroyed", "OnGetCell", "Once"} {
		if strings.Contains(err.Error(), "hasty."+legitimate+":") {
			t.Errorf("%s is refused:\n%v", legitimate, err)
		}
	}
}

// Every interface of hooks.go is one that the registration knows, and every callback of a cell
// script is known as none of a base's.
func TestHooksAreComplete(t *testing.T) {
	known := make(map[string]bool)
	for _, own := range hooks() {
		known[own.Method(0).Name] = true
	}
	for file, least := range map[string]int{"hooks.go": 7, "../../space/hooks.go": 6} {
		names := interfaceMethods(t, file)
		if len(names) < least {
			t.Errorf("only %v found in %s", names, file)
		}
		for _, name := range names {
			if !known[name] && !(least == 6 && slices.Contains(foreignHooks(), name)) {
				t.Errorf("%s of %s is not known", name, file)
			}
		}
	}
}

func interfaceMethods(t *testing.T, file string) (names []string) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if x, ok := n.(*ast.InterfaceType); ok {
			names = append(names, x.Methods.List[0].Names[0].Name)
		}
		return true
	})
	return names
}
