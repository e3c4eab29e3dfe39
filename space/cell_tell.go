package space

import (
	"time"

	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/property"
)

// tellGhosts sends the haunts of each real what it did since the last tick.
//
// A haunt that does not keep up is left behind. Only the sum of what a real did matters to it, and
// one State tells that when there is room again. So a slow neighbour has late ghosts, but costs no
// memory here.
func (c *Cell) tellGhosts() {
	c.forgetHurried()
	c.catchUp()
	for _, rec := range c.reals {
		r := rec.real
		r.endLead()
		if len(r.changes) > 0 || r.ghostedStamp != r.e.MoveStamp || r.ghostedControl != r.e.Control || r.ghostedRide != r.e.Ride.Stamp {
			c.tell(r)
		}
	}
}

// TellEarly tells haunts of reals that clients have moved since the last message. The CellApp calls
// it a few times between two ticks. If moves were told only with the tick, each would wait for this
// tick and for the neighbour's; in a crowd on a line a twentieth of all moves came later than two
// ticks after they were made. It adds no work, since the tick leaves out what has been told.
func (p *Population) TellEarly(now time.Duration) {
	for _, c := range p.cells {
		if len(c.hurried) > 0 {
			p.now = now
			c.tellEarly(now)
		}
	}
}

func (c *Cell) tellEarly(now time.Duration) {
	c.now = now
	c.watch.Enter(&c.work.rest)
	for _, r := range c.hurried {
		if r.gone == staying && r.ghostedStamp != r.e.MoveStamp {
			c.tell(r)
		}
	}
	c.forgetHurried()
	c.watch.Leave()
}

// hurry notes that a real's haunts are to be told before the next tick.
func (c *Cell) hurry(r *Real) {
	if r.haunts.Len() > 0 {
		c.hurried = append(c.hurried, r)
	}
}

// forgetHurried clears the list, so that it keeps no departed real alive.
func (c *Cell) forgetHurried() {
	clear(c.hurried)
	c.hurried = c.hurried[:0]
}

// tell sends what one real did to its haunts.
func (c *Cell) tell(r *Real) {
	if r.haunts.Len() > 0 && r.gone == staying {
		c.tellChanges(r)
	}
	r.forgetChanges()
	r.hauntsKnow()
}

// hauntsKnow notes that the haunts were told all that the real is and has.
func (r *Real) hauntsKnow() {
	r.ghostedStamp, r.ghostedControl, r.ghostedRide = r.e.MoveStamp, r.e.Control, r.e.Ride.Stamp
}

func (c *Cell) tellChanges(r *Real) {
	rest := c.sendUpdate(r, r.changes)
	for len(rest) > 0 {
		rest = c.sendUpdate(r, rest)
	}
}

// forgetChanges drops what the haunts were to be told in Updates.
func (r *Real) forgetChanges() { r.changes, r.payloads = r.changes[:0], r.payloads[:0] }

// maxUpdate is how many bytes of payloads one Update carries before the next one begins: half of
// what receivers are sure to accept.
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
		After: r.updated, MoveStamp: r.e.MoveStamp, Position: r.e.Position, Direction: r.e.Direction,
		Control: r.e.Control, Ride: r.e.Ride, Changes: changes[:n],
	}
	r.updated = r.ghostSequence
	r.haunts.Each(func(h *ghost.Haunt) {
		if !h.Behind && !c.has(roomLater, h.App) {
			h.Behind, c.behind = true, true
		}
		if h.Behind {
			return
		}
		c.out.Send(h.App, &c.update)
		c.countToGhost(r.e.Def, changes[:n])
	})
	return changes[n:]
}

// catchUp updates the haunts that were left behind and have room again, beginning with another real
// in each tick.
func (c *Cell) catchUp() {
	if !c.behind {
		return
	}
	c.behind = false
	for i, first := 0, c.fairStart(); i < len(c.reals); i++ {
		r := c.reals[(first+i)%len(c.reals)].real
		if r.gone == staying && !r.catchUp() {
			c.behind = true
		}
	}
}

// catchUp sends the sum of what the real did to the haunts that were left behind, and reports
// whether all have caught up.
func (r *Real) catchUp() (all bool) {
	var state *ghost.State
	all = true
	tooLarge := false
	r.haunts.Each(func(h *ghost.Haunt) {
		switch {
		case !h.Behind || tooLarge:
			return
		case !r.cell.has(roomLater, h.App):
			all = false
			return
		case state == nil:
			if state = r.state(); state == nil {
				tooLarge = true
				return
			}
		}
		h.Behind = false
		r.cell.out.Send(h.App, state)
	})
	if tooLarge {
		r.haunts.Sweep(func(h ghost.Haunt) bool {
			if h.Behind {
				r.endGhost(h.App)
			}
			return h.Behind
		})
	}
	return all || tooLarge
}

// fairStart is the index of the real at which this tick begins when room is scarce.
func (c *Cell) fairStart() int { return int(c.tick * fairStep % uint64(max(1, len(c.reals)))) }

func (c *Cell) countToGhost(d *property.Definition, changes []ghost.Change) {
	for i := range changes {
		if x := &changes[i]; !x.Event {
			c.stats.Add(d, int(x.Index), property.ToGhosts, len(x.Payload))
		}
	}
}
