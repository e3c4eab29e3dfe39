package cellapp

import (
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
)

// maxSaid bounds the space data that is kept until the CellAppMgr has answered it: as many
// keys as a space has, and far more than a game sets in the seconds until another manager
// has taken over.
const maxSaid = wire.MaxSpaceData

// saidData is the space data that cells here have set and the CellAppMgr has not answered: the
// newest value of each key, in the order of their numbers.
//
//	set             the channel is open           SpaceDataSet
//	----> waiting ------------------------> sent --------------> forgotten
//	         ^                               |
//	         +-------------------------------+
//	            another channel opens: late
//
// What waits is sent with the Welcome on the new channel. It is late then, and yields to
// what others have set meanwhile: see wire.SetSpaceData.
type saidData struct {
	list []saidEntry
	last uint64
}

type saidEntry struct {
	wire.SetSpaceData
	sent bool // on the channel that is open
}

// late is for a new channel: what an earlier one may have lost waits again.
func (s *saidData) late() {
	for i := range s.list {
		s.list[i].sent, s.list[i].Late = false, true
	}
}

// answered forgets what the manager has handled.
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
		o.log.Error("space data is not kept: too much waits for the CellAppMgr", "space", id, "key", key, "sent", m.sent)
		return
	}
	m.Value = slices.Clone(value)
	s.list = append(s.list, m)
}

// sayLate sends what waits for the manager.
func (a *CellApp) sayLate() {
	for i := range a.said.list {
		if x := &a.said.list[i]; !x.sent {
			x.sent = true
			a.manager.Send(&x.SetSpaceData)
		}
	}
}
