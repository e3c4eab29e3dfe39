package baseapp

import (
	"iter"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// # Moving
//
// A part of the bases can go to others while the rest goes on here: when the app leaves, and when
// the BaseAppMgr orders it to shed some (Shed). A part is all bases of some slices of the ids
// (migrate.Part), and of a shedding only those whose first holder is the app that is to have them.
// For this part it is as if the app had died:
//
//	              all of some slices may go       all last copies held          Departed
//	(none) ----------------------------> still ----------------------> asking ------------> told
//	  ^    out of the app, in its own      |     Depart to the manager   |  BasesMoved        |
//	  |    keeping; last copies to holders |                             |  to all            |
//	  |                                    v                             v                    |
//	  |<--- with the next life ------ stillMost, a holder without room, the manager says no   |
//	  |<------------------ all other BaseApps say that they know of the move -----------------+
//
// Invariants:
//
//   - A base of the part is nowhere while the part is still or asked about: not in the app, and no
//     heir has begun. What comes for it is left to be said again, here or to its heir.
//   - The last copies are kept here as well, until the rule of who has the base now covers the
//     move. If that app dies before, the next holder goes on and, after the last of them, this app
//     (migrate.Departures).
//   - While a part moves, and until all others know of it, no other rule is begun here and no mark
//     is sent. So no app forgets a last copy before it knows that it is the last.
//   - One part moves at a time. It goes on as a part even if the app is to leave meanwhile.
//   - A base goes back into the app only from its last copy, with a life more than that has:
//     nothing that it said before is taken for something new. The number of its copies rises on.
//   - Perhaps no holder has that last copy. So what the base has handled, its commits and what its
//     client has said count as settled no sooner than a copy of the next life is confirmed. It is
//     so with a base that is restored at an heir.
//
// Bases that wait for answers of a manager or of the store keep their slices here for movePatience;
// one that a player has logged in to, and has not come for, as long as its token is good; one whose
// client is away until that is back or given up, unless the app is to leave. A client is sent after
// its base as by a leaving app. A login meanwhile is told that the server is busy.

const (
	// DefaultMoveBatch is how many bases move at a time: a megabyte of usual ones, whose last
	// copies are made and held in a few hundredths of a second, and whose clients come to their new
	// doors without a crush.
	DefaultMoveBatch = 256

	// movePatience is how long bases that wait for an answer of a manager or of the store put off that the
	// bases of their slices move. Then such answers count as forgotten.
	movePatience = quietTime

	// movedLease is for how long it is remembered which accounts have moved: a login may be on its
	// way here as long as the BaseAppMgr waits for its answer.
	movedLease = 15 * time.Second
)

type moveState uint8

const (
	moveNone   moveState = iota
	moveStill            // the bases are out of the app; their last copies are on their way
	moveAsking           // the manager is asked
	moveTold             // they are elsewhere; not all others are known to know it
)

// moving is the part of the bases that is on its way to others.
type moving struct {
	state moveState
	part  migrate.Part
	since time.Duration // of standing still
	tryAt time.Duration // not before
	// eager is when bases that wait for answers move all the same; 0 while nothing is to move.
	eager time.Duration
	slice uint // where the next part begins
	bases []movingBase
	asks  app.Errands
	// order is what the BaseAppMgr wants moved.
	order wire.Shed
	// accounts are those of bases that have moved lately, or are moving, and those that went to
	// bases elsewhere.
	accounts map[string]time.Duration
	counts   [migrate.Slices]int
}

// movingBase is a base that is out of the app.
type movingBase struct {
	b       *base
	parts   []byte
	sent    bool
	waiting []mercury.Address // who has yet to hold the last copy
}

// Moves reports whether a part of the bases stands still, because it is about to go to others.
func (a *BaseApp) Moves() bool { return a.moving.state == moveStill || a.moving.state == moveAsking }

// standsAside reports whether a base is about to go to another app. It is out of the app, but goes on
// here if that comes to nothing: a copy of it that comes meanwhile, from an app that has died, is none
// of one that is gone. It was taken for that, and the base that came back then had no place any more.
func (a *BaseApp) standsAside(id entity.ID) bool {
	return slices.ContainsFunc(a.moving.bases, func(x movingBase) bool { return x.b.id == id })
}

// tickMove carries on with the part that moves, and begins another one.
func (a *BaseApp) tickMove() {
	m := &a.moving
	// order does not show: each is forgotten by itself
	for account, until := range m.accounts {
		if a.now >= until && m.state == moveNone {
			delete(m.accounts, account)
		}
	}
	switch m.state {
	case moveNone:
		a.beginMove()
	case moveStill:
		a.sendMoving()
		if a.askToMove(); m.state == moveStill && a.now-m.since >= stillMost {
			a.moveBack(a.whyStill())
		}
	case moveAsking:
		m.asks.Tick()
	case moveTold:
		if a.allHeard() {
			m.state = moveNone
		}
	}
}

// takeShed notes what the BaseAppMgr wants moved.
func (a *BaseApp) takeShed(_ sender, m *wire.Shed) { a.moving.order = *m }

// beginMove begins with the next part, if one is due and may go.
func (a *BaseApp) beginMove() {
	m := &a.moving
	leaves := a.leave.state == leaveAsked && len(a.list) > a.cfg.MoveBatch && a.roster.Departures().Moves() < migrate.MaxMoves
	sheds := a.leave.state == leaveNone && m.order.Bases > 0
	if !leaves && !sheds || a.now < m.tryAt || a.whyNotMove() != "" {
		if !leaves && !sheds {
			m.eager = 0
		}
		return
	}
	if m.eager == 0 {
		m.eager = a.now + movePatience
	}
	most, to := a.cfg.MoveBatch, mercury.Address{}
	if sheds {
		most, to = min(most, int(m.order.Bases)), m.order.To
		if !slices.Contains(a.copying.ruling.rules.List, to) || a.links.Dead(to) || slices.Contains(a.goers, to) {
			m.order = wire.Shed{} // the BaseAppMgr names another one
			return
		}
	}
	if p := a.choosePart(most, to); p.Slices != 0 {
		m.order = wire.Shed{}
		a.standAside(p)
	} else if sheds && a.now >= m.eager {
		m.order = wire.Shed{}
	}
}

// whyNotMove says why no base may go now; empty if it may.
func (a *BaseApp) whyNotMove() string {
	switch {
	case a.ids == nil || !a.cellMgr.Heeds() || !a.baseMgr.Open():
		return "the managers"
	case a.copying.period == 0:
		return "copies of the bases, which the configuration has switched off"
	case !a.somebodyStays():
		return "another BaseApp that stays"
	case !a.heldByStayers():
		return "others to hold copies of all bases"
	}
	return ""
}

// choosePart takes as many slices as fit, at least one, of those whose bases can all go.
func (a *BaseApp) choosePart(most int, to mercury.Address) migrate.Part {
	m := &a.moving
	p := migrate.Part{Turn: a.roster.Departures().Turn(a.net.Self()) + 1, Below: a.ids.Peek(), To: to}
	const never = 1 << 30
	m.counts = [migrate.Slices]int{}
	for _, b := range a.list {
		if !a.concerned(b.id, to) {
			continue
		}
		s := migrate.SliceOf(b.id)
		if m.counts[s]++; !b.mayMove(a.now >= m.eager) {
			m.counts[s] = never
		}
	}
	for _, x := range a.stubs.list {
		m.counts[migrate.SliceOf(x.of.id)] = never // an heir would bring it back
	}
	n := 0
	for range migrate.Slices {
		s := m.slice
		if c := m.counts[s]; c > 0 && c < never {
			if n > 0 && n+c > most {
				break
			}
			n += c
			p.Slices |= 1 << s
		}
		m.slice = (m.slice + 1) % migrate.Slices
	}
	return p
}

// concerned reports whether a base would go with a part to an app; zero is any.
func (a *BaseApp) concerned(id entity.ID, to mercury.Address) bool {
	return to.IsZero() || a.copying.ruling.rules.First(a.net.Self(), id) == to
}

// mayMove reports whether a base can go without harm: nobody but this app may know of it yet, or it
// waits for what comes here. An eager move does not wait for answers, nor a leaving app then for
// clients that are away.
func (b *base) mayMove(eager bool) bool {
	switch {
	case b.removed || b.fragment || b.copied.large || b.attachBy != 0 || b.newcomer.until != 0:
		return false
	case b.seat != nil && b.seat.client == nil && (!eager || b.app.leave.state == leaveNone):
		return false // its client is about to come back here, or has gone: elsewhere it would be waited for anew
	case eager:
		return true
	}
	waits := len(b.pending) > 0 || slices.ContainsFunc(b.wishes, func(w wish) bool { return !w.granted })
	return !waits && !b.gives() && b.creation == nil && !b.keep.calling && !b.keep.queued && !b.destroying
}

// standAside takes a part of the bases out of the app, with their last copies.
func (a *BaseApp) standAside(p migrate.Part) {
	m := &a.moving
	gone := migrate.Departure{App: a.net.Self(), Allocator: a.allocator, Rule: a.copying.ruling.rules, Part: p}
	for i := 0; i < len(a.list); i++ { // scripts may add bases in this loop
		if b := a.list[i]; !b.removed && gone.Takes(b.id) {
			if c := b.client(); c != nil {
				a.downloads.AbortAll(a.now, c.ch, errNoClient)
			}
		}
	}
	a.sweep()
	m.bases = m.bases[:0]
	for _, b := range a.list {
		if !gone.Takes(b.id) {
			continue
		}
		parts := b.appendParts(nil)
		if !b.mayMove(true) || len(parts) > migrate.MaxParts {
			clear(m.bases) // a script has done something; another time
			m.bases, m.tryAt = m.bases[:0], a.now+leaveAgain
			return
		}
		m.bases = append(m.bases, movingBase{b: b, parts: parts})
	}
	if len(m.bases) == 0 {
		return
	}
	m.state, m.part, m.since = moveStill, p, a.now
	for i := range m.bases {
		a.takeOut(&m.bases[i])
	}
	a.storing.queue = slices.DeleteFunc(a.storing.queue, func(b *base) bool { return b.aside })
	a.talking.active = slices.DeleteFunc(a.talking.active, func(t *talk) bool { return t.of.aside })
	a.sweep()
	a.sendMoving()
}

// takeOut takes a base out of the app. Its script hears nothing, and nothing that comes for it is handled.
func (a *BaseApp) takeOut(x *movingBase) {
	m, b := &a.moving, x.b
	b.removed, b.aside, a.swept = true, true, false
	b.traceEnd()
	delete(a.byID, b.id)
	a.copying.queue.remove(b)
	b.foundRoom()
	if b.account != "" {
		delete(a.accounts, b.account)
		m.noteAccount(b.account, a.now)
	}
	if s := b.seat; s != nil {
		delete(a.seats, s.token)
		delete(a.seats, s.former)
	}
	b.talks = nil
	b.copied.number++
	x.waiting = a.copying.ruling.holders(nil, a, b)
	w := a.holding.ward(a.net.Self())
	a.holding.put(w, b.id, b.copied.number, a.copying.cycle, x.parts)
}

// sendMoving sends the last copies, as there is room.
func (a *BaseApp) sendMoving() {
	m, k := &a.moving, &a.copying
	for i := range m.bases {
		x := &m.bases[i]
		if x.sent {
			continue
		}
		for _, h := range x.waiting {
			if a.links.Level(h) == mercury.Packed {
				a.report.BackupsPutOff++
				return
			}
		}
		x.sent = true
		k.copy = migrate.BaseCopy{ID: x.b.id, Number: x.b.copied.number, Cycle: k.cycle, Parts: x.parts}
		for _, h := range x.waiting {
			a.report.BackupsSent++
			a.send(h, &k.copy)
		}
	}
}

// movingCopyHeld takes the word of a holder that it has a last copy.
func (a *BaseApp) movingCopyHeld(from mercury.Address, c *migrate.BaseCopyHeld) {
	m := &a.moving
	i, found := slices.BinarySearchFunc(m.bases, c.ID, func(x movingBase, id entity.ID) int { return int(int64(x.b.id) - int64(id)) })
	if m.state != moveStill || !found || c.Number != m.bases[i].b.copied.number {
		return
	}
	if c.Refused {
		a.moveBack("a holder has no room")
		return
	}
	x := &m.bases[i]
	x.waiting = slices.DeleteFunc(x.waiting, func(h mercury.Address) bool { return h == from })
	a.askToMove() // players wait, so not at the next tick
}

// moveChannelBroke sends again what a holder may not have heard.
func (a *BaseApp) moveChannelBroke(to mercury.Address) {
	for i := range a.moving.bases {
		if x := &a.moving.bases[i]; slices.Contains(x.waiting, to) {
			x.sent = false
		}
	}
}

// askToMove leaves it to the manager what becomes of the bases, once all last copies are held. Until it has
// answered, the heirs may have begun. Without a manager nobody is asked, and the bases go back in time.
func (a *BaseApp) askToMove() {
	m := &a.moving
	if m.state != moveStill || !a.cellMgr.Heeds() || slices.ContainsFunc(m.bases, func(x movingBase) bool { return !x.sent || len(x.waiting) > 0 }) {
		return
	}
	m.state = moveAsking
	app.Insist(&m.asks, &wire.Depart{Part: m.part}, func(d *wire.Departed) {
		if d.Reason != "" {
			a.moveBack(d.Reason)
			return
		}
		a.moved(d.Number)
	})
}

// moved lets the bases go: others have them.
func (a *BaseApp) moved(number uint64) {
	m := &a.moving
	stood := a.now - m.since
	a.roster.Departed(migrate.Departure{App: a.net.Self(), Number: number, Allocator: a.allocator, Rule: a.copying.ruling.rules, Part: m.part})
	for i := range m.bases {
		a.sendAway(m.bases[i].b)
	}
	a.report.Moved += uint64(len(m.bases))
	a.log.Info("bases have gone to other BaseApps", "bases", len(m.bases), "stood still for", stood, "to", m.part.To)
	a.endMove(moveTold)
	a.rehome()
	a.inherit()
	r := &a.copying.ruling
	r.heard, r.againAt = r.heard[:0], a.now
}

// sendAway sends the client of a base that has moved after it.
func (a *BaseApp) sendAway(b *base) {
	switch c := b.client(); {
	case c == nil:
	case !a.resumable():
		c.refuse(protocol.ServerClosing, "")
	default:
		c.sendTo(a.fallbacks(b))
	}
}

// endMove forgets the part.
func (a *BaseApp) endMove(next moveState) {
	m := &a.moving
	m.asks.Drop()
	clear(m.bases)
	m.bases, m.state, m.eager = m.bases[:0], next, 0
}

// moveBack has the bases live on here, as if they had come from a copy, and moves others another time.
func (a *BaseApp) moveBack(why string) {
	m := &a.moving
	a.log.Warn("bases cannot go to others now; they go on here", "why", why, "bases", len(m.bases), "stood still for", a.now-m.since)
	list := slices.Clone(m.bases)
	a.endMove(moveNone)
	m.tryAt = a.now + leaveAgain
	w := a.holding.ward(a.net.Self())
	for _, x := range list {
		if i, found := w.find(x.b.id); found {
			a.holding.release(w.copies[i])
			w.copies = slices.Delete(w.copies, i, i+1)
		}
		if c := x.b.client(); c != nil {
			c.base = nil
			c.abort()
		}
		x.b.seat = nil
		if err := a.restore(&heritage{id: x.b.id, from: a.net.Self(), came: x.b.copied.came, former: x.b, parts: x.parts}); err != nil {
			a.fault("a base that was to move cannot go on here", "entity", x.b.id, "error", err)
		}
		delete(m.accounts, x.b.account)
	}
	a.admitAwaited()
}

// aside reports whether a base is out of the app, on its way to another one or to its next life here.
func (a *BaseApp) aside(id entity.ID) bool {
	if slices.ContainsFunc(a.broken, func(b *base) bool { return b.id == id }) {
		return true
	}
	_, found := slices.BinarySearchFunc(a.moving.bases, id, func(x movingBase, id entity.ID) int { return int(int64(x.b.id) - int64(id)) })
	return found
}

// own are the bases that are here as far as managers know: also those that are on their way to
// others, and those that have ended, as long as an heir could bring them back.
func (a *BaseApp) own() iter.Seq[*base] {
	return func(yield func(*base) bool) {
		for _, x := range a.stubs.list {
			if !yield(x.of) {
				return
			}
		}
		for _, b := range a.list {
			if !b.removed && !yield(b) {
				return
			}
		}
		for i := range a.moving.bases {
			if !yield(a.moving.bases[i].b) {
				return
			}
		}
	}
}

// noteAccount remembers that an account has just gone to another app.
func (m *moving) noteAccount(account string, now time.Duration) {
	if m.accounts == nil {
		m.accounts = make(map[string]time.Duration)
	}
	m.accounts[account] = now + movedLease
}

// hasMoved reports whether an account has gone to another app lately, or is about to.
func (a *BaseApp) hasMoved(account string) bool {
	_, found := a.moving.accounts[account]
	return found
}

// dropMove ends a move with the app.
func (a *BaseApp) dropMove() {
	for i := range a.moving.bases {
		if c := a.moving.bases[i].b.client(); c != nil {
			c.refuse(protocol.ServerClosing, "")
		}
	}
	a.endMove(moveNone)
}

// keepsMoved reports whether copies of bases that have moved are still kept here.
func (a *BaseApp) keepsMoved() bool {
	return a.moving.state != moveNone || len(a.holding.ward(a.net.Self()).copies) > 0
}
