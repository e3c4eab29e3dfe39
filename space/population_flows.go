package space

import (
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// This file has what flows of reals and of destroyed reals have in common.

// HandleFlow takes an app's flow message for a cell part: for a real here, or for one to which it
// passes the message on.
func (p *Population) HandleFlow(m *flow.Message, from mercury.Address) {
	if m.ToPart != entity.CellPart || p.held && !heardHeld(m) {
		return
	}
	if rec := p.find(m.To); rec != nil {
		rec.cell.handleFlow(rec, m, from)
		return
	}
	p.handleForNobody(m)
}

// handleForNobody takes a flow message for a cell part that is not here. A base knows where its cell
// part is, and the sender tries again. A cell part without a base may have moved on from here, and then
// the message goes there; or it was destroyed here, and nobody else would say that it has ended.
// Otherwise the sender gives up in the end.
func (p *Population) handleForNobody(m *flow.Message) {
	if _, based := p.env.Out.Home(m.To); based {
		return
	}
	if p.tombstones.Ended(m.To) {
		gone := p.gone(m.From, m.FromPart, m.Incarnation, m.To)
		p.env.Out.Send(m.Reply, &gone)
	} else {
		p.passOn(p.wentOn(m.To), m, roomNow)
	}
}

// gone tells the sender of a flow, in an incarnation, that a cell part has ended here, and what it
// had handled.
func (p *Population) gone(to entity.ID, part entity.Part, stream uint32, ended entity.ID) flow.Ack {
	a := flow.Ack{To: to, ToPart: part, From: ended, FromPart: entity.CellPart, Incarnation: stream, Gone: true}
	p.lastWords.Complete(&a)
	return a
}

// Follow has handle take a message that another CellApp has passed on: past is the order that the
// real has by what is known there. See wire.Onward.
func (p *Population) Follow(past entity.Order, handle func() error) error {
	p.past = past
	defer func() { p.past = entity.Order{} }()
	return handle()
}

// passOn passes a message on, if there is a way, and room. The sender's timer tries again.
func (p *Population) passOn(way hosting.Way, m hosting.Message, room room) {
	if !way.To.IsZero() && p.has(room, way.To) {
		p.env.Out.PassOn(way, m)
	}
}

// wentOn is where to pass on the message at hand for an entity that is not here any more.
func (p *Population) wentOn(id entity.ID) hosting.Way {
	way := p.wentTo(id)
	if !p.past.Before(way.Order) || way.To == p.env.Self {
		return hosting.Way{}
	}
	return way
}

// HandleAck takes an app's acknowledgement of a flow that a real here sends, or sent before it was
// destroyed. If the real has moved on, the ack is passed on.
func (p *Population) HandleAck(a *flow.Ack, from mercury.Address) {
	p.heardService(a, from)
	if a.ToPart != entity.CellPart || p.held && a.Gone || p.ackDeparted(a, from) {
		return
	}
	rec := p.find(a.To)
	if rec == nil {
		return
	}
	c := rec.cell
	if a.FromPart == entity.BasePart && !rec.ofBase(from) && (a.From == a.To || p.homeOfBase(a.From) != from) {
		c.watch.Claim(&c.work.rest)
		c.count.Unproved++
		return
	}
	if rec.real == nil {
		c.watch.Claim(&c.work.rest)
		if way := c.goesOn(rec.ghost); !way.To.IsZero() {
			c.out.PassOn(way, a)
		}
		return
	}
	c.watch.Claim(&rec.real.meter)
	if end := rec.real.known(a.From, a.FromPart); end != nil {
		p.takeAck(rec.real, end, a, rec.e.Order.Incarnation, from)
		rec.real.confirm(end)
		if !p.held {
			rec.real.commitsKept(end)
		}
		if a.Gone {
			c.tellRefused()
		}
	}
}

// takeAck settles a flow as its target says; r is nil if the real was destroyed. A restored part
// may have handled less than the one before it, whose acks no longer count. That the target has
// ended is believed of those alone who must know. From anyone else it is no sign of life either:
// callers whose calls went on to another app once had the end told by that one, again and again,
// and waited for as long as it remembered.
func (p *Population) takeAck(r *Real, end *peer, a *flow.Ack, stream uint32, from mercury.Address) {
	if !a.Gone {
		life := end.life
		end.out.Heed(p.now, a, stream, &end.life)
		if r != nil && end.life != life && r.own(end) {
			r.clientAnew()
		}
		end.used, end.giveUpAt = p.now, 0
		return
	}
	if a.Incarnation == stream && (from == end.home || end.home.IsZero() && from == end.at) {
		p.ended(r, end, a, stream)
		end.used, end.giveUpAt = p.now, 0
	}
}

// ended gives up what a target has not handled that has ended. The answers to what it had handled come
// from where it was: it has given them before it ended, and they are sent until they are settled.
func (p *Population) ended(r *Real, end *peer, a *flow.Ack, stream uint32) {
	end.out.End(p.now, a, stream)
	p.abandon(r, end, errEnded)
}

func (p *Population) has(room room, to mercury.Address) bool {
	return p.env.Out.Level(to) <= mercury.Level(room)
}

// send sends a message of a flow to an app if there is room.
func (p *Population) send(to mercury.Address, m *flow.Message, room room) bool {
	if !p.has(room, to) {
		return false
	}
	p.env.Out.Send(to, m)
	return true
}

// route sends a flow message to the app where the target's real is known to be, and reports whether
// there was room. If nobody here knows, the target's base passes it on; without a base, it goes to
// where the real last was. The sender's timer tries again.
func (p *Population) route(m *flow.Message, end *peer, room room) bool {
	if end.home.IsZero() {
		p.findHome(end)
	}
	if m.ToPart == entity.BasePart {
		return end.home.IsZero() || p.send(end.home, m, room)
	}
	rec := p.find(m.To)
	to := end.at
	switch {
	case rec == nil && !end.home.IsZero():
		to = end.home
	case rec == nil:
	case rec.real != nil:
		end.found(rec, p.env.Self)
		x := *m
		x.Payload = slices.Clone(m.Payload)
		rec.cell.loopback = append(rec.cell.loopback, x)
		return true
	default:
		to = rec.ghost.Real
		end.found(rec, to)
	}
	if to == p.env.Self { // it was here last, and may have gone on
		if to = p.wentTo(m.To).To; !to.IsZero() {
			end.at = to
		}
	}
	return to.IsZero() || p.send(to, m, room)
}

// found notes where the other end is. Where an older incarnation was that is still heard stays known.
func (p *peer) found(rec *record, at mercury.Address) {
	p.home = rec.e.Base
	if !p.outlivedBy(rec) {
		p.at = at
	}
}

// findHome finds where a flow leads whose target has not been seen here: to its base if it has one, or
// to the app that has made it, from which it may have moved on.
func (p *Population) findHome(end *peer) {
	switch app, base := p.env.Out.Home(end.id); {
	case base:
		end.home = app
	case end.at.IsZero():
		end.at = app
	}
}

// probeAfter is how long nothing may be settled before the target is asked: longer than the time
// between two backups.
func (p *Population) probeAfter() time.Duration {
	return p.cfg.BackupPeriod*3/2 + flow.ResendAfter
}

// resend sends what a flow has not sent yet, and repeats what is due: unacknowledged messages, what
// a restored target lacks, and the question to a target that settles nothing.
func (p *Population) resend(end *peer, send func(number uint64, payload []byte) bool) {
	if rec := p.find(end.id); end.side != entity.BasePart && rec != nil {
		end.out.Lives(rec.e.Order.Incarnation, &end.life)
	}
	end.out.Resume(p.now, send)
	end.out.Probe(p.now, p.probeAfter(), func(n uint64, payload []byte) { send(n, payload) })
}

// giveUp forgets what was sent to a real that will never settle it. For a real with a base, that is
// when the base says that the real has ended, or is dead itself. A real without a base counts as
// ended when nobody has found it for long; an orphaned ghost finds nobody. (While the time began with the
// end of the ghost, callers heard 25 s after the death of a CellApp that there is nobody any more.) r is
// nil if the sender was destroyed; it is of the incarnation stream.
func (p *Population) giveUp(r *Real, end *peer, sender entity.ID, stream uint32) bool {
	switch {
	case r != nil && r.own(end) || end.out.Kept() == 0:
		return false
	case end.unseen:
		if r != nil && p.now < r.patientUntil {
			return false
		}
		p.abandon(r, end, errNowhere)
		return true
	case !end.home.IsZero():
		if !p.env.Out.Dead(end.home) {
			return false
		}
		p.abandon(r, end, errBaseDead)
		return true
	case end.side == entity.CellPart && p.finds(end.id):
		end.giveUpAt = 0
		return false
	case end.side == entity.CellPart && end.at == p.env.Self && p.tombstones.Ended(end.id):
		a := p.gone(sender, entity.CellPart, stream, end.id)
		p.ended(r, end, &a, stream)
		return true
	}
	if end.giveUpAt == 0 {
		end.giveUpAt = p.now + FlowGiveUp
	}
	if p.now < end.giveUpAt {
		return false
	}
	p.abandon(r, end, errNowhere)
	return true
}

// finds reports whether an entity is here, or a ghost that leads to it.
func (p *Population) finds(id entity.ID) bool {
	rec := p.find(id)
	return rec != nil && (rec.real != nil || rec.ghost.OrphanedUntil == 0)
}

// The reasons why calls are given up.
var (
	errEnded    = fmt.Errorf("%w: the target has ended", entity.ErrNoEntity)
	errOutlived = fmt.Errorf("%w: the target has heard a newer incarnation of the caller", entity.ErrRefused)
	errBaseDead = fmt.Errorf("%w: the base of the target has died", entity.ErrNoEntity)
	errNowhere  = fmt.Errorf("%w: the target is nowhere to be found", entity.ErrNoEntity)
)

// abandon forgets what was sent to an entity. It counts what was not acknowledged, and the sender's
// script, if it is here, is told after the walk. What was acknowledged and is not settled nobody will
// answer either, unless the answer is under way. An answer that nobody waits for any more is none that
// came to nothing: a projectile strikes, and ends.
func (p *Population) abandon(r *Real, end *peer, why error) {
	end.unseen = false
	calls := 0
	end.out.EachKept(func(payload []byte, received bool) {
		var x flow.MethodCall
		var call flow.ServerCall
		kind := flow.Payload(payload[0])
		switch {
		case received:
		case kind == flow.AnswerPayload:
			p.env.Counters.LateAnswers++
		default:
			calls++
		}
		switch {
		case r == nil:
		case kind == flow.ServerCallPayload && call.Parse(payload[1:]) == nil:
			r.fail(call.Request, why)
		case kind == flow.RemoteCallPayload && !received && x.Parse(payload[1:]) == nil:
			r.cell.refusals = append(r.cell.refusals, refusal{r, RefusedCall{Target: end.id, Method: int(x.Method), Args: slices.Clone(x.Args), Err: why}})
		}
	})
	if calls > 0 {
		p.env.Counters.Refused += uint64(calls)
		if unlogged, ok := p.lines.Allow(p.now, why.Error()); ok {
			p.env.Log.Warn("calls given up", "target", end.id.String(), "calls", calls, "why", why, "unlogged", unlogged)
		}
	}
	end.out.Settle(p.now, end.out.Last())
}
