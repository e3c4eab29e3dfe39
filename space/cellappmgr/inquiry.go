package cellappmgr

import (
	"net/netip"
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// Lines are a Lookout that can also keep lines to places open. What a line finds comes as a call of
// Reached, too.
type Lines interface {
	mercury.Lookout
	// Hold opens a line to a place. It says mercury.ReachOpen when the line stands, and when the line
	// has ended, or cannot be opened, what another look has found then. Only that last word ends it.
	Hold(token uint64, at netip.AddrPort)
	// Release ends a line without a word.
	Release(token uint64)
}

const (
	// suspectAfter is the silence after which the manager looks: CellApps and BaseApps say
	// something in the first tick after wire.AlivePeriod, so that one word has not come. A look
	// costs one connection, and proves nothing by itself.
	suspectAfter = 400 * time.Millisecond

	// lookAgain is the time between two looks at a member that is still silent, and lineAgain that
	// between two attempts to hold a line. A process of an earlier build, or behind a firewall, answers
	// no line.
	lookAgain = 300 * time.Millisecond
	lineAgain = time.Second

	// inquiryTime bounds an inquiry: the looks of all, and the ways to the witnesses and back.
	inquiryTime = 600 * time.Millisecond

	// maxWitnesses is how many others are asked. Two, so that a single one which lies or is cut off
	// neither makes a verdict nor keeps it off.
	maxWitnesses = 2
)

// inquiry is how the manager finds out whether a member is dead, before its time is up:
//
//	                   silent for suspectAfter                  the line ended, and
//	(heard) ─────────────────────────────────▶ looking          nothing has the port
//	   ▲                                          │                     │
//	   │ the port is open                         │ closed, or silent   │
//	   ├──────────────────────────────────────────┤                     │
//	   │                                          ▼                     ▼
//	   │ no witness agrees in inquiryTime      asking two others that are heard themselves
//	   ├──────────────────────────────────────────┤
//	   │ it is heard, and its port was not closed  │ one saw no open port, for a closed one;
//	   └──────────────────────────────────────────┤ all have answered, and none saw one, for silence
//	                                              ▼
//	                                            dead
//
// Invariants: nobody is declared dead by an inquiry unless the manager itself and a witness have both
// found no open port. So no app can have another declared dead by a lie.
type inquiry struct {
	number    uint64
	began     time.Duration // of the time that the manager was awake
	own       mercury.Reach
	witnesses []witness
}

// witness is a CellApp or BaseApp that was asked, and what it saw.
type witness struct {
	app  *member
	seen mercury.Reach
}

// line is what a member's place is known to answer.
type line struct {
	token  uint64 // of the line that is held, or being opened; 0 for none
	stands bool
	stood  bool // one has stood: the place answers while the process lives
	next   time.Duration
}

// watchMembers holds lines to all members that must be heard, and looks at those that are not.
func (m *CellAppMgr) watchMembers() {
	if m.cfg.Lookout == nil {
		return
	}
	now := m.awake.total
	for _, a := range m.members {
		if !a.reports() || a.missing {
			continue
		}
		if a.line.token == 0 && now >= a.line.next {
			a.line.token = m.lookToken()
			m.cfg.Lookout.Hold(a.line.token, a.address.At)
		}
		switch q := a.inquiry; {
		case q == nil && a.line.stood && now-a.heard >= suspectAfter && now >= a.lookAt:
			m.inquire(a, mercury.ReachUnknown)
		case q != nil && now-q.began >= inquiryTime:
			m.endInquiry(a)
		}
	}
}

func (m *CellAppMgr) lookToken() uint64 {
	m.lastLook++
	return m.lastLook
}

// inquire begins an inquiry, with what the manager has found itself if it has looked already.
func (m *CellAppMgr) inquire(a *member, own mercury.Reach) {
	a.inquiry = &inquiry{number: m.lookToken(), began: m.awake.total}
	if own == mercury.ReachUnknown {
		m.cfg.Lookout.Probe(a.inquiry.number, a.address.At)
		return
	}
	m.ownLook(a, own)
}

// endInquiry ends an inquiry without a verdict.
func (m *CellAppMgr) endInquiry(a *member) {
	a.inquiry, a.lookAt = nil, m.awake.total+lookAgain
}

// Reached takes what Config.Lookout has found.
func (m *CellAppMgr) Reached(now time.Duration, token uint64, found mercury.Reach) {
	m.wake(now)
	if m.superseded {
		return
	}
	for _, a := range m.members {
		switch {
		case a.line.token == token:
			m.lineSays(now, a, found)
		case a.inquiry != nil && a.inquiry.number == token:
			m.ownLook(a, found)
			m.judge(now, a)
		default:
			continue
		}
		break
	}
	m.publish(now)
}

// lineSays takes word of a member's line: that it stands, or its last.
func (m *CellAppMgr) lineSays(now time.Duration, a *member, found mercury.Reach) {
	if found == mercury.ReachOpen && !a.line.stands {
		a.line.stands, a.line.stood = true, true
		return
	}
	stood := a.line.stood
	a.line = line{stood: stood, next: m.awake.total + lineAgain}
	if stood && found == mercury.ReachClosed && a.inquiry == nil && m.runs() {
		m.inquire(a, found)
		m.judge(now, a)
	}
}

// ownLook takes what the manager has found itself, and asks others if that looks like a death.
func (m *CellAppMgr) ownLook(a *member, found mercury.Reach) {
	q := a.inquiry
	if found != mercury.ReachClosed && found != mercury.ReachSilent {
		a.excuse = excuse{true, m.awake.total}
		m.endInquiry(a)
		return
	}
	q.own = found
	for _, w := range m.chooseWitnesses(a) {
		q.witnesses = append(q.witnesses, witness{app: w})
		m.send(w, &wire.Look{Inquiry: q.number, App: a.address})
	}
	if len(q.witnesses) == 0 {
		m.endInquiry(a) // only silence can tell
	}
}

// chooseWitnesses chooses CellApps and BaseApps that are well themselves: first those on other
// machines than the manager, which see other ways, and among equals those that joined first.
func (m *CellAppMgr) chooseWitnesses(of *member) (chosen []*member) {
	here := m.cfg.Transport.Self().At.Addr()
	for _, elsewhere := range []bool{true, false} {
		for _, b := range m.members {
			if len(chosen) == maxWitnesses {
				return chosen
			}
			if b != of && b.reports() && b.channel != 0 && b.inquiry == nil && !b.missing &&
				m.awake.total-b.heard < suspectAfter && (b.address.At.Addr() != here) == elsewhere {
				chosen = append(chosen, b)
			}
		}
	}
	return chosen
}

// seen takes what a witness saw. Only those that were asked count, and each once.
func (m *CellAppMgr) seen(from sender, msg *wire.Seen) {
	i := slices.IndexFunc(m.members, func(a *member) bool { return a.inquiry != nil && a.inquiry.number == msg.Inquiry })
	if i < 0 || m.members[i].address != msg.App {
		return // it comes too late, or nobody has asked
	}
	a := m.members[i]
	for j := range a.inquiry.witnesses {
		if w := &a.inquiry.witnesses[j]; w.app == from.app && w.seen == mercury.ReachUnknown {
			w.seen = msg.Reach
			m.judge(from.now, a)
			return
		}
	}
}

// judge passes the verdict of an inquiry as soon as there is one.
func (m *CellAppMgr) judge(now time.Duration, a *member) {
	q := a.inquiry
	if q == nil || !m.runs() {
		return
	}
	if q.own == mercury.ReachSilent && a.heard > q.began {
		m.endInquiry(a)
		return
	}
	agree, open, waits := 0, 0, 0
	for _, w := range q.witnesses {
		switch w.seen {
		case mercury.ReachUnknown:
			waits++
		case mercury.ReachOpen:
			open++
		default:
			agree++
		}
	}
	switch {
	case q.own == mercury.ReachClosed && agree > 0:
		m.declareDead(now, a, "nothing has its port any more, as others see, too")
	case q.own == mercury.ReachSilent && agree > 0 && open == 0 && waits == 0:
		m.declareDead(now, a, "silent, and its machine answers neither the manager nor others")
	case waits == 0:
		m.endInquiry(a)
	}
}

// unwatch ends the line to a member that goes.
func (m *CellAppMgr) unwatch(a *member) {
	if a.line.token != 0 {
		m.cfg.Lookout.Release(a.line.token)
		a.line.token = 0
	}
	a.inquiry = nil
}
