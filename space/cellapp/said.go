package cellapp

import (
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
)

// maxSaid bounds the space data that is kept until the CellAppMgr has acknowledged it: as many keys
// as a space can have, and far more than a game sets in the seconds until another manager takes
// over.
const maxSaid = wire.MaxSpaceData

// saidData holds the space data that cells here have set and the CellAppMgr has not acknowledged:
// the newest value of each key, in the order in which they were set.
//
//	set             the channel is open           SpaceDataSet
//	----> waiting ------------------------> sent --------------> forgotten
//	         ^                               |
//	         +-------------------------------+
//	            another channel opens: late
//
// Waiting values are sent after the Welcome on the new channel. They are late then, and lose to
// what others have set meanwhile; see wire.SetSpaceData.
type saidData struct {
	list []saidEntry
	last uint64
}

type saidEntry struct {
	wire.SetSpaceData
	sent bool // on the open channel
}

// late is called for a new channel: values that the old one may have lost wait again.
func (s *saidData) late() {
	for i := range s.list {
		s.list[i].sent, s.list[i].Late = false, true
	}
}

// answered forgets what the manager has acknowledged.
func (s *saidData) answered(number uint64) {
	s.list = slices.DeleteFunc(s.list, func(x saidEntry) bool { return x.sent && x.Said <= number })
}

func (o *outbox) SetSpaceData(id entity.SpaceID, key uint16, value []byte) {
	s := &o.said
	// Only the newest value of a key matters.
	s.list = slices.DeleteFunc(s.list, func(x saidEntry) bool { return x.Space == id && x.Key == key })
	s.last++
	m := saidEntry{wire.SetSpaceData{Space: id, Key: key, Value: value, Said: s.last, Late: !o.manager.Heeds()}, o.manager.Heeds()}
	if c := (*CellApp)(o).cell(id); c != nil {
		e, _ := c.Data(key)
		m.Seen = e.Number
	}
	if m.sent {
		o.manager.Send(&m.SetSpaceData)
	}
	if len(s.list) >= maxSaid {
		o.counters.Errors++
		o.log.Error("space data not kept: too much of it waits for the CellAppMgr", "space", id, "key", key, "sent", m.sent)
		return
	}
	m.Value = slices.Clone(value)
	s.list = append(s.list, m)
}

// sayLate sends the manager what waits.
func (a *CellApp) sayLate() {
	for i := range a.said.list {
		if x := &a.said.list[i]; !x.sent {
			x.sent = true
			a.manager.Send(&x.SetSpaceData)
		}
	}
}
