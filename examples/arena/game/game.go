// Package game is the arena as its servers run it: the scripts of players and guards, and the world
// they are in. How the arena is shown, tried and judged is not here.
package game

import (
	"math/rand/v2"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
)

// The arena is a square around the origin, in metres.
const (
	Side = 1600
	// Spread is half the side of the square in which players and guards begin.
	Spread = 700
	// AoIRadius is how far a player sees; the shape is a square.
	AoIRadius = 100
	// GhostDistance is how far across a line the neighbour's entities are mirrored.
	GhostDistance = 150
	// RunSpeed is how fast a player goes, in metres per second; TopSpeed is what the server allows.
	RunSpeed = 28
	TopSpeed = 40
	// coresPerCellApp is the artificial load of the whole crowd per CellApp. It is above the
	// quarter of a core at which balance adds a cell, so that every CellApp gets one, on any
	// machine.
	coresPerCellApp = 0.4
	// Tick is the time between ticks.
	Tick = 100 * time.Millisecond
)

// SpaceID is the id of the one space.
const SpaceID entity.SpaceID = 1

// Size is how big an arena is.
type Size struct{ Bots, Guards, CellApps, BaseApps int }

// World describes an arena to the cluster; it is the same in every OS process.
func World(schema *property.Schema, n Size) cluster.Config {
	cells := space.NewScripts(schema)
	space.Register[Avatar](cells, "Avatar")
	space.Register[Guard](cells, "Guard")
	bases := baseapp.NewScripts(schema)
	baseapp.Register[Player](bases, "Avatar")
	baseapp.Register[Post](bases, "Guard")
	baseapp.Register(bases, "Garrison", func() *Garrison { return &Garrison{guards: n.Guards} })
	const half = Side / 2
	return cluster.Config{
		CellScripts: cells,
		BaseScripts: bases,
		PlayerType:  "Avatar",
		BaseStart:   muster,
		Spaces:      []cellappmgr.SpaceConfig{{ID: SpaceID, Bounds: bsp.Rect{MinX: -half, MinZ: -half, MaxX: half, MaxZ: half}}},
		CellApps:    n.CellApps,
		BaseApps:    n.BaseApps,
		Space: space.Config{
			AoIRadius: AoIRadius, AoIHysteresis: 5, Border: balance.Border{GhostDistance: GhostDistance}, TopSpeed: TopSpeed,
			ClientTopSpeed: RunSpeed,
			ArtificialLoad: int64(coresPerCellApp * float64(n.CellApps) * float64(time.Second) / float64(max(1, n.Bots+n.Guards))),
		},
		Balance: balance.Config{MetaPeriod: time.Second}, // a show is short
		Tick:    Tick,
	}
}

// Somewhere is a place in a square around the origin.
func Somewhere(chance *rand.Rand, half float32) property.Vector3 {
	return property.Vector3{X: (chance.Float32()*2 - 1) * half, Z: (chance.Float32()*2 - 1) * half}
}
