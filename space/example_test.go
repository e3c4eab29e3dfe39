package space_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Guard is the cell script of a type with a property and an exposed method.
type Guard struct {
	*space.Real
	Alarm  property.Bool
	target entity.ID `cellscape:"local"` // forgotten on a move
}

// OnCreated starts a patrol.
func (g *Guard) OnCreated() {
	if _, err := g.AddTimer(0, 5e9, "OnPatrol", 0); err != nil {
		g.Log().Error("no patrol", "error", err)
	}
}

// OnPatrol is called by the timer, wherever the entity is by then.
func (g *Guard) OnPatrol(entity.Callback) {
	for e := range g.EntitiesInRange(20) {
		g.target = e.ID()
	}
}

// Shout answers a client's call.
func (g *Guard) Shout(by entity.ID) { g.Alarm.Set(true) }

// A script is bound to its type, and every fault is told at start-up.
func ExampleRegister() {
	schema, err := property.NewSchema(&property.Definition{
		Name: "Guard", HasCell: true, HasClient: true,
		Properties:  []*property.Property{{Name: "alarm", Type: property.Scalar(property.KindBool), Flags: property.AllClients}},
		CellMethods: []*property.Method{{Name: "shout", Exposed: property.ExposedAll}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	scripts := space.NewScripts(schema)
	space.Register[Guard](scripts, "Guard")
	fmt.Println(scripts.Err())
	space.Register[Guard](scripts, "Guarde")
	fmt.Println(scripts.Err())
	// Output:
	// <nil>
	// space: script for Guarde: the definitions have no entity type "Guarde"; add it to entities.xml
}

// Burning is a controller: it raises the alarm of its guard for a while.
type Burning struct{ Left time.Duration }

// Step is called in each tick.
func (f *Burning) Step(r *space.Real, dt time.Duration) (done bool) {
	f.Left -= dt
	if g, ok := r.Script().(*Guard); ok {
		g.Alarm.Set(f.Left > 0)
	}
	return f.Left <= 0
}

// AppendState writes what goes along to another cell, and into a backup.
func (f *Burning) AppendState(b []byte) []byte { return binary.AppendVarint(b, int64(f.Left)) }

// ReadState reads what AppendState wrote.
func (f *Burning) ReadState(b []byte) error {
	left, n := binary.Varint(b)
	if n != len(b) {
		return errors.New("this is no fire")
	}
	f.Left = time.Duration(left)
	return nil
}

// A game writes its own controllers. A script then calls
//
//	g.AddController(&Burning{Left: time.Minute}, "OnBurntOut", 0)
//
// and the fire goes on wherever the guard is.
func ExampleRegisterController() {
	schema, err := property.NewSchema(&property.Definition{Name: "Guard", HasCell: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	scripts := space.NewScripts(schema)
	space.RegisterController[Burning](scripts, "fire")
	fmt.Println(scripts.Err())
	space.RegisterController[Burning](scripts, "flame")
	fmt.Println(scripts.Err())
	// Output:
	// <nil>
	// space: controller *space_test.Burning, "flame": *space_test.Burning is registered as "fire" already; give each type a tag of its own
}

// terrain stands for what a game reads from its files.
type terrain struct{ pieces []string }

func readTerrain(_ context.Context, r bsp.Rect) (*terrain, error) {
	return &terrain{pieces: []string{r.String()}}, nil
}

// land is what the game keeps with a cell.
type land struct {
	terrain *terrain
	busy    bool
}

// loadLand has loaded what a cell lacks, as one job at a time.
func loadLand(c *space.Cell) {
	l, _ := c.Local().(*land)
	if l == nil {
		l = &land{}
		c.SetLocal(l)
	}
	want := c.ToLoad().Intersect(bsp.Rect{MinX: -4000, MinZ: -4000, MaxX: 4000, MaxZ: 4000}) // the world
	if l.busy || want.Empty() || want.Intersect(c.GeometryLoaded()) == want {
		return
	}
	read := func(ctx context.Context) any { // on another goroutine
		t, err := readTerrain(ctx, want)
		if err != nil {
			select { // before it is tried again
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
			return err
		}
		return t
	}
	l.busy = c.Do(read, func(result any) { // on the CellApp's
		l.busy = false
		if t, ok := result.(*terrain); ok {
			l.terrain = t
			c.SetGeometryLoaded(want)
		}
		loadLand(c) // the area may be another by now
	}) == nil
}

// Every cell loads the land that it needs.
func ExampleScripts_OnArea() {
	schema, err := property.NewSchema(&property.Definition{Name: "Guard", HasCell: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	scripts := space.NewScripts(schema)
	scripts.OnArea(loadLand)
	fmt.Println(scripts.Err(), scripts.HasOnArea())
	// Output: <nil> true
}

// Knight is the cell script of a player on foot.
type Knight struct{ *space.Real }

// OnCreated holds the player's client to a run of 6 m/s, and to 12 m/s up and down.
func (k *Knight) OnCreated() {
	if err := k.SetTopSpeed(6, 12); err != nil {
		k.Log().Error("no top speed", "error", err)
	}
}

// OnMoving lets nobody through the wall at x = 100.
func (k *Knight) OnMoving(from, to property.Vector3) (property.Vector3, bool) {
	return to, (from.X < 100) == (to.X < 100)
}

// The game knows the walls: a client that walks through one is put back, and nobody else sees it.
func ExampleMoveChecker() {
	schema, err := property.NewSchema(&property.Definition{Name: "Knight", HasCell: true, HasBase: true, HasClient: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	scripts := space.NewScripts(schema)
	space.Register[Knight](scripts, "Knight")
	fmt.Println(scripts.Err())
	var wall space.MoveChecker = new(Knight)
	_, ok := wall.OnMoving(property.Vector3{X: 99}, property.Vector3{X: 101})
	fmt.Println(ok)
	// Output:
	// <nil>
	// false
}
