package app

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/shared"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
)

// updates are the changes of shared data on condition that wait, in their order. The first is under way:
//
//	Update       the first            SpaceDataSet: Made
//	------> waits --------> under way -------------------> forgotten
//	                         ^     |
//	                         +-----+ another was first: it is computed anew from what that has left
//
// One is under way at a time: so the manager needs to note only the newest of each app.
type updates struct {
	list []update
	said uint64 // of the one under way; 0 without one
	seen uint64 // the number of what it was computed from
}

type update struct {
	key    string
	change func(was any, ok bool) (is any, set bool)
}

// Update is part of shared.Data.
func (s *Shared) Update(key string, change func(was any, ok bool) (is any, set bool)) error {
	u := &s.updates
	if len(u.list) >= shared.MaxUpdates {
		return fmt.Errorf("%w: %d updates of shared data wait for the CellAppMgr: %q", entity.ErrTooMany, len(u.list), key)
	}
	x := update{key, change}
	if len(u.list) > 0 {
		if _, _, err := s.compute(&x); err != nil { // so that the caller hears of it
			return err
		}
		u.list = append(u.list, x)
		return nil
	}
	under, err := s.begin(&x)
	if under {
		u.list = append(u.list, x)
	}
	return err
}

// compute has the game say what a key is to be; nothing if it is to stay.
func (s *Shared) compute(x *update) (value []byte, set bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			value, set, err = nil, false, fmt.Errorf("shared: the update of %q panics: %v", x.key, r)
		}
	}()
	was, ok := s.Get(x.key)
	is, set := x.change(was, ok)
	if !set {
		return nil, false, nil
	}
	value, err = s.encode(x.key, is)
	return value, err == nil, err
}

// begin says an update to the manager. It reports whether it is under way.
func (s *Shared) begin(x *update) (bool, error) {
	value, set, err := s.compute(x)
	if !set {
		return false, err
	}
	m := wire.SetSpaceData{Key: spacekey.Shared, Name: x.key, Value: value, Same: true}
	m.Seen = s.numberAt(s.find(m.Key, m.Name))
	if err := s.change(m); err != nil {
		return false, err
	}
	s.updates.said, s.updates.seen = s.said.last, m.Seen
	return true, nil
}

// Answered takes what the manager has handled. What it has told before is in the copy by now.
func (s *Shared) Answered(m *wire.SpaceDataSet) {
	s.said.Answered(m.Said)
	u := &s.updates
	if u.said == 0 || m.Said < u.said {
		return
	}
	first := u.list[0]
	again := m.Made != u.said
	if i := s.find(spacekey.Shared, first.key); again && u.seen == s.numberAt(i) {
		again = false // refused for another reason, of which the manager's log tells
		s.said.manager.links.Log.Error("shared data was not updated: the CellAppMgr refuses it", "key", first.key)
	}
	u.said = 0
	if !again {
		u.list = u.list[1:]
	}
	for len(u.list) > 0 {
		under, err := s.begin(&u.list[0])
		if under {
			return
		}
		if err != nil {
			s.said.manager.links.Log.Error("shared data was not updated", "key", u.list[0].key, "error", err)
		}
		u.list = u.list[1:]
	}
	u.list = nil
}

// numberAt is the number of an entry, 0 for one that there is not.
func (s *Shared) numberAt(i int) uint64 {
	if i < 0 || s.entries[i].Removed {
		return 0
	}
	return s.entries[i].Number
}
