package main

import (
	"embed"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/property"
)

//go:embed defs
var files embed.FS

// schema is what the world and the page agree on.
func schema() (*property.Schema, error) { return property.LoadDir(files, "defs") }

// pond is where no sheep goes; meadow.obj leaves it out.
func pond() bsp.Rect { return bsp.Rect{MinX: -30, MinZ: 40, MaxX: 30, MaxZ: 80} }

const (
	side     = 300 // of the meadow, in metres
	runSpeed = 12  // of players, in metres a second
)
