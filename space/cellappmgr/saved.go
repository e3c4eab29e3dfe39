package cellappmgr

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// Managers that stand by learn that the world is saved before any process ends: else one that leads
// next would wait for a world of which nobody is left.
//
//	leader                                   stands by
//	saved ------ WorldEnding: the report --> knows it
//	  | <------- Stop, saved --------------- |  the leader dies: who leads next goes on with saved, and
//	  |  all that are reached know, or       |  whoever comes back is told
//	  v  savedMost                           |
//	ended ------ Stop, ended --------------> ends; or by itself when all others must have, standMost later

// standMost is how long a manager that knows that the world is saved stays at most: as long as
// another may take to lead, and to end those who are left.
const standMost = 5*time.Second + savedMost + endMost

// saved is what a manager knows of a world that is saved.
type saved struct {
	stop status.Stop
	at   time.Duration // when it heard so
}

// countStandbys tells the manager how many others do not know yet that the world is saved.
func (s *Seat) countStandbys() {
	if s.mgr == nil {
		return
	}
	n := 0
	for i := range s.fellows {
		if f := &s.fellows[i]; f.open && !f.knows {
			n++
		}
	}
	s.mgr.stopping.standbys = n
}

// tellSaved tells those that stand by that the world is saved.
func (s *Seat) tellSaved() {
	if s.mgr.stopping.step < wire.StopSaved {
		return
	}
	for i := range s.fellows {
		f := &s.fellows[i]
		if !f.open || f.toldSaved {
			continue
		}
		s.buf = wire.Encode(s.buf[:0], &wire.WorldEnding{Stop: s.mgr.Stop()})
		if err := s.cfg.Transport.Send(f.ch, s.buf); err != nil {
			s.log.Debug("another manager was not told that the world is saved", "place", f.at, "error", err)
			continue
		}
		f.toldSaved = true
	}
}

// heedsEnd reports whether to believe another manager that the world ends. One that has led, and
// does not know that it leads no more, ends nobody: the leader itself knows better, and so does who
// has voted for another.
func (s *Seat) heedsEnd(now time.Duration, peer mercury.Address) bool {
	return s.mgr == nil && s.polls != nil && !s.polls.boundToOther(now, peer)
}

// learnSaved takes the leader's word that the world is saved.
func (s *Seat) learnSaved(now time.Duration, ch mercury.ChannelID, peer mercury.Address, body []byte) error {
	var m wire.WorldEnding
	if err := m.Parse(body); err != nil {
		return err
	}
	if !m.Done || !s.heedsEnd(now, peer) {
		return fmt.Errorf("%w: a world that is not saved, or of an older manager", errForeign)
	}
	s.knowSaved(&saved{m.Stop, now})
	s.buf = wire.Encode(s.buf[:0], &wire.Stop{Step: wire.StopSaved, Reason: m.Reason})
	return s.cfg.Transport.Send(ch, s.buf)
}

// knowSaved notes that the world is saved, for whoever is made after this Seat, too.
func (s *Seat) knowSaved(x *saved) {
	if s.saved == nil {
		s.saved, s.cfg.Past.saved = x, x
	}
}

// keepSaved is called when the manager leads no more.
func (s *Seat) keepSaved(now time.Duration) {
	if s.mgr.stopping.step >= wire.StopSaved {
		s.knowSaved(&saved{s.mgr.Stop(), now})
	}
}

// endSaved ends the process if all others must have ended.
func (s *Seat) endSaved(now time.Duration) {
	if s.ended || s.saved == nil || now-s.saved.at < standMost || s.mgr != nil && s.mgr.runs() {
		return
	}
	s.log.Warn("the world was saved, and nobody is left", "reason", s.saved.stop.Reason)
	s.ended = true
}

// inheritStop goes on with a world that an earlier manager has saved.
func (m *CellAppMgr) inheritStop(now time.Duration, x *saved) {
	if x == nil {
		return
	}
	m.frozen = true
	m.stopping = stopping{
		step: wire.StopSaved, reason: x.stop.Reason, number: uint64(m.cfg.Term) << 32, began: now, since: now, report: x.stop, inherited: true,
	}
}
