package client

import (
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

func (c *Client) onChanges(body []byte) error {
	var m protocol.Changes
	if err := m.Parse(body); err != nil {
		return err
	}
	r := c.entities.get(m.ID)
	if r == nil {
		c.stats.UnknownEntities++
		return nil
	}
	r.told = c.bundle
	for rest := m.Props; len(rest) > 0; {
		var change property.Change
		var err error
		if change, rest, err = c.change(r, rest); err != nil {
			return err
		}
		if r.overtaken(&change, c.bundle) {
			if err := r.Props.Load(change.Index, change.Old); err != nil {
				return malformed("%w", err)
			}
			c.stats.StaleNews++
			continue
		}
		c.tellChanged(r, &change)
	}
	return nil
}

// onOwnProperty applies a change of the player's own entity.
func (c *Client) onOwnProperty(body []byte, base bool) error {
	change, rest, err := c.change(c.player, body)
	switch {
	case err != nil:
		return err
	case len(rest) > 0:
		return malformed("more than one property in a message for one")
	}
	p := c.player.Def.Properties[change.Index]
	if base != (p.Flags&property.OnBase != 0) {
		return malformed("%s.%s comes from the wrong part", c.player.Def.Name, p.Name)
	}
	c.tellChanged(c.player, &change)
	return nil
}

// onOwnValue applies a new value of a property of the player's own entity.
func (c *Client) onOwnValue(id protocol.ID, body []byte) error {
	p, v, err := protocol.OwnValue(c.player.Def, id, body)
	if err != nil {
		return err
	}
	change := property.Change{Index: p.Index, Old: c.player.Props.Get(p.Index), New: v}
	if err := c.player.Props.Load(p.Index, v); err != nil {
		return malformed("%w", err)
	}
	c.cfg.PropertyStats.Add(c.player.Def, p.Index, property.Received, len(body)+1)
	c.tellChanged(c.player, &change)
	return nil
}

// change makes the first change in b, of a whole property or of a part. A property that this client
// must not see is an error.
func (c *Client) change(r *Replica, b []byte) (change property.Change, rest []byte, err error) {
	change, rest, err = r.Props.ApplyClientChange(b)
	if err != nil {
		return change, b, malformed("%w", err)
	}
	c.cfg.PropertyStats.Add(r.Def, change.Index, property.Received, len(b)-len(rest))
	return change, rest, nil
}

// tellChanged tells of a change, unless it has changed nothing.
func (c *Client) tellChanged(r *Replica, change *property.Change) {
	// The handler of the last property may have ended the session.
	if c.state == Closed || !change.Nested() && property.Equal(change.Old, change.New) {
		return
	}
	r.hear(change)
	if c.state != Closed && c.cfg.Events.PropertyChanged != nil {
		c.cfg.Events.PropertyChanged(r, change)
	}
}
