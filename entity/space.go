package entity

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/spacekey"
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
	// Keep lets the space live on when nobody is in it: no entity that has a base. Those without
	// one are the space's own, and end with it.
	Keep bool
	// KeepFor is how long the space is kept while nobody is in it, without Keep: one to which
	// nobody has come yet, from when it can be entered, and one that all have left. It is at least
	// limits.LeastKeepFor and at most limits.MostKeepFor. The time begins anew when somebody comes,
	// when a CellApp with a part of the space dies, and with a manager that leads anew. Whoever is
	// on the way puts the end off by some seconds; who comes too late is told that there is no such
	// space.
	//
	// Default 0: a space ends limits.LeastKeepFor after all have left, and one to which nobody ever
	// came only if the BaseApp that asked for it dies.
	KeepFor time.Duration
	// MaxEntities is how many entities the space takes, at most spacekey.MostMaxEntities; 0 for no
	// limit. See space.Cell.SetMaxEntities, which changes it, for what that means and how exact it
	// is.
	MaxEntities uint32
	// Data is what the space's data begins with: the only entry of each of these keys, such as how hard a
	// dungeon is and whose it is. It is there before the first cell, so space.Scripts.OnFirstCell
	// can read it. An entry has no ID. At most limits.SpaceStart entries, with
	// limits.SpaceStartBytes of values.
	Data []SpaceDatum
}

// CheckData returns what is wrong with Data, as an ErrArguments.
func (s *SpaceInfo) CheckData() error {
	bytes := 0
	for i := range s.Data {
		d := &s.Data[i]
		bytes += len(d.Value)
		if err := spacekey.CheckGame(d.Key); err != nil {
			return fmt.Errorf("%w: %w", ErrArguments, err)
		}
		if d.ID != 0 || d.Removed {
			return fmt.Errorf("%w: a space begins with one entry for each key, without an ID: key %d", ErrArguments, d.Key)
		}
	}
	if len(s.Data) > limits.SpaceStart || bytes > limits.SpaceStartBytes {
		return fmt.Errorf("%w: a space begins with at most %d entries of data and %d bytes: %d and %d", ErrArguments, limits.SpaceStart, limits.SpaceStartBytes, len(s.Data), bytes)
	}
	return nil
}

// SpaceReply answers Base.CreateSpace. It is the argument of the callback that the script named.
type SpaceReply struct {
	// User is the number that the script gave to CreateSpace.
	User int64
	// Space is the new space, or 0 if there is none.
	Space SpaceID
	// Err says why there is none; nil if there is one. ErrTimeout and ErrTooMany, if the cluster has
	// as many spaces as it can, are among the errors.
	Err error
}
