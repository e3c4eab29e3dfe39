package cellappmgr

import (
	"time"

	"github.com/cellscape/cellscape/internal/wire"
)

// A manager of a world in which all is settled leaves out the ticks in which nothing is due. Members
// say that they are there all the time, and each time the next thing due may be a later one: so it is
// worked out whenever the runner is about to wait.
//
//	          settled, at the end of a tick
//	(ticks) --------------------------------> resting until something is due
//	   ^                                         |
//	   +-----------------------------------------+
//	     not settled any more, by what has come; or something is due
//
// Invariants: what is done in ticks is done in the same ones as without a rest. No rest is so long
// that its end could be taken for a stall.

// restMembers is up to how many members there are rests. More of them wake the manager more often
// than its ticks do, and all are looked at to find out what is due.
const restMembers = 32

// restRooms is the same for the rooms that end if nobody comes: some may wait for that for long.
const restRooms = 32

// NextTick is when Tick is due, by what has come until now.
func (m *CellAppMgr) NextTick() time.Duration {
	switch {
	case !m.ticks.Resting():
		return m.ticks.Next()
	case m.disturbed():
		return m.awake.at
	}
	return m.ticks.Rest(m.restUntil())
}

// disturbed reports whether a tick has something to do in a rest, as of the last input.
func (m *CellAppMgr) disturbed() bool { return !m.settled() || m.restUntil() <= m.awake.at }

// rest returns when the next tick is due after one that has ended.
func (m *CellAppMgr) rest() (next time.Duration) {
	if !m.settled() {
		return m.ticks.Next()
	}
	return m.ticks.Rest(m.restUntil())
}

// rouse ends a rest if not all is settled any more, or something is due earlier.
func (m *CellAppMgr) rouse(now time.Duration) {
	switch {
	case !m.ticks.Resting():
	case !m.disturbed():
		m.ticks.Rest(m.restUntil())
	default:
		if last := m.ticks.Wake(now); last > 0 {
			m.links.Tick(last)
		}
	}
}

// settled reports whether nothing is under way that a tick could go on with before restUntil.
func (m *CellAppMgr) settled() bool {
	r := &m.recovery
	coming := len(r.returning) + len(r.waiting) + len(m.unnumbered)
	spaces := len(m.homeless) + len(m.expecting) + len(m.unpublished) + len(m.paced)
	return m.sole && coming+spaces == 0 && len(m.members) <= restMembers && len(m.emptying) <= restRooms && m.runs() && m.started && !m.frozen && !m.keeping.pending &&
		m.stopping.step == wire.StopNone && m.links.Idle() && m.stored() && m.supplied() && m.gateRests()
}

// stored reports whether the store has all that it keeps of spaces, if there is one.
func (m *CellAppMgr) stored() bool {
	t := &m.storing
	return !m.cfg.Stores || m.bringing.known && !m.dbApp.IsZero() && t.started && !t.ended && t.list == 0 && len(t.changed) == 0
}

// supplied reports whether there are numbers enough.
func (m *CellAppMgr) supplied() bool {
	return m.cfg.Numbers == nil || m.appSupply.left() > appNumbers/2 && m.spaceSupply.left() > spaceNumbers/2
}

// gateRests reports whether logins are let in or refused as they should be.
func (m *CellAppMgr) gateRests() bool {
	reason, _ := m.whyFull()
	return !m.gate.waiting && (reason != "") == m.gate.refused
}

// restUntil is when something is due in a settled world, if nothing comes. What goes by the time for
// which the manager was awake is due no earlier than that.
func (m *CellAppMgr) restUntil() time.Duration {
	until := min(m.balanceAt, m.metaAt, m.awake.at+m.awake.step-m.cfg.Tick)
	for _, s := range m.emptying {
		until = min(until, s.endAt)
	}
	for _, a := range m.members {
		switch {
		case a.role == wire.Observer:
			until = min(until, m.statusAt)
		case a.retiring || a.missing || a.replaced || a.spared || a.inquiry != nil:
			return 0
		case a.reports():
			until = min(until, m.awake.at+m.watchAt(a)-m.awake.total)
		}
	}
	return until
}

// watchAt is when judgeSilence or watchMembers has something to do about a member that is silent from
// now on, by the time for which the manager was awake.
func (m *CellAppMgr) watchAt(a *member) time.Duration {
	at := a.heard + m.cfg.AppTimeout
	switch {
	case m.cfg.Lookout == nil:
	case a.line.token == 0:
		at = min(at, a.line.next)
	case a.line.stood:
		at = min(at, max(a.heard+suspectAfter, a.lookAt))
	}
	return at
}
