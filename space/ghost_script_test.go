package space

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/property"
)

// avatarGhost is the script of the tests' ghosts.
type avatarGhost struct {
	*Ghost
	Hp    property.Uint32
	Trade property.Uint32
	Stock property.Slice[uint32]
	heard []string `cellscape:"local"`
}

func (g *avatarGhost) OnSetHp(c *property.Change) {
	if g.Hp.Get() == 666 {
		panic("unlucky")
	}
	g.heard = append(g.heard, fmt.Sprintf("hp %v to %v, is %d", c.Old, c.New, g.Hp.Get()))
}

func (g *avatarGhost) OnSetStock(c *property.Change) {
	g.heard = append(g.heard, fmt.Sprintf("stock %v %d-%d %v to %v, is %d", c.Path, c.Start, c.End, c.Old, c.New, g.Stock.Values()))
}

func ghostRig(t *testing.T) *rig {
	r := newRig(t, 2)
	RegisterGhost[avatarGhost](r.scripts, "Avatar")
	if err := r.scripts.Err(); err != nil {
		t.Fatal(err)
	}
	for _, a := range r.apps {
		a.cell.stats = property.NewStats(r.scripts.Schema())
	}
	return r
}

func (r *rig) ghostScript(t *testing.T, app int) *avatarGhost {
	t.Helper()
	rec := r.apps[app-1].population.find(7)
	if rec == nil {
		t.Fatal("no copy of 7")
	}
	s, _ := (View{rec}).GhostScript().(*avatarGhost)
	return s
}

func (g *avatarGhost) wantHeard(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(g.heard, want) {
		t.Errorf("heard\n %q, want\n %q", g.heard, want)
	}
	g.heard = nil
}

func TestGhostScript(t *testing.T) {
	r := ghostRig(t)
	r.create(7, -50, 0)
	r.avatar(7).Hp.Set(3)
	r.tick(3)
	g := r.ghostScript(t, 2)
	g.wantHeard(t) // not of what it was made with
	if g.Hp.Get() != 3 || g.ID() != 7 || g.Position().X != -50 || g.Space() != 1 || g.Home() != addr(1) || g.Def() != r.real(7).Def() {
		t.Errorf("hp %d, id %v, at %v", g.Hp.Get(), g.ID(), g.Position())
	}
	if err := g.Hp.TrySet(4); !errors.Is(err, property.ErrReadOnly) {
		t.Errorf("writing to a ghost: %v", err)
	}
	r.avatar(7).Hp.Set(5)
	if err := r.avatar(7).Stock.Append(1, 2); err != nil {
		t.Fatal(err)
	}
	if err := r.avatar(7).Stock.SetAt(1, 9); err != nil {
		t.Fatal(err)
	}
	r.avatar(7).Trade.Set(1) // nobody's setter
	r.tick(1)
	g.wantHeard(t, "hp 3 to 5, is 5", "stock [] 0-0 [] to [1 2], is [1 2]", "stock [1] 0-0 2 to 9, is [1 9]")

	// The real comes here and goes again: the ghost and its script are new ones.
	r.move(7, 50)
	r.tick(4)
	if r.ghostScript(t, 2) != nil {
		t.Error("a real has the script of a ghost")
	}
	old := r.ghostScript(t, 1)
	r.avatar(7).Hp.Set(6)
	r.tick(1)
	old.wantHeard(t, "hp 5 to 6, is 6")
	r.move(7, -50)
	r.tick(4)
	r.avatar(7).Hp.Set(7)
	r.tick(1)
	r.ghostScript(t, 2).wantHeard(t, "hp 6 to 7, is 7")
	old.wantHeard(t)
	r.calm()
}

// A State that stands for Updates that were missed is heard as what it changes.
func TestGhostScriptHearsState(t *testing.T) {
	r := ghostRig(t)
	r.create(7, -50, 0)
	r.tick(3)
	r.avatar(7).Hp.Set(5)
	r.hold = func(p packet) bool { _, ok := p.m.(*ghost.Update); return ok }
	r.tick(1)
	r.queue, r.hold = nil, nil // lost with its channel
	r.avatar(7).Hp.Set(6)
	r.tick(2)
	r.ghostScript(t, 2).wantHeard(t, "hp 0 to 6, is 6")
	r.tick(30)
}

func TestPanicOfGhostScript(t *testing.T) {
	r := ghostRig(t)
	r.create(7, -50, 0)
	r.tick(3)
	r.avatar(7).Hp.Set(666)
	r.avatar(7).Trade.Set(1)
	r.tick(1)
	if r.ghostScript(t, 2) != nil || r.apps[1].count.Errors != 1 {
		t.Errorf("%d errors, or the script goes on", r.apps[1].count.Errors)
	}
	if g := r.ghost(2, 7); g == nil || g.Entity.Props.Get(tradeProp).Uint() != 1 {
		t.Error("the ghost did not go on")
	}
}

type wrongGhost struct {
	*Ghost
	Diary property.String
	Count int
}

func (*wrongGhost) OnSetDiary(*property.Change) {}
func (*wrongGhost) OnSetHp(int)                 {}

func TestRegisterGhostFaults(t *testing.T) {
	s := NewScripts(testSchema(t))
	RegisterGhost[plain](s, "Avatar")
	RegisterGhost[rock](s, "Account")
	RegisterGhost[wrongGhost](s, "Avatar")
	RegisterGhost[avatarGhost](s, "Avatar")
	RegisterGhost[avatarGhost](s, "Avatar")
	got := fmt.Sprint(s.Err())
	for _, want := range []string{
		"ghost script for Avatar: space.plain does not embed *space.Ghost", "Account: the definitions give it no cell part",
		"Diary", "Count: int is not a property", "OnSetDiary", "OnSetHp", "Avatar: it has the script *space.avatarGhost already",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not among\n%s", want, got)
		}
	}
}

func TestPropertyStats(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 1)
	r.create(8, -40, 1)
	r.tick(5)
	for _, a := range r.apps {
		a.cell.stats = property.NewStats(r.scripts.Schema())
	}
	r.avatar(7).Hp.Set(1)
	r.avatar(7).Trade.Set(2)
	if err := r.avatar(7).Bag.Append(1, 2, 3); err != nil {
		t.Fatal(err)
	}
	r.move(7, -49)
	r.tick(8)
	got := map[string]property.Count{}
	for k, a := range r.apps {
		for row := range a.cell.stats.Rows() {
			name := "place"
			if row.Property != nil {
				name = row.Property.Name
			}
			got[fmt.Sprint(k+1, " ", name, " ", row.Traffic)] = row.Count
		}
	}
	bag := uint64(1 + 1 + 1 + 12) // key, bits, count, elements; the whole value has no bits, and goes instead
	for what, want := range map[string]property.Count{
		"1 hp to ghosts":         {Changes: 1, Bytes: 1 + 4},
		"1 hp to own client":     {Changes: 1, Bytes: 1 + 4},
		"1 hp to other clients":  {Changes: 1, Bytes: 1 + 4},
		"1 hp into history":      {Changes: 1, Bytes: 4},
		"2 hp received":          {Changes: 1, Bytes: 1 + 4},
		"1 trade to ghosts":      {Changes: 1, Bytes: 1 + 4},
		"2 trade received":       {Changes: 1, Bytes: 1 + 4},
		"1 bag to own client":    {Changes: 1, Bytes: bag},
		"1 bag to other clients": {Changes: 1, Bytes: bag - 1},
		"1 bag into history":     {Changes: 1, Bytes: bag},
	} {
		if got[what] != want {
			t.Errorf("%s: %+v, want %+v", what, got[what], want)
		}
	}
	if _, ok := got["1 trade into history"]; ok {
		t.Error("what no client sees is counted into the history")
	}
	if m := got["1 place moves"]; m.Changes == 0 || m.Bytes < 30 {
		t.Errorf("moves: %+v", m)
	}
}
