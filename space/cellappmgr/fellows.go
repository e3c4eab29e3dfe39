package cellappmgr

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// This file is what the managers of a cluster say to each other: votes, and whom the one that leads
// knows.

// dialFellows keeps a channel to each other manager.
func (s *Seat) dialFellows(now time.Duration) {
	for i := range s.fellows {
		f := &s.fellows[i]
		if f.ch == 0 && f.at.IsValid() && now-f.dialAt >= redial {
			f.ch, f.dialAt = s.cfg.Transport.Dial(mercury.Address{At: f.at}), now
		}
	}
}

// Rehoused tells the Seat where Places are now, in the same order; one of which no address is known
// is not valid. A channel to another manager stays as long as it lives, or until that one speaks from
// its new address.
func (s *Seat) Rehoused(places []netip.AddrPort) {
	if len(places) != len(s.cfg.Places) {
		return // its place is an address, which is no name's
	}
	s.cfg.Places = slices.Clone(places)
	for i := range s.fellows {
		f := &s.fellows[i]
		if at := places[f.voter]; at.IsValid() && at != f.at {
			s.log.Info("another manager has another address", "was", f.at, "is", at)
			f.at, f.dialAt = at, -redial
			if !f.open {
				s.hangUp(f)
			}
		}
	}
}

// hangUp gives up the channel to another manager, so that it is dialled again.
func (s *Seat) hangUp(f *fellow) {
	if f.ch != 0 {
		s.cfg.Transport.Close(f.ch)
		f.lost()
	}
}

// lost forgets the channel to another manager, and what it was told over that.
func (f *fellow) lost() {
	f.ch, f.open, f.told, f.toldSaved, f.knows = 0, false, nil, false, false
	f.refuses, f.foreign, f.unparsed = false, "", false // it may come back as another build
}

// meet hangs up on the former address of another manager that speaks from its new one.
func (s *Seat) meet(f *fellow) {
	if at, ok := s.cfg.Transport.Peer(f.ch); f.open && ok && at.At != f.at {
		s.hangUp(f)
		s.countStandbys()
	}
}

const (
	// fewAfter is for how long too few managers run before the log says so: they start within seconds.
	fewAfter = 5 * time.Second
	// fewAgain is when it says so again.
	fewAgain = 30 * time.Second
)

// fewSince is since when too few managers run to elect one.
type fewSince struct {
	on     bool
	warnAt time.Duration
}

// warnOfFew tells the log that nobody can lead, since no majority answers here.
func (s *Seat) warnOfFew(now time.Duration) {
	run := 1
	for i := range s.fellows {
		if s.fellows[i].open {
			run++
		}
	}
	places := len(s.fellows) + 1
	switch {
	case run > places/2:
		s.few = fewSince{}
	case !s.few.on:
		s.few = fewSince{on: true, warnAt: now + fewAfter}
	case now >= s.few.warnAt:
		s.few.warnAt = now + fewAgain
		s.log.Warn("nobody leads as far as this manager knows: too few of them run, or reach each other; start the others", "run", run, "needed", places/2+1, "places", places)
	}
}

func (s *Seat) fellowBy(ch mercury.ChannelID) *fellow {
	if i := slices.IndexFunc(s.fellows, func(f fellow) bool { return f.ch == ch }); i >= 0 {
		return &s.fellows[i]
	}
	return nil
}

// ask sends voter i an ask. One that cannot be sent is like one that is lost.
func (s *Seat) ask(voter int, msg *wire.LeaseAsk) {
	msg.Speaks, msg.Digest = wire.Spoken(), s.cfg.Schema.Digest
	for i := range s.fellows {
		if f := &s.fellows[i]; f.voter == voter && f.open {
			s.unreliably(f.ch, msg)
		}
	}
}

func (s *Seat) unreliably(ch mercury.ChannelID, msg wire.Message) {
	s.buf = wire.Encode(s.buf[:0], msg)
	if _, err := s.cfg.Transport.SendUnreliable(ch, s.buf); err != nil {
		s.log.Debug("a word to another manager was not sent", "message", wire.ID(s.buf[0]), "error", err)
	}
}

// tellFellows tells the others whom this manager knows, when that has changed.
func (s *Seat) tellFellows(now time.Duration) {
	if len(s.fellows) == 0 || now < s.tellAt {
		return
	}
	s.tellAt = now + tellEach
	roll := s.mgr.roll()
	for i := range s.fellows {
		f := &s.fellows[i]
		if !f.open || f.told != nil && slices.Equal(f.told, roll) {
			continue
		}
		s.buf = wire.Encode(s.buf[:0], &wire.Members{Apps: roll, Allocators: make([]uint32, len(roll))})
		if err := s.cfg.Transport.Send(f.ch, s.buf); err != nil {
			s.log.Debug("another manager was not told who is here", "error", err)
			continue
		}
		f.told = roll
	}
}

// roll is who has joined, those first who joined first.
func (m *CellAppMgr) roll() []wire.AppRef {
	list := make([]wire.AppRef, 0, len(m.members))
	for _, a := range m.members {
		if a.role != wire.BaseAppMgr && !a.missing && len(list) < wire.MaxMembers {
			list = append(list, wire.AppRef{Role: a.role, App: a.address})
		}
	}
	return list
}

// callAll dials all whom former leaders knew: they are told so that another leads. Which of those led last
// is not asked: one that has led long ago adds names, and takes none away.
func (s *Seat) callAll() {
	called := map[mercury.Address]bool{}
	for i := range s.fellows {
		f := &s.fellows[i]
		for _, a := range f.heirloom {
			if !called[a.App] {
				called[a.App] = true
				s.calls = append(s.calls, s.cfg.Transport.Dial(a.App))
			}
		}
		f.heirloom = nil
	}
}

// ofFellow takes a message that managers send each other, and reports whether it is one.
func (s *Seat) ofFellow(now time.Duration, ch mercury.ChannelID, msg []byte) bool {
	id, body, err := wire.Split(msg)
	if err != nil || !wire.May(wire.CellAppMgr, id, wire.CellAppMgr) {
		return false
	}
	peer, known := s.cfg.Transport.Peer(ch)
	i := slices.IndexFunc(s.fellows, func(f fellow) bool { return f.at == peer.At })
	err = errForeign
	if known && i >= 0 && wire.Proved(s.cfg.Transport.Standing(ch), wire.CellAppMgr, id) {
		s.meet(&s.fellows[i])
		err = s.hear(now, ch, peer, &s.fellows[i], id, body)
	}
	if err != nil {
		s.counts.Foreign++
		s.log.Debug("dropped", "message", id, "from", peer.String(), "error", err)
	}
	if errors.Is(err, wire.ErrMalformed) && !s.fellows[i].unparsed {
		s.fellows[i].unparsed = true
		s.log.Warn("another manager says what cannot be read; further cases are only counted: run all managers from the same build", "place", peer.At, "message", id, "error", err)
	}
	return true
}

// refuse answers the ask of a manager that cannot share a cluster with this one.
func (s *Seat) refuse(ch mercury.ChannelID, f *fellow, why string) {
	if f.foreign != why {
		f.foreign = why
		s.log.Warn("refused another manager", "place", f.at, "reason", why)
	}
	s.unreliably(ch, &wire.Refused{Reason: why}) // it asks again
}

// refusedBy takes such an answer. If so many answer so that the others are no majority, this manager
// is the odd one, and ends. One that leads hears it of a process that came to a wrong place, and goes
// on.
func (s *Seat) refusedBy(now time.Duration, f *fellow, why string) {
	if !f.refuses {
		f.refuses = true
		s.log.Error("another manager refuses this one", "place", f.at, "reason", why)
	}
	refuse := 0
	for i := range s.fellows {
		if s.fellows[i].refuses {
			refuse++
		}
	}
	if places := len(s.fellows) + 1; places-refuse <= places/2 {
		s.fail(now, fmt.Errorf("%w by %d of %d managers, as by that at %v: %s", app.ErrRefused, refuse, places, f.at, why))
	}
}

// hear takes a message of another manager.
func (s *Seat) hear(now time.Duration, ch mercury.ChannelID, peer mercury.Address, f *fellow, id wire.ID, body []byte) error {
	if (f.foreign != "" || f.refuses) && id != wire.LeaseAskID && id != wire.RefusedID {
		return fmt.Errorf("%w: it is of another build, or has other definitions", errForeign)
	}
	switch id {
	case wire.RefusedID:
		var m wire.Refused
		if err := m.Parse(body); err != nil {
			return err
		}
		s.refusedBy(now, f, m.Reason)
		return nil
	case wire.LeaseAskID:
		return s.asked(now, ch, peer, f, body)
	case wire.MembersID:
		var m wire.Members
		if err := m.Parse(body); err != nil {
			return err
		}
		if s.mgr == nil {
			f.heirloom = m.Apps
		}
		return nil
	case wire.StopID:
		var m wire.Stop
		if err := m.Parse(body); err != nil {
			return err
		}
		if s.mgr != nil && m.Step == wire.StopSaved {
			f.knows = f.toldSaved
			s.countStandbys()
			return nil
		}
		if m.Step != wire.StopEnded || !s.heedsEnd(now, peer) {
			return fmt.Errorf("%w: a stop that is not over, or of an older manager", errForeign)
		}
		s.log.Warn("the world has ended; this manager stood by", "reason", m.Reason)
		s.ended = true
		return nil
	case wire.WorldEndingID:
		return s.learnSaved(now, ch, peer, body)
	case wire.LeaseVoteID:
		var m wire.LeaseVote
		if err := m.Parse(body); err != nil {
			return err
		}
		if s.polls == nil {
			return fmt.Errorf("%w: votes do not count here", errForeign)
		}
		s.polls.votes(now, f.voter, &m)
		return nil
	}
	return errForeign
}

// asked answers another manager's ask.
func (s *Seat) asked(now time.Duration, ch mercury.ChannelID, peer mercury.Address, f *fellow, body []byte) error {
	var m wire.LeaseAsk
	if err := m.Parse(body); err != nil {
		return err
	}
	if why := m.Disagreement(s.cfg.Schema.Digest); why != "" {
		s.refuse(ch, f, why)
		return nil
	}
	if s.polls == nil {
		return fmt.Errorf("%w: votes do not count here", errForeign)
	}
	v := s.polls.asks(now, peer, &m)
	s.unreliably(ch, &v)
	return nil
}
