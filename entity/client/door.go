package client

import (
	"iter"
	"slices"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
)

// A BaseApp has a door over each network that the world plays on, and the client takes whichever it
// can dial, the most preferred one first. This file says by which door it comes in, and by which it
// comes back. The token is what lets it in, over any network.

// door is that by which the last channel came; none before the login.
func (l *lifeline) door() (d protocol.Door) {
	if l.at < len(l.doors) {
		d = l.doors[l.at]
	}
	return d
}

// use notes that it is this one of the doors.
func (l *lifeline) use(d protocol.Door) { l.at = max(0, slices.Index(l.doors, d)) }

// choose returns the door over the network that the client prefers.
func (c *Client) choose(doors []protocol.Door) (protocol.Door, bool) {
	for _, network := range c.cfg.Networks {
		for i := range doors {
			if d := &doors[i]; d.Network == network && !d.Address.IsZero() {
				return *d, true
			}
		}
	}
	return protocol.Door{}, false
}

// chooseLike prefers the network on which the session is.
func (c *Client) chooseLike(doors []protocol.Door) (protocol.Door, bool) {
	if to, ok := protocol.Over(doors, c.life.door().Network); ok && !to.Address.IsZero() {
		return to, true
	}
	return c.choose(doors)
}

// dial opens a channel to a BaseApp.
func (c *Client) dial(to protocol.Door) (mercury.ChannelID, error) {
	if c.cfg.DialOver == nil {
		return c.cfg.Transport.Dial(to.Address), nil
	}
	return c.cfg.DialOver(to)
}

// over yields the doors over other networks than that of the session, the most preferred one first.
func (c *Client) over(doors []protocol.Door) iter.Seq[*protocol.Door] {
	own := c.life.door().Network
	return func(yield func(*protocol.Door) bool) {
		for _, network := range c.cfg.Networks {
			for i := range doors {
				d := &doors[i]
				if d.Network == network && network != own && !d.Address.IsZero() && !yield(d) {
					return
				}
			}
		}
	}
}

// ownDoor is the door of the session's BaseApp for a try to come back: the last one, and then the
// others in turn.
func (c *Client) ownDoor(try int) protocol.Door {
	n := 1
	for range c.over(c.life.doors) {
		n++
	}
	k := try % n
	for d := range c.over(c.life.doors) {
		if k--; k == 0 {
			return *d
		}
	}
	return c.life.door()
}

// others yields where a scout looks: at the fallback over the network of the session; then at its own BaseApp
// over others, unless the client tries that itself; then at the fallback over others.
func (c *Client) others() iter.Seq[*protocol.Door] {
	l := &c.life
	own := l.door().Network
	return func(yield func(*protocol.Door) bool) {
		for i := range l.fallback {
			if d := &l.fallback[i]; d.Network == own && !d.Address.IsZero() && !yield(d) {
				return
			}
		}
		if l.lost == nil {
			for d := range c.over(l.doors) {
				if !yield(d) {
					return
				}
			}
		}
		for d := range c.over(l.fallback) {
			if !yield(d) {
				return
			}
		}
	}
}

// elsewhere is the door for a try of a scout.
func (c *Client) elsewhere(try int) (protocol.Door, bool) {
	n := 0
	for range c.others() {
		n++
	}
	if n == 0 {
		return protocol.Door{}, false
	}
	k := try % n
	for d := range c.others() {
		if k == 0 {
			return *d, true
		}
		k--
	}
	return protocol.Door{}, false // not reached
}
