package sim

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// Messages are held back: now and then a client's move, or a message of a flow, waits in front of
// the CellApp to which it came, until the real that it is for has gone on to another one, or for a
// while. It then follows by another way than what was said after it. A real network may do so to
// any two messages of different channels; chance alone hardly does.

// heldMessage is a message that waits.
type heldMessage struct {
	p        *Process
	starts   int // starts of p when the message came
	ch       mercury.ChannelID
	reliable bool
	msg      []byte
	id       entity.ID
	until    time.Duration
}

const (
	// holdMoves and holdFlows say of how many moves and flow messages one is held back, maxHeld how
	// many may wait.
	holdMoves, holdFlows, maxHeld = 12, 60, 16
	// holdCheck is how often to look whether a real has gone.
	holdCheck = 10 * time.Millisecond
)

// hold holds a message back, or does not.
func (c *Cluster) hold(p *Process, ch mercury.ChannelID, reliable bool, msg []byte) bool {
	if !c.opts.Wild.Hold || !c.bad || len(c.held) >= maxHeld || len(msg) == 0 || !slices.Contains(c.cellApps, p) {
		return false
	}
	in, id := holdable(msg)
	if in == 0 {
		return false
	}
	if c.wild.hold.IntN(in) != 0 {
		return false
	}
	d := time.Duration(200+c.wild.hold.IntN(2500)) * time.Millisecond
	c.held = append(c.held, heldMessage{p, p.starts, ch, reliable, slices.Clone(msg), id, c.now + d})
	return true
}

// holdable returns of how many messages such as this one is held back, 0 if none is, and for which
// entity it is. What is passed on is like what was said first.
func holdable(msg []byte) (in int, id entity.ID) {
	kind, body, err := wire.Split(msg)
	if on := (wire.Onward{}); err == nil && kind == wire.OnwardID && on.Parse(body) == nil {
		kind, body, err = wire.Split(on.Message)
	}
	var move wire.ClientMove
	var m flow.Message
	switch {
	case err != nil:
	case kind == wire.ClientMoveID && move.Parse(body) == nil:
		return holdMoves, move.ID
	case kind == wire.FlowID && m.Parse(body) == nil:
		return holdFlows, m.To
	}
	return 0, 0
}

// release hands on what has waited long enough. A message whose process has died in the meantime is
// lost.
func (c *Cluster) release() {
	for i := 0; i < len(c.held); {
		h := c.held[i]
		gone := !h.p.alive || h.p.dying || h.p.starts != h.starts
		if !gone && (h.p.paused() || c.now < h.until && c.bad && !c.hasLeft(h.p, h.id)) {
			i++
			continue
		}
		c.held = slices.Delete(c.held, i, i+1)
		if !gone {
			c.orders.hear(h.p, h.ch, h.msg)
			h.p.app.Message(c.now, h.ch, h.reliable, h.msg)
			h.p.flush()
		}
	}
	c.holdAt = c.now + holdCheck
}

// hasLeft reports whether a CellApp has a ghost of an entity and no longer its real.
func (c *Cluster) hasLeft(p *Process, id entity.ID) (left bool) {
	for v := range c.viewsOf(p) {
		left = left || v.ID() == id && !v.IsReal()
	}
	return left
}
