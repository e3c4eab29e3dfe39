package client

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// This file keeps what the client knows of entities that have left, so that one that comes back need
// not be told whole. The server says what is kept and where, and how long; see protocol.Keep. There are
// protocol.MaxKept slots, and what is in one was once in an entity in view, whose size has its own bound.

// kept is an entity that has left.
type kept struct {
	def                 *property.Definition // nil: the slot is empty
	id                  entity.ID
	position, direction property.Vector3
	props               []byte // whole values, as in an Enter that is not packed
}

// keep puts what is known of r into a slot.
func (c *Client) keep(slot uint8, r *Replica) {
	for len(c.kept) <= int(slot) {
		c.kept = append(c.kept, kept{})
	}
	c.drop(slot)
	k := &c.kept[slot]
	k.def, k.id, k.position, k.direction = r.Def, r.ID, r.Position, r.Direction
	for _, i := range r.Def.Stream(property.OtherClientStream) {
		k.props = r.Props.AppendClientValue(k.props, i)
	}
	c.stats.Kept++
	c.stats.KeptBytes += uint64(len(k.props))
}

// drop empties a slot.
func (c *Client) drop(slot uint8) {
	if int(slot) >= len(c.kept) || c.kept[slot].def == nil {
		return
	}
	c.stats.Kept--
	c.stats.KeptBytes -= uint64(len(c.kept[slot].props))
	c.kept[slot] = kept{}
}

// forgetKept empties all slots.
func (c *Client) forgetKept() {
	c.kept, c.stats.Kept, c.stats.KeptBytes = nil, 0, 0
}

func (c *Client) onKeep(body []byte) error {
	var m protocol.Keep
	if err := m.Parse(body); err != nil {
		return err
	}
	r := c.aliases.get(m.Alias)
	if r == nil {
		return malformed("nobody has the alias %d, and is to be kept", m.Alias)
	}
	for _, slot := range m.Drop {
		c.drop(slot)
	}
	c.loseControl(r) // what is kept is what the server has told
	c.keep(m.Slot, r)
	c.leave(r.ID)
	return nil
}

func (c *Client) onReturn(body []byte) error {
	var m protocol.Return
	if err := m.Parse(body); err != nil {
		return err
	}
	if int(m.Slot) >= len(c.kept) || c.kept[m.Slot].def == nil {
		return malformed("an entity returns from slot %d, which is empty", m.Slot)
	}
	k := c.kept[m.Slot]
	c.drop(m.Slot)
	position, direction, ok := m.From(k.position, k.direction)
	if !ok {
		return malformed("a place outside of any space")
	}
	r, err := c.newReplica(k.id, k.def.ClientID, property.OtherClientSide)
	if err != nil {
		return err
	}
	if err := load(r, k.props); err != nil {
		return err
	}
	for rest := m.Props; len(rest) > 0; {
		if _, rest, err = c.change(r, rest); err != nil {
			return err
		}
	}
	c.stats.Returned++
	return c.enter(r, m.Alias, position, direction)
}
