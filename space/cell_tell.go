package space

import (
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/property"
)

// tellGhosts sends what every real did since the last tick to its haunts.
func (c *Cell) tellGhosts() {
	for _, rec := range c.reals {
		if r := rec.real; len(r.changes) > 0 || r.ghostedStamp != r.e.MoveStamp {
			c.tell(r)
		}
	}
}

// tell sends what one real did to its haunts.
func (c *Cell) tell(r *Real) {
	if r.haunts.Len() > 0 && r.gone == staying {
		rest := c.sendUpdate(r, r.changes)
		for len(rest) > 0 {
			rest = c.sendUpdate(r, rest)
		}
	}
	r.changes, r.payloads = r.changes[:0], r.payloads[:0]
	r.ghostedStamp = r.e.MoveStamp
}

// maxUpdate is how many bytes of payloads one Update carries before the next one
// is begun: half of what its receivers take for certain.
const maxUpdate = ghost.MaxProps

// sendUpdate sends as many changes as one Update may carry, and returns the rest.
func (c *Cell) sendUpdate(r *Real, changes []ghost.Change) (rest []ghost.Change) {
	n, size := 0, 0
	for n < len(changes) && n < ghost.MaxChanges && (n == 0 || size+len(changes[n].Payload) <= maxUpdate) {
		size += len(changes[n].Payload)
		n++
	}
	r.ghostSequence++
	c.update = ghost.Update{
		Head:  ghost.Head{ID: r.e.ID, Order: r.e.Order, Sequence: r.ghostSequence},
		After: r.updated, MoveStamp: r.e.MoveStamp, Position: r.e.Position, Direction: r.e.Direction, Changes: changes[:n],
	}
	r.updated = r.ghostSequence
	for h := range r.haunts.All() {
		c.out.Send(h.App, &c.update)
		c.countToGhost(r.e.Def, changes[:n])
	}
	return changes[n:]
}

func (c *Cell) countToGhost(d *property.Definition, changes []ghost.Change) {
	for i := range changes {
		if x := &changes[i]; !x.Event {
			c.stats.Add(d, int(x.Index), property.ToGhosts, len(x.Payload))
		}
	}
}
