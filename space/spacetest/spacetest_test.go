package spacetest_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/loginapp"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/spacetest"
)

// The game of these tests: players with gold, which they give to those whom they see, and keep.

const playerDef = `
<root>
	<Volatile> <position/> </Volatile>
	<Properties>
		<account> <Type> STRING </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> <Identifier> true </Identifier> </account>
		<gold>    <Type> INT32 </Type> <Flags> ALL_CLIENTS </Flags> <Persistent> true </Persistent> </gold>
	</Properties>
	<CellMethods>
		<give> <Exposed> OWN_CLIENT </Exposed> <Arg> UINT64 </Arg> <Arg> INT32 </Arg> </give>
		<take> <Arg> INT32 </Arg> </take>
	</CellMethods>
</root>`

type playerBase struct{ *entity.Base }

func (p *playerBase) OnCreated() {
	if err := p.CreateCell(1, property.Vector3{}, property.Vector3{}, nil); err != nil {
		panic(err)
	}
}

type player struct {
	*space.Real
	Gold property.Int32
}

func (p *player) OnCreated() { p.Gold.Set(100) }

// Give has somebody else take gold.
func (p *player) Give(_ entity.ID, to uint64, amount int32) {
	if amount <= p.Gold.Get() && p.Lookup(entity.ID(to), "Player", entity.CellMailbox).Call("take", amount) == nil {
		p.Gold.Set(p.Gold.Get() - amount)
	}
}

func (p *player) Take(amount int32) { p.Gold.Set(p.Gold.Get() + amount) }

func game(t testing.TB) cluster.Config {
	t.Helper()
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":           {Data: []byte(`<root><Player hasCell="true" hasBase="true" hasClient="true"/></root>`)},
		"entity_defs/Player.def": {Data: []byte(playerDef)},
	})
	if err != nil {
		t.Fatal(err)
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register[player](cells, "Player")
	baseapp.Register[playerBase](bases, "Player")
	return cluster.Config{
		CellScripts: cells, BaseScripts: bases, PlayerType: "Player", CellApps: 2, BaseApps: 2,
		Spaces: []cellappmgr.SpaceConfig{{ID: 1, Bounds: bsp.Rect{MinX: -200, MinZ: -200, MaxX: 200, MaxZ: 200}, MinCells: 2}},
	}
}

// gold is what all have together; -1 while somebody is nowhere.
func gold(w *spacetest.World, players int) (sum int32) {
	n := 0
	for p := range spacetest.CellScripts[player](w) {
		n++
		sum += p.Gold.Get()
	}
	if n != players {
		return -1
	}
	return sum
}

// walk walks a player to a place.
func walk(t *testing.T, w *spacetest.World, p *spacetest.Player, x, z float32) {
	t.Helper()
	for range 60 {
		at := p.Player().Position
		at.X += max(-4, min(4, x-at.X))
		at.Z += max(-4, min(4, z-at.Z))
		if err := p.SetPosition(at, property.Vector3{}); err != nil {
			t.Fatal(err)
		}
		w.Run(200 * time.Millisecond)
	}
}

// Gold changes hands across a line while one of both CellApps dies: none is made, none is lost.
func TestGiftsOutliveADeath(t *testing.T) {
	crossed := 0
	for seed := uint64(1); seed <= 8; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := spacetest.Start(t, spacetest.Config{World: game(t), Seed: seed})
			ada, bob := w.Login("Ada"), w.Login("Bob")
			walk(t, w, ada, -60, -60)
			walk(t, w, bob, 60, 60)
			if w.Where(ada.Player().ID) != w.Where(bob.Player().ID) {
				crossed++
			}
			w.Run(12 * time.Second) // the bases have copies, and the cell parts, too
			for range 5 {
				if err := ada.Player().Cell().Call("give", uint64(bob.Player().ID), int32(7)); err != nil {
					t.Fatal(err)
				}
				w.Run(time.Duration(seed) * 9 * time.Millisecond)
			}
			victim := bob
			if seed%2 == 0 {
				victim = ada
			}
			w.Where(victim.Player().ID).Kill()
			w.AddCellApp()
			w.Until(time.Minute, func() bool { return gold(w, 2) == 200 })
			v, _, ok := w.Real(ada.Player().ID)
			if g, _ := v.Get("gold"); !ok || g.Int() != 65 {
				t.Errorf("Ada has %v", g)
			}
		})
	}
	if crossed == 0 {
		t.Error("both are on one cell every time: no line is between them")
	}
}

// The same seed gives the same run, to the last line of the log; another one does not.
func TestSameSeedSameRun(t *testing.T) {
	run := func(seed uint64) string {
		var out bytes.Buffer
		cfg := game(t)
		cfg.Log = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		w := spacetest.Start(t, spacetest.Config{World: cfg, Seed: seed, Link: mercurytest.Link{Delay: 5 * time.Millisecond, Jitter: 5 * time.Millisecond, Loss: 0.05}})
		ada := w.Login("Ada")
		walk(t, w, ada, 60, 0)
		w.CellApps()[0].Kill()
		w.Run(20 * time.Second)
		return out.String()
	}
	first := run(3)
	if len(first) < 1000 {
		t.Fatalf("there is not much to compare: %q", first)
	}
	if run(3) != first {
		t.Error("the same seed gives another run")
	}
	if run(4) == first {
		t.Error("another seed gives the same run")
	}
}

// What a store keeps is there in the next world, after a shutdown in order.
func TestStoreAcrossWorlds(t *testing.T) {
	db := memory.New()
	cfg := game(t)
	cfg.Store = db
	cfg.BringBack = nil
	w := spacetest.Start(t, spacetest.Config{World: cfg})
	ada := w.Login("Ada")
	w.Run(time.Second)
	report := w.Shutdown("maintenance")
	if !report.Done || !report.Whole() {
		t.Errorf("it is not saved: %+v", report)
	}
	if ada.InWorld() || ada.Err() == nil {
		t.Error("the player is in a world that has ended")
	}
	for _, a := range append(w.CellApps(), w.BaseApps()...) {
		if a.Alive() {
			t.Errorf("%s lives on", a.Name())
		}
	}
	w = spacetest.Start(t, spacetest.Config{World: cfg, Seed: 2})
	w.Login("Bob")
}

// A process that is paused for longer than the world has patience is declared dead, and starts
// anew.
func TestPauseRestartRetire(t *testing.T) {
	cfg := game(t)
	cfg.CellApps, cfg.BaseApps, cfg.Store = 3, 3, memory.New()
	w := spacetest.Start(t, spacetest.Config{World: cfg})
	ada := w.Login("Ada")
	w.Run(15 * time.Second)

	at := w.Where(ada.Player().ID)
	at.Pause(30 * time.Second)
	w.Until(25*time.Second, func() bool { x := w.Where(ada.Player().ID); return x != nil && x != at })
	w.Run(30 * time.Second)
	if s, ok := w.Status(); !ok || len(s.Apps) != 4+3+3 {
		t.Errorf("%d processes: the paused one has not come back", len(s.Apps))
	}

	home := w.Home(ada.Player().ID)
	if !home.Retire("its machine goes") {
		t.Fatal("a BaseApp cannot retire")
	}
	w.Until(time.Minute, func() bool { return !home.Alive() })
	if !ada.InWorld() || w.Home(ada.Player().ID) == nil || w.Home(ada.Player().ID) == home {
		t.Errorf("the player has not gone along: %v %v", ada.State(), ada.Err())
	}

	for _, m := range w.Managers() {
		m.Kill()
	}
	w.Run(2 * time.Second)
	if _, ok := w.Status(); ok {
		t.Error("killed managers tell a status")
	}
	for _, m := range w.Managers() {
		m.Restart()
	}
	w.Run(10 * time.Second)
	if s, ok := w.Status(); !ok || len(s.Spaces) != 1 || !s.Spaces[0].Ready() {
		t.Errorf("the managers have not found the world: %+v", s)
	}
	if w.Login("Bob").Player() == nil {
		t.Error("nobody gets in")
	}
}

// A place that is cut off, and a player whose program dies.
func TestCutAndQuit(t *testing.T) {
	w := spacetest.Start(t, spacetest.Config{World: game(t)})
	ada, bob := w.Login("Ada"), w.Login("Bob")
	home := w.Home(ada.Player().ID)
	w.Net.Cut(ada.App.Place(), home.Place(), true)
	w.Run(5 * time.Second)
	w.Net.Cut(ada.App.Place(), home.Place(), false)
	w.Run(5 * time.Second)
	if !ada.InWorld() {
		t.Errorf("Ada was cut off for 5 s, and is gone: %v", ada.Err())
	}
	id := bob.Player().ID
	bob.App.Kill()
	w.Until(2*time.Minute, func() bool { return w.Home(id) == nil })
}

// failing is a TB that keeps what a test would fail with.
type failing struct {
	testing.TB
	why string
}

func (f *failing) Fatalf(format string, args ...any) {
	f.why = fmt.Sprintf(format, args...)
	panic(f)
}

func whyNot(t *testing.T, f func(spacetest.TB)) string {
	t.Helper()
	tb := &failing{TB: t}
	func() {
		defer func() {
			if v := recover(); v != nil && v != any(tb) {
				panic(v)
			}
		}()
		f(tb)
	}()
	return tb.why
}

// A test hears what is wrong, and where.
func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		f    func(spacetest.TB)
		want string
	}{
		"no scripts": {func(t spacetest.TB) { spacetest.Start(t, spacetest.Config{}) }, "Schema and CellScripts are nil"},
		"too long": {func(tb spacetest.TB) {
			spacetest.Start(tb, spacetest.Config{World: game(t)}).Until(time.Second, func() bool { return false })
		}, "has not come within 1s"},
		"two events": {func(tb spacetest.TB) {
			spacetest.Start(tb, spacetest.Config{World: game(t)}).Login("Ada", client.Events{}, client.Events{})
		}, "with 2 client.Events"},
		"refused": {func(tb spacetest.TB) {
			cfg := game(t)
			cfg.Auth = nobody{}
			spacetest.Start(tb, spacetest.Config{World: cfg}).Login("Ada")
		}, "Ada is not in the world"},
		"no cells": {func(tb spacetest.TB) {
			w := spacetest.Start(tb, spacetest.Config{World: game(t), Patience: 5 * time.Second})
			for _, a := range w.CellApps() {
				a.Kill()
			}
			w.Login("Ada")
		}, "Ada is not in the world after 5s"},
	} {
		if got := whyNot(t, c.f); !strings.Contains(got, c.want) {
			t.Errorf("%s: the test fails with %q, want %q", name, got, c.want)
		}
	}
}

// nobody lets nobody in.
type nobody struct{}

func (nobody) Authenticate(context.Context, string, string) (loginapp.Player, error) {
	return loginapp.Player{}, fmt.Errorf("nobody comes in")
}
