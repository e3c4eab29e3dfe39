package cellappmgr

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// The life of a space that game code creates:
//
//	CreateSpace        a CellApp has room     DestroySpace, or left
//	-----------> asked ---------------> live ---------------------> ending ----> gone
//	               ^                     |   empty for its grace       every CellApp has
//	               +---------------------+                             dropped its cell
//	                its last CellApp dies
//
// An ending space is in no balance and in no geometry, nobody is located there, and its CellApps
// destroy what they still have of it.
//
// A space with KeepFor is empty also while nobody has come to it yet; one without is not. The grace
// runs from the first report that shows the space empty, over moves of its cells, until one shows
// somebody in it, or a CellApp with a cell of it dies. It is nowhere but here: the next manager
// begins it anew.

const (
	// emptyGrace is how long a space that was used must have been empty before it ends, if it does
	// not say itself (KeepFor). It is long enough that a group which leaves a room one by one, or a
	// base that makes its cell part anew, still finds it there.
	emptyGrace = limits.LeastKeepFor

	// arrivalGrace is how long a space stays for somebody who has asked where to enter it: as long
	// as a teleport looks for a place (space.TeleportPatience), and until the cell has then said
	// who came.
	arrivalGrace = 15 * time.Second

	// lossGrace is the same grace after a CellApp with a cell of the space has died: bases that
	// restore their cell parts may be cut off for a while, too, and have to find the room that they
	// were in.
	lossGrace = time.Minute

	// orphanGrace is how long a space waits for its first entity after the BaseApp that asked for
	// it has died: others may know its id.
	orphanGrace = time.Minute
)

var errSpacesFull = fmt.Errorf("there are %d spaces; that is the limit", MaxSpaces)

// spaceRequest names what a process asked for.
type spaceRequest struct {
	owner   mercury.Address
	request uint64
}

// enter makes the record of a space; o is nil for a space of the Config.
func (m *CellAppMgr) enter(cfg SpaceConfig, o *origin) *space {
	s := newSpace(cfg, m.cfg.Term)
	if o != nil {
		s.origin, s.info = *o, appendSpaceInfo(nil, o)
		m.byRequest[spaceRequest{o.owner, o.request}] = s
	}
	m.spaces = append(m.spaces, s)
	m.byID[cfg.ID] = s
	m.homeless = append(m.homeless, s)
	m.keeping.pending = true
	m.keepChanged(s)
	return s
}

// createSpace answers a request for a space. The first cell is made at once, or as soon as there is
// a CellApp for it.
func (m *CellAppMgr) createSpace(now time.Duration, a *member, msg *wire.CreateSpace) {
	if !m.knowsSpaces() {
		return // it is asked again: its id must not be that of one which comes back
	}
	answer := wire.SpaceCreated{Request: msg.Request}
	s := m.byRequest[spaceRequest{a.address, msg.Number}]
	if s == nil {
		var err error
		if s, err = m.newRoom(a, msg); err != nil {
			answer.Reason, answer.Full = err.Error()[:min(len(err.Error()), wire.MaxReason)], err == errSpacesFull
			m.refusedSpace(a, answer.Reason)
		}
	}
	if s != nil {
		answer.Space = s.cfg.ID
	}
	m.send(a, &answer)
	m.makeSpaces(now)
}

// refusedSpace counts a request that was refused. A member is logged once: a script that asks for
// what cannot be made does so for each of its players.
func (m *CellAppMgr) refusedSpace(a *member, reason string) {
	m.counts.RefusedSpaces++
	if !a.refusalLogged {
		a.refusalLogged = true
		m.log.Warn("a space was refused; further cases are only counted, in the status", "to", a.String(), "reason", reason)
	}
}

func (m *CellAppMgr) newRoom(a *member, msg *wire.CreateSpace) (*space, error) {
	if err := msg.Info.CheckData(); err != nil {
		return nil, err
	}
	o := origin{info: msg.Info, owner: a.address, request: msg.Number}
	o.info.Data = nil // it is the space's from now on
	cfg := o.config(0)
	if err := cfg.fault(m.cfg.Balance); err != nil {
		return nil, err
	}
	if len(m.spaces) >= MaxSpaces {
		return nil, errSpacesFull
	}
	if cfg.ID = m.nextSpaceID(); cfg.ID == 0 {
		return nil, errors.New("no space ids are left: in this term, so that the manager is to be restarted with a higher one, or until the store answers")
	}
	m.spacesCreated++
	m.log.Info("space created", "space", cfg.ID, "for", a.String(), "spaces", len(m.spaces)+1)
	s := m.enter(cfg, &o)
	for _, d := range msg.Info.Data {
		if _, ok := s.data.set(wire.SpaceDataEntry{Key: d.Key, Value: d.Value}); !ok {
			m.refusedData(s, d.Key, a.String())
		}
	}
	return s, nil
}

// destroySpace answers a request to end a space. A space that is not there has ended.
func (m *CellAppMgr) destroySpace(now time.Duration, a *member, msg *wire.DestroySpace) {
	answer := wire.SpaceDestroyed{Request: msg.Request}
	switch s := m.space(msg.Space); {
	case s == nil || s.ending:
	case !isCreated(msg.Space):
		answer.Reason = fmt.Sprintf("space %d belongs to the configuration, and stays as long as the cluster", msg.Space)
	default:
		m.endSpace(now, s, "destroyed by "+a.String())
	}
	m.send(a, &answer)
}

// endSpace takes a space out of everything; only the orders to remove its cells are left. Its
// entities are destroyed where they are and not handed over, since there is nowhere to hand them
// to.
func (m *CellAppMgr) endSpace(now time.Duration, s *space, why string) {
	m.log.Info("space ends", "space", s.cfg.ID, "why", why, "asker", s.origin.owner.String(), "cells", len(s.cells))
	s.ending, s.tree, s.dirty = true, nil, false
	delete(m.byRequest, spaceRequest{s.origin.owner, s.origin.request})
	m.release(s)
	m.keepEnded()
	m.shutGateways(s)
	for _, c := range s.cells {
		c.app.cells--
		s.removals = append(s.removals, &removal{cell: c.id, app: c.app})
	}
	s.cells = nil
	for _, r := range s.removals {
		m.orderRemoval(now, s, r)
	}
	m.expect(s)
	m.forgetEnded(s)
}

// forgetEnded drops a space whose last cell is gone.
func (m *CellAppMgr) forgetEnded(s *space) {
	if !s.ending || len(s.removals) > 0 {
		return
	}
	m.spaces = slices.DeleteFunc(m.spaces, func(x *space) bool { return x == s })
	delete(m.byID, s.cfg.ID)
	m.spacesEnded++
	m.log.Debug("space has ended", "space", s.cfg.ID, "spaces", len(m.spaces))
}

// stay puts off the end of a space that is empty.
func (s *space) stay(until time.Duration) { s.endAt = max(s.endAt, until) }

// grace is how long a space that is empty is kept.
func (s *space) grace() time.Duration { return cmp.Or(s.cfg.KeepFor, emptyGrace) }

// mayEnd reports whether a space ends unless somebody comes: nobody with a base is in it, and it
// was used, or nobody is left who meant to use it, or it has said how long it waits. Its own
// entities, which have no base, do not keep it: a dungeon with a monster in it would never end. A
// space that has had no cell since a CellApp died is not empty; its entities wait in their bases.
// Nor is one empty that has yet to get its first cell.
func (s *space) mayEnd() bool {
	switch {
	case s.ending || s.cfg.Keep || !isCreated(s.cfg.ID) || !s.held && !s.orphaned && s.cfg.KeepFor == 0 || len(s.removals) > 0:
		return false
	case s.tree == nil:
		return !s.held && s.orphaned
	}
	return !slices.ContainsFunc(s.cells, func(c *cell) bool {
		return !c.created || !c.reported || c.report.Occupied
	})
}

// watchEmpty takes a report of a cell: it may be the one that shows that the space is empty.
func (m *CellAppMgr) watchEmpty(now time.Duration, s *space, r *wire.CellReport) {
	if r.Occupied || r.Held && !s.held {
		s.vacant = false
	}
	s.held = s.held || r.Held
	if r.Occupied || s.watched && s.vacant || !s.mayEnd() {
		return
	}
	if !s.vacant {
		s.vacant = true
		s.stay(now + s.grace())
	}
	m.watch(s)
}

func (m *CellAppMgr) watch(s *space) {
	if !s.watched {
		s.watched = true
		m.emptying = append(m.emptying, s)
	}
}

// endEmpty ends the spaces that have been empty for long enough. Only spaces that are empty are
// looked at, however many others there are.
func (m *CellAppMgr) endEmpty(now time.Duration) {
	m.emptying = slices.DeleteFunc(m.emptying, func(s *space) bool {
		switch {
		case !s.mayEnd():
			s.watched = false
			return true
		case m.frozen || !m.started || now < s.endAt:
			return false
		}
		m.endSpace(now, s, s.whyEmpty())
		return true
	})
}

// whyEmpty says why a space ends in which nobody is.
func (s *space) whyEmpty() string {
	switch {
	case s.held:
		return "empty"
	case s.cfg.KeepFor > 0:
		return fmt.Sprintf("never used in %v", s.cfg.KeepFor)
	}
	return "never used, and its asker has died"
}

// orphan watches the spaces that a dead BaseApp asked for and that nobody has used: the answer may
// have died with it, and then nobody knows them.
func (m *CellAppMgr) orphan(now time.Duration, dead *member) {
	for _, s := range m.spaces {
		if s.origin.owner == dead.address && isCreated(s.cfg.ID) && !s.held {
			m.orphanSpace(now, s)
		}
	}
}

func (m *CellAppMgr) orphanSpace(now time.Duration, s *space) {
	s.orphaned = true
	s.stay(now + max(orphanGrace, s.cfg.KeepFor))
	m.watch(s)
}

// orphanLost watches the spaces of BaseApps that have not come back to this manager. Those that it
// waits for get their verdict later; the others, which nobody has named, never get one.
func (m *CellAppMgr) orphanLost(now time.Duration) {
	here := make(map[mercury.Address]bool, len(m.members))
	for _, a := range m.members {
		here[a.address] = true
	}
	for _, s := range m.spaces {
		if isCreated(s.cfg.ID) && !s.held && !here[s.origin.owner] {
			m.orphanSpace(now, s)
		}
	}
}

// adoptOrphans gives a BaseApp that comes back late its spaces again.
func (m *CellAppMgr) adoptOrphans(a *member) {
	for _, s := range m.spaces {
		if s.origin.owner == a.address && isCreated(s.cfg.ID) {
			s.orphaned = false
		}
	}
}
