package cellapp

import (
	"slices"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// The manager takes a cell out of its space. On the CellApp that runs the cell:
//
//	        RemoveCell              every peer has acked, and nothing is left
//	cell -------------> removing ---------------------------------------------> gone, CellRemoved
//	                       | AddCell: the CellApp gets another cell of the space,
//	                       v which takes over what is left
//	                     cell
//
// and on a peer:
//
//	CellGoing            the last has been sent
//	-----------> going -------------------------> RemovalAck
//
// If the space has ended, its reals are destroyed. No ack is needed then, since nobody hands
// anything over any more.
//
// An ack may arrive before its order, since the manager and the peers have channels of their own.

// maxEarlyAcks bounds the acks that wait for their order: enough for a few cells with hundreds of
// peers. The manager asks again for an ack that was dropped.
const maxEarlyAcks = 4096

// removing is a cell here that is out of its space.
type removing struct {
	space   entity.SpaceID
	cell    bsp.CellID
	waiting []mercury.Address // peers that have not acked
}

// ack is a peer's acknowledgement that it sends a cell nothing more.
type ack struct {
	space entity.SpaceID
	cell  bsp.CellID
	from  mercury.Address
}

// removals holds what a CellApp knows of cells that are going, its own and others'.
type removals struct {
	own   []removing
	acked []ack            // before their order
	going []wire.CellGoing // cells of peers, not acked yet
}

// removeCell begins to remove a cell, or says again that it is gone.
func (a *CellApp) removeCell(m *wire.RemoveCell) {
	c := a.cell(m.Space)
	if c == nil || c.ID() != m.Cell {
		a.manager.Send(&wire.CellRemoved{Space: m.Space, Cell: m.Cell})
		return
	}
	r := a.removals.find(m.Space, m.Cell)
	if r == nil {
		a.log.Info("cell is being removed", "space", m.Space, "cell", m.Cell.String(), "reals", c.Reals(), "ghosts", c.Ghosts())
		a.removals.own = append(a.removals.own, removing{space: m.Space, cell: m.Cell, waiting: slices.Clone(m.Peers)})
		r = &a.removals.own[len(a.removals.own)-1]
		c.removing = true
	}
	if m.Ended {
		c.End()
		r.waiting = nil
	}
	// A repeated order may name fewer peers. A restarted manager does not know of a peer whose own
	// cell has gone, and nobody will ever ask that peer for its ack again.
	r.waiting = slices.DeleteFunc(r.waiting, func(p mercury.Address) bool {
		return a.links.Dead(p) || slices.Contains(a.removals.acked, ack{m.Space, m.Cell, p}) || !slices.Contains(m.Peers, p)
	})
	a.removals.acked = slices.DeleteFunc(a.removals.acked, func(x ack) bool { return x.space == m.Space && x.cell == m.Cell })
}

func (r *removals) find(space entity.SpaceID, cell bsp.CellID) *removing {
	for i := range r.own {
		if x := &r.own[i]; x.space == space && x.cell == cell {
			return x
		}
	}
	return nil
}

// removalAck takes a peer's ack, or keeps it until its order comes.
func (a *CellApp) removalAck(m *wire.RemovalAck, from mercury.Address) {
	if r := a.removals.find(m.Space, m.Cell); r != nil {
		r.waiting = slices.DeleteFunc(r.waiting, func(p mercury.Address) bool { return p == from })
		return
	}
	x := ack{m.Space, m.Cell, from}
	if c := a.cell(m.Space); c == nil || c.ID() != m.Cell || slices.Contains(a.removals.acked, x) {
		return // the cell has gone, or the ack came twice
	}
	if len(a.removals.acked) < maxEarlyAcks {
		a.removals.acked = append(a.removals.acked, x)
	}
}

// cellGoing notes that a peer's cell is going; the ack follows when everything for it is sent.
func (a *CellApp) cellGoing(m *wire.CellGoing) {
	if !a.links.Dead(m.App) && !slices.Contains(a.removals.going, *m) {
		a.removals.going = append(a.removals.going, *m)
	}
}

// reused ends the removal of a cell that has been given a new place in the space.
func (a *CellApp) reused(id entity.SpaceID) {
	a.cell(id).removing = false
	a.removals.own = slices.DeleteFunc(a.removals.own, func(r removing) bool { return r.space == id })
	a.removals.acked = slices.DeleteFunc(a.removals.acked, func(x ack) bool { return x.space == id })
}

// mourn forgets the acks that a dead CellApp owes or is owed.
func (r *removals) mourn(app mercury.Address) {
	for i := range r.own {
		x := &r.own[i]
		x.waiting = slices.DeleteFunc(x.waiting, func(p mercury.Address) bool { return p == app })
	}
	r.acked = slices.DeleteFunc(r.acked, func(x ack) bool { return x.from == app })
	r.going = slices.DeleteFunc(r.going, func(g wire.CellGoing) bool { return g.App == app })
}

// goOn sends the acks that are ready and drops the cells whose removal is complete.
func (a *CellApp) goOn() {
	a.removals.going = slices.DeleteFunc(a.removals.going, func(g wire.CellGoing) bool {
		if c := a.cell(g.Space); c != nil && !c.DoneWith(g.Cell, g.App) {
			return false
		}
		a.outbox().Send(g.App, &wire.RemovalAck{Space: g.Space, Cell: g.Cell})
		return true
	})
	a.removals.own = slices.DeleteFunc(a.removals.own, func(r removing) bool {
		c := a.cell(r.space)
		if c == nil || len(r.waiting) > 0 || !c.Idle() {
			return c == nil
		}
		c.Drop()
		a.cells = slices.DeleteFunc(a.cells, func(x *hostedCell) bool { return x == c })
		a.log.Info("cell removed", "space", r.space, "cell", r.cell.String())
		a.manager.Send(&wire.CellRemoved{Space: r.space, Cell: r.cell})
		return true
	})
}

// Removing reports whether the cell of a space is being removed: it is out of the geometry, and
// stays until nobody can need it any more.
func (a *CellApp) Removing(id entity.SpaceID) bool {
	c := a.cell(id)
	return c != nil && c.removing
}

// Retire asks the manager to retire all cells of this CellApp, so that the process can end without
// loss. The reason goes into the manager's log. Retired reports when it is done. It cannot be
// cancelled.
func (a *CellApp) Retire(reason string) {
	a.retire, a.reason = true, reason[:min(len(reason), wire.MaxReason)]
	if a.alloc != nil {
		a.manager.Send(&wire.RetireApp{Reason: a.reason})
	}
}

// Retired reports whether the CellApp has handed everything over after Retire and has left its
// cluster. It first waits for bases that have not acknowledged all news of their reals; see
// LastWords.
func (a *CellApp) Retired() bool { return a.retired && (a.left || a.population.Unanswered() == 0) }
