// Portal is a town and a cave, two spaces with a gateway between them: who stands before the portal in the
// town sees the dragon in the cave, and goes in with a friend beside him who never leaves the screen. It
// ends by itself after a few seconds.
package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
)

//go:embed defs
var files embed.FS

const (
	town entity.SpaceID = 1
	cave entity.SpaceID = 2
)

// portal joins them: x in the town is x + 500 in the cave. Whoever is within 25 m of it is seen at
// the other end.
func portal() space.Gateway {
	return space.Gateway{
		Near:   space.GatewayEnd{Space: town, Area: bsp.Rect{MinX: 0, MinZ: -25, MaxX: 50, MaxZ: 25}},
		Far:    space.GatewayEnd{Space: cave, Area: bsp.Rect{MinX: 500, MinZ: -25, MaxX: 550, MaxZ: 25}},
		Offset: property.Vector3{X: 500},
	}
}

// lairMin and lairMax are the ends of the dragon's walk, x in the cave.
const lairMin, lairMax = 510, 535

// doorway is how near to the middle of the portal, in metres, one must be to step through.
const doorway = 4

func inDoorway(at property.Vector3) bool {
	return at.X > 25-doorway && at.X < 25+doorway && at.Z > -doorway && at.Z < doorway
}

// Player is the base part of a Hero.
type Player struct {
	*entity.Base
	*game `cellscape:"local"`
}

// OnCreated puts the hero into the town. Only the cave can be seen from there, and only through the portal.
func (p *Player) OnCreated() {
	p.check(p.CreateCell(town, property.Vector3{X: -60}, property.Vector3{}, func(v *property.Values) {
		_ = v.Set(v.Definition().Property("name").Index, property.StringValue(p.Account()))
	}))
}

// Hero is the cell part.
type Hero struct {
	*space.Real
	*game `cellscape:"local"`
}

// StepThrough is for the player's own client to call: all heroes in the doorway go in together, or none. Both
// ends look the same, so it is a transition: their clients keep each other on the screen.
func (h *Hero) StepThrough(entity.ID) {
	if h.Space() != town || !inDoorway(h.Position()) {
		return
	}
	var friends []entity.ID
	for v := range h.EntitiesInRange(2 * doorway) {
		if v.IsReal() && v.Def() == h.Def() && inDoorway(v.Position()) {
			friends = append(friends, v.ID())
		}
	}
	beyond := h.Position()
	beyond.X += portal().Offset.X
	h.check(h.TeleportTogether(entity.Destination{Space: cave, Position: beyond, Transition: true}, 0, friends...))
}

// OnTeleportFailed is told why nobody went.
func (h *Hero) OnTeleportFailed(_ int64, err *placement.TeleportError) { h.check(err) }

// Dragon walks up and down in the cave. It has no base.
type Dragon struct {
	*space.Real
	*game `cellscape:"local"`
}

// OnCreated sets it going.
func (d *Dragon) OnCreated() { d.OnThere(entity.Callback{User: lairMin}) }

// OnThere turns round.
func (d *Dragon) OnThere(c entity.Callback) {
	back := lairMin + lairMax - c.User
	_, err := d.MoveTo(property.Vector3{X: float32(c.User), Z: 10}, 5, "OnThere", back)
	d.check(err)
}

// game is what the scripts share with main.
type game struct{ log *log.Logger }

func (g *game) check(err error) {
	if err != nil {
		g.log.Println("not done:", err)
	}
}

// open is called when a space has its first cell. One that comes from the store has its gateways already.
func (g *game) open(c *space.Cell, fromStore bool) {
	switch {
	case c.Space() == cave:
		_, err := c.Spawn("Dragon", property.Vector3{X: lairMax, Z: 10}, property.Vector3{}, nil)
		g.check(err)
	case !fromStore:
		_, err := c.OpenGateway(portal())
		g.check(err)
	}
}

// config describes the world. A space is one cell, so that each is on a CellApp of its own.
func (g *game) config() (cluster.Config, error) {
	schema, err := property.LoadDir(files, "defs")
	if err != nil {
		return cluster.Config{}, err
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register(cells, "Hero", func() *Hero { return &Hero{game: g} })
	space.Register(cells, "Dragon", func() *Dragon { return &Dragon{game: g} })
	cells.OnFirstCell(g.open)
	baseapp.Register(bases, "Hero", func() *Player { return &Player{game: g} })
	bounds := bsp.Rect{MinX: -1000, MinZ: -1000, MaxX: 1000, MaxZ: 1000}
	return cluster.Config{
		CellScripts: cells, BaseScripts: bases, PlayerType: "Hero", CellApps: 2, Space: space.Config{AoIRadius: 60},
		Spaces: []cellappmgr.SpaceConfig{{ID: town, Bounds: bounds, MaxCells: 1}, {ID: cave, Bounds: bounds, MaxCells: 1}},
	}, nil
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run is the tale of two friends. It fails if they do not see what they should.
func run(ctx context.Context, out io.Writer) (err error) {
	g := &game{log: log.New(out, "", 0)}
	cfg, err := g.config()
	if err != nil {
		return err
	}
	world, err := cluster.Start(context.Background(), cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, world.Stop()) }()
	var both party
	for _, name := range []string{"Ada", "Bob"} {
		p, err := join(ctx, world, name, g.log)
		if err != nil {
			return err
		}
		both = append(both, p)
		if err := p.walk(25, float32(len(both))); err != nil {
			return err
		}
	}
	if err := both.until(ctx, "stands before the portal, and sees the dragon walk about in the cave", func(p *player, c *client.Client) bool {
		return p.stands(c) && p.seesDragon(portal().Offset.X) && p.moves > 5
	}); err != nil {
		return err
	}
	if err := both[0].Do(func(c *client.Client) error { return c.Player().Cell().Call("stepThrough") }); err != nil {
		return err
	}
	if err := both.until(ctx, "is in the cave with the other, and with the dragon", func(p *player, c *client.Client) bool {
		return p.beside != nil && p.there && p.seesDragon(0) && !inDoorway(c.Player().Position)
	}); err != nil {
		return err
	}
	for _, p := range both {
		if p.lost {
			err = errors.Join(err, fmt.Errorf("%s lost sight of %s", p.name, nameOf(p.beside)))
		}
	}
	return err
}
