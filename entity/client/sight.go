package client

import (
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// What the cell part shows of other entities.

func (c *Client) onEnter(body []byte) error {
	var m protocol.Enter
	if err := m.Parse(body); err != nil {
		return err
	}
	if m.ID == c.player.ID {
		return malformed("the player's own entity enters its own area of interest")
	}
	r, err := c.newReplica(m.ID, m.Type, property.OtherClientSide)
	if err != nil {
		return err
	}
	r.stamp, r.born = m.Stamp, c.bundle
	r.Position, r.Direction = m.Position, m.Direction
	if err := c.fill(r, m.Props); err != nil {
		return err
	}
	// A second Enter replaces the first: what it says is the newer truth.
	if !c.leave(m.ID) && len(c.entities) >= MaxEntities {
		return malformed("more than %d entities", MaxEntities)
	}
	c.entities.put(r)
	if c.state != Closed && c.cfg.Events.Entered != nil {
		c.cfg.Events.Entered(r)
	}
	return nil
}

// fill gives a new replica the values that it is seen with.
func (c *Client) fill(r *Replica, props []byte) error {
	props, err := c.compressor.Unpack(props, r.Def.Packing(property.OtherClientStream), protocol.MaxProps)
	if err != nil {
		return malformed("%s: %w", r.Def.Name, err)
	}
	return protocol.Whole(r.Def, props, func(i int, v property.Value) error {
		if err := r.Props.Load(i, v); err != nil {
			return malformed("%w", err)
		}
		return nil
	})
}

func (c *Client) onLeave(body []byte) error {
	id, err := protocol.ParseLeave(body)
	if err != nil {
		return err
	}
	if !c.leave(id) {
		c.stats.UnknownEntities++
	}
	return nil
}

func (c *Client) leave(id entity.ID) bool {
	r := c.entities.remove(id)
	if r != nil && c.cfg.Events.Left != nil {
		c.cfg.Events.Left(r)
	}
	return r != nil
}

func (c *Client) onCall(body []byte) error {
	var m protocol.Call
	if err := m.Parse(body); err != nil {
		return err
	}
	r := c.Entity(m.ID)
	if r == nil {
		c.stats.UnknownEntities++
		return nil
	}
	if int(m.Method) >= len(r.Def.ClientMethods) {
		return malformed("%s has no client method %d", r.Def.Name, m.Method)
	}
	method := r.Def.ClientMethods[m.Method]
	args, err := method.ReadArgs(m.Args)
	if err != nil {
		return malformed("%s: %w", r.Def.Name, err)
	}
	if err := r.call(method.Index, m.Args); err != nil {
		return malformed("%s: %w", r.Def.Name, err)
	}
	if c.state != Closed && c.cfg.Events.Called != nil {
		c.cfg.Events.Called(r, method, args)
	}
	return nil
}

func (c *Client) onRest(body []byte) error {
	var m protocol.Place
	if err := m.ParseRest(body); err != nil {
		return err
	}
	r := c.entities.get(m.ID)
	if r == nil {
		c.stats.UnknownEntities++
		return nil
	}
	used, moves := r.rest(c.bundle, m.Stamp, m.Position, m.Direction)
	if !used {
		c.stats.StalePositions++
	}
	c.tellMoved(r, moves)
	return nil
}

func (c *Client) tellMoved(r *Replica, moves bool) {
	if moves && c.cfg.Events.Moved != nil {
		c.cfg.Events.Moved(r)
	}
}

// positions applies an unreliable message of the proxy.
func (c *Client) positions(packet []byte) error {
	if c.state != Playing {
		// It overtook Attached.
		return nil
	}
	c.stats.Packets++
	over := false
	return protocol.Positions(packet, func(after uint64, p *protocol.Place) {
		if over {
			return
		}
		if after > c.bundle+maxAhead {
			c.stats.StalePositions++
			return
		}
		r := c.entities.get(p.ID)
		switch {
		case r == nil:
			c.stats.UnknownEntities++
		case !r.follow(after, p.Stamp, p.Position, p.Direction):
			c.stats.StalePositions++
		default:
			c.tellMoved(r, true)
			over = c.state == Closed
		}
	})
}

func (c *Client) onSpaceData(body []byte) error {
	var m protocol.SpaceData
	if err := m.Parse(body); err != nil {
		return err
	}
	value := slices.Clone(m.Value)
	i, ok := c.findData(m.Key)
	switch {
	case ok:
		c.data[i].value = value
	case len(c.data) >= MaxSpaceData:
		return malformed("more than %d entries of space data", MaxSpaceData)
	default:
		c.data = slices.Insert(c.data, i, spaceDatum{m.Key, value})
	}
	if c.cfg.Events.SpaceData != nil {
		c.cfg.Events.SpaceData(m.Key, slices.Clone(value))
	}
	return nil
}
