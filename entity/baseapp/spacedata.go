package baseapp

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
)

// ChangeSpaceData is part of entity.Base's host.
func (b *base) ChangeSpaceData(space entity.SpaceID, d entity.SpaceDatum) error {
	if b.destroying {
		return entity.ErrGone
	}
	if len(d.Value) > wire.MaxSpaceDataValue {
		return fmt.Errorf("baseapp: space data of %d bytes is longer than %d", len(d.Value), wire.MaxSpaceDataValue)
	}
	m := wire.SetSpaceData{Space: space, Key: d.Key, ID: d.ID, Removed: d.Removed, Value: d.Value, Seen: wire.SeenAll}
	if kept, _ := b.app.said.Say(m); !kept {
		return fmt.Errorf("%w: %d changes of space data wait for the CellAppMgr, and this one may be lost", entity.ErrTooMany, app.MaxSaid)
	}
	return nil
}

// NewDataID is part of entity.Base's host.
func (b *base) NewDataID() (entity.DataID, error) {
	if b.destroying {
		return 0, entity.ErrGone
	}
	id, err := b.app.ids.Next()
	return entity.DataID(id), err
}
