package space

import (
	"errors"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/mercury"
)

// This file has what flows of reals and of destroyed reals have in common.

// HandleFlow takes an app's flow message for a cell part: for a real here, or for one to which it
// passes the message on.
func (p *Population) HandleFlow(m *flow.Message, from mercury.Address) {
	if rec := p.find(m.To); rec != nil && m.ToPart == entity.CellPart {
		rec.cell.handleFlow(rec, m, from)
	}
}

// HandleAck takes an app's acknowledgement of a flow that a real here sends, or sent before it was
// destroyed. If the real has moved on, the ack is passed on.
func (p *Population) HandleAck(a *flow.Ack, from mercury.Address) {
	if a.ToPart != entity.CellPart || p.ackDeparted(a, from) {
		return
	}
	rec := p.find(a.To)
	if rec == nil {
		return
	}
	c := rec.cell
	if a.FromPart == entity.BasePart && !rec.ofBase(from) {
		c.watch.Claim(&c.work.rest)
		c.count.Unproved++
		return
	}
	if rec.real == nil {
		c.watch.Claim(&c.work.rest)
		if on := c.goesOn(rec.ghost, from); !on.IsZero() {
			c.out.Send(on, a)
		}
		return
	}
	c.watch.Claim(&rec.real.meter)
	if end := rec.real.known(a.From, a.FromPart); end != nil {
		p.takeAck(rec.real, end, a, rec.e.Order.Incarnation, from)
		rec.real.confirm(end)
		rec.real.commitsKept(end)
		if a.Gone {
			c.tellRefused()
		}
	}
}

// takeAck settles a flow as its target says; r is nil if the real was destroyed. A base dies with
// its entity, so whatever it handled is settled. A restored cell part may have handled less than
// the one before it, whose acks no longer count.
func (p *Population) takeAck(r *Real, end *peer, a *flow.Ack, stream uint32, from mercury.Address) {
	own := a.Incarnation == stream
	switch {
	case a.FromPart == entity.BasePart:
		if own {
			end.out.Settle(p.now, a.Number)
		}
	case a.Gone:
		if own && from == end.home {
			p.abandon(r, end, errEnded)
		}
	case a.Life < end.life:
		return
	default:
		handled := a.Number
		if !own {
			handled = 0
		}
		if a.Life > end.life {
			end.life = a.Life
			end.out.Rewind(handled)
		}
		if own {
			end.out.Received(p.now, handled)
			end.out.Settle(p.now, a.Settled)
		}
	}
	end.used, end.lostSince = p.now, 0
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
	rec := p.find(m.To)
	to := end.at
	switch {
	case rec == nil && !end.home.IsZero():
		to = end.home
	case rec == nil:
	case rec.real != nil:
		end.at, end.home = p.env.Self, rec.e.Base
		x := *m
		x.Payload = slices.Clone(m.Payload)
		rec.cell.loopback = append(rec.cell.loopback, x)
		return true
	default:
		end.at, end.home = rec.ghost.Real, rec.e.Base
		to = end.at
	}
	if to == p.env.Self || to.IsZero() {
		return true
	}
	return p.send(to, m, room)
}

// probeAfter is how long nothing may be settled before the target is asked: longer than the time
// between two backups.
func (p *Population) probeAfter() time.Duration {
	return p.cfg.BackupPeriod*3/2 + flow.ResendAfter
}

// resend sends what a flow has not sent yet, and repeats what is due: unacknowledged messages, what
// a restored target lacks, and the question to a target that settles nothing.
func (p *Population) resend(end *peer, send func(number uint64, payload []byte) bool) {
	if rec := p.find(end.id); end.side != entity.BasePart && rec != nil && rec.e.Order.Incarnation > end.life {
		end.life = rec.e.Order.Incarnation
		end.out.Rewind(0)
	}
	end.out.Resume(p.now, send)
	end.out.Probe(p.now, p.probeAfter(), func(n uint64, payload []byte) { send(n, payload) })
}

// giveUp forgets what was sent to a real that will never settle it. For a real with a base, that is
// when the base says that the real has ended, or is dead itself. A real without a base counts as
// ended when nobody has found it for long.
func (p *Population) giveUp(r *Real, end *peer) bool {
	switch {
	case end.side == entity.BasePart:
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
	case p.find(end.id) != nil:
		end.lostSince = 0
		return false
	}
	if end.lostSince == 0 {
		end.lostSince = p.now
	}
	if p.now-end.lostSince < FlowGiveUp {
		return false
	}
	p.abandon(r, end, errNowhere)
	return true
}

// The reasons why calls are given up.
var (
	errEnded    = errors.New("space: the target has ended")
	errBaseDead = errors.New("space: the base of the target has died")
	errNowhere  = errors.New("space: the target is nowhere to be found")
)

// abandon forgets what was sent to an entity. It counts what was not acknowledged, and the sender's
// script, if it is here, is told after the walk.
func (p *Population) abandon(r *Real, end *peer, why error) {
	end.unseen = false
	if n := end.out.Unreceived(); n > 0 {
		p.env.Counters.Refused += uint64(n)
		if unlogged, ok := p.lines.Allow(p.now, why.Error()); ok {
			p.env.Log.Warn("calls given up", "target", end.id.String(), "calls", n, "why", why, "unlogged", unlogged)
		}
		end.out.Each(p.now, func(_ uint64, payload []byte) {
			var x flow.MethodCall
			if r != nil && x.Parse(payload[1:]) == nil {
				r.cell.refusals = append(r.cell.refusals, refusal{r, RefusedCall{Target: end.id, Method: int(x.Method), Args: slices.Clone(x.Args), Err: why}})
			}
		})
	}
	end.out.Settle(p.now, end.out.Last())
}
