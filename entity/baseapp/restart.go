package baseapp

import (
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
)

// A script that panics may leave its base half changed, so nobody goes on with that. The base goes on
// here, in its next life, from the newest copy that was made of it, as it would at an heir:
//
//	       its script panics
//	lives -------------------> broken: out of the app, and what comes for it is left to be said again
//	  ^                         |  at the end of what is being handled
//	  +------ from the copy ----+
//
// It is destroyed instead if nothing protects it, so that others have forgotten what a copy does not
// have; if it is about to end, or the world is; if there is no copy yet; if another login waits for
// its end; and at the fourth panic within faultMemory over no message that could be passed over. The
// copy may be the cause then, and the store may have a better state.
//
// Invariants:
//
//   - The copy has all that counts as settled, since only what is in a confirmed copy does. The rest
//     comes again, because the next life says that it has not handled it. While nothing protects a base
//     all is settled at once, so its last copy is dropped (lapse).
//   - Nothing that the broken life said after the panic goes out, least of all an answer: the call
//     comes again, and is answered then.
//   - What it said between the copy and the panic has left, and nobody takes it back. The next life uses
//     the numbers of that again, and flow.Message.Born tells which of the two is meant.
//   - A message over which the script has panicked flow.MaxPanics times is passed over by the next
//     life: it is taken, and no code of the script is run.
//   - What the broken life began after the copy was made is known here: sessions, incarnations of the
//     cell part, its number of lives. The next life begins none of them again. An heir, which does
//     not know them, passes over more than there can be (lifeGap, adoptGap, sessionGap).

// lifeGap is by how many lives an heir goes on from the one of a copy: more than a base can have begun
// where it was before another copy of it was held. Nobody tells two lives of one number apart. (A move
// that came to nothing began the next life here, and when the app died before a copy of that was held,
// the heir began the same one: what it said was taken for what had been said.)
const lifeGap = 16

// panicked is called when the script has: the base goes on from its copy, or ends.
func (b *base) panicked() {
	b.failed = true
	if !b.breakOff() {
		b.Destroy()
	}
}

// breakOff takes a base whose script has panicked out of the app, if it can go on from a copy.
func (b *base) breakOff() bool {
	a := b.app
	if !b.restartable() || b.ownFaults.note(a.now, b.message) > 0 {
		return false
	}
	b.removed, b.aside, b.destroying, a.swept = true, true, true, false
	b.timers.Clear()
	delete(a.byID, b.id)
	a.copying.queue.remove(b)
	b.foundRoom()
	a.broken = append(a.broken, b)
	return true
}

// restartable reports whether the base may go on from its newest copy.
func (b *base) restartable() bool {
	a, c := b.app, &b.copied
	switch {
	case b.destroying || b.ended() || b.newcomer.until != 0:
		return false
	case a.dismissed || a.held || a.paused || a.still():
		return false
	}
	return b.protected() && len(c.last) > 0 && c.restarts+1 < lifeGap
}

// reviveBroken has the bases whose scripts have panicked go on. It must not run while something walks
// the list.
func (a *BaseApp) reviveBroken() {
	for len(a.broken) > 0 {
		b := a.broken[0]
		a.broken = slices.Delete(a.broken, 0, 1)
		if !a.dismissed {
			a.restart(b)
		}
	}
}

// restart begins the next life of a broken base.
func (a *BaseApp) restart(b *base) {
	a.sweep()
	a.letGo(b)
	a.storing.queue = slices.DeleteFunc(a.storing.queue, func(x *base) bool { return x == b })
	a.talking.active = slices.DeleteFunc(a.talking.active, func(t *talk) bool { return t.of == b })
	a.report.Restarted++
	err := a.restore(&heritage{id: b.id, from: a.net.Self(), came: b.copied.came, former: b, parts: b.copied.last})
	if b.talks = nil; err != nil {
		a.fault("a base whose script has panicked cannot go on from its copy, and is lost", "entity", b.id, "error", err)
		b.giveUp()
		return
	}
	b.log.Warn("the base goes on from its newest copy, since its script has panicked", "copied", a.now-b.copied.at, "life", b.life()+1)
}

// letGo takes a base that is out of the app what its next life has to take up: the account, the tokens
// and the client, which comes back as after a lost channel.
func (a *BaseApp) letGo(b *base) {
	if b.account != "" && a.accounts[b.account] == b {
		delete(a.accounts, b.account)
	}
	b.forgetToken()
	b.loseClient(errNoClient)
}

// loseClient takes a base its client, whose session goes on at another one here: it comes back
// there as after a lost channel.
func (b *base) loseClient(why error) {
	c := b.client()
	b.unseat()
	if c != nil {
		c.base = nil
		c.abort()
		b.app.downloads.AbortAll(b.app.now, c.ch, why)
	}
}

// takeUp takes over from the life before, which was here: it is known what that has begun since its copy
// was made. It is called before any code of the script runs.
func (b *base) takeUp(of *base) {
	b.sessions, b.made = max(b.sessions, of.sessions), of.made
	b.cellFaults, b.ownFaults = of.cellFaults, of.ownFaults
	b.copied.restarts = of.copied.restarts + 1
	b.copied.number = max(b.copied.number, of.copied.number)
	b.link.knows(&of.link)
	b.hearAgain(of.talks)
	of.release(func(n *ownName) bool { return n.has && !b.hasName(n.name) })
}

// hearAgain has those who have spoken to the life before say again what is not in the copy. Who has begun
// to since then is not in it at all. (That one was told nothing: what the life before had handled and lost
// came again when it was asked for after fifteen seconds, or thirty, if it was doubted.)
func (b *base) hearAgain(former []*talk) {
	for _, was := range former {
		if !was.in.Heard() {
			continue
		}
		t, err := b.talk(was.id, was.part)
		if err != nil { // as many as there may be are in the copy
			b.app.fault("a flow to a base that goes on from its copy is not taken up", "entity", b.id, "from", was.id, "error", err)
			return
		}
		if t.at.IsZero() {
			t.at = was.at
		}
		t.in.Owe()
		b.app.wake(t)
	}
}

// knows takes over from the link of the life before which cell parts there have been.
func (l *cellLink) knows(of *cellLink) {
	l.unknown = of.unknown
	switch {
	case !l.order.Before(of.order):
	case l.state == linkNone:
		l.order = of.order
	default:
		l.follow(of.order)
	}
}

// startHandling notes the message that is being handled, and whether it is to be passed over.
func (b *base) startHandling(from entity.ID, part entity.Part, mark flow.Mark) {
	b.message = flow.Culprit{From: from, FromPart: part, Mark: mark}
	if b.passing = slices.Contains(b.ownFaults.pass(), b.message); b.passing {
		b.app.report.PassedOver++
		b.log.Error("a message is passed over: the script has panicked over it again and again",
			"from", from.String(), "part", part.String(), "number", mark.Number(), "times", flow.MaxPanics)
	}
}

func (b *base) endHandling() { b.message, b.passing = flow.Culprit{}, false }
