package client

import (
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// This file takes what packets tell beside places: values and calls that may be lost. An older value
// never replaces a newer one; package protocol says how the two are told apart.

// newsMark says which packet told a value that a replica has.
type newsMark struct {
	index  int
	packet uint32
	after  uint64
}

// mark finds the mark of a property, or makes one. There are no more than the type has properties.
func (r *Replica) mark(index int) *newsMark {
	x := r.extend()
	for i := range x.news {
		if x.news[i].index == index {
			return &x.news[i]
		}
	}
	x.news = append(x.news, newsMark{index: index})
	return &x.news[len(x.news)-1]
}

// overtaken reports whether a change that came in a bundle is older than what a packet has told: the
// packet came first, and was made after it.
func (r *Replica) overtaken(change *property.Change, bundle uint64) bool {
	if r.rare == nil {
		return false
	}
	for i := range r.rare.news {
		if m := &r.rare.news[i]; m.index == change.Index {
			return !change.Nested() && m.after >= bundle
		}
	}
	return false
}

// news uses a piece of news of an entity, unless something later is known.
func (c *Client) news(h *protocol.PacketHead, n *protocol.News) error {
	r := c.aliases.get(n.Alias)
	if r == nil {
		c.stats.UnknownEntities++
		return nil
	}
	if h.After < r.told && !n.Call {
		c.stats.StaleNews++
		return nil
	}
	var err error
	if n.Call {
		err = c.whispered(r, h, n)
	} else {
		err = c.newsOf(r, h, n.Body)
	}
	if err == nil && c.state == Closed {
		return errOver
	}
	return err
}

// newsOf takes values.
func (c *Client) newsOf(r *Replica, h *protocol.PacketHead, body []byte) error {
	return protocol.Whole(r.Def, body, func(i int, v property.Value) error {
		mark := r.mark(i)
		if mark.packet >= h.Number {
			c.stats.StaleNews++
			return nil
		}
		change := property.Change{Index: i, Old: r.Props.Get(i), New: v}
		if err := r.Props.Load(i, v); err != nil {
			return malformed("%w", err)
		}
		mark.packet, mark.after = h.Number, max(mark.after, h.After)
		c.stats.News++
		c.cfg.PropertyStats.Add(r.Def, i, property.Received, r.Props.Size(i)+1)
		c.tellChanged(r, &change)
		return nil
	})
}

// whispered makes a call, unless one that was sent later was made, or it was made before. A packet that
// is ahead of its bundles may speak of an entity that has left in them and come again, restored: its
// call is lost like any other.
func (c *Client) whispered(r *Replica, h *protocol.PacketHead, n *protocol.News) error {
	x := r.extend()
	if h.After < r.entered || h.After > c.bundle || h.Number < x.whisper || h.Number == x.whisper && n.Order <= x.called {
		c.stats.StaleNews++
		return nil
	}
	method, args, err := n.Whisper(r.Def)
	if err != nil {
		return err
	}
	x.whisper, x.called = h.Number, n.Order
	c.stats.News++
	return c.called(r, method, args)
}
