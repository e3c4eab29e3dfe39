package client

import (
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// onLeaveSpace forgets the place that the player's entity has been teleported away from. The bundles
// go on, so that late packets of the old view tell of nobody in the new one.
func (c *Client) onLeaveSpace(body []byte) error {
	if len(body) > 0 {
		return malformed("leave space has a body")
	}
	bundle := c.bundle
	c.forget()
	c.bundle = bundle
	if c.state != Closed && c.cfg.Events.LeftSpace != nil {
		c.cfg.Events.LeftSpace(c.player)
	}
	return nil
}

// Mapper is a Filter that can go through a transition: what it shows is moved by an offset at once. One
// that cannot begins anew at the mapped place.
type Mapper interface{ Map(offset property.Vector3) }

// onTransit takes the view along through a transition. Late packets with places of before have no effect
// on who was mapped: placed says so.
func (c *Client) onTransit(body []byte) error {
	var m protocol.Transit
	if err := m.Parse(body); err != nil {
		return err
	}
	if !c.inWorld {
		return malformed("a transition outside of any space")
	}
	if !property.Finite(m.Offset) {
		return malformed("a transition over %v", m.Offset)
	}
	c.data, c.day = nil, dayClock{}
	for len(c.charges) > 0 {
		c.loseControl(c.charges[0].r)
	}
	c.player.carry(m.Offset, c.bundle)
	companions := make([]*Replica, 0, len(m.Companions))
	for _, id := range m.Companions {
		r := c.entities.get(id)
		if r == nil {
			c.stats.UnknownEntities++
			continue
		}
		r.carry(m.Offset, c.bundle)
		companions = append(companions, r)
	}
	c.seatAll()
	if c.cfg.Events.Transited != nil {
		c.cfg.Events.Transited(c.player, m.Offset, companions)
	}
	return nil
}

// carry maps the place of a replica.
func (r *Replica) carry(offset property.Vector3, bundle uint64) {
	r.Position.X += offset.X
	r.Position.Y += offset.Y
	r.Position.Z += offset.Z
	r.placed = max(r.placed, byBundle(bundle))
	if r.rare != nil {
		if r.rare.ride != nil {
			return // its filter plays its seats
		}
		if f, ok := r.rare.filter.(Mapper); ok {
			f.Map(offset)
			return
		}
	}
	r.play(Appears)
}

func (c *Client) onArrived(body []byte) error {
	if len(body) > 0 {
		return malformed("arrived has a body")
	}
	if c.cfg.Events.Arrived != nil {
		c.cfg.Events.Arrived(c.player)
	}
	return nil
}
