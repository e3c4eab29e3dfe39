package space

import (
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// This file has both sides of ghosts: what reals here tell their haunts, and what reals elsewhere
// tell this cell.

// mirror makes and ends the ghosts of one real. own is the cell's rectangle, empty if it has none;
// budget is how many ghosts it may make.
func (c *Cell) mirror(r *Real, own bsp.Rect, budget int) int {
	p := r.e.Position
	x, z := float64(p.X), float64(p.Z)
	reach := r.reach()
	if r.haunts.Len() == 0 && r.deep(own) {
		return budget
	}
	m := mirroring{c: c, r: r, budget: budget}
	for _, leaf := range c.tree.Overlapping(bsp.Around(x, z, reach)) {
		if leaf.Created {
			m.haunt(appOf(leaf))
		}
	}
	for i := range c.gates.ends {
		if g := &c.gates.ends[i]; g.outer.Contains(x, z) {
			g.wanted = true
			for _, app := range g.apps {
				m.haunt(app)
			}
		}
	}
	r.haunts.Sweep(func(h ghost.Haunt) bool {
		if c.now-h.Since < c.cfg.GhostLife || c.behindGate(h.App, x, z) || c.touches(h.App, bsp.Around(x, z, reach+float64(c.cfg.GhostSlack))) {
			return false
		}
		r.endGhost(h.App)
		return true
	})
	return m.budget
}

// mirroring makes the ghosts of one real.
type mirroring struct {
	c        *Cell
	r        *Real
	budget   int
	state    *ghost.State
	tooLarge bool
}

// haunt makes a ghost at an app, if it may have one and there is room.
func (m *mirroring) haunt(app mercury.Address) {
	c, r := m.c, m.r
	if app == c.self || r.haunts.Has(app) || c.out.Dead(app) || m.budget == 0 || m.tooLarge ||
		!c.has(roomLater, app) { // try again at the next check
		return
	}
	if m.state == nil {
		if m.state = r.state(); m.state == nil {
			m.tooLarge = true
			return
		}
	}
	if r.haunts.Add(app, c.now) {
		m.budget--
		c.out.Send(app, m.state)
	}
}

// leaveBehind lets a haunt wait until there is room for the sum of the changes.
func (r *Real) leaveBehind(app mercury.Address) {
	r.haunts.SetBehind(app, true)
	r.cell.behind = true
}

func (r *Real) endGhost(at mercury.Address) {
	r.ghostSequence++
	r.cell.out.Send(at, &ghost.Delete{Head: ghost.Head{ID: r.e.ID, Order: r.e.Order, Sequence: r.ghostSequence}})
}

// within reports whether a lies inside b and does not touch its edge.
func within(a, b bsp.Rect) bool {
	return a.MinX > b.MinX && a.MaxX < b.MaxX && a.MinZ > b.MinZ && a.MaxZ < b.MaxZ
}

func (c *Cell) touches(app mercury.Address, r bsp.Rect) bool {
	for _, leaf := range c.tree.Overlapping(r) {
		if appOf(leaf) == app {
			return true
		}
	}
	return false
}

// state returns everything that a ghost holds, including changes that the haunts have not been told
// yet. The haunts must be told first, and the receiver must not be among them: a part's change that
// came again in an Update would be applied twice. It returns nil for a state that is too large. If
// sent, it would be refused, asked for at the next Update, and refused again in each tick.
func (r *Real) state() *ghost.State {
	if len(r.changes) > 0 {
		r.cell.tell(r)
	}
	props := r.cell.compressor.AppendStream(nil, r.e.Props, property.GhostStream, ghost.MaxProps)
	if len(props) > ghost.MaxProps {
		r.cell.count.Errors++
		r.Log().Error("not mirrored: its ghosted properties are too large", "bytes", len(props), "limit", ghost.MaxProps)
		return nil
	}
	r.ghostSequence++
	return &ghost.State{
		Head: ghost.Head{ID: r.e.ID, Order: r.e.Order, Sequence: r.ghostSequence},
		Type: r.e.Def.ID, Space: r.e.Space, Base: r.e.Base,
		MoveStamp: r.e.MoveStamp, Position: r.e.Position, Direction: r.e.Direction, Aspect: r.e.Aspect, Control: r.e.Control,
		Ride:    r.e.Ride,
		Props:   props,
		History: r.e.History.Append(nil),
	}
}

// ghostState makes a ghost, or brings one to a new hop.
func (c *Cell) ghostState(m *ghost.State, from mercury.Address) error {
	rec := c.population.find(m.ID)
	switch {
	case rec != nil && rec.olderState(m.Head) || c.population.tombstones.Forbids(m.Head):
		c.count.StaleGhosts++
		return nil
	case rec == nil && c.population.rumours.Forbid(m.Head, m.Answers):
		c.count.StaleGhosts++
		c.population.ask(from, ghost.Head{ID: m.ID})
		return nil
	case rec != nil && rec.real != nil:
		return rec.cell.challenge(rec.real, m.Order, from)
	}
	if rec == nil || rec.cell != c || rec.e.Order.Incarnation != m.Order.Incarnation {
		c.newGhost(m, from, rec)
		return nil
	}
	was, order, aspect := rec.ghostValues(), rec.e.Order, rec.e.Aspect
	m.Base = c.population.heirOr(m.Base, m.ID)
	verdict, err := rec.ghost.TakeState(m, from, c.tick, c.compressor)
	if err != nil {
		c.badGhost(m.ID, err)
		return nil
	}
	if verdict == ghost.Old {
		c.count.StaleGhosts++
		return nil
	}
	rec.hear(c.now)
	c.moved(rec.e)
	c.noteControl(rec.e)
	if rec.e.Aspect != aspect {
		c.aspectChanged(rec)
	}
	rec.hearState(was)
	if order != rec.e.Order && rec.telling {
		c.sendWatched(rec) // another app has the real now
	}
	return nil
}

// hear notes that a ghost has heard of its real.
func (rec *record) hear(now time.Duration) { rec.heard, rec.doubted = now, 0 }

// olderState reports whether a State with head h has nothing new for rec.
func (rec *record) olderState(h ghost.Head) bool {
	if rec.real != nil {
		return !rec.e.Order.Before(h.Order)
	}
	return rec.ghost.Older(h)
}

// newGhost makes a ghost of an entity that is not here, or only in an older form.
func (c *Cell) newGhost(m *ghost.State, from mercury.Address, old *record) {
	d, err := c.definition(m.Type)
	if err != nil {
		c.count.Refused++
		return
	}
	m.Base = c.population.heirOr(m.Base, m.ID)
	g := ghost.New(m.ID, d)
	if _, err := g.TakeState(m, from, c.tick, c.compressor); err != nil {
		c.badGhost(m.ID, err)
		return
	}
	c.makeWay(old, m.Order)
	rec := c.admit(g.Entity)
	rec.ghost, rec.heard = g, c.now
	c.ghosts.insert(rec)
	if c.population.traces(rec.e) {
		c.population.step(rec.e, "ghost made", "real", from)
	}
	c.noteControl(rec.e)
	c.watchGhost(rec)
}

func (c *Cell) badGhost(id entity.ID, err error) {
	c.count.Errors++
	c.log.Error("ghost message", "entity", id.String(), "error", err)
}

// ghostUpdate applies what a real did. If the Update is new but does not fit, a State was missed,
// and the ghost asks for it.
func (c *Cell) ghostUpdate(rec *record, m *ghost.Update, from mercury.Address) error {
	c.watch.Claim(&c.work.rest)
	if rec.ghost == nil {
		c.count.StaleGhosts++
		return nil
	}
	if m.Order == rec.e.Order && from != rec.ghost.Real {
		return c.population.untrue(errNotReal)
	}
	verdict, err := rec.ghost.TakeUpdate(m, c.tick)
	if err != nil {
		c.badGhost(m.ID, err)
	}
	if err != nil || verdict == ghost.Early {
		c.population.ask(from, ghost.Head{ID: m.ID})
	}
	if verdict != ghost.Taken {
		c.count.StaleGhosts++
		return nil
	}
	rec.hear(c.now)
	c.moved(rec.e)
	c.noteControl(rec.e)
	return nil
}

// askForItself is how long a ghost has heard nothing of its real when it asks for itself, too, as it
// passes a question on.
const askForItself = time.Second

// GhostLease is how long a ghost believes in a silent real before it asks. A real that acts is
// heard each tick, so ghosts ask only about reals at rest.
const GhostLease = 10 * time.Second

// ghostQuery answers a question about a real, or passes it on.
func (c *Cell) ghostQuery(rec *record, m *ghost.Query) {
	c.watch.Claim(&c.work.rest)
	switch {
	case rec.real != nil:
		c.showGhost(rec.real, m)
	case m.Hops < ghost.MaxQueryHops && rec.ghost.Real != m.Asker && rec.ghost.Real != c.self &&
		rec.ghost.OrphanedUntil == 0 && !c.out.Dead(rec.ghost.Real):
		on := *m
		on.Hops++
		c.out.Send(rec.ghost.Real, &on)
		if c.now-rec.heard >= askForItself {
			// If nothing is known there, the asker hears it from an app in which it does not believe.
			// It then asks here again, where the ghost must have gone by then.
			c.population.ask(rec.ghost.Real, rec.ghost.Head())
			rec.heard = c.now
		}
	default:
		c.population.deny(m)
	}
}

// showGhost sends a real to the asker: a short answer if the asker only heard nothing for long.
func (c *Cell) showGhost(r *Real, m *ghost.Query) {
	if r.gone != staying || c.out.Dead(m.Asker) {
		return
	}
	if !c.has(roomLater, m.Asker) {
		// A haunt gets the sum when there is room; anyone else asks again.
		r.leaveBehind(m.Asker)
		return
	}
	if len(r.changes) > 0 {
		c.tell(r) // the answer must not overtake it
	}
	if r.haunts.Has(m.Asker) && m.Order == r.e.Order {
		r.ghostSequence++
		c.out.Send(m.Asker, &ghost.Update{
			Head:  ghost.Head{ID: r.e.ID, Order: r.e.Order, Sequence: r.ghostSequence},
			After: r.updated, MoveStamp: r.e.MoveStamp, Position: r.e.Position, Direction: r.e.Direction, Control: r.e.Control,
			Ride: r.e.Ride,
		})
		return
	}
	state := r.state()
	if state == nil {
		r.haunts.Remove(m.Asker)
		r.endGhost(m.Asker)
		return
	}
	if r.haunts.Has(m.Asker) || r.haunts.Add(m.Asker, c.now) {
		r.haunts.SetBehind(m.Asker, false)
		state.Answers = m.Asked
		c.list(c.population.find(r.e.ID))
		c.out.Send(m.Asker, state)
	}
}

// auditGhosts lets every haunt compare its ghosts with the reals here.
func (c *Cell) auditGhosts() {
	for _, rec := range c.reals {
		r := rec.real
		var sum uint64
		sum, c.scratch = ghost.Sum(r.e, c.scratch)
		for h := range r.haunts.All() {
			c.out.Send(h.App, &ghost.Audit{Head: ghost.Head{ID: r.e.ID, Order: r.e.Order, Sequence: r.ghostSequence}, Sum: sum})
		}
	}
}

// ghostAudit compares a ghost with its real's figures.
func (c *Cell) ghostAudit(rec *record, m *ghost.Audit, from mercury.Address) error {
	c.watch.Claim(&c.work.rest)
	if rec.ghost == nil || rec.e.Order != m.Order {
		c.count.GhostsDiffer++
		return nil
	}
	if from != rec.ghost.Real {
		return c.population.untrue(errNotReal)
	}
	var sum uint64
	if sum, c.scratch = ghost.Sum(rec.e, c.scratch); sum != m.Sum {
		c.count.GhostsDiffer++
	}
	return nil
}
