package script

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

type (
	part     struct{}
	creator  interface{ OnCreated() }
	watcher  interface{ OnClient(attached bool) }
	misspelt struct{ *part }
)

func (*part) OnPart()                      {}
func (*misspelt) OnCreate()                {}
func (*misspelt) OnClient()                {}
func (*misspelt) OnForeign()               {}
func (*misspelt) OnBeat(entity.Callback)   {}
func (*misspelt) OnHit(n int)              {}
func (*misspelt) Online()                  {}
func (*misspelt) OnJump(property.Value)    {}
func (*misspelt) OnReply(c property.Value) {}

func TestHooks(t *testing.T) {
	k := &Kind{
		Hooks: []reflect.Type{reflect.TypeFor[creator](), reflect.TypeFor[watcher]()}, Foreign: []string{"OnForeign"},
		Part: reflect.TypeFor[*part](), Methods: func(*property.Definition) []*property.Method { return nil },
		Callbacks: []reflect.Type{reflect.TypeFor[entity.Callback]()},
	}
	h := hookCheck{Kind: k, described: []*property.Method{{Name: "onJump"}}}
	err := h.check(reflect.TypeFor[*misspelt]())
	if err == nil {
		t.Fatal("nothing is refused")
	}
	want := []string{
		"*script.misspelt.OnClient: its signature is func(), so that it is never called; the hook is func (*script.misspelt) OnClient(bool)",
		"*script.misspelt.OnCreate: nothing calls it: did you mean func (*script.misspelt) OnCreated()? A method that begins with On is a hook, or a method of the definition, or a callback by name, func (T) OnX(entity.Callback); rename what only your own code calls",
		"*script.misspelt.OnForeign: nothing calls it: it is a hook of another part of the entity; ",
		"*script.misspelt.OnHit: nothing calls it: the nearest hook is func (*script.misspelt) OnClient(bool). ",
		"*script.misspelt.OnReply: nothing calls it: ",
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d faults, want %d:\n%v", len(lines), len(want), err)
	}
	for i := range want {
		if !strings.HasPrefix(lines[i], want[i]) {
			t.Errorf("fault %d:\n%s\nwant\n%s", i, lines[i], want[i])
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"oncreate", "oncreated", 1}, {"onrceated", "oncreated", 1}, {"kitten", "sitting", 3}, {"abc", "abc", 0}} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
