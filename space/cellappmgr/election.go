package cellappmgr

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

const (
	// LeaseTime is for how long a manager's vote binds it: the pause of a leader that others sit out. A
	// leader that is gone is replaced after it, and half a second.
	LeaseTime = 1500 * time.Millisecond

	// leaseMargin is how much earlier a leader stops: a tenth, far more than clocks of machines differ in
	// speed.
	leaseMargin = LeaseTime / 10

	// leaseRenewal is the time between two asks of a leader or candidate. Several may be lost.
	leaseRenewal = 200 * time.Millisecond

	// attemptTime is how long a candidate waits for votes: twice around a slow network.
	attemptTime = 500 * time.Millisecond

	// rankDelay is how much longer each manager waits than the one before it in the list, so that two
	// rarely stand at the same time: longer than the way of an ask.
	rankDelay = 200 * time.Millisecond
)

// election is a Lease among the managers themselves. Each has one vote, and whoever has those of a
// majority leads:
//
//	a voter       just started ──LeaseTime──▶ free ──grants──▶ bound to a candidate and its term
//	                                           ▲                  │ LeaseTime after the last grant
//	                                           └──────────────────┘
//	a candidate   idle ──own vote is free──▶ asking ──majority──▶ leading: it asks on, again and again
//	               ▲                           │ attemptTime           │ a majority has not answered
//	               └───────────────────────────┴───────────────────────┘ for LeaseTime
//
// Rules of the vote: a free voter grants a higher term than that of its last vote. A bound one grants
// only to whom it is bound, the same term or a higher one. The time of a grant counts from its arrival
// for the voter, and from the ask for the candidate, which stops leaseMargin earlier.
//
// Invariants: two majorities have a voter in common, and it is bound to one at a time: so two never lead
// at once. Nothing is written to a disk: a voter that starts is not free before each vote that it may
// have given is over, and until then it asks the others for their highest term. So a term is granted
// twice only if all have forgotten it who knew it and can be reached. An app that knows the term then
// gives it away, and a higher one is taken (Seat, claims).
//
// A candidate that gives up takes back its vote for itself, as if it had not stood: it does not lead,
// and counts no more votes of that attempt. So managers that are cut off do not use up terms, of which
// there are few.
//
// Managers believe each other's votes: only a process at one of Places, with the cluster's key if there is
// one, is heard. One of them that lies could give its vote twice, or use up all terms.
type election struct {
	send func(i int, msg *wire.LeaseAsk) // to voter i
	self int                             // index of this manager among the voters
	n    int                             // voters

	ballotPaper

	state  electionState
	term   uint32
	from   time.Duration   // when the attempt began
	before vote            // the own vote before the attempt
	asked  []time.Duration // by voter: when the newest ask that it granted was made; notGranted for none
	askAt  time.Duration
	tryAt  time.Duration
}

// ballotPaper is what a voter must not forget while its process lives.
type ballotPaper struct {
	began time.Duration // start of the process
	begun bool
	vote  vote   // the last
	high  uint32 // the highest term of any vote that is known

	leaving bool // the process is being stopped: it does not stand any more
}

type electionState uint8

const (
	idle electionState = iota
	asking
	leading
)

// vote is what a voter has granted.
type vote struct {
	term  uint32
	to    mercury.Address // zero for itself
	self  bool
	until time.Duration

	leaving bool // who was granted it is being stopped
}

// notGranted is before any ask.
const notGranted = time.Duration(-1 << 62)

func newElection(self, n int, send func(i int, msg *wire.LeaseAsk)) *election {
	return &election{send: send, self: self, n: n, asked: make([]time.Duration, n)}
}

// Claim implements Lease.
func (e *election) Claim(now time.Duration, least uint32) (Grant, bool) {
	if !e.begun {
		e.begun, e.began = true, now
	}
	switch {
	case e.state != idle && least > MaxTerm: // no term is left; not even the present one may be led in again
		e.giveUp(now)
	case e.state == leading && now >= e.until():
		e.giveUp(now)
	case e.state == asking && now-e.from >= attemptTime:
		e.giveUp(now)
	}
	if e.state != idle && e.term < least {
		if e.state == leading {
			e.high, e.before = max(e.high, e.term), vote{term: e.term, self: true}
		}
		e.begin(now, least)
	}
	if e.state == idle && e.mayStand(now) && max(e.high+1, least) <= MaxTerm {
		e.before = e.vote
		e.begin(now, max(e.high+1, least))
	}
	if e.state != idle && now >= e.askAt {
		e.ask(now)
	}
	if e.state == idle && !e.mayVote(now) && now >= e.askAt {
		e.askAt = now + leaseRenewal
		e.askAll(now, 0) // nobody grants that; it is for the highest term
	}
	if e.state == asking && now < e.until() {
		e.state = leading
	}
	return Grant{e.term, e.until()}, e.state == leading
}

// Resign implements Lease.
func (e *election) Resign(now time.Duration) {
	if e.state == leading {
		// The others are bound for a while, and so is this one, to them all alike.
		e.high = max(e.high, e.term)
		e.state, e.tryAt = idle, now+LeaseTime
	}
}

// leave is told that the process is being stopped. Who leads goes on to, and says so; nobody else begins.
func (e *election) leave(now time.Duration) {
	e.leaving = true
	if e.state == asking {
		e.giveUp(now)
	}
	if e.state == leading {
		e.askAt = now
	}
}

// awaited reports whether a leader that is being stopped leads by this vote: without a majority it could not
// end in order.
func (e *election) awaited(now time.Duration) bool {
	return e.vote.leaving && !e.vote.self && now < e.vote.until
}

func (e *election) rank() time.Duration { return time.Duration(e.self) * rankDelay }

// mayVote reports whether no vote of before the start can bind anyone any more.
func (e *election) mayVote(now time.Duration) bool { return e.begun && now-e.began >= LeaseTime }

// mayStand reports whether the own vote is free, and it is this manager's turn.
func (e *election) mayStand(now time.Duration) bool {
	return !e.leaving && e.mayVote(now) && now >= e.tryAt && (e.vote.self || now >= e.vote.until+e.rank())
}

// begin stands for a term. The own vote is free, or bound to this manager.
func (e *election) begin(now time.Duration, term uint32) {
	e.state, e.term, e.from, e.askAt = asking, term, now, now
	for i := range e.asked {
		e.asked[i] = notGranted
	}
}

// giveUp ends an attempt, or the leading.
func (e *election) giveUp(now time.Duration) {
	switch e.state {
	case asking:
		e.vote = e.before
	case leading:
		e.high = max(e.high, e.term)
	}
	e.state, e.tryAt = idle, now+leaseRenewal+e.rank()
}

// ask votes for itself and asks the others.
func (e *election) ask(now time.Duration) {
	e.askAt = now + leaseRenewal
	e.vote = vote{term: e.term, self: true, until: now + LeaseTime}
	e.asked[e.self] = now
	e.askAll(now, e.term)
}

func (e *election) askAll(now time.Duration, term uint32) {
	for i := range e.n {
		if i != e.self {
			e.send(i, &wire.LeaseAsk{Term: term, Round: uint64(now), Leaving: e.leaving})
		}
	}
}

// until is when this manager must stop: a majority has granted what was asked LeaseTime before, or
// later.
func (e *election) until() time.Duration {
	if e.state == idle {
		return notGranted
	}
	var order [wire.MaxManagers]time.Duration
	copy(order[:], e.asked)
	slices.Sort(order[:e.n])
	oldest := order[e.n-1-e.n/2] // as many as make a majority are at least as new
	if oldest == notGranted {
		return notGranted
	}
	return oldest + LeaseTime - leaseMargin
}

// asks answers another manager's ask.
func (e *election) asks(now time.Duration, from mercury.Address, m *wire.LeaseAsk) wire.LeaseVote {
	bound := !e.vote.self && e.vote.to == from
	free := e.state == idle && (e.vote.self || now >= e.vote.until)
	granted := e.mayVote(now) && m.Term > 0 && m.Term <= MaxTerm &&
		(m.Term > e.vote.term && (free || bound) || m.Term == e.vote.term && bound)
	if granted {
		e.vote = vote{term: m.Term, to: from, until: now + LeaseTime, leaving: m.Leaving}
		e.high = max(e.high, m.Term)
	}
	return wire.LeaseVote{Term: m.Term, Round: m.Round, Granted: granted, Highest: e.highest()}
}

// boundToOther reports whether this voter's vote is at present that of another manager than the one named.
func (e *election) boundToOther(now time.Duration, than mercury.Address) bool {
	return now < e.vote.until && !e.vote.self && e.vote.to != than
}

// highest is the highest term that somebody may have led in, as far as this voter knows.
func (e *election) highest() uint32 {
	last := &e.vote
	if e.state == asking {
		last = &e.before
	}
	return max(e.high, last.term)
}

// votes takes the answer of voter i to an ask.
func (e *election) votes(now time.Duration, i int, m *wire.LeaseVote) {
	if !m.Granted && m.Highest <= MaxTerm {
		e.high = max(e.high, m.Highest)
	}
	round := time.Duration(m.Round)
	if e.state != idle && m.Granted && m.Term == e.term && round >= e.from && round <= now {
		e.asked[i] = max(e.asked[i], round)
	}
}
