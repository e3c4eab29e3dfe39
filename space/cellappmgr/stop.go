package cellappmgr

import (
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// The stop of a world, which an operator orders. The manager leads all apps through the steps, and begins
// one only when every app has said that it is in the one before:
//
//	         Shutdown            no login is under way         nothing was sent or handled, and nothing
//	(open) -----------> closing ----------------------> paused   is under way, in two waves in a row
//	                                                     | ^  \
//	                                       every death:  | |   \
//	                                        begin again  +-+    v
//	                              ^------- a death ----------- held: cell parts are backed up,
//	                                                            |    bases and spaces are written
//	                  all apps are told            all know     v
//	          ended <---------------------- saved <-------------+
//	            |      to end, and do        nobody's death changes anything
//	            v
//	    the manager ends when all others have, or after endMost
//
// A wave is one Stop to every app and the answers of those who hold entities, and in closing of those who
// make logins; its number is above all earlier ones, of earlier
// terms too. Each step has a bound, after which the world goes on to the next one and the report says what
// was left.
//
// A manager that dies leaves the apps in their steps. The next one, here or at another place, hears
// the steps from them, and believes what more than half of those who hold entities say. If they
// were told that all is saved, the others are told so, and end: since no app ends before all know
// it, the last that live know it. So do the managers that stand by (saved.go). Otherwise the next
// manager begins again with closing: the operator's order stands, and the world does not open again
// by itself. If only a few had heard of the stop at all, it has not begun: they are told that the
// world is open. In any case an operator who lost the manager gives the order again, and is told
// the report.
const (
	// closeMost is how long logins under way may take: as long as a LoginApp waits for a proxy.
	closeMost = 5 * time.Second
	// settleMost is how long calls under way may take: some rounds of calls that cause calls, and a cell
	// part that is made again. Scripts that answer each other for ever do not keep the world from ending.
	settleMost = 5 * time.Second
	// writeMost is how long the store may take. An operator wants the world gone in seconds, and a store
	// that takes longer is in trouble.
	writeMost = 10 * time.Second
	// savedMost and endMost are how long the manager waits for apps that do not answer any more, and that
	// do not end.
	savedMost = 2 * time.Second
	endMost   = 3 * time.Second
)

// stopAnswer is what a member has answered.
type stopAnswer struct {
	number   uint64
	pending  uint64
	activity uint64
	left     []string
	saved    []status.Saved

	heard  wire.StopStep // of an earlier manager
	reason string
	opened bool // it was told that no stop is under way
}

// stopping is how far the stop is.
type stopping struct {
	step   wire.StopStep
	reason string
	number uint64 // of the last wave

	began, since, askedAt time.Duration // of all, of the step, of the wave
	quiet                 bool          // the wave before found nothing under way
	activity              uint64        // at that time
	report                status.Stop
	ended                 bool
	inherited             bool // it was saved under an earlier manager, and nobody was told by this one
	standbys              int  // managers that do not know yet that the world is saved
}

// Shutdown begins the controlled stop of the world; see the package comment. A second one changes nothing.
func (m *CellAppMgr) Shutdown(now time.Duration, reason string) {
	s := &m.stopping
	if s.step != wire.StopNone {
		return
	}
	s.reason = reason[:min(len(reason), wire.MaxReason)]
	s.began, s.number = now, uint64(m.cfg.Term)<<32
	m.log.Warn("the world is being stopped", "reason", reason)
	m.enterStop(now, wire.StopClosing)
}

// Stop is how far the controlled stop is, and its report.
func (m *CellAppMgr) Stop() status.Stop {
	r := m.stopping.report
	if m.stopping.step != wire.StopNone {
		r.Step = m.stopping.step.String()
	}
	r.Reason = m.stopping.reason
	r.Done = m.stopping.step >= wire.StopSaved
	return r
}

// Ended reports whether the world was stopped and all others have ended, so that the process can end.
func (m *CellAppMgr) Ended() bool { return m.stopping.ended }

// enterStop begins a step with its first wave.
func (m *CellAppMgr) enterStop(now time.Duration, step wire.StopStep) {
	s := &m.stopping
	s.step, s.since, s.quiet = step, now, false
	switch step {
	case wire.StopPaused:
		m.frozen = true
	case wire.StopHeld:
		s.report.Settling = now - s.began
	case wire.StopSaved:
		m.reportStop(now)
	}
	m.wave(now)
	m.tellOperators()
}

// wave tells everyone the step, and wants to be answered.
func (m *CellAppMgr) wave(now time.Duration) {
	s := &m.stopping
	s.number++
	s.askedAt = now
	for _, a := range m.members {
		m.tellStop(a)
	}
}

// tellStop tells a member the step, if there is one.
func (m *CellAppMgr) tellStop(a *member) {
	if s := &m.stopping; s.step != wire.StopNone && a.role != wire.Observer && !a.missing {
		m.send(a, &wire.Stop{Number: s.number, Step: s.step, Reason: s.reason})
	}
}

// takeStopState takes an answer.
func (m *CellAppMgr) takeStopState(now time.Duration, a *member, msg *wire.StopState) {
	if msg.Number != m.stopping.number {
		return // of an earlier wave
	}
	a.stop = stopAnswer{number: msg.Number, pending: msg.Pending, activity: msg.Activity, left: slices.Clone(msg.Left), saved: slices.Clone(msg.Saved)}
	if all, pending, _ := m.stopAnswers(); all && pending == 0 {
		m.advanceStop(now)
	}
}

// stopAnswers sums the answers to the last wave, and reports whether they are all there.
func (m *CellAppMgr) stopAnswers() (all bool, pending, activity uint64) {
	all = true
	for _, a := range m.members {
		switch {
		case !m.stopping.waitsFor(a):
		case a.stop.number != m.stopping.number || a.missing:
			all = false
		default:
			pending += a.stop.pending
			activity += a.stop.activity
		}
	}
	return all, pending, activity
}

// waitsFor reports whether a step needs the answer of a member. Whoever holds entities is heard in each step,
// and is dead if it is silent; the others, who may be gone unnoticed, only matter while logins are closed.
func (s *stopping) waitsFor(a *member) bool {
	return a.reports() || s.step == wire.StopClosing && (a.role == wire.LoginApp || a.role == wire.BaseAppMgr)
}

// tickStop goes on with the stop.
func (m *CellAppMgr) tickStop(now time.Duration) {
	s := &m.stopping
	switch s.step {
	case wire.StopNone:
		return
	case wire.StopEnded:
		others := slices.ContainsFunc(m.members, func(a *member) bool { return a.role != wire.Observer })
		s.ended = s.ended || !others || now-s.since >= endMost
	}
	all, _, _ := m.stopAnswers()
	switch {
	case all || now-s.since >= s.most():
		m.advanceStop(now)
	case now-s.askedAt >= resend:
		s.askedAt = now
		for _, a := range m.members {
			if a.stop.number != s.number {
				m.tellStop(a)
			}
		}
	}
}

// most is the bound of the step.
func (s *stopping) most() time.Duration {
	switch s.step {
	case wire.StopClosing:
		return closeMost
	case wire.StopPaused:
		return settleMost
	case wire.StopHeld:
		return writeMost
	}
	return savedMost
}

// advanceStop draws what follows from the answers to a wave, or from the end of the step's time.
func (m *CellAppMgr) advanceStop(now time.Duration) {
	s := &m.stopping
	all, pending, activity := m.stopAnswers()
	over := now-s.since >= s.most()
	switch s.step {
	case wire.StopClosing:
		if all && pending == 0 || over {
			m.enterStop(now, wire.StopPaused)
			return
		}
	case wire.StopPaused:
		was, before := s.quiet, s.activity
		s.quiet, s.activity = all && pending == 0, activity
		if s.quiet && was && activity == before {
			s.report.Unsettled, s.report.Left = 0, nil
			m.enterStop(now, wire.StopHeld)
			return
		}
		if over {
			m.noteLeft(pending)
			m.enterStop(now, wire.StopHeld)
			return
		}
	case wire.StopHeld:
		if all && pending == 0 && m.allStored() || over {
			m.enterStop(now, wire.StopSaved)
			return
		}
	case wire.StopSaved:
		if all && s.standbys == 0 || over {
			m.enterStop(now, wire.StopEnded)
		}
		return
	default:
		return
	}
	m.wave(now)
}

// noteLeft names what has not settled.
func (m *CellAppMgr) noteLeft(pending uint64) {
	r := &m.stopping.report
	r.Unsettled, r.Left = pending, nil
	for _, a := range m.members {
		if !m.stopping.waitsFor(a) {
			continue
		}
		if a.stop.number != m.stopping.number {
			r.Left = append(r.Left, fmt.Sprintf("%s does not answer", a))
			r.Unsettled++
		}
		for _, name := range a.stop.left {
			r.Left = append(r.Left, fmt.Sprintf("%s: %s", a, name))
		}
	}
	m.log.Warn("the world stands still although something is under way", "count", pending, "what", r.Left)
}

// stopDisturbed begins again to settle when an app has died: its bases and cell parts are made again on
// others, which takes calls.
func (m *CellAppMgr) stopDisturbed(now time.Duration, dead *member) {
	s := &m.stopping
	if s.step != wire.StopPaused && s.step != wire.StopHeld || !dead.reports() {
		return
	}
	m.log.Warn("a process died while the world is being stopped; its entities settle again", "dead", dead.String(), "step", s.step.String())
	m.enterStop(now, wire.StopPaused)
}

// learnStop hears from an app how far an earlier manager was.
func (m *CellAppMgr) learnStop(a *member, told *wire.Rejoin) {
	a.stop.heard, a.stop.reason = told.Stopping, told.StopReason
}

// heardStop is the step that more than half of those who hold entities were told by an earlier
// manager: all were told it at once, so a few who say so lie, or have believed a manager that does
// not lead any more.
func (m *CellAppMgr) heardStop() (step wire.StopStep, reason string) {
	for step = wire.StopEnded; step > wire.StopNone; step-- {
		all, told := 0, 0
		for _, a := range m.members {
			if !a.reports() || a.missing {
				continue
			}
			if all++; a.stop.heard >= step {
				told++
				reason = a.stop.reason
			}
		}
		if 2*told > all {
			return step, reason
		}
	}
	return wire.StopNone, ""
}

// resumeStop goes on with the stop that an earlier manager led.
func (m *CellAppMgr) resumeStop(now time.Duration) {
	s := &m.stopping
	heard, reason := m.heardStop()
	if s.inherited {
		s.inherited, s.since = false, now
		m.log.Warn("an earlier manager has saved the world; this one ends it", "reason", s.reason)
		m.wave(now)
		return
	}
	if s.step != wire.StopNone {
		return
	}
	if heard == wire.StopNone {
		m.open()
		return
	}
	s.reason = reason
	m.log.Warn("an earlier manager was stopping the world; this one goes on", "step", heard.String(), "reason", reason)
	s.began, s.number = now, uint64(m.cfg.Term)<<32
	if heard >= wire.StopSaved {
		m.enterStop(now, wire.StopSaved)
		return
	}
	m.enterStop(now, wire.StopClosing)
}

// open tells those who alone were told of a stop that the world is open. The former manager died before most
// had heard that logins are closed, so nobody can have gone on to the next step.
func (m *CellAppMgr) open() {
	for _, a := range m.members {
		if a.stop.heard != wire.StopNone && !a.stop.opened && !a.missing {
			a.stop.opened = true
			m.log.Warn("a process was told to stop by a manager that died before most were; it is told to go on", "app", a.String())
			m.send(a, &wire.Stop{Number: uint64(m.cfg.Term) << 32})
		}
	}
}

// reportStop adds up what was saved.
func (m *CellAppMgr) reportStop(now time.Duration) {
	s := &m.stopping
	r := &s.report
	r.Types = nil
	for _, a := range m.members {
		for i := range a.stop.saved {
			r.Add(a.stop.saved[i])
		}
	}
	r.Spaces, r.SpacesLost = m.countStored()
	r.Took = now - s.began
	r.Writing = max(0, r.Took-r.Settling)
	sum := r.Sum()
	say, text := m.log.Warn, "the world is saved"
	if sum.Failed > 0 || sum.Stale > 0 || r.SpacesLost > 0 || r.Unsettled > 0 {
		say, text = m.log.Error, "the world ends, and not all of it is saved"
	}
	say(text, "written", sum.Written, "stale", sum.Stale, "failed", sum.Failed, "unkept", sum.Unkept,
		"unsettled", r.Unsettled, "spaces", r.Spaces, "spaces_lost", r.SpacesLost, "took", r.Took)
}

// tellOperators tells those who have ordered the stop how far it is.
func (m *CellAppMgr) tellOperators() {
	for _, a := range m.members {
		if a.operates {
			m.send(a, &wire.WorldEnding{Stop: m.Stop()})
		}
	}
}
