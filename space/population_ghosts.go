package space

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
)

// Messages about ghosts find their entity here. Most are for the cell that has it; what is
// to be said of one that no cell has is the same for all of them.

// GhostState makes a ghost or brings one up to a new hop. One for a space of which no cell is
// here is too late.
func (p *Population) GhostState(m *ghost.State, from mercury.Address) {
	p.env.Watch.Claim(nil) // migration work
	if c := p.cell(m.Space); c != nil {
		c.ghostState(m, from)
		return
	}
	p.env.Counters.StaleGhosts++
}

// GhostUpdate takes what a real did.
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

// GhostDelete ends a ghost. One that is not here leaves a tombstone too: the State that
// made it may be under way still.
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

// GhostAudit compares a ghost with what its real says.
func (p *Population) GhostAudit(m *ghost.Audit) {
	if rec := p.find(m.ID); rec != nil {
		rec.cell.ghostAudit(rec, m)
		return
	}
	p.env.Counters.GhostsDiffer++
}

// GhostQuery answers who asks after a real, or passes the question on.
func (p *Population) GhostQuery(m *ghost.Query) {
	if rec := p.find(m.ID); rec != nil {
		rec.cell.ghostQuery(rec, m)
		return
	}
	p.deny(m)
}

// deny tells who has a ghost that its real is not here, and that nobody here knows where.
func (p *Population) deny(m *ghost.Query) {
	if m.Order != (entity.Order{}) {
		end := m.Head
		end.Sequence++
		p.env.Out.Send(m.Asker, &ghost.Delete{Head: end})
	}
}

// ask asks for a real's State, or whether there is one still.
func (p *Population) ask(real mercury.Address, have ghost.Head) {
	p.env.Out.Send(real, &ghost.Query{Head: have, Asker: p.env.Self})
}
