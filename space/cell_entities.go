package space

import (
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// admit adds a record for e to the cell, or returns the present one.
func (c *Cell) admit(e *presence.Entity) *record {
	if rec := c.population.find(e.ID); rec != nil {
		return rec
	}
	rec := &record{e: e, seen: witness.Subject{Entity: e, Unseen: &c.unseen}, cell: c}
	rec.node = c.ranges.InsertBig(uint64(e.ID), e.Position.X, e.Position.Z, e.Def.AppealRadius)
	c.population.byID[e.ID] = rec
	c.showAdded(rec)
	return rec
}

// evict removes a record from the cell.
func (c *Cell) evict(rec *record) {
	if rec.real != nil {
		c.tapeLeft(rec.real)
	}
	c.partWith(rec)
	c.hideAdded(rec)
	rec.leaveGates()
	c.ghosts.remove(rec.e.ID)
	if rec.ghost != nil && c.population.traces(rec.e) {
		c.population.step(rec.e, "ghost gone")
	}
	if rec.real != nil {
		rec.real.dropWitness()
		rec.real.liftTraps()
		c.work.rest.Add(rec.real.meter.Drain()) // its work in this tick still counts
	}
	c.ranges.Remove(rec.node)
	delete(c.population.byID, rec.e.ID)
}

// makeReal makes e a real here, either new or from a ghost. parts, if not nil, fills it before its
// script sees it.
func (c *Cell) makeReal(e *presence.Entity, parts func(r *Real) error) *Real {
	r := &Real{e: e, cell: c, kind: c.scripts.reals.Of(e.Def), dataHeard: c.data.last, sharedHeard: c.population.sharedLast(), steering: steering{limit: c.firstLimit()}}
	rec := c.admit(e)
	c.ghosts.remove(e.ID)
	rec.ghost, rec.mirror, rec.real = nil, nil, r
	e.Control, e.Ride = presence.Control{}, presence.Ride{} // the real says so from now on
	c.hadBased = c.hadBased || !e.Base.IsZero()
	e.Floor = 0 // it may be in both lists of one sweep
	if !e.Base.IsZero() {
		r.base()
	}
	if parts != nil {
		if err := parts(r); err != nil {
			// Remove it at once: nobody may meet half a real.
			r.gone, r.reason = lost, err.Error()
			c.remove(r)
			return r
		}
	}
	c.keep(rec) // parts have set the load that it brings
	e.Props.SetHolder(r)
	r.makeScript()
	c.ranges.Move(rec.node, e.Position.X, e.Position.Z)
	return r
}

// makeWay readies the record of an entity for a newer order, and returns it. It keeps a ghost of
// the same incarnation in this space, so that watchers go on with it. It gives up anything else and
// returns nil: watchers of an older incarnation hold numbers that mean nothing in the new one, so
// they must see the entity leave.
func (c *Cell) makeWay(rec *record, order entity.Order) *record {
	switch {
	case rec == nil:
		return nil
	case rec.real != nil:
		rec.cell.drop(rec.real)
		return nil
	case rec.cell == c && rec.e.Order.Incarnation == order.Incarnation:
		return rec
	}
	rec.cell.evict(rec)
	return nil
}

// Create makes a real from its base's copy. A repeated order is confirmed again. An older one,
// which may have waited long on a bad link, is ignored, since the base has moved on.
func (p *Population) Create(m *migrate.Create, from mercury.Address) {
	c := p.cell(m.Space)
	if c == nil {
		p.tellLost(from, m.ID, m.Order, m.Title, "this CellApp has no cell of the space")
		return
	}
	c.watch.Claim(&c.work.rest)
	rec := p.find(m.ID)
	if (rec == nil || rec.ghost != nil) && p.tombstones.Forbids(ghost.Head{ID: m.ID, Order: m.Order, Sequence: 1}) {
		return
	}
	if c.ended {
		p.tellLost(from, m.ID, m.Order, m.Title, ErrEnded.Error())
		return
	}
	if p.denies(m.ID, rec, m.Order, from, m.Title) {
		return
	}
	rec = p.outdo(rec, m.Order)
	if rec != nil && !rec.e.Order.Before(m.Order) {
		if rec.real != nil && rec.e.Order == m.Order {
			rec.real.announce()
		}
		return
	}
	if !m.Restored && c.full(0) {
		p.tellRefused(m, from)
		return
	}
	if err := c.create(m, rec); err != nil {
		c.count.Errors++
		c.log.Error("entity not created", "entity", m.ID.String(), "error", err)
		p.tellFault(from, m.ID, m.Order, m.Title, err.Error(), flow.Culprit{})
	}
}

func (c *Cell) create(m *migrate.Create, rec *record) error {
	d, err := c.definition(m.Type)
	if err != nil {
		return err
	}
	core, err := readCore(m.Parts)
	if err != nil {
		return err
	}
	c.makeWay(rec, m.Order)
	// A restored real is a new incarnation with a record of its own. Its history starts with new
	// numbers, and watchers of the old one are told that it left.
	e := &presence.Entity{ID: m.ID, Def: d, History: property.NewHistory(d)}
	e.Space, e.Base, e.Order, e.Aspect = c.space, m.Base, m.Order, core.Aspect
	e.Put(core.Position, core.Direction, core.MoveStamp)
	e.MovedTick = c.tick
	e.Props = property.NewValues(d, property.CellSide, nil)
	r := c.makeReal(e, func(r *Real) error {
		r.title = m.Title
		if err := r.readParts(m.Parts, true); err != nil {
			return err
		}
		p := r.base()
		p.in = flow.NewReceiver(m.Handled.Stream(), m.Handled.Number())
		p.at = m.Base
		r.pass = slices.Clone(m.Pass)
		if m.Restored {
			r.patientUntil = c.now + CallPatience
			r.seek()
		}
		return nil
	})
	if r.gone != staying {
		return fmt.Errorf("space: %s", r.reason)
	}
	r.traceMade(madeStep(m.Restored))
	c.population.overtaken(r.e)
	r.announce()
	r.attach(m.Session)
	r.retell(m.Heard)
	if m.Restored {
		callback(r, "OnRestored", func(s Restorer) { s.OnRestored() })
	} else {
		callback(r, "OnCreated", func(s Creator) { s.OnCreated() })
	}
	if r.HasClient() && r.gone == staying {
		callback(r, "OnClient", func(s ClientWatcher) { s.OnClient(true) })
	}
	if r.teleport != nil && r.gone == staying {
		r.failTeleport(placement.Lost, "it was restored to before it")
	}
	// The backup comes last, so that it contains what OnCreated did, which is not called again for
	// a restored real.
	if r.gone == staying {
		r.backup()
	}
	c.made(r)
	c.checkAt = 0
	return nil
}

// announce tells the base where its real is.
func (r *Real) announce() {
	if r.e.Base.IsZero() {
		return
	}
	m := r.current()
	r.cell.out.Send(r.e.Base, &m)
}

func (r *Real) current() migrate.Current {
	return migrate.Current{ID: r.e.ID, Order: r.e.Order, Title: r.title, Handled: r.base().in.Handled()}
}

// destroy ends a real because its script or its base wants it.
func (c *Cell) destroy(r *Real) {
	r.gone = parting
	callback(r, "OnDestroy", func(s Destroyer) { s.OnDestroy() })
	r.gone = destroyed
	r.failOwed()
	if !r.e.Base.IsZero() {
		if len(r.direct) > 0 && r.HasClient() {
			r.sendBundle(r.direct)
		}
		r.announce() // the base listens only to the holder of the real, and may not know that it is here
	}
	r.sayLast()
	c.population.owe(r)
	if len(r.changes) > 0 { // calls to those who see it, among others
		c.tellChanges(r)
	}
	c.remove(r)
	c.throwOff(r.e.ID)
}

// lose gives up a real that cannot go on; its base restores it.
func (c *Cell) lose(r *Real) {
	if r.panicked {
		c.population.tellFault(r.e.Base, r.e.ID, r.e.Order, r.title, r.reason, r.culprit)
	} else {
		c.population.tellLost(r.e.Base, r.e.ID, r.e.Order, r.title, r.reason)
	}
	if r.e.Base.IsZero() { // nothing brings it back
		r.failOwed()
		r.sayLast()
		c.population.owe(r)
	}
	c.remove(r)
	if r.over() {
		c.throwOff(r.e.ID)
	}
}

// over reports whether a real that goes does not come back, as its base would bring it.
func (r *Real) over() bool { return r.gone == destroyed || r.gone == lost && r.e.Base.IsZero() }

// drop gives up a real that its base does not acknowledge.
func (c *Cell) drop(r *Real) {
	if r.gone == staying {
		r.gone = refused
	}
	c.remove(r)
}

// remove removes a real and its ghosts everywhere. If its base brings it back, that is a newer
// incarnation, which no tombstone blocks.
func (c *Cell) remove(r *Real) {
	rec := c.population.find(r.e.ID)
	if rec == nil || rec.real != r {
		return
	}
	if c.population.traces(r.e) {
		r.traceEnd()
	}
	r.ghostSequence++
	head := ghost.Head{ID: r.e.ID, Order: r.e.Order, Sequence: r.ghostSequence}
	for h := range r.haunts.All() {
		c.out.Send(h.App, &ghost.Delete{Head: head, Ended: r.over()})
	}
	head.Sequence = ghost.Last
	if r.gone == refused {
		c.population.rumours.End(head, c.population.now) // it was perhaps never true
	} else {
		c.population.tombstones.End(head, c.population.now)
		c.population.forgetWays(r.e)
	}
	c.evict(rec)
}

// Refuse drops a real that its base does not acknowledge, and the unsent messages of a destroyed
// one, which nobody would ever ack. Only the app of the base may refuse. It also acknowledges the
// news that the base was sent of these reals.
func (p *Population) Refuse(m *migrate.Refuse, from mercury.Address) {
	p.words.answered(m, from)
	p.refuseDeparted(m.ID, m.Order.Incarnation, from)
	rec := p.find(m.ID)
	if rec == nil {
		return
	}
	c := rec.cell
	c.watch.Claim(&c.work.rest)
	if rec.real == nil || rec.e.Base != from || m.Order.Before(rec.e.Order) {
		return
	}
	c.log.Info("real dropped: its base knows a newer one or none", "entity", m.ID.String(), "order", rec.e.Order.String())
	rival := rec.real.rival
	p.refusals.add(rec.real, p.now)
	c.drop(rec.real)
	if !rival.IsZero() {
		p.ask(rival, ghost.Head{ID: m.ID})
	}
}
