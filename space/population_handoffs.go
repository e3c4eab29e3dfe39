package space

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// A real that was handed over leaves this here:
//
//	offload            OnloadAck              HandedOnLease
//	-------> handoff ------------> handedOn ----------------> forgotten
//	            |                      |
//	            | its CellApp dies     | its CellApp dies
//	            v                      v                OrphanGrace
//	         orphan; the base gets an Offer, or a Lost -------------> its ghosts are ended

// HandedOnLease is how long an origin remembers a real that was taken over. The new app needs less
// to tell the base and the haunts, even if it has to give up a channel (after 10 s of silence) and
// tells the base again with a backup.
const HandedOnLease = 30 * time.Second

// orphan is a real that was lost in a handoff from here. Its ghosts elsewhere are ended when their
// grace is over.
type orphan struct {
	space  entity.SpaceID
	at     time.Duration
	haunts []mercury.Address
	head   ghost.Head
}

// handedOn is a real that another app has taken over from here. That app may not have told the base
// and the haunts yet, but surely has at the time at.
type handedOn struct {
	to, base mercury.Address
	title    migrate.Title
	orphan
}

// OnloadAck frees a frozen copy. The base and the haunts are remembered for as long as the
// destination may need to tell them. If it dies before that, the ghosts still point here, the base
// believes that the real is still here, and nobody else knows better.
func (p *Population) OnloadAck(m *migrate.OnloadAck, from mercury.Address) error {
	p.env.Watch.Claim(nil) // migration work
	if order, waits := p.handoffs.Has(m.ID); waits && !m.Order.Before(order) && p.handoffs.To(m.ID) != from {
		return p.untrue(errNotTaker)
	}
	h, ok := p.handoffs.Take(m.ID, m.Order)
	if !ok {
		return nil
	}
	p.handedOn = append(p.handedOn, handedOn{to: h.To, base: h.Base, title: h.Offer.Title, orphan: orphan{
		space: h.Offer.Space, at: p.now + HandedOnLease, haunts: h.Haunts,
		head: ghost.Head{ID: m.ID, Order: h.Offer.Order, Sequence: ghost.Last},
	}})
	if m.Elsewhere && h.Onload.Arrival.Teleports() {
		p.endTraces(&h)
	}
	return nil
}

// overtaken drops what is under way of an entity that its base has made again here, and the ghosts
// that nobody else knows of. Without this a real that nobody acknowledges was sent for as long as
// its channel was cut.
func (p *Population) overtaken(e *presence.Entity) {
	if order, waits := p.handoffs.Has(e.ID); !waits || !order.Before(e.Order) {
		return
	}
	if h, ok := p.handoffs.Take(e.ID, e.Order); ok {
		p.orphan(&h)
	}
}

// orphan ends the ghosts of a real that was lost in a handoff, unless a newer one shows itself within the
// grace: those of the old hop point here, where it no longer is.
func (p *Population) orphan(h *migrate.Handoff) {
	p.orphans = append(p.orphans, orphan{
		space: h.Offer.Space, at: p.now + p.cfg.orphanGrace(h.Base), haunts: h.Haunts,
		head: ghost.Head{ID: h.Offer.ID, Order: h.Offer.Order, Sequence: ghost.Last},
	})
}

// wentTo is the app that an entity which is not here any more was handed to last, as far as that is known.
func (p *Population) wentTo(id entity.ID) hosting.Way {
	last, _ := p.handoffs.Has(id)
	way := hosting.Way{To: p.handoffs.To(id), Order: last}
	for i := range p.handedOn {
		if h := &p.handedOn[i]; h.head.ID == id && way.Order.Before(h.head.Order) {
			way = hosting.Way{To: h.to, Order: h.head.Order}
		}
	}
	return way
}

// forgetWays forgets where a real without a base had gone before it came back and ended here. Else those who
// look for it would go round in circles.
func (p *Population) forgetWays(e *presence.Entity) {
	if e.Base.IsZero() && e.Order.Hop > 1 { // it takes two hops to come back
		p.handedOn = slices.DeleteFunc(p.handedOn, func(h handedOn) bool { return h.head.ID == e.ID })
	}
}

// handedOverDied tells bases about reals that were handed over to a CellApp that was declared dead.
func (p *Population) handedOverDied(app mercury.Address) {
	p.handoffs.Died(app, func(h *migrate.Handoff) {
		p.orphan(h)
		if h.Base.IsZero() {
			p.env.Log.Warn("entity without a base lost in a handoff to a dead CellApp", "entity", h.Offer.ID.String())
			return
		}
		offer := h.Offer
		p.tellBase(h.Base, offer.ID, offer.Order, &offer)
	})
	p.handedOn = slices.DeleteFunc(p.handedOn, func(h handedOn) bool {
		if h.to != app {
			return false
		}
		// A real that came back and was destroyed here reports that itself.
		if !h.base.IsZero() && p.owesBase(h.head.ID) == nil {
			p.tellLost(h.base, h.head.ID, h.head.Order, h.title, "its CellApp died")
		}
		h.orphan.at = p.now + p.cfg.orphanGrace(h.base)
		p.orphans = append(p.orphans, h.orphan)
		return true
	})
}

// ChannelBroke is called when a channel to another app has ended, so that the last messages may be
// lost although both live on. The next tick repeats what has no answer yet, and what the cells
// believe of that app's ghosts and bases.
func (p *Population) ChannelBroke(app mercury.Address) {
	p.words.broken(app, p.now)
	p.handoffs.Again(app)
	for i := range p.departed.list {
		if d := &p.departed.list[i]; d.base == app && d.toOwn() {
			p.env.Out.Send(app, &d.was)
		}
	}
	for _, c := range p.cells {
		c.channelBroke(app)
	}
}

// Pending counts what still has to be told, including for entities that have left all cells here.
func (p *Population) Pending() uint64 { return p.pending(false) }

// ReportedPending is Pending for a report. Nobody waits for it to become zero before the world is
// frozen: until then it does not look at all that crowds see, which took a fifth of a tick of 2,000
// players in each second.
func (p *Population) ReportedPending() uint64 { return p.pending(!p.frozen) }

func (p *Population) pending(roughly bool) uint64 {
	n := uint64(p.Unanswered() + p.handoffs.Len())
	for _, c := range p.cells {
		n += c.pending(roughly)
	}
	for i := range p.departed.list {
		n += uint64(p.departed.list[i].out.Unreceived())
	}
	return n
}

// expireHandoffs repeats handoffs that are not acked, and forgets what nobody needs any more.
func (p *Population) expireHandoffs() {
	p.handedOn = slices.DeleteFunc(p.handedOn, func(h handedOn) bool { return h.at <= p.now })
	var sent *migrate.OnloadParty // one message for all who are in it
	p.handoffs.Due(p.now, func(h *migrate.Handoff) {
		switch {
		case !p.has(roomLater, h.To): // it may still be in the queue
		case h.Party == nil:
			p.env.Out.Send(h.To, &h.Onload)
		case h.Party != sent:
			sent = h.Party
			p.env.Out.Send(h.To, h.Party)
		}
	})
	p.orphans = slices.DeleteFunc(p.orphans, func(o orphan) bool {
		if o.at > p.now {
			return false
		}
		for _, app := range o.haunts {
			p.env.Out.Send(app, &ghost.Delete{Head: o.head})
		}
		return true
	})
}

// leftBehind reports whether departed reals of a space's cell may still be asked for here, or still
// have something to send.
func (p *Population) leftBehind(space entity.SpaceID) bool {
	return p.handoffs.From(space) > 0 || p.departed.from[space] > 0 ||
		slices.ContainsFunc(p.orphans, func(o orphan) bool { return o.space == space }) ||
		slices.ContainsFunc(p.handedOn, func(h handedOn) bool { return h.space == space })
}
