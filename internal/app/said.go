package app

import (
	"slices"

	"github.com/cellscape/cellscape/internal/wire"
)

// MaxSaid bounds the space data that is kept until the CellAppMgr has acknowledged it: as many keys
// as a space can have, and far more than a game sets in the seconds until another manager takes
// over.
const MaxSaid = wire.MaxSpaceData

// Said holds the changes of space data that scripts of an app have made and the CellAppMgr has not
// acknowledged: the newest of each entry, in the order in which they were made.
//
//	Say             the channel is open           SpaceDataSet
//	----> waiting ------------------------> sent --------------> forgotten
//	         ^                               |
//	         +-------------------------------+
//	            another channel opens: late
//
// Waiting changes are sent after the Welcome on the new channel. They are late then, and lose to
// what others have set meanwhile; see wire.SetSpaceData.
type Said struct {
	manager *Member
	list    []saidEntry
	last    uint64
}

type saidEntry struct {
	wire.SetSpaceData
	sent bool // on the open channel
}

// NewSaid returns what a member has said to the CellAppMgr: nothing.
func NewSaid(manager *Member) Said { return Said{manager: manager} }

// Late is called for a new channel: changes that the old one may have lost wait again.
func (s *Said) Late() {
	for i := range s.list {
		s.list[i].sent, s.list[i].SetSpaceData.Late = false, true
	}
}

// Answered forgets what the manager has acknowledged.
func (s *Said) Answered(number uint64) {
	s.list = slices.DeleteFunc(s.list, func(x saidEntry) bool { return x.sent && x.Said <= number })
}

// Waiting is the number of changes that the manager has not acknowledged.
func (s *Said) Waiting() int { return len(s.list) }

// Say sends a change and keeps it until it is acknowledged. If it returns false, too many are kept:
// this one may be lost, unless it was sent.
func (s *Said) Say(m wire.SetSpaceData) (kept, sent bool) {
	// Only the newest value of an entry matters. But an update is of what was said before it.
	s.list = slices.DeleteFunc(s.list, func(x saidEntry) bool {
		return !m.Same && x.Space == m.Space && x.Key == m.Key && x.Name == m.Name && (m.ID == 0 || x.ID == m.ID)
	})
	s.last++
	m.Said, m.Late = s.last, !s.manager.Heeds()
	e := saidEntry{m, s.manager.Heeds()}
	if e.sent {
		s.manager.Send(&e.SetSpaceData)
	}
	if len(s.list) >= MaxSaid {
		return false, e.sent
	}
	e.Value = slices.Clone(m.Value)
	s.list = append(s.list, e)
	return true, e.sent
}

// SayLate sends the manager what waits.
func (s *Said) SayLate() {
	for i := range s.list {
		if x := &s.list[i]; !x.sent {
			x.sent = true
			s.manager.Send(&x.SetSpaceData)
		}
	}
}
