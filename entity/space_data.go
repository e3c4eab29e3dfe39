package entity

import (
	"fmt"

	"github.com/cellscape/cellscape/entity/daytime"
	"github.com/cellscape/cellscape/internal/spacekey"
)

// DataID names one of several entries that a space's data has under a key. It is unique in the
// cluster and never used again. 0 is the entry that is the only one of its key when it is set.
type DataID uint64

// SpaceDatum is a change of a space's data: an entry that was set, or one that was removed.
type SpaceDatum struct {
	Key uint16
	ID  DataID
	// Removed says that the entry is no more; with an ID of 0, that the key has none any more.
	Removed bool
	// Value is the new value. Whoever is given one must not change it.
	Value []byte
}

// Replaces reports whether an earlier entry is no more after the change.
func (d SpaceDatum) Replaces(key uint16, id DataID) bool {
	return d.Key == key && (d.ID == 0 || d.ID == id)
}

// SetSpaceData sets the only entry that the data of a space has under a key. All cells of the space
// and their clients see it, and all changes in the same order. It returns at once. The change is
// repeated until the CellAppMgr has it. A change of a space that is no more, or beyond the bounds of
// a space (4096 entries, 512 KiB), is counted there. Errors are ErrGone, ErrTooMany while too many
// changes wait for the manager, a value longer than 16 KiB, and a key from 0xff00 on: those are the
// library's, but for that of package space/recording.
//
// A base does not know what is set: if the manager dies before it has answered, the next one may set
// the entry over what cells have set meanwhile.
func (b *Base) SetSpaceData(space SpaceID, key uint16, value []byte) error {
	return b.changeSpaceData(space, SpaceDatum{Key: key, Value: value})
}

// AddSpaceData adds an entry to those of a key. Its id replaces or removes it later. See
// SetSpaceData.
func (b *Base) AddSpaceData(space SpaceID, key uint16, value []byte) (DataID, error) {
	id, err := b.host.NewDataID()
	if err != nil {
		return 0, err
	}
	return id, b.changeSpaceData(space, SpaceDatum{Key: key, ID: id, Value: value})
}

// ReplaceSpaceData gives the entry of an id another value. See SetSpaceData.
func (b *Base) ReplaceSpaceData(space SpaceID, key uint16, id DataID, value []byte) error {
	return b.changeSpaceData(space, SpaceDatum{Key: key, ID: id, Value: value})
}

// RemoveSpaceData removes the entry of an id; with 0, all entries of the key. See SetSpaceData.
func (b *Base) RemoveSpaceData(space SpaceID, key uint16, id DataID) error {
	return b.changeSpaceData(space, SpaceDatum{Key: key, ID: id, Removed: true})
}

func (b *Base) changeSpaceData(space SpaceID, d SpaceDatum) error {
	if err := spacekey.CheckGame(d.Key); err != nil {
		return fmt.Errorf("entity: %w", err)
	}
	return b.host.ChangeSpaceData(space, d)
}

// SetTimeOfDay gives a space a time of day, for all its cells and clients. The clock counts from
// game time 0, which a base does not know; a cell sets the present time of day (space.Cell). Errors
// are those of SetSpaceData and of daytime.Clock.Check.
func (b *Base) SetTimeOfDay(space SpaceID, d daytime.Clock) error {
	if err := d.Check(); err != nil {
		return err
	}
	return b.host.ChangeSpaceData(space, SpaceDatum{Key: spacekey.TimeOfDay, Value: d.Append(nil)})
}
