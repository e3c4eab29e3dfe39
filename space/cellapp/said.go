package cellapp

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
)

// SetSpaceData asks the manager to change a space's data, until it has answered.
func (o *outbox) SetSpaceData(id entity.SpaceID, d entity.SpaceDatum) {
	m := wire.SetSpaceData{Space: id, Key: d.Key, ID: d.ID, Removed: d.Removed, Value: d.Value}
	if c := (*CellApp)(o).cell(id); c != nil {
		for e := range c.AllData() {
			if d.Replaces(e.Key, e.ID) {
				m.Seen = max(m.Seen, e.Number)
			}
		}
	}
	if kept, sent := o.said.Say(m); !kept {
		o.counters.Errors++
		o.log.Error("space data not kept: too much of it waits for the CellAppMgr", "space", id, "key", d.Key, "sent", sent)
	}
}
