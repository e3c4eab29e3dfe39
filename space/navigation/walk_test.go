package navigation_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/navigation"
	"github.com/cellscape/cellscape/space/spacetest"
)

func at(x, z float32) property.Vector3 { return property.Vector3{X: x, Z: z} }

func rect(minX, minZ, maxX, maxZ float32) navigation.Tile {
	return navigation.Tile{
		Corners:  []property.Vector3{at(minX, minZ), at(maxX, minZ), at(maxX, maxZ), at(minX, maxZ)},
		Polygons: [][]uint32{{0, 1, 2, 3}},
	}
}

// yard is 200 by 200 metres in two cells, with a wall along x = 0 that leaves 10 m free at its north end.
// The tile there is the gate.
func yard(t testing.TB) (m *navigation.Mesh, gate navigation.TileID) {
	t.Helper()
	m, err := navigation.New(navigation.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tile := range []navigation.Tile{rect(-100, -100, -1, 100), rect(1, -100, 100, 100), rect(-1, 90, 1, 100)} {
		if gate, err = m.Add(tile); err != nil {
			t.Fatal(err)
		}
	}
	return m, gate
}

// guard walks in the yard.
type guard struct {
	*space.Real
	world *patrol `cellscape:"local"`
}

// patrol is what a test knows of the guards.
type patrol struct {
	mesh  *navigation.Mesh
	there []error // how their walks have ended
}

func (g *guard) Navigator() navigation.Navigator { return g.world.mesh }

func (g *guard) OnThere(c entity.Callback) { g.world.there = append(g.world.there, c.Err) }

// OnKept is called when its copy is held.
func (g *guard) OnKept(entity.Callback) {}

// keeper is a guard's base, by which it outlives its CellApp.
type keeper struct{ *entity.Base }

func (k *keeper) OnCreated() { _ = k.CreateCell(1, at(-50, -50), property.Vector3{}, nil) }

func start(t *testing.T, p *patrol) *spacetest.World {
	t.Helper()
	schema, err := property.NewSchema(&property.Definition{Name: "Guard", HasCell: true, HasBase: true, HasClient: true})
	if err != nil {
		t.Fatal(err)
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register(cells, "Guard", func() *guard { return &guard{world: p} })
	baseapp.Register[keeper](bases, "Guard")
	navigation.Register(cells)
	return spacetest.Start(t, spacetest.Config{World: cluster.Config{
		CellScripts: cells, BaseScripts: bases, PlayerType: "Guard", CellApps: 3, BaseApps: 2,
		Spaces: []cellappmgr.SpaceConfig{{ID: 1, Bounds: bsp.Rect{MinX: -100, MinZ: -100, MaxX: 100, MaxZ: 100}, MinCells: 2, MaxCells: 2}},
	}})
}

// guardOf is a guard where it is real; nil while it is nowhere.
func guardOf(w *spacetest.World, id entity.ID) *guard {
	v, _, ok := w.Real(id)
	if !ok {
		return nil
	}
	g, _ := v.Script().(*guard)
	return g
}

// A guard walks round the wall into another cell, outlives its CellApp on the way, and is never off the mesh.
func TestWalk(t *testing.T) {
	m, _ := yard(t)
	p := &patrol{mesh: m}
	w := start(t, p)
	id := w.Login("Ada").Player().ID
	on := func() *guard {
		return guardOf(w, id)
	}
	w.Until(10*time.Second, func() bool { return on() != nil })
	goal := at(60, -50)
	if _, err := navigation.Walk(on().Real, goal, 20, "OnThere", 0); err != nil {
		t.Fatal(err)
	}
	if err := on().Backup("OnKept", 0); err != nil { // it goes on from there
		t.Fatal(err)
	}
	apps := map[string]bool{}
	killed := false
	w.Until(60*time.Second, func() bool {
		g := on()
		if g == nil {
			return false
		}
		if _, ok := m.Nearest(g.Position(), 0.01); !ok {
			t.Fatalf("at %v it is off the mesh", g.Position())
		}
		apps[w.Where(id).Name()] = true
		if !killed && g.Position().Z > 0 {
			killed = true
			w.Where(id).Kill()
		}
		return len(p.there) > 0
	})
	if p.there[0] != nil || on().Position() != goal {
		t.Errorf("%v, at %v", p.there, on().Position())
	}
	if len(apps) < 3 {
		t.Errorf("it was on %v", apps)
	}
	if yaw := float64(on().Direction().X); math.Abs(math.Abs(yaw)-math.Pi) > 0.6 {
		t.Errorf("it went south at last, and looks %v", yaw)
	}
}

// The ground goes while a guard walks: its way stays as it was found, and there is no other one.
func TestGateCloses(t *testing.T) {
	m, gate := yard(t)
	p := &patrol{mesh: m}
	w := start(t, p)
	id := w.Login("Ada").Player().ID
	w.Until(10*time.Second, func() bool { return guardOf(w, id) != nil })
	g := guardOf(w, id)
	if !m.Remove(gate) {
		t.Fatal("there is no gate")
	}
	if _, err := navigation.Walk(g.Real, at(60, -50), 20, "OnThere", 0); !errors.Is(err, navigation.ErrNoPath) {
		t.Errorf("%v", err)
	}
	if _, err := navigation.Walk(g.Real, at(-60, -50), 20, "OnNothing", 0); !errors.Is(err, entity.ErrNoCallback) {
		t.Errorf("%v", err)
	}
	if _, err := navigation.Walk(g.Real, at(-60, -50), 0, "OnThere", 0); err == nil || !strings.Contains(err.Error(), "without speed") {
		t.Errorf("%v", err)
	}
}

// The last walk is the one that goes on, of whichever kind.
func TestOneWalkAtATime(t *testing.T) {
	m, _ := yard(t)
	p := &patrol{mesh: m}
	w := start(t, p)
	id := w.Login("Ada").Player().ID
	w.Until(10*time.Second, func() bool { return guardOf(w, id) != nil })
	g := guardOf(w, id)
	north, south := at(-50, 50), at(-50, -90)
	first, err := navigation.Walk(g.Real, north, 10, "OnThere", 0)
	if err != nil {
		t.Fatal(err)
	}
	w.Run(time.Second)
	if _, err := g.MoveTo(south, 10, "OnThere", 0); err != nil {
		t.Fatal(err)
	}
	if g.Cancel(first) {
		t.Error("two walks went on")
	}
	w.Run(time.Second)
	second, err := navigation.Walk(g.Real, north, 10, "OnThere", 0)
	if err != nil {
		t.Fatal(err)
	}
	w.Until(30*time.Second, func() bool { return len(p.there) > 0 })
	if g := guardOf(w, id); p.there[0] != nil || len(p.there) > 1 || g.Position() != north {
		t.Errorf("%v, at %v", p.there, g.Position())
	}
	if guardOf(w, id).Cancel(second) {
		t.Error("a walk goes on after its end")
	}
}

// A walk that gathers speed takes the corners at speed, and brakes for the end only.
func TestGait(t *testing.T) {
	m, _ := yard(t)
	p := &patrol{mesh: m}
	w := start(t, p)
	id := w.Login("Ada").Player().ID
	w.Until(10*time.Second, func() bool { return guardOf(w, id) != nil })
	g := guardOf(w, id)
	if _, err := navigation.Walk(g.Real, at(60, -50), 20, "OnThere", 0, space.Gait{From: 3}); err == nil || !strings.Contains(err.Error(), "give one Gait or none") {
		t.Errorf("%v", err)
	}
	const top, acceleration = 20, 8
	if _, err := navigation.Walk(g.Real, at(60, -50), top, "OnThere", 0, space.Gait{Acceleration: acceleration}); err != nil {
		t.Fatal(err)
	}
	last, corner := float32(0), float32(0)
	w.Until(60*time.Second, func() bool {
		g := guardOf(w, id)
		if g == nil {
			return false
		}
		v := g.WalkingSpeed()
		if v > top || v > last+acceleration*0.25+0.01 {
			t.Fatalf("from %v to %v m/s", last, v)
		}
		if last = v; g.Position().Z > 85 {
			corner = max(corner, v)
		}
		return len(p.there) > 0
	})
	if g := guardOf(w, id); p.there[0] != nil || g.Position() != at(60, -50) || g.WalkingSpeed() != 0 || corner != top {
		t.Errorf("%v, at %v with %v m/s; round the corner with %v", p.there, g.Position(), g.WalkingSpeed(), corner)
	}
}

// What Nearest gives is on the mesh for Path, too, also where it is the slack beyond the outer edge of a tile.
// (A monster that had strayed by half a millimetre was told that where it should go is not on the mesh.)
func TestNearestAtTheOuterEdge(t *testing.T) {
	m, _ := yard(t)
	for _, out := range []float32{0.0005, 0.0009, 0.002, 0.5} {
		for _, p := range []property.Vector3{at(100+out, 12), at(-100-out, 12), at(50, 100+out), at(50, -100-out), at(100+out, 100+out)} {
			on, ok := m.Nearest(p, 1)
			if !ok {
				t.Fatalf("nothing near %v", p)
			}
			if _, err := m.Path(nil, on, at(50, 50)); err != nil {
				t.Errorf("from %v, the nearest to %v: %v", on, p, err)
			}
			if _, err := m.Path(nil, at(50, 50), on); err != nil {
				t.Errorf("to %v, the nearest to %v: %v", on, p, err)
			}
			if _, ok := m.Nearest(on, 0); !ok {
				t.Errorf("%v is not on the mesh", on)
			}
		}
	}
}
