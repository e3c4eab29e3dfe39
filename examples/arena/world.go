package main

import (
	"embed"
	"log/slog"
	"sync/atomic"
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

//go:embed defs
var defs embed.FS

// The arena is a square around the origin, in metres.
const (
	side = 1600
	// aoiRadius is how far a player sees; the shape is a square.
	aoiRadius = 100
	// ghostDistance is how far across a line the neighbour's entities are mirrored.
	ghostDistance = 150
	// coresPerCellApp is the artificial load of the whole crowd per CellApp. It is above the
	// quarter of a core at which balance adds a cell, so that every CellApp gets one, on any
	// machine.
	coresPerCellApp = 0.4
	tick            = 100 * time.Millisecond
)

// arenaID is the id of the one space.
const arenaID entity.SpaceID = 1

// loadSchema loads the definitions that the server and every client share.
func loadSchema() (*property.Schema, error) {
	return property.LoadDir(defs, "defs")
}

// world describes the arena to the cluster; it is the same in every OS process.
func world(schema *property.Schema, f *flags, log *slog.Logger) cluster.Config {
	cells := space.NewScripts(schema)
	space.Register[Avatar](cells, "Avatar")
	space.Register[Guard](cells, "Guard")
	bases := baseapp.NewScripts(schema)
	baseapp.Register[Player](bases, "Avatar")
	baseapp.Register[Post](bases, "Guard")
	const half = side / 2
	return cluster.Config{
		CellScripts: cells,
		BaseScripts: bases,
		PlayerType:  "Avatar",
		BaseStart:   makeGuards(f),
		Spaces:      []cellappmgr.SpaceConfig{{ID: arenaID, Bounds: bsp.Rect{MinX: -half, MinZ: -half, MaxX: half, MaxZ: half}}},
		CellApps:    f.cellApps,
		BaseApps:    f.baseApps,
		Space: space.Config{
			AoIRadius: aoiRadius, AoIHysteresis: 5, Border: balance.Border{GhostDistance: ghostDistance}, TopSpeed: topSpeed,
			ClientTopSpeed: runSpeed,
			ArtificialLoad: int64(coresPerCellApp * float64(f.cellApps) * float64(time.Second) / float64(max(1, f.bots+f.guards))),
		},
		Balance: balance.Config{MetaPeriod: time.Second}, // a show is short
		Tick:    tick,
		Term:    uint32(f.term),
		Log:     log,
	}
}

// makeGuards is called on each BaseApp when it has joined, and makes the BaseApp's share of the
// guards.
func makeGuards(f *flags) func(*baseapp.Starter) {
	var started atomic.Int32
	return func(s *baseapp.Starter) {
		share := f.guards / f.baseApps
		switch n := int(started.Add(1)); {
		case n > f.baseApps:
			return // it takes the place of one that died, whose guards live
		case n <= f.guards%f.baseApps:
			share++
		}
		for range share {
			if _, err := s.CreateBase("Guard", nil); err != nil {
				s.Log().Error("no guard", "error", err)
			}
		}
	}
}
