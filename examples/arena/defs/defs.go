// Package defs has the entity definitions of the arena, which its servers and all their clients share.
// A program that only plays links nothing else of the arena.
package defs

import (
	"embed"

	"github.com/cellscape/cellscape/property"
)

//go:embed entities.xml entity_defs
var files embed.FS

// Load loads them.
func Load() (*property.Schema, error) { return property.Load(files) }
