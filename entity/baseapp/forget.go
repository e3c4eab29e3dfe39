package baseapp

import (
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// How a base forgets a flow with another part, and what it says of its own to one that would forget it. See
// flow.Inquiry.

// forgetIdle looks at the flows whose lease may be over.
func (a *BaseApp) forgetIdle() {
	n := 0
	for n < len(a.talking.aging) && n < idlePerTick {
		t := a.talking.aging[0]
		if !t.gone() && !t.active && a.now-t.used < PeerLease {
			break
		}
		a.talking.aging = a.talking.aging[1:]
		t.aging = false
		n++
		switch {
		case t.active || t.gone(): // it comes back when it is quiet
		case !t.atRest():
			t.later()
		case t.mayComeAgain():
			t.inquire(t.home.App)
			t.later()
		default:
			t.forget()
		}
	}
	if len(a.talking.aging) == 0 {
		a.talking.aging = nil
	}
}

// gone reports whether the base is, or has forgotten the flow.
func (t *talk) gone() bool {
	i, found := t.of.findTalk(t.id, t.part)
	return t.of.removed || !found || t.of.talks[i] != t
}

// later has the flow looked at again after another lease.
func (t *talk) later() {
	t.unused += t.of.app.now - t.used
	t.used = t.of.app.now
	t.of.app.age(t)
}

func (t *talk) forget() {
	b := t.of
	if i, found := b.findTalk(t.id, t.part); found {
		b.spent = max(b.spent, t.in.Spent(), t.out.Last())
		b.talks = slices.Delete(b.talks, i, i+1)
	}
}

// atRest reports whether nothing is to be sent, acknowledged or settled, and no copy from which the
// base could be restored keeps anything of the flow.
func (t *talk) atRest() bool {
	return t.out.Kept() == 0 && !t.in.Owed() && t.of.settled(&t.in) == t.in.Last() && t.keepsNothing()
}

// keepsNothing reports whether a confirmed copy was made after the flow moved last.
func (t *talk) keepsNothing() bool {
	return t.of.copiedSince(t.used - t.unused)
}

// mayComeAgain reports whether something that was handled may be said again; see space.Real.
func (t *talk) mayComeAgain() bool {
	if !t.in.Heard() || t.prospect.Nothing {
		return false
	}
	t.home = t.of.app.homeOf(t.id)
	if t.home.Role != wire.BaseApp {
		return t.unused < PeerLease
	}
	return t.home.App == t.of.app.net.Self() || !t.of.app.links.Dead(t.home.App)
}

// inquire asks an app what may still come of the flow. Without room for the question it is asked later.
func (t *talk) inquire(to mercury.Address) {
	a := t.of.app
	if t.home.Role != wire.BaseApp && to == t.home.App && !t.at.IsZero() {
		to = t.at
	}
	if to.IsZero() || to != a.net.Self() && a.links.Level(to) > mercury.Free {
		return
	}
	m := flow.Inquiry{Of: t.id, OfPart: t.part, By: t.of.id, ByPart: entity.BasePart, Reply: a.net.Self()}
	t.prospect.Ask(a.now, &m)
	if to == a.net.Self() {
		a.takeInquiry(&m)
		return
	}
	a.send(to, &m)
}

// doubts reports whether a message may be of a flow that was forgotten, and if so asks the app that it comes
// from.
func (t *talk) doubts(m *flow.Message) bool {
	if !t.prospect.Doubts(m, &t.in, t.of.spent) {
		return false
	}
	a := t.of.app
	a.report.Doubted++
	a.age(t)
	if t.prospect.MayAsk(a.now, flow.ResendAfter) {
		t.inquire(m.Reply)
	}
	return t.prospect.Doubts(m, &t.in, t.of.spent) // the sender may be here, and have answered
}

// begins is the number above which the flows begin that the base begins now.
func (b *base) begins() uint64 { return flow.Begins(b.app.now+b.app.shift, b.spent) }

// takeInquiry answers for the sender of a flow, or passes the question on to the cell part.
func (a *BaseApp) takeInquiry(m *flow.Inquiry) {
	r := flow.Remainder{To: m.By, ToPart: m.ByPart, From: m.Of, FromPart: m.OfPart, Stamp: m.Stamp}
	r.Nothing()
	b := a.byID[m.Of]
	left := a.talking.departed[talkKey{m.Of, m.By, m.ByPart}]
	switch {
	case m.OfPart == entity.ClientPart || b == nil && (!a.mine(m.Of) || a.stubs.byID[m.Of] != nil):
		a.tooEarly("a question about a flow", m.Of, m.Reply)
		return
	case m.OfPart == entity.CellPart && b != nil && !b.partEnded():
		if b.link.Live() && a.links.Level(b.link.App()) < mercury.Packed {
			a.send(b.link.App(), m)
		}
		return // otherwise it is asked again
	case m.OfPart == entity.BasePart && left != nil:
		r.Incarnation, r.Low, r.Through = left.of.life(), left.out.Low(), false
	case m.OfPart == entity.BasePart && b != nil:
		r.Incarnation, r.Low = b.life(), b.begins()+1
		if i, found := b.findTalk(m.By, m.ByPart); found {
			t := b.talks[i]
			r.Low, r.Through = t.out.Low(), t.out.Kept() == 0 && t.keepsNothing()
		}
	}
	if m.Reply == a.net.Self() && m.ByPart == entity.BasePart {
		a.takeRemainder(sender{app: m.Reply, role: wire.BaseApp}, &r)
		return
	}
	a.send(m.Reply, &r)
}

// takeRemainder takes what the sender of a flow says to a base that would forget it, or has forgotten it.
func (a *BaseApp) takeRemainder(by sender, m *flow.Remainder) {
	b := a.byID[m.To]
	if b == nil || m.ToPart != entity.BasePart {
		return // it has moved, and asks again
	}
	i, found := b.findTalk(m.From, m.FromPart)
	if !found {
		return
	}
	if by.role == wire.BaseApp && a.homeOf(m.From).App != by.app || by.role == wire.CellApp && m.FromPart != entity.CellPart {
		a.refused("an answer about a flow of an app that may not give it", "from", m.From, "app", by.app)
		return
	}
	t := b.talks[i]
	if !t.prospect.Take(m, &t.in, t.cause, 0) {
		return
	}
	if m.Gone() && m.FromPart == entity.BasePart {
		b.forsaken(m.From)
	}
	if t.prospect.Nothing && !t.active && t.atRest() {
		t.forget()
	}
}
