package space

import (
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// Ghosts, from both sides: what the reals here tell their haunts, and what the reals
// of others tell this cell.

// mirror makes and ends the ghosts of one real; own is the cell's rectangle, empty
// if it has none, and budget how many may be made.
func (c *Cell) mirror(r *Real, own bsp.Rect, budget int) int {
	p := r.e.Position
	x, z := float64(p.X), float64(p.Z)
	reach := c.cfg.Border.GhostDistance + float64(r.e.Def.AppealRadius)
	if around := bsp.Around(x, z, reach); r.haunts.Len() == 0 && within(around, own) {
		return budget // as most are: deep inside
	}
	var state *ghost.State
	for _, leaf := range c.tree.Overlapping(bsp.Around(x, z, reach)) {
		app := appOf(leaf)
		if app == c.self || !leaf.Created || r.haunts.Has(app) || c.out.Dead(app) || budget == 0 ||
			!c.has(roomLater, app) { // the next check sees
			continue
		}
		if state == nil {
			if state = r.state(); state == nil {
				break
			}
		}
		if !r.haunts.Add(app, c.now) {
			continue
		}
		budget--
		c.out.Send(app, state)
	}
	r.haunts.Sweep(func(h ghost.Haunt) bool {
		if c.now-h.Since < c.cfg.GhostLife || c.touches(h.App, bsp.Around(x, z, reach+float64(c.cfg.GhostSlack))) {
			return false
		}
		r.endGhost(h.App)
		return true
	})
	return budget
}

// leaveBehind has a haunt wait for the sum until there is room.
func (r *Real) leaveBehind(app mercury.Address) {
	r.haunts.SetBehind(app, true)
	r.cell.behind = true
}

func (r *Real) endGhost(at mercury.Address) {
	r.ghostSequence++
	r.cell.out.Send(at, &ghost.Delete{Head: ghost.Head{ID: r.e.ID, Order: r.e.Order, Sequence: r.ghostSequence}})
}

// within reports whether a has no point on the edge of b or outside it.
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

// state is everything a ghost holds. What the real has not told its haunts yet is
// in it: they are told first, and who gets it must not be among them before. Told
// again in an Update, a change of a part would be made twice. It is nil if nobody could
// take it: sent all the same, it would be refused, asked for at the next Update, and
// refused again, each tick.
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
		MoveStamp: r.e.MoveStamp, Position: r.e.Position, Direction: r.e.Direction,
		Props:   props,
		History: r.e.History.Append(nil),
	}
}

// ghostState makes a ghost or brings one up to a new hop.
func (c *Cell) ghostState(m *ghost.State, from mercury.Address) {
	rec := c.population.find(m.ID)
	if rec != nil && rec.olderState(m.Head) || c.population.tombstones.Forbids(m.Head) {
		c.count.StaleGhosts++
		return
	}
	if rec == nil || rec.real != nil || rec.cell != c || rec.e.Order.Incarnation != m.Order.Incarnation {
		c.newGhost(m, from, rec)
		return
	}
	was := rec.ghostValues()
	verdict, err := rec.ghost.TakeState(m, from, c.tick, c.compressor)
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
	rec.hearState(was)
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
	if _, err := g.TakeState(m, from, c.tick, c.compressor); err != nil {
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
	c.watchGhost(rec)
}

func (c *Cell) badGhost(id entity.ID, err error) {
	c.count.Errors++
	c.log.Error("ghost message", "entity", id.String(), "error", err)
}

// ghostUpdate takes what a real did. One that cannot be used, although it is new,
// means that a State was missed: it is asked for.
func (c *Cell) ghostUpdate(rec *record, m *ghost.Update, from mercury.Address) {
	c.watch.Claim(&c.work.rest)
	if rec.ghost == nil {
		c.count.StaleGhosts++
		return
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
		return
	}
	rec.heard = c.now
	c.moved(rec.e)
}

// GhostLease is how long a ghost believes in a real that is silent: a real that
// acts is heard each tick, so only those at rest are ever asked after.
const GhostLease = 10 * time.Second

// ghostQuery answers who asks after a real, or passes the question on.
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
	default:
		c.population.deny(m)
	}
}

// showGhost shows a real to who asked: in short if it only heard nothing for long.
func (c *Cell) showGhost(r *Real, m *ghost.Query) {
	if r.gone != staying || c.out.Dead(m.Asker) {
		return
	}
	if !c.has(roomLater, m.Asker) {
		// A haunt gets the sum when there is room; who is none asks again.
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
			After: r.updated, MoveStamp: r.e.MoveStamp, Position: r.e.Position, Direction: r.e.Direction,
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
		c.out.Send(m.Asker, state)
	}
}

// auditGhosts makes every haunt compare its ghosts with the reals here.
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

// ghostAudit compares a ghost with what its real says.
func (c *Cell) ghostAudit(rec *record, m *ghost.Audit) {
	c.watch.Claim(&c.work.rest)
	if rec.ghost == nil || rec.e.Order != m.Order {
		c.count.GhostsDiffer++
		return
	}
	var sum uint64
	if sum, c.scratch = ghost.Sum(rec.e, c.scratch); sum != m.Sum {
		c.count.GhostsDiffer++
	}
}
