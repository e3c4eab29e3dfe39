package space

import (
	"fmt"
	"iter"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/spacekey"
)

// Scripts read and change the space's data here. The CellAppMgr numbers all changes, so all cells
// and their clients see them in the same order, this cell too: what was set can be read when the
// manager has answered, some milliseconds later. A change is repeated until the manager has it. The
// manager refuses what is beyond the bounds of a space (4096 entries, 512 KiB), logs and counts it.

// SetSpaceData sets the only entry of a key: it replaces all others. Keys from
// spacekey.First on are the library's, but for recording.Key.
func (c *Cell) SetSpaceData(key uint16, value []byte) error {
	return c.changeData(entity.SpaceDatum{Key: key, Value: value})
}

// AddSpaceData adds an entry to those of a key. Its id replaces or removes it later.
func (c *Cell) AddSpaceData(key uint16, value []byte) (entity.DataID, error) {
	id, err := c.out.NewID()
	if err != nil {
		return 0, err
	}
	return entity.DataID(id), c.changeData(entity.SpaceDatum{Key: key, ID: entity.DataID(id), Value: value})
}

// ReplaceSpaceData gives the entry of an id another value.
func (c *Cell) ReplaceSpaceData(key uint16, id entity.DataID, value []byte) error {
	return c.changeData(entity.SpaceDatum{Key: key, ID: id, Value: value})
}

// RemoveSpaceData removes the entry of an id; with 0, all entries of the key.
func (c *Cell) RemoveSpaceData(key uint16, id entity.DataID) error {
	return c.changeData(entity.SpaceDatum{Key: key, ID: id, Removed: true})
}

// SpaceData returns the newest entry of a key, as this cell knows it. Do not change it.
func (c *Cell) SpaceData(key uint16) ([]byte, bool) { return c.data.get(key) }

// AllSpaceData yields all entries of a key, as this cell knows them, the oldest change first.
func (c *Cell) AllSpaceData(key uint16) iter.Seq2[entity.DataID, []byte] {
	return func(yield func(entity.DataID, []byte) bool) {
		for i := range c.data.entries {
			if e := &c.data.entries[i]; e.Key == key && !e.Removed && !yield(e.ID, e.Value) {
				return
			}
		}
	}
}

func (c *Cell) changeData(d entity.SpaceDatum) error {
	if err := spacekey.CheckGame(d.Key); err != nil {
		return fmt.Errorf("space: %w", err)
	}
	return c.askData(d)
}

func (c *Cell) askData(d entity.SpaceDatum) error {
	if len(d.Value) > protocol.MaxSpaceDataValue {
		return fmt.Errorf("space: space data of %d bytes is longer than %d", len(d.Value), protocol.MaxSpaceDataValue)
	}
	c.out.SetSpaceData(c.space, d)
	return nil
}

// SetSpaceData, AddSpaceData, ReplaceSpaceData, RemoveSpaceData, SpaceData and AllSpaceData are those
// of the Cell.
func (r *Real) SetSpaceData(key uint16, value []byte) error { return r.cell.SetSpaceData(key, value) }

// AddSpaceData is that of the Cell.
func (r *Real) AddSpaceData(key uint16, value []byte) (entity.DataID, error) {
	return r.cell.AddSpaceData(key, value)
}

// ReplaceSpaceData is that of the Cell.
func (r *Real) ReplaceSpaceData(key uint16, id entity.DataID, value []byte) error {
	return r.cell.ReplaceSpaceData(key, id, value)
}

// RemoveSpaceData is that of the Cell.
func (r *Real) RemoveSpaceData(key uint16, id entity.DataID) error {
	return r.cell.RemoveSpaceData(key, id)
}

// SpaceData is that of the Cell.
func (r *Real) SpaceData(key uint16) ([]byte, bool) { return r.cell.data.get(key) }

// AllSpaceData is that of the Cell.
func (r *Real) AllSpaceData(key uint16) iter.Seq2[entity.DataID, []byte] {
	return r.cell.AllSpaceData(key)
}

// hearData tells the script of changes of the space's data since it last heard. The number travels
// with the real, so that it hears each change once, on whatever cell.
func (r *Real) hearData() {
	d, heard := &r.cell.data, r.dataHeard
	r.dataHeard = d.last
	for i := range d.entries {
		if e := &d.entries[i]; e.Number > heard && e.Key != spacekey.LostArea && e.Key != spacekey.Gateway && r.gone == staying {
			callback(r, "OnSpaceData", func(s DataWatcher) {
				s.OnSpaceData(entity.SpaceDatum{Key: e.Key, ID: e.ID, Removed: e.Removed, Value: e.Value})
			})
		}
	}
}
