package main

import (
	"log/slog"

	"github.com/cellscape/cellscape/examples/arena/game"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster"
)

// world describes the arena to the cluster; it is the same in every OS process.
func world(schema *property.Schema, f *flags, log *slog.Logger) cluster.Config {
	cfg := game.World(schema, game.Size{Bots: f.bots, Guards: f.guards, CellApps: f.cellApps, BaseApps: f.baseApps})
	cfg.Term, cfg.Log = uint32(f.term), log
	return cfg
}
