package space

import (
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/leases"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// This file has the origin's side of a teleport: it finds the cell and lets the real go, and brings
// it back if it is refused.

// located is what the CellAppMgr has answered: the app to go to, or that the space is gone.
type located struct {
	app  mercury.Address
	gone bool
}

// Located takes the CellAppMgr's answer to an Outbox.Locate: which app has the cell for an entity that
// is to be teleported to a space. A zero app means none now.
func (p *Population) Located(id entity.ID, in entity.SpaceID, app mercury.Address, gone bool) {
	rec := p.find(id)
	if rec == nil || rec.real == nil {
		return
	}
	if t := rec.real.teleport; t != nil && t.hooked && t.to.Space == in && (gone || !app.IsZero()) {
		t.app, t.at = located{app, gone}, p.now
	}
}

// Whereabouts takes a BaseApp's answer to an Outbox.Whereis: where the real is that another one is to be
// teleported near to. A zero app means that nobody knows now.
func (p *Population) Whereabouts(near, asker entity.ID, app mercury.Address, gone bool) {
	rec := p.find(asker)
	if rec == nil || rec.real == nil {
		return
	}
	if t := rec.real.teleport; t != nil && t.hooked && t.to.Near == near && (gone || !app.IsZero()) {
		t.app, t.at = located{app, gone}, p.now
	}
}

// runTeleports goes on with all teleports, in the order in which they began. A frozen world hands
// nothing over.
func (p *Population) runTeleports() {
	if len(p.teleports) == 0 || p.frozen {
		return
	}
	p.env.Watch.Enter(nil) // migration work
	walk := p.teleports
	p.teleports = nil // callbacks may begin others
	for _, r := range walk {
		t := r.teleport
		if t != nil && t.party != nil && r.gone != staying {
			t.party.fail(placement.Vetoed, "a companion is gone")
		}
		if t == nil || r.gone != staying {
			continue
		}
		if p.now >= t.at {
			r.stepTeleport(t)
		}
		if r.teleport == t && r.gone == staying {
			p.teleports = append(p.teleports, r)
		}
	}
	p.env.Watch.Leave()
}

// stepTeleport goes on with one teleport.
func (r *Real) stepTeleport(t *teleport) {
	if t.party != nil {
		t.party.step(t)
		return
	}
	if !t.hooked && !r.askTeleport(t) {
		return
	}
	if r.cell.now >= t.until {
		code := t.failed.Code
		if code == 0 {
			code = placement.NoCell
		}
		r.failTeleport(code, "no cell took it in time")
		return
	}
	switch w := r.findWay(t); {
	case w.code != 0:
		r.failTeleport(w.code, "")
	case w.here != nil:
		r.teleportHere(w.here, w.position)
	case !w.app.IsZero():
		r.teleportAway(w)
	}
}

// askTeleport asks the script, and reports whether the teleport goes on.
func (r *Real) askTeleport(t *teleport) bool {
	t.hooked = true
	var veto error
	callback(r, "OnTeleport", func(s Teleporter) { veto = s.OnTeleport(&t.to, t.user) })
	if r.gone != staying || r.teleport != t {
		return false
	}
	if veto == nil {
		veto = r.checkDestination(&t.to)
	}
	if veto != nil {
		r.failTeleport(placement.Vetoed, veto.Error())
		return false
	}
	return true
}

// way is how a teleport can go: to a cell here, or to another app. Neither means that it waits.
type way struct {
	here     *Cell
	position entity.Destination
	app      mercury.Address
	space    entity.SpaceID
	decided  bsp.Version
	code     placement.Code // why it cannot go at all
}

// findWay looks for the cell to go to, and asks who knows it.
func (r *Real) findWay(t *teleport) way {
	p := r.cell.population
	t.at = r.cell.now
	if t.to.Near != 0 {
		return r.findNear(t)
	}
	in := t.to.Space
	if in == 0 {
		in = r.cell.space
	}
	if c := p.cell(in); c != nil {
		if c.ended {
			return way{code: placement.NoSpace}
		}
		return c.wayTo(t)
	}
	switch a := t.app; {
	case a.gone:
		return way{code: placement.NoSpace}
	case !a.app.IsZero() && a.app != p.env.Self && !p.env.Out.Dead(a.app):
		t.app = located{} // an answer serves once
		if p.has(roomLater, a.app) {
			return way{app: a.app, space: in}
		}
	}
	t.at = min(r.cell.now+teleportRetry, t.until) // unless there is an answer earlier
	p.env.Out.Locate(r.e.ID, in, t.to.Position)
	return way{}
}

// wayTo is the way of a teleport within the space of a cell, whose geometry tells it.
func (c *Cell) wayTo(t *teleport) way {
	leaf := c.tree.At(float64(t.to.Position.X), float64(t.to.Position.Z))
	switch app := appOf(leaf); {
	case leaf.Cell == c.id:
		return way{here: c, position: t.to}
	case c.takes(leaf) && c.has(roomLater, app):
		return way{app: app, space: c.space, decided: c.tree.Version()}
	case leaf.Loading:
		t.failed.Code = placement.Loading
	}
	return way{}
}

// findNear is the way to another entity: it is here, or its ghost is, or its base knows where it is.
func (r *Real) findNear(t *teleport) way {
	p := r.cell.population
	rec, app := p.find(t.to.Near), t.app
	t.app = located{} // an answer serves once
	switch {
	case rec != nil && rec.real != nil && rec.real.gone == staying:
		to := t.to
		to.Position = sum(rec.e.Position, to.Position)
		return way{here: rec.cell, position: to}
	case rec != nil && rec.real == nil && rec.ghost.OrphanedUntil == 0 && (t.tries == 0 || rec.e.Base.IsZero()): // a base knows better what has moved on
		app = located{app: rec.ghost.Real}
	case app.gone:
		return way{code: placement.NotFound}
	}
	if !app.app.IsZero() && app.app != p.env.Self && !p.env.Out.Dead(app.app) {
		if p.has(roomLater, app.app) {
			return way{app: app.app}
		}
	}
	t.failed.Code = placement.NotFound
	t.at = min(r.cell.now+teleportRetry, t.until)
	if !p.env.Out.Whereis(t.to.Near, r.e.ID) && !p.finds(t.to.Near) {
		return way{code: placement.NotFound} // an orphaned ghost gives no hope: its base is dead as well
	}
	return way{}
}

// teleportHere takes the real to a cell of its own CellApp, without a handoff: nothing can be lost.
func (r *Real) teleportHere(c *Cell, to entity.Destination) {
	if no := c.refuses(r.e, &to, newcomers(0, c == r.cell)); no != nil {
		r.refusedTeleport(no)
		return
	}
	r.settleHere(c, to, nil)
}

// settleHere does what was not refused; with are all of a party.
func (r *Real) settleHere(c *Cell, to entity.Destination, with []entity.ID) {
	a := arrival{to: to, at: r.cell.space, from: r.e.Position, with: with}
	if to.Transition {
		to.Direction = r.e.Direction
	}
	if c == r.cell {
		if err := r.put(to.Position, to.Direction); err != nil {
			r.failTeleport(placement.NotFound, err.Error())
			return
		}
		if p := r.cell.population; p.traces(r.e) {
			p.step(r.e, "teleport", "x", r.e.Position.X, "z", r.e.Position.Z)
		}
		r.lookAround(&a)
		r.endTeleport()
		return
	}
	m, ok := r.pack(c.space, migrate.Arrival{From: r.cell.space, Position: to.Position, Direction: to.Direction})
	if !ok {
		return
	}
	r.gone = handedOver
	r.cell.remove(r)
	callback(r, "OnLeftCell", func(s Quitter) { s.OnLeftCell() })
	if err := c.onload(m, nil, c.self, a); err != nil {
		c.lost(m, err)
	}
}

// pack asks the script to leave and packs a real that is teleported under its next order.
func (r *Real) pack(to entity.SpaceID, a migrate.Arrival) (*migrate.Onload, bool) {
	callback(r, "OnLeavingCell", func(s Leaver) { s.OnLeavingCell() })
	if r.gone != staying || r.teleport == nil {
		return nil, false
	}
	if len(r.changes) > 0 {
		r.cell.tell(r)
	}
	if r.audits {
		r.audit()
	}
	parts := r.appendParts(nil, false)
	if len(parts) > migrate.MaxParts {
		r.failTeleport(placement.TooLarge, "its state fits in no message")
		return nil, false
	}
	return &migrate.Onload{
		ID: r.e.ID, Type: r.e.Def.ID, Space: to, Order: r.e.Order.NextHop(), Base: r.e.Base, Title: r.title,
		Arrival: a, Parts: parts,
	}, true
}

// teleportAway hands the real over to another app. What the haunts were told is in the copy, and the
// real is a ghost here meanwhile, so that nobody loses sight of it.
func (r *Real) teleportAway(w way) {
	t, c := r.teleport, r.cell
	callback(r, "OnLeavingCell", func(s Leaver) { s.OnLeavingCell() })
	if r.gone != staying || r.teleport != t {
		return
	}
	t.tries++
	switch c.handOver(r, w.app, w.space, t.arrival(c), w.decided) {
	case errTooLarge:
		r.failTeleport(placement.TooLarge, "its state fits in no message")
	case errNotNow:
		t.tries--
		t.waitForRoom(c.now)
	}
}

// waitForRoom has a teleport look for its way again after a while.
func (t *teleport) waitForRoom(now time.Duration) {
	t.app, t.at = located{}, min(now+teleportRetry, t.until)
}

// arrival is what the message says of where to.
func (t *teleport) arrival(c *Cell) migrate.Arrival {
	return migrate.Arrival{From: c.space, Near: t.to.Near, Position: t.to.Position, Direction: t.to.Direction, Transition: t.to.Transition}
}

// refusedTeleport goes again after a passing refusal, and ends the teleport after any other.
func (r *Real) refusedTeleport(no *placement.TeleportError) {
	t := r.teleport
	if no.Code.Passing() && t.tries < teleportTries && r.cell.now < t.until {
		t.failed.Code, t.app = no.Code, located{}
		t.at = min(r.cell.now+teleportRetry, t.until)
		return
	}
	r.failTeleport(no.Code, no.Reason)
}

// OnloadRefused makes a real again from its frozen copy that was refused. The next hop may have been
// spoken of, so the one after it begins.
func (p *Population) OnloadRefused(m *migrate.OnloadRefused, from mercury.Address) error {
	p.env.Watch.Claim(nil) // migration work
	if order, waits := p.handoffs.Has(m.ID); !waits || order != m.Order {
		return nil // it was answered before
	}
	if p.handoffs.To(m.ID) != from {
		return p.untrue(errNotTaker)
	}
	h, ok := p.handoffs.Refused(m.ID, m.Order)
	if !ok {
		return p.untrue(errMustTake)
	}
	p.bringBack(&h, &placement.TeleportError{Code: m.Code, Reason: m.Reason})
	return nil
}

// bringBack makes a real here again from its frozen copy.
func (p *Population) bringBack(h *migrate.Handoff, no *placement.TeleportError) {
	m := h.Onload
	m.Order, m.Space, m.Arrival = m.Order.NextHop(), h.Offer.Space, migrate.Arrival{}
	rec := p.find(m.ID)
	if rec != nil && rec.e.Order.Incarnation > m.Order.Incarnation {
		return // its base has begun another one
	}
	rec = p.outdo(rec, m.Order)
	if rec != nil && rec.real != nil {
		return
	}
	giver := p.env.Self
	if rec != nil {
		giver = rec.giver
	}
	c := p.cell(m.Space)
	if c == nil {
		p.tellLost(m.Base, m.ID, m.Order, m.Title, errNoCell.Error())
		return
	}
	a := arrival{refused: no, toldEnd: h.ToldEnd}
	if h.Mirrored {
		a.haunt = h.To
	}
	if err := c.onload(&m, rec, giver, a); err != nil {
		c.lost(&m, err)
	}
}

// lost tells the base of a real that could not be made.
func (c *Cell) lost(m *migrate.Onload, err error) {
	c.count.Errors++
	c.log.Error("cannot take over an entity; its base restores it", "entity", m.ID.String(), "error", err)
	c.population.tellLost(m.Base, m.ID, m.Order, m.Title, err.Error())
}

// endTraces ends the ghosts that a real has left in its old space.
func (p *Population) endTraces(h *migrate.Handoff) {
	was := h.Offer.Order
	was.Hop--
	end := ghost.Delete{Head: ghost.Head{ID: h.Offer.ID, Order: was, Sequence: ghost.Last}}
	for _, app := range h.Haunts {
		p.env.Out.Send(app, &end)
	}
	if h.Mirrored {
		p.env.Out.Send(h.To, &end)
	}
	rec := p.find(h.Offer.ID)
	if rec != nil && rec.ghost != nil && rec.cell.space == h.Offer.Space && rec.e.Order == h.Offer.Order {
		p.rumours.End(rec.ghost.Head(), p.now)
		rec.cell.evict(rec)
	}
}

// turnedAway remembers which teleports this CellApp has refused, so that a repeat of the Onload is not
// taken after all: by then the origin has made the real again. The zero value has none.
type turnedAway struct {
	leases leases.Set[entity.ID, migrate.OnloadRefused]
}

const (
	// turnedAwayLease is how long a refusal is remembered: longer than an Onload is under way, as for
	// what was handed on.
	turnedAwayLease = HandedOnLease
	// maxTurnedAway bounds the memory of it; beyond it the oldest goes. Then a base has to tell one
	// of two reals to go, which it does.
	maxTurnedAway = 1 << 16
)

func (t *turnedAway) add(m migrate.OnloadRefused, now time.Duration) {
	t.leases.Put(m.ID, m, now+turnedAwayLease, maxTurnedAway)
}

// answer returns what an Onload of an order, or an older one, was answered.
func (t *turnedAway) answer(id entity.ID, order entity.Order) (m migrate.OnloadRefused, ok bool) {
	if x := t.leases.Get(id); x != nil {
		return *x, !x.Order.Before(order)
	}
	return m, false
}
