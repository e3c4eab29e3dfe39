package space

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
)

// Messages about ghosts find their entity here. Most are for the cell that has it; the rest is
// about entities that no cell has.

// GhostState makes a ghost, or brings one to a new hop. It ignores a State for a space without a
// cell here, which comes too late.
func (p *Population) GhostState(m *ghost.State, from mercury.Address) {
	p.env.Watch.Claim(nil) // migration work
	if c := p.cell(m.Space); c != nil {
		c.ghostState(m, from)
		return
	}
	p.env.Counters.StaleGhosts++
}

// GhostUpdate applies a real's changes to its ghost.
func (p *Population) GhostUpdate(m *ghost.Update, from mercury.Address) {
	if rec := p.find(m.ID); rec != nil {
		rec.cell.ghostUpdate(rec, m, from)
		return
	}
	p.env.Counters.StaleGhosts++
	if !p.tombstones.Forbids(m.Head) {
		p.ask(from, ghost.Head{ID: m.ID})
	}
}

// GhostDelete ends a ghost. It leaves a tombstone even if the ghost is not here, since the State
// that makes it may still be under way.
func (p *Population) GhostDelete(m *ghost.Delete) {
	p.env.Watch.Claim(nil) // migration work
	rec := p.find(m.ID)
	if rec != nil && rec.ghost != nil {
		if rec.ghost.Older(m.Head) {
			p.env.Counters.StaleGhosts++
			return
		}
		rec.cell.evict(rec)
	}
	p.tombstones.Bury(m.Head, p.now)
}

// GhostAudit compares a ghost with its real's figures.
func (p *Population) GhostAudit(m *ghost.Audit) {
	if rec := p.find(m.ID); rec != nil {
		rec.cell.ghostAudit(rec, m)
		return
	}
	p.env.Counters.GhostsDiffer++
}

// GhostQuery answers a question about a real, or passes it on.
func (p *Population) GhostQuery(m *ghost.Query) {
	if rec := p.find(m.ID); rec != nil {
		rec.cell.ghostQuery(rec, m)
		return
	}
	p.deny(m)
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
	p.env.Out.Send(real, &ghost.Query{Head: have, Asker: p.env.Self})
}
