package space

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
)

// Messages about ghosts find their entity here. Most are for the cell that has it; the rest is
// about entities that no cell has.

// GhostState makes a ghost, or brings one to a new hop. It ignores a State for a space without a
// cell here, or a gateway that leads there: it comes too late, or shows that the ghost here is of a real
// that has been teleported away.
func (p *Population) GhostState(m *ghost.State, from mercury.Address) error {
	p.env.Watch.Claim(nil) // migration work
	if c := p.lodging(m.Space); c != nil {
		return c.ghostState(m, from)
	}
	p.env.Counters.StaleGhosts++
	if rec := p.find(m.ID); rec != nil && rec.ghost != nil && from == rec.ghost.Real && !rec.olderState(m.Head) {
		rec.cell.evict(rec)
		p.rumours.End(m.Head, p.now)
	}
	return nil
}

// GhostUpdate applies a real's changes to its ghost.
func (p *Population) GhostUpdate(m *ghost.Update, from mercury.Address) error {
	if rec := p.find(m.ID); rec != nil {
		return rec.cell.ghostUpdate(rec, m, from)
	}
	p.env.Counters.StaleGhosts++
	if !p.tombstones.Forbids(m.Head) && !p.rumours.Forbid(m.Head, 0) {
		p.ask(from, ghost.Head{ID: m.ID})
	}
	return nil
}

// GhostDelete ends a ghost if the app of its real says so, as far as that is known here. Anyone
// else makes the ghost doubt (see doubt). A Delete for a ghost that is not here is a rumour: the
// State that makes the ghost may still be under way.
func (p *Population) GhostDelete(m *ghost.Delete, from mercury.Address) {
	p.env.Watch.Claim(nil) // migration work
	switch rec := p.find(m.ID); {
	case rec == nil:
		p.rumours.Hear(m.Head, p.now)
	case rec.ghost == nil || rec.ghost.Older(m.Head):
		p.env.Counters.StaleGhosts++
	case from == rec.ghost.Real || rec.ghost.OrphanedUntil != 0:
		rec.cell.evict(rec)
		p.rumours.End(m.Head, p.now)
		if m.Ended {
			rec.cell.throwOff(m.ID)
		}
	default:
		p.env.Counters.Unproved++
		rec.cell.doubt(rec)
	}
}

// GhostAudit compares a ghost with its real's figures.
func (p *Population) GhostAudit(m *ghost.Audit, from mercury.Address) error {
	if rec := p.find(m.ID); rec != nil {
		return rec.cell.ghostAudit(rec, m, from)
	}
	p.env.Counters.GhostsDiffer++
	return nil
}

// GhostQuery answers a question about a real, or passes it on.
func (p *Population) GhostQuery(m *ghost.Query, from mercury.Address) error {
	if m.Hops == 0 && m.Asker != from {
		return p.untrue(errNotAsker)
	}
	if rec := p.find(m.ID); rec != nil {
		rec.cell.ghostQuery(rec, m)
		return nil
	}
	p.deny(m)
	return nil
}

// GhostWatched takes in whether a client sees a ghost on another app. If the real is not here any more,
// the ghost tells the next app when it hears of it.
func (p *Population) GhostWatched(m *ghost.Watched, from mercury.Address) {
	rec := p.find(m.ID)
	if rec == nil || rec.real == nil || rec.e.Order.Incarnation != m.Order.Incarnation || !rec.real.haunts.SetWatched(from, m.On) {
		p.env.Counters.StaleGhosts++
		return
	}
	if m.On {
		rec.cell.noticed = append(rec.cell.noticed, rec)
	}
}

// deny tells the holder of a ghost that the real is not here, and that nobody here knows where it
// is.
func (p *Population) deny(m *ghost.Query) {
	if m.Order != (entity.Order{}) {
		end := m.Head
		end.Sequence++
		p.env.Out.Send(m.Asker, &ghost.Delete{Head: end})
	}
}

// ask asks an app for a real's State, or whether the real still exists.
func (p *Population) ask(real mercury.Address, have ghost.Head) {
	p.env.Out.Send(real, &ghost.Query{Head: have, Asker: p.env.Self, Asked: ghost.Moment(p.now)})
}
