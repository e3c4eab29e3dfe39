package main

import (
	"embed"
	"log/slog"
	"os"
	"time"

	"github.com/cellscape/cellscape/aoi/witness"
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

const (
	tick     = 100 * time.Millisecond
	topSpeed = 30
	// hysteresis is how much farther than the radius one must go to leave a view, in metres.
	hysteresis = 5
	fieldID    = entity.SpaceID(1)
)

func loadSchema() (*property.Schema, error) {
	return property.LoadDir(defs, "defs")
}

// world describes the field to the cluster; it is the same in every process.
func (f *flags) world(schema *property.Schema) cluster.Config {
	cells := space.NewScripts(schema)
	space.Register[Walker](cells, "Walker")
	bases := baseapp.NewScripts(schema)
	half := f.side() / 2
	baseapp.Register(bases, "Walker", func() *Player { return &Player{half: float32(half)} })
	border := balance.Border{GhostDistance: f.radius + 50}
	cfg := cluster.Config{
		CellScripts: cells, BaseScripts: bases, PlayerType: "Walker", CellApps: f.cellApps, BaseApps: f.baseApps,
		Spaces: []cellappmgr.SpaceConfig{{ID: fieldID, Bounds: bsp.Rect{MinX: -half, MinZ: -half, MaxX: half, MaxZ: half}}},
		Space: space.Config{
			AoIRadius: float32(f.radius), AoIHysteresis: hysteresis, Border: border, TopSpeed: topSpeed,
			ClientTopSpeed: float32(f.speed),
			Witness:        witness.Config{BytesPerTick: f.budget},
		},
		Logins: cellappmgr.LoginConfig{Queue: -1}, // who does not fit is told why, and counted
		Tick:   tick, Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	if f.cellApps > 1 {
		// Each CellApp gets a cell on any machine, as if the crowd were more than one can carry.
		const coresPerCellApp = 0.4
		cfg.Space.ArtificialLoad = int64(coresPerCellApp * float64(f.cellApps) * float64(time.Second) / float64(f.n))
		cfg.Balance.MetaPeriod = time.Second
	}
	return cfg
}

// Player is the base part of a Walker.
type Player struct {
	*entity.Base
	half float32 `cellscape:"local"`
}

// OnCreated puts the player into the field, at a place that follows from its id.
func (p *Player) OnCreated() {
	place, _ := way(p.ID(), p.half)
	if err := p.CreateCell(fieldID, place, property.Vector3{}, nil); err != nil {
		p.Log().Error("no walker", "error", err)
	}
}

// Walker is the cell part.
type Walker struct {
	*space.Real
	Cloak property.Uint8
}

// Greet is called by the client of someone in view, and tells the own one. See greetings. The error
// is that the own client has just left: nobody waits for this greeting then, and it is not counted.
func (w *Walker) Greet(_ entity.ID, at uint64) { _ = w.OwnClient().Call("greeted", at) }

// Wear is called by the player's own client now and then, and seen by those around.
func (w *Walker) Wear(_ entity.ID, cloak uint8) { w.Cloak.Set(cloak) }
