package entity

import (
	"github.com/cellscape/cellscape/bsp"
)

// SpaceInfo is what game code says of a space that it creates. The zero fields have
// the defaults named; Bounds are required.
type SpaceInfo struct {
	// Bounds is where the space's entities can be, in metres: where the first cuts
	// are made, and what a viewer shows. Entities may leave it.
	Bounds bsp.Rect
	// MinCells and MaxCells are how many cells the space has at least, as soon as
	// there are CellApps for them, and at most. Default 0: what the cluster's
	// balance says. A MaxCells of 1 is a room that is never divided.
	MinCells, MaxCells uint32
	// Geometry is what the CellApps have to load for the space, before anybody is let in; see
	// space.Scripts.OnArea. Default: nothing.
	Geometry bsp.Rect
	// MinLoad is an artificial least load of the space, as a fraction of a core.
	MinLoad float64
	// Keep lets the space live on when it is empty. Without it a space ends some
	// seconds after its last entity has left; one that never had any does not, unless
	// the BaseApp that asked for it dies.
	Keep bool
}

// SpaceReply is what became of a space that a base asked for: its script's method
// of the name that it gave is told, a func(entity.SpaceReply).
type SpaceReply struct {
	// Request is what CreateSpace returned.
	Request uint64
	// Space is the new space, or 0 if there is none; Reason says why, in one line
	// for people.
	Space  SpaceID
	Reason string
}
