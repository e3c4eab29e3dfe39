//go:build !js

package main

import (
	"bytes"
	"context"
	_ "embed"
	"log/slog"
	"strings"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/navigation"
)

const meadow entity.SpaceID = 1

const (
	flock     = 40 // sheep
	walkSpeed = 2  // of theirs, in metres a second
)

// Player is the base part of an Avatar.
type Player struct{ *entity.Base }

// OnCreated puts the avatar into the meadow.
func (p *Player) OnCreated() {
	name := property.StringValue(p.Account())
	if err := p.CreateCell(meadow, property.Vector3{}, property.Vector3{}, func(v *property.Values) {
		_ = v.Set(v.Definition().Property("name").Index, name)
	}); err != nil {
		p.Log().Error("no cell part", "error", err)
	}
}

// Avatar is its cell part.
type Avatar struct {
	*space.Real
	Name property.String
}

// OnCreated lets it run.
func (a *Avatar) OnCreated() {
	if err := a.SetTopSpeed(runSpeed*1.2, 0); err != nil {
		a.Log().Error("no top speed", "error", err)
	}
}

// Say is for the player's own page to call; everyone near by hears it.
func (a *Avatar) Say(_ entity.ID, text string) {
	if err := a.AllClients().Call("heard", text); err != nil {
		a.Log().Warn("not heard", "error", err)
	}
}

// Sheep wander. They have no base: if their CellApp dies, they are lost.
type Sheep struct {
	*space.Real
	ground *navigation.Mesh `cellscape:"local"`
}

// Navigator is where sheep walk: round the pond.
func (s *Sheep) Navigator() navigation.Navigator { return s.ground }

// OnCreated sets a sheep going.
func (s *Sheep) OnCreated() { s.OnThere(entity.Callback{}) }

// OnThere goes on to another place near by.
func (s *Sheep) OnThere(entity.Callback) {
	const stray = 40
	aside := func() float32 { return stray * (2*s.Chance().Float32() - 1) }
	to, ok := s.ground.Nearest(s.Position().Add(property.Vector3{X: aside(), Z: aside()}), side)
	if !ok {
		return // there is no ground anywhere
	}
	if _, err := navigation.Walk(s.Real, to, walkSpeed, "OnThere", 0); err != nil {
		s.Log().Error("a sheep stands still", "error", err)
	}
}

//go:embed meadow.obj
var meadowOBJ []byte

// grounds is the mesh of the meadow, which both CellApps share.
func grounds() (*navigation.Mesh, error) {
	tile, err := navigation.ReadOBJ(bytes.NewReader(meadowOBJ))
	if err != nil {
		return nil, err
	}
	mesh, err := navigation.New(navigation.Config{})
	if err != nil {
		return nil, err
	}
	_, err = mesh.Add(tile)
	return mesh, err
}

// start runs the world. Pages that were served at a place may come in.
func start(ctx context.Context, served string) (*cluster.Cluster, error) {
	types, err := schema()
	if err != nil {
		return nil, err
	}
	mesh, err := grounds()
	if err != nil {
		return nil, err
	}
	cells, bases := space.NewScripts(types), baseapp.NewScripts(types)
	navigation.Register(cells)
	space.Register[Avatar](cells, "Avatar")
	space.Register(cells, "Sheep", func() *Sheep { return &Sheep{ground: mesh} })
	baseapp.Register[Player](bases, "Avatar")
	cells.OnFirstCell(func(c *space.Cell, _ bool) {
		for i := range flock {
			at, _ := mesh.Nearest(property.Vector3{X: float32(i%8-4) * side / 8, Z: float32(i/8-2) * side / 5}, side)
			if _, err := c.Spawn("Sheep", at, property.Vector3{}, nil); err != nil {
				slog.Error("a sheep is missing", "error", err)
			}
		}
	})
	half := float64(side) / 2
	return cluster.Start(ctx, cluster.Config{
		CellScripts: cells, BaseScripts: bases, PlayerType: "Avatar", CellApps: 2, BaseApps: 2, Space: space.Config{AoIRadius: 100},
		Spaces: []cellappmgr.SpaceConfig{{ID: meadow, Bounds: bsp.Rect{MinX: -half, MinZ: -half, MaxX: half, MaxZ: half}, MinCells: 2}},
		// In the clear, for this machine alone. For others give the door a name, and cluster.Config.TLS a
		// certificate for it: a page must dial by name.
		Doors: []cluster.Door{{Network: cluster.UDP}, {Network: cluster.WebSocket, Origins: origins(served)}},
	})
}

// origins are the names by which a browser may have loaded the page.
func origins(served string) []string {
	port := served[strings.LastIndexByte(served, ':'):]
	return []string{served, "localhost" + port}
}
