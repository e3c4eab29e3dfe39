package client

import (
	"slices"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// This file moves the entities that the server has given this client the control of beside its own.

// maxCharges bounds what a client is given the control of: more than any server does
// (space.MaxControlled).
const maxCharges = 256

// charge is an entity that is not the player's own, and that this client moves. Its Replica is where
// the client says.
type charge struct {
	r                   *Replica
	incarnation, forced uint32
	// others is where the others see it, as the server tells: what comes next is told relative to it.
	others presence.Spot
	dirty  bool // it has moved since the last MoveOther
	moving bool // the last one went unreliably, or none has gone
}

func (r *Replica) spot() presence.Spot {
	return presence.Spot{Position: r.Position, Direction: r.Direction}
}
func (r *Replica) putAt(at presence.Spot) { r.Position, r.Direction = at.Position, at.Direction }
func (c *Client) chargeOf(r *Replica) (i int) {
	return slices.IndexFunc(c.charges, func(ch charge) bool { return ch.r == r })
}

// onControlled takes or gives up the control of another entity, or puts it where the server says.
func (c *Client) onControlled(body []byte) error {
	var m protocol.Controlled
	if err := m.Parse(body); err != nil {
		return err
	}
	if !c.inWorld {
		return malformed("the control of another entity outside of any space")
	}
	r := c.entities.get(m.ID)
	switch {
	case r == nil && !m.Control:
		return nil // it has left the view, and the control went with it
	case r == nil:
		c.stats.UnknownEntities++
		return nil
	case !m.Control:
		c.loseControl(r)
		return nil
	}
	if r.riding() != nil { // who is driven rides on nothing: the word on that follows
		c.alight(r)
		c.tellRide(r)
	}
	i := c.chargeOf(r)
	if i < 0 {
		if len(c.charges) >= maxCharges {
			return malformed("the control of more than %d entities", maxCharges)
		}
		i = len(c.charges)
		c.charges = append(c.charges, charge{r: r, others: r.spot()})
	}
	ch := &c.charges[i]
	ch.incarnation, ch.forced = m.Incarnation, m.Number
	// It says where it is even if it stays there: an older word may still be under way to the server.
	ch.dirty, ch.moving = false, true
	r.putAt(presence.Spot{Position: m.Position, Direction: m.Direction})
	c.carry(r, 0)
	c.tellControlled(r)
	return nil
}

// loseControl puts an entity where the others see it.
func (c *Client) loseControl(r *Replica) {
	i := c.chargeOf(r)
	if i < 0 {
		return
	}
	r.putAt(c.charges[i].others)
	c.charges = slices.Delete(c.charges, i, i+1)
	c.carry(r, 0)
	c.tellControlled(r)
}

func (c *Client) tellControlled(r *Replica) {
	if c.state != Closed && c.cfg.Events.Controlled != nil {
		c.cfg.Events.Controlled(r)
	}
}

// hearing has f take in what the server tells others of the place of r, and reports whether r has
// moved by that: an entity that this client moves is where the client says.
func (c *Client) hearing(r *Replica, f func() (used, moves bool)) (used, moves bool) {
	i := -1
	if len(c.charges) > 0 {
		i = c.chargeOf(r)
	}
	if i < 0 {
		return f()
	}
	own := r.spot()
	r.putAt(c.charges[i].others)
	used, _ = f()
	c.charges[i].others = r.spot()
	r.putAt(own)
	return used, false
}

// Controls reports whether this client moves the entity: its own (see Client.Controls), or another of
// which the server has given it the control. Events.Controlled tells when that changes.
func (r *Replica) Controls() bool {
	c := r.client
	if c == nil {
		return false
	}
	if r == c.player {
		return c.Controls()
	}
	return c.state == Playing && c.chargeOf(r) >= 0
}

// SetPosition moves an entity that this client controls, its own or another, as Client.SetPosition does.
// The server has the last word: it may put the entity elsewhere (Events.Controlled), and take the
// control, which it also does when the entity goes out of sight. Errors are those of
// Client.SetPosition.
func (r *Replica) SetPosition(position, direction property.Vector3) error {
	c := r.client
	switch {
	case c == nil || c.state != Playing || !c.inWorld:
		return ErrNotInWorld
	case r == c.player:
		return c.SetPosition(position, direction)
	}
	i := c.chargeOf(r)
	switch to := (presence.Spot{Position: position, Direction: direction}); {
	case i < 0:
		return ErrNoControl
	case !property.Finite(position) || !property.Finite(direction):
		return ErrPosition
	case r.spot() != to:
		r.putAt(to)
		c.charges[i].dirty = true
		c.carry(r, 0)
	}
	return nil
}

// sendCharges tells the server where the entities are that this client controls, if it does not know:
// unreliably while they move, and reliably when they have come to rest.
func (c *Client) sendCharges() {
	if c.state != Playing || !c.inWorld || c.leaving || c.life.lost != nil {
		return
	}
	for i := range c.charges {
		ch := &c.charges[i]
		if !ch.dirty && !ch.moving {
			continue
		}
		c.sequence++
		m := protocol.MoveOther{
			ID: ch.r.ID, Sequence: c.sequence, Incarnation: ch.incarnation, Forced: ch.forced, Position: ch.r.Position, Direction: ch.r.Direction,
		}
		if !c.sayMove(m.Append(c.buf[:0]), &ch.dirty, &ch.moving) {
			return
		}
	}
}

// chargesAtRest reports whether the server has been told reliably where they are.
func (c *Client) chargesAtRest() bool {
	return !slices.ContainsFunc(c.charges, func(ch charge) bool { return ch.dirty || ch.moving })
}
