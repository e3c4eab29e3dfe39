package cellappmgr

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
)

// The store keeps what spaces there are, and their data, for a cluster that starts anew after a
// stop or after all its processes have died:
//
//	        made, or its data changed               storeAfter, at once in a stop
//	stored ---------------------------> changed ----------------------------------> sent ---> stored
//	                                       ^                                          |  SpaceKept
//	                                       +-- changed again, or the store refused ---+
//	                                                                                     KeepOnly
//	space ends: the list of those that live has changed ---------------------------> sent ---> told
//
// A space that ends before it was sent costs the store nothing, so rooms of seconds do not. The list is
// whole each time: a manager that has just begun need not know what an earlier one has told.
const (
	// storeAfter is how long a change waits for others of its space: what a crash of all processes undoes.
	storeAfter = 5 * time.Second
	// maxStoring bounds the spaces that the DBApp is asked to keep at one time, each with as much data as
	// a message holds.
	maxStoring = 16
	// storeRefused is how long a space waits that the store has refused.
	storeRefused = time.Minute
)

// storing is what the manager knows of the store.
type storing struct {
	number  uint64   // of the last order
	changed []*space // those that the store does not have as they are
	open    int      // of those, how many have been sent

	ended   bool          // a space has ended since the last list that was sent
	list    uint64        // number of the list that has no answer; 0 for none
	listAt  time.Duration // when the next one is sent, or this one again
	living  []entity.SpaceID
	started bool
}

// stored is how far a space is.
type stored struct {
	changed bool          // it is in storing.changed
	sent    uint64        // number of the order that has no answer; 0 for none
	again   bool          // it has changed since then
	at      time.Duration // when it is sent, or sent again; 0 for not yet known
	failed  bool          // the last answer was a refusal
}

// keepChanged notes that the store does not have a space as it is.
func (m *CellAppMgr) keepChanged(s *space) {
	x := &s.stored
	if !m.cfg.Stores || s.ending {
		return
	}
	x.again, x.failed = x.sent != 0, false
	if !x.changed {
		x.changed = true
		m.storing.changed = append(m.storing.changed, s)
	}
}

// keepEnded notes that a space is not there any more.
func (m *CellAppMgr) keepEnded() { m.storing.ended = true }

// storeSpaces has the store keep what is due, a few spaces at a time. Before the store has said what it has,
// nothing is: the list of those that live would be of those that have not come back yet.
func (m *CellAppMgr) storeSpaces(now time.Duration) {
	t := &m.storing
	if !m.cfg.Stores || !m.knowsSpaces() || m.dbApp.IsZero() {
		return
	}
	if !t.started {
		t.started, t.ended = true, true
	}
	m.sendLiving(now)
	hurry := m.stopping.step >= wire.StopHeld
	t.open = 0
	t.changed = slices.DeleteFunc(t.changed, func(s *space) bool {
		x := &s.stored
		if x.changed = x.changed && !s.ending; !x.changed {
			return true
		}
		if x.at == 0 {
			x.at = now + storeAfter
		}
		if due := now >= x.at || hurry && x.sent == 0 && !x.failed; due && t.open < maxStoring {
			m.sendSpace(now, s)
		}
		if x.sent != 0 {
			t.open++
		}
		return false
	})
}

// sendSpace has the store keep a space as it is now.
func (m *CellAppMgr) sendSpace(now time.Duration, s *space) {
	x := &s.stored
	if x.sent == 0 { // else the answer may be to what was sent before
		x.sent, x.again = m.storeNumber(), false
	}
	x.at = now + resend
	m.send(m.byAddress(m.dbApp), &wire.KeepSpace{Number: x.sent, KeptSpace: s.kept()})
}

// storeNumber numbers an order, above those of all earlier managers.
func (m *CellAppMgr) storeNumber() uint64 {
	t := &m.storing
	t.number = max(t.number, uint64(m.cfg.Term)<<32) + 1
	return t.number
}

// kept is what the store keeps of a space: what it is, and its data without what only the manager knows.
func (s *space) kept() wire.KeptSpace {
	k := wire.KeptSpace{Space: s.cfg.ID, Info: s.info}
	for i := range s.data.entries {
		if e := &s.data.entries[i]; !e.Removed && isKept(e.Key) {
			k.Data = append(k.Data, wire.SpaceDataEntry{Number: e.Number, Key: e.Key, ID: e.ID, Value: e.Value})
		}
	}
	return k
}

// isKept reports whether the store keeps the entries of a key: not what the manager says of this world.
func isKept(key uint16) bool { return key != spacekey.LostArea && key != spacekey.Full }

// spaceKept takes the DBApp's answer about a space.
func (m *CellAppMgr) spaceKept(now time.Duration, msg *wire.SpaceKept) {
	s := m.space(msg.Space)
	if s == nil || msg.Number == 0 || msg.Number != s.stored.sent {
		return
	}
	x := &s.stored
	x.sent, x.at, x.failed = 0, 0, msg.Reason != ""
	switch {
	case x.failed:
		x.at = now + storeRefused
		if unlogged, ok := m.lines.Allow(now, "storing"); ok {
			m.log.Error("the store does not keep a space; it is tried again", "space", msg.Space, "reason", msg.Reason, "unlogged", unlogged)
		}
	case !x.again:
		x.changed = false
	}
	m.storeSpaces(now)
}

// sendLiving tells the DBApp which spaces there are, once some have ended.
func (m *CellAppMgr) sendLiving(now time.Duration) {
	t := &m.storing
	hurry := m.stopping.step >= wire.StopHeld && t.list == 0
	if !t.ended && t.list == 0 || now < t.listAt && !hurry {
		return
	}
	t.living = t.living[:0]
	for _, s := range m.spaces {
		if !s.ending {
			t.living = append(t.living, s.cfg.ID)
		}
	}
	slices.Sort(t.living)
	if t.list == 0 { // as above
		t.ended, t.list = false, m.storeNumber()
	}
	t.listAt = now + storeAfter
	m.send(m.byAddress(m.dbApp), &wire.KeepOnly{Number: t.list, Spaces: t.living})
}

// onlyKept takes the DBApp's answer about the spaces that have ended.
func (m *CellAppMgr) onlyKept(now time.Duration, msg *wire.OnlyKept) {
	t := &m.storing
	if msg.Number == 0 || msg.Number != t.list {
		return
	}
	t.list = 0
	if msg.Reason == "" {
		return
	}
	t.ended, t.listAt = true, now+storeRefused
	if unlogged, ok := m.lines.Allow(now, "storing"); ok {
		m.log.Error("the store does not forget spaces that have ended; it is tried again", "reason", msg.Reason, "unlogged", unlogged)
	}
}

// allStored reports whether the store has all spaces as they are, or has said that it will not.
func (m *CellAppMgr) allStored() bool {
	t := &m.storing
	if !m.cfg.Stores {
		return true
	}
	return t.started && !t.ended && t.list == 0 && !slices.ContainsFunc(t.changed, func(s *space) bool { return s.stored.changed && !s.ending && !s.stored.failed })
}

// countStored is how many spaces the store has as they are, and how many not.
func (m *CellAppMgr) countStored() (kept, lost int) {
	for _, s := range m.spaces {
		switch {
		case s.ending || !m.cfg.Stores:
		case s.stored.changed:
			lost++
		default:
			kept++
		}
	}
	return kept, lost
}
