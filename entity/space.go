package entity

import (
	"github.com/cellscape/cellscape/bsp"
)

// SpaceInfo describes a space for game code to create. Zero fields mean the defaults named below;
// Bounds is required.
type SpaceInfo struct {
	// Bounds is where the space's entities usually are, in metres: the first cuts are made there,
	// and a viewer shows it. Entities may leave it.
	Bounds bsp.Rect
	// MinCells is how many cells the space has at least, once there are CellApps for them, and
	// MaxCells how many at most. Default 0: as the cluster's balance says. A MaxCells of 1 makes a
	// room that is never divided.
	MinCells, MaxCells uint32
	// Geometry is the area that the CellApps must load before anybody can enter; see
	// space.Scripts.OnArea. Default: nothing.
	Geometry bsp.Rect
	// MinLoad is the least load that the space counts as, as a fraction of a core.
	MinLoad float64
	// Keep lets the space live on when it is empty. Without it a space ends some seconds after the
	// last entity that has a base has left; entities without one are the space's own, and end with it. One
	// to which nobody ever came ends only if the BaseApp that asked for it dies.
	Keep bool
	// MaxEntities is how many entities the space takes, at most spacekey.MostMaxEntities; 0 for no limit. See
	// space.Cell.SetMaxEntities, which changes it, for what that means and how exact it is.
	MaxEntities uint32
}

// SpaceReply answers Base.CreateSpace. It is the argument of the callback that the script named.
type SpaceReply struct {
	// User is the number that the script gave to CreateSpace.
	User int64
	// Space is the new space, or 0 if there is none.
	Space SpaceID
	// Err says why there is none; nil if there is one. ErrTimeout is one of the errors.
	Err error
}
