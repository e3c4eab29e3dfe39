// Package ending says why a cell has ended on its CellApp; see space.Scripts.OnCellEnd.
package ending

import (
	"github.com/cellscape/cellscape/internal/enum"
)

// Why says why a cell has ended.
type Why uint8

// The reasons.
const (
	// Removed: the space goes on without the cell. Its CellApp retires, or the balance needs it no
	// longer. Its entities are on other cells.
	Removed Why = 1 + iota
	// SpaceEnded: the whole space has ended. Its entities have been destroyed, or have left.
	SpaceEnded
	// Stopped: the CellApp ends in order, alone or with the world. Entities are still on the cell;
	// what becomes of them is not decided here.
	Stopped
	// Dismissed: the cluster takes the CellApp for dead, since it was not heard for too long, and
	// it starts anew. Other CellApps have had the cell's entities and its area for a while.
	Dismissed
)

// String names the reason.
func (w Why) String() string {
	return enum.Name(w, "ending", []string{
		Removed:    "removed",
		SpaceEnded: "space ended",
		Stopped:    "stopped",
		Dismissed:  "dismissed",
	})
}
