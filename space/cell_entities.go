package space

import (
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/aoi"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// admit puts a record for e on the cell, or returns the one that is there.
func (c *Cell) admit(e *entity.Entity) *record {
	if rec := c.registry.find(e.ID); rec != nil {
		return rec
	}
	rec := &record{e: e, cell: c, node: c.ranges.Insert(uint64(e.ID), e.Position.X, e.Position.Z)}
	c.registry.byID[e.ID] = rec
	return rec
}

// evict takes a record off the cell.
func (c *Cell) evict(rec *record) {
	c.reals.remove(rec.e.ID)
	c.ghosts.remove(rec.e.ID)
	if rec.real != nil {
		rec.real.dropWitness()
	}
	c.ranges.Remove(rec.node)
	delete(c.registry.byID, rec.e.ID)
}

// makeReal makes e a real here: a new one, or what was a ghost. parts, if not
// nil, fill it before its script sees it.
func (c *Cell) makeReal(e *entity.Entity, parts func(r *Real) error) *Real {
	r := &Real{e: e, cell: c, kind: c.scripts.forType(e.Def)}
	rec := c.admit(e)
	c.ghosts.remove(e.ID)
	rec.ghost, rec.real = nil, r
	c.reals.insert(rec)
	if !e.Base.IsZero() {
		r.base()
	}
	if parts != nil {
		if err := parts(r); err != nil {
			// Taken away at once: half a real must not be met by anyone.
			r.gone, r.reason = lost, err.Error()
			c.remove(r)
			return r
		}
	}
	e.Props.SetHolder(r)
	if r.kind != nil {
		r.script = r.kind.bind(r)
	}
	c.ranges.Move(rec.node, e.Position.X, e.Position.Z)
	return r
}

// makeWay readies the record of an entity for a newer order of it, and returns it.
// Watchers go on with the ghost of the same incarnation in this space. Anything
// else is given up and nil returned: watchers of an older incarnation hold numbers
// that mean nothing in the new one, so they must see it leave.
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

// Create makes a real from what its base holds. A repeated order is confirmed
// again; an older one, which may have waited long on a bad link, is ignored, since
// the base has moved on.
func (c *Cell) Create(m *migrate.Create, from mercury.Address) {
	rec := c.registry.find(m.ID)
	if rec == nil && c.tombstones.Forbids(ghost.Head{ID: m.ID, Order: m.Order, Sequence: 1}) {
		return
	}
	if rec != nil && !rec.e.Order.Before(m.Order) {
		if rec.real != nil && rec.e.Order == m.Order {
			rec.real.announce()
		}
		return
	}
	if err := c.create(m, rec); err != nil {
		c.count.Errors++
		c.log.Error("entity not created", "entity", m.ID.String(), "err", err)
		c.out.Send(from, &migrate.Lost{ID: m.ID, Order: m.Order, Reason: shortReason(err)})
	}
}

func shortReason(err error) string {
	s := err.Error()
	return s[:min(len(s), migrate.MaxReason)]
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
	// A restored real is a new incarnation with a record of its own: it numbers its
	// history anew, and whoever watches the old one is told that it left.
	e := &entity.Entity{ID: m.ID, Def: d, History: property.NewHistory(d)}
	e.Space, e.Base, e.Order = c.space, m.Base, m.Order
	e.Position, e.Direction, e.MoveStamp, e.MovedTick = core.Position, core.Direction, core.MoveStamp, c.tick
	e.Props = property.NewValues(d, property.CellSide, nil)
	r := c.makeReal(e, func(r *Real) error {
		if err := r.readParts(m.Parts, true); err != nil {
			return err
		}
		p := r.base()
		// The base numbers on across incarnations, in a stream named by each.
		p.in = entity.NewIn(m.Order.Incarnation, m.Handled)
		p.at = m.Base
		return nil
	})
	if r.gone != staying {
		return fmt.Errorf("space: %s", r.reason)
	}
	r.announce()
	r.attach(m.Session)
	if m.Restored {
		callback(r, "OnRestored", func(s Restorer) { s.OnRestored() })
	} else {
		callback(r, "OnCreated", func(s Creator) { s.OnCreated() })
	}
	if r.session != 0 && r.gone == staying {
		callback(r, "OnClient", func(s ClientWatcher) { s.OnClient(true) })
	}
	// Last, so that it contains what OnCreated did: a restored real does not hear it again.
	if r.gone == staying {
		r.backup()
	}
	c.checkAt = 0
	return nil
}

// definition is a type that may be on a cell.
func (c *Cell) definition(typ uint16) (*property.Definition, error) {
	d := c.scripts.schema.ByID(typ)
	if d == nil || !d.HasCell {
		return nil, fmt.Errorf("space: type %d has no cell part here", typ)
	}
	return d, nil
}

func readCore(parts []byte) (core migrate.Core, err error) {
	found := false
	err = migrate.EachPart(parts, func(tag migrate.Tag, body []byte) error {
		if tag != migrate.CorePart {
			return nil
		}
		found = true
		return core.Parse(body)
	})
	if err == nil && !found {
		err = migrate.ErrNoCore
	}
	return core, err
}

// announce tells the base where its real is.
func (r *Real) announce() {
	if r.e.Base.IsZero() {
		return
	}
	r.cell.out.Send(r.e.Base, &migrate.Current{ID: r.e.ID, Order: r.e.Order, Handled: r.base().in.Last()})
}

// destroy ends a real by its script's or its base's will.
func (c *Cell) destroy(r *Real) {
	callback(r, "OnDestroy", func(s Destroyer) { s.OnDestroy() })
	r.gone = destroyed
	if !r.e.Base.IsZero() {
		if len(r.direct) > 0 && r.session != 0 {
			r.sendBundle(r.direct)
		}
		_ = r.sendBase([]byte{byte(entity.GonePayload)})
		c.departed = append(c.departed, departedFlow{r.e.ID, r.e.Order.Incarnation, r.e.Base, r.base().out})
	}
	c.remove(r)
}

// lose gives up a real that cannot go on; its base restores it.
func (c *Cell) lose(r *Real) {
	if !r.e.Base.IsZero() {
		reason := r.reason[:min(len(r.reason), migrate.MaxReason)]
		c.out.Send(r.e.Base, &migrate.Lost{ID: r.e.ID, Order: r.e.Order, Reason: reason})
	}
	c.remove(r)
}

// drop gives up a real that its base does not acknowledge.
func (c *Cell) drop(r *Real) {
	if r.gone == staying {
		r.gone = refused
	}
	c.remove(r)
}

// remove takes a real away, with its ghosts everywhere. If its base brings it
// back, that is a newer incarnation, which no tombstone forbids.
func (c *Cell) remove(r *Real) {
	rec := c.registry.find(r.e.ID)
	if rec == nil || rec.real != r {
		return
	}
	r.ghostSequence++
	head := ghost.Head{ID: r.e.ID, Order: r.e.Order, Sequence: r.ghostSequence}
	for h := range r.haunts.All() {
		c.out.Send(h.App, &ghost.Delete{Head: head})
	}
	c.tombstones.Bury(ghost.Head{ID: r.e.ID, Order: r.e.Order, Sequence: ghost.Last}, c.now)
	c.evict(rec)
}

// Refuse drops a real that its base does not acknowledge, and what a destroyed one
// still wanted to say: nobody will ever ack it.
func (c *Cell) Refuse(m *migrate.Refuse) {
	c.answered(m)
	c.departed = slices.DeleteFunc(c.departed, func(d departedFlow) bool {
		return d.id == m.ID && d.inc <= m.Order.Incarnation
	})
	rec := c.registry.find(m.ID)
	if rec == nil || rec.cell != c || rec.real == nil || m.Order.Before(rec.e.Order) {
		return
	}
	c.log.Info("real dropped: its base knows a newer one or none", "entity", m.ID.String(), "order", rec.e.Order.String())
	c.drop(rec.real)
}

// ClientMove takes where the client says its entity is, by a message that came from
// an app. If the real has gone on, so does the message; else goOn is zero.
func (c *Cell) ClientMove(id entity.ID, m *entity.ClientRest, from mercury.Address) (goOn mercury.Address) {
	rec := c.registry.find(id)
	if rec == nil {
		return mercury.Address{}
	}
	if rec.real == nil {
		return c.goesOn(rec.ghost, from)
	}
	rec.real.clientMoved(m)
	return mercury.Address{}
}

// clientMoved takes a client's word for where it is, unless the client has been
// told otherwise since: a move of another session or incarnation is void.
func (r *Real) clientMoved(m *entity.ClientRest) {
	// Sequences wrap; half the range counts as newer.
	if m.Session != r.session || m.Session == 0 || m.Incarnation != r.e.Order.Incarnation || int32(m.Sequence-r.clientSeq) <= 0 {
		return
	}
	r.clientSeq = m.Sequence
	_ = r.place(m.Position, m.Direction)
}

// GhostState makes a ghost or brings one up to a new hop.
func (c *Cell) GhostState(m *ghost.State, from mercury.Address) {
	rec := c.registry.find(m.ID)
	if rec != nil && rec.olderState(m.Head) || c.tombstones.Forbids(m.Head) {
		c.count.StaleGhosts++
		return
	}
	if rec == nil || rec.real != nil || rec.cell != c || rec.e.Order.Incarnation != m.Order.Incarnation {
		c.newGhost(m, from, rec)
		return
	}
	verdict, err := rec.ghost.TakeState(m, from, c.tick)
	if err != nil {
		c.badGhost(m.ID, err)
		return
	}
	if verdict == ghost.Old {
		c.count.StaleGhosts++
		return
	}
	rec.heard = c.now
	c.moved(rec.e)
}

// olderState reports whether a State of head h is of no use to whoever holds rec.
func (rec *record) olderState(h ghost.Head) bool {
	if rec.real != nil {
		return !rec.e.Order.Before(h.Order)
	}
	return rec.ghost.Older(h)
}

// newGhost makes a ghost of which nothing, or something older, is here.
func (c *Cell) newGhost(m *ghost.State, from mercury.Address, old *record) {
	d, err := c.definition(m.Type)
	if err != nil {
		c.count.Refused++
		return
	}
	g := ghost.New(m.ID, d)
	if _, err := g.TakeState(m, from, c.tick); err != nil {
		c.badGhost(m.ID, err)
		return
	}
	if old != nil && old.real != nil {
		// A newer real lives elsewhere: this one was given up by the base.
		c.log.Info("real dropped: a newer one mirrors itself here", "entity", m.ID.String(), "order", old.e.Order.String(), "newer", m.Order.String())
	}
	c.makeWay(old, m.Order)
	rec := c.admit(g.Entity)
	rec.ghost, rec.heard = g, c.now
	c.ghosts.insert(rec)
	c.count.GhostsMade++
}

func (c *Cell) badGhost(id entity.ID, err error) {
	c.count.Errors++
	c.log.Error("ghost message", "entity", id.String(), "err", err)
}

// GhostUpdate takes what a real did. One that cannot be used, although it is new,
// means that a State was missed: it is asked for.
func (c *Cell) GhostUpdate(m *ghost.Update, from mercury.Address) {
	rec := c.registry.find(m.ID)
	if rec == nil || rec.ghost == nil {
		c.count.StaleGhosts++
		if rec == nil && !c.tombstones.Forbids(m.Head) {
			c.ask(from, ghost.Head{ID: m.ID})
		}
		return
	}
	verdict, err := rec.ghost.TakeUpdate(m, c.tick)
	if err != nil {
		c.badGhost(m.ID, err)
	}
	if err != nil || verdict == ghost.Early {
		c.ask(from, ghost.Head{ID: m.ID})
	}
	if verdict != ghost.Taken {
		c.count.StaleGhosts++
		return
	}
	rec.heard = c.now
	c.moved(rec.e)
}

// Buried reports whether a ghost message is of no use, since a newer one ended the ghost.
func (c *Cell) Buried(h ghost.Head) bool { return c.tombstones.Forbids(h) }

// GhostLease is how long a ghost believes in a real that is silent: a real that
// acts is heard each tick, so only those at rest are ever asked after.
const GhostLease = 10 * time.Second

func (c *Cell) ask(real mercury.Address, have ghost.Head) {
	c.out.Send(real, &ghost.Query{Head: have, Asker: c.self})
}

// GhostQuery answers who asks after a real, or passes the question on.
func (c *Cell) GhostQuery(m *ghost.Query) {
	rec := c.registry.find(m.ID)
	switch {
	case rec != nil && rec.real != nil:
		c.showGhost(rec.real, m)
	case rec != nil && m.Hops < ghost.MaxQueryHops && rec.ghost.Real != m.Asker && rec.ghost.Real != c.self &&
		rec.ghost.OrphanedUntil == 0 && !c.out.Dead(rec.ghost.Real):
		on := *m
		on.Hops++
		c.out.Send(rec.ghost.Real, &on)
	case m.Order != (entity.Order{}):
		end := m.Head
		end.Sequence++
		c.out.Send(m.Asker, &ghost.Delete{Head: end})
	}
}

// showGhost shows a real to who asked: in short if it only heard nothing for long.
func (c *Cell) showGhost(r *Real, m *ghost.Query) {
	if r.gone != staying || c.out.Dead(m.Asker) {
		return
	}
	c.tell(r) // what is not told yet must not be told again after a State that has it
	if r.haunts.Has(m.Asker) && m.Order == r.e.Order {
		r.ghostSequence++
		c.out.Send(m.Asker, &ghost.Update{
			Head:      ghost.Head{ID: r.e.ID, Order: r.e.Order, Sequence: r.ghostSequence},
			MoveStamp: r.e.MoveStamp, Position: r.e.Position, Direction: r.e.Direction,
		})
		return
	}
	if r.haunts.Has(m.Asker) || r.haunts.Add(m.Asker, c.now) {
		c.out.Send(m.Asker, r.state())
	}
}

// GhostDelete ends a ghost.
func (c *Cell) GhostDelete(m *ghost.Delete) {
	rec := c.registry.find(m.ID)
	if rec == nil || rec.ghost == nil {
		c.tombstones.Bury(m.Head, c.now)
		return
	}
	if rec.ghost.Older(m.Head) {
		c.count.StaleGhosts++
		return
	}
	c.tombstones.Bury(m.Head, c.now)
	c.evict(rec)
}

// AuditGhosts makes every haunt compare its ghosts with the reals here.
func (c *Cell) AuditGhosts() {
	for _, rec := range c.reals {
		r := rec.real
		var sum uint64
		sum, c.scratch = ghost.Sum(r.e, c.scratch)
		for h := range r.haunts.All() {
			c.out.Send(h.App, &ghost.Audit{Head: ghost.Head{ID: r.e.ID, Order: r.e.Order, Sequence: r.ghostSequence}, Sum: sum})
		}
	}
}

// GhostAudit compares a ghost with what its real says.
func (c *Cell) GhostAudit(m *ghost.Audit) {
	rec := c.registry.find(m.ID)
	if rec == nil || rec.ghost == nil || rec.e.Order != m.Order {
		c.count.GhostsDiffer++
		return
	}
	var sum uint64
	if sum, c.scratch = ghost.Sum(rec.e, c.scratch); sum != m.Sum {
		c.count.GhostsDiffer++
	}
}

// audit answers what the client should hold, from the cell's own lists.
func (r *Real) audit(session uint32) {
	if session != r.session || r.witness == nil {
		return
	}
	m := protocol.Audit{Own: protocol.Expected{
		Place: protocol.Place{ID: r.e.ID, Stamp: r.e.MoveStamp, Position: r.e.Position, Direction: r.e.Direction},
		Type:  r.e.Def.ClientID,
	}}
	for _, i := range r.e.Def.Stream(property.OwnClientCellStream) {
		m.Own.Props = protocol.AppendPair(m.Own.Props, i, r.e.Props)
	}
	for key := range r.cell.ranges.Inside(r.trigger) {
		if rec := r.cell.registry.find(entity.ID(key)); rec != nil {
			m.Entities = r.witness.AppendExpected(m.Entities, r.e, rec.e)
		}
	}
	r.direct = m.Append(r.direct)
	r.spill()
}

func (r *Real) dropWitness() {
	if r.witness == nil {
		return
	}
	delete(r.cell.triggers, r.trigger)
	if r.cell.ranges.HasTrigger(r.trigger) {
		r.cell.ranges.RemoveTrigger(r.trigger)
	}
	r.witness, r.trigger, r.direct = nil, aoi.Trigger(0), nil
}
