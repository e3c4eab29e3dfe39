package client

import (
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
)

// This file handles the server's word on the place of the player's own entity.

// onForced puts the player's entity where the server says that it is.
func (c *Client) onForced(body []byte) error {
	var m protocol.Forced
	if err := m.Parse(body); err != nil {
		return err
	}
	if !c.inWorld {
		return malformed("a forced place outside of any space")
	}
	if m.Vehicle == c.player.ID {
		return malformed("the player rides on itself")
	}
	vehicle := c.player.Vehicle()
	c.force(&m)
	c.stats.Forced++
	if vehicle != m.Vehicle {
		c.tellRide(c.player)
	}
	c.player.tellForced()
	if c.state != Closed && c.cfg.Events.Forced != nil {
		c.cfg.Events.Forced(c.player)
	}
	return nil
}

// force applies a forced place, in the world or on a vehicle. What the client would have said of the old one
// is void.
func (c *Client) force(m *protocol.Forced) {
	at := presence.Spot{Position: m.Position, Direction: m.Direction}
	c.forced, c.control = m.Number, m.Control
	c.dirty, c.moving = false, false
	if m.Vehicle != 0 {
		c.board(c.player, m.Vehicle, at)
		return
	}
	c.alight(c.player)
	c.player.putAt(at)
	c.carry(c.player, 0)
}

// Controls reports whether this client moves the player's entity, so that SetPosition works.
// Otherwise the server does: Events.Forced tells where it is by then, and when the control is back.
func (c *Client) Controls() bool { return c.inWorld && c.control }
