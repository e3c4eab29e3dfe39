package client

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// Errors of what a client asks for at the wrong time.
var (
	// ErrNotPlaying is returned before LoggedIn, and once the session is over.
	ErrNotPlaying = errors.New("client: not playing")
	// ErrNotInWorld is returned while the player's entity has no cell part.
	ErrNotInWorld = errors.New("client: the player is not in a space")
	// ErrPosition is returned for a place with a number that is not finite or
	// beyond entity.MaxCoordinate.
	ErrPosition = errors.New("client: position or direction out of range")
)

// SetPosition puts the player's entity at a place at once. The server hears of it at the next
// Tick: unreliably while the player moves, and once reliably when it has come to
// rest. Errors are ErrNotInWorld and ErrPosition.
func (c *Client) SetPosition(position, direction property.Vector3) error {
	if c.state != Playing || !c.inWorld {
		return ErrNotInWorld
	}
	if !entity.Finite(position) || !entity.Finite(direction) {
		return ErrPosition
	}
	if c.player.Position == position && c.player.Direction == direction {
		return nil
	}
	c.player.Position, c.player.Direction = position, direction
	c.dirty = true
	return nil
}

// quietBundles is how many bundles a client that stands still and hears of no places takes in before
// it says so: the witness has to know some day, since it gives up no alias before.
const quietBundles = 64

// sendMove says where the player is, if the server does not know, and what has come of the places
// of others.
func (c *Client) sendMove() {
	if c.state != Playing || !c.inWorld || c.leaving {
		return
	}
	c.seen.Bundle = c.bundle
	still := !c.dirty && !c.moving
	if still && c.seen.Packet == c.toldSeen.Packet && c.seen.Earlier == c.toldSeen.Earlier && c.seen.Bundle < c.toldSeen.Bundle+quietBundles {
		return
	}
	c.toldSeen = c.seen
	if still {
		m := protocol.Sight{Incarnation: c.incarnation, Seen: c.seen}
		c.whisper(m.Append(c.buf[:0]))
		return
	}
	c.sequence++
	m := protocol.Move{Sequence: c.sequence, Incarnation: c.incarnation, Seen: c.seen, Position: c.player.Position, Direction: c.player.Direction}
	c.stats.MovesSent++
	if c.dirty {
		c.whisper(m.Append(c.buf[:0]))
	} else {
		c.buf = m.Append(c.buf[:0])
		c.stats.BytesUp += uint64(len(c.buf))
		if c.unsent(c.cfg.Transport.Send(c.ch, c.buf)) {
			return // it is at rest, and the server still has to hear of it
		}
	}
	c.dirty, c.moving = false, c.dirty
}

// whisper sends what the next one makes good.
func (c *Client) whisper(msg []byte) {
	c.buf = msg
	c.stats.BytesUp += uint64(len(msg))
	_, err := c.cfg.Transport.SendUnreliable(c.ch, msg)
	c.unsent(err)
}

// AtRest reports whether the server has been told reliably where the player is.
func (c *Client) AtRest() bool { return !c.dirty && !c.moving }

// Cell is the mailbox of the cell part: the exposed cell methods of the player's own entity, or of
// one in its area of interest. The call is checked before it leaves; whether it really is handled
// is the server's to decide. Errors of a call are those of entity.Mailbox, entity.ErrNotExposed,
// entity.ErrNoPart for an entity that is not in sight any more, and ErrNotPlaying.
func (r *Replica) Cell() entity.Mailbox { return r.mailbox(entity.CellPart) }

// Base is the mailbox of the base part: the exposed base methods of the player's own entity. Those
// of others are exposed to nobody. Errors are as of Cell.
func (r *Replica) Base() entity.Mailbox { return r.mailbox(entity.BasePart) }

func (r *Replica) mailbox(part entity.Part) entity.Mailbox {
	if r == nil {
		return entity.Mailbox{} // of no entity in sight
	}
	return entity.Mailbox{ID: r.ID, Part: part, Def: r.Def, Via: replicaCaller{r}}
}

// replicaCaller is the Caller behind Cell and Base.
type replicaCaller struct{ r *Replica }

// CallMethod implements entity.Caller.
func (to replicaCaller) CallMethod(id entity.ID, part entity.Part, method int, args []byte) error {
	r, c := to.r, to.r.client
	if c == nil || c.state != Playing || c.leaving {
		return ErrNotPlaying
	}
	if c.Entity(id) != r {
		return fmt.Errorf("%w: the client does not see %s %v any more", entity.ErrNoPart, r.Def.Name, id)
	}
	methods := r.Def.CellMethods
	if part == entity.BasePart {
		methods = r.Def.BaseMethods
	}
	m := methods[method]
	switch {
	case m.Exposed == property.NotExposed, !r.Own() && (m.Exposed == property.ExposedOwn || part == entity.BasePart):
		return fmt.Errorf("%w: %s.%s", entity.ErrNotExposed, r.Def.Name, m.Name)
	case len(args) > protocol.MaxArguments:
		return fmt.Errorf("%w: %s.%s: %d bytes, at most %d are sent", entity.ErrArguments, r.Def.Name, m.Name, len(args), protocol.MaxArguments)
	}
	c.stats.CallsSent++
	if part == entity.BasePart {
		call := protocol.BaseCall{Method: uint16(m.ExposedIndex), Args: args}
		c.send(call.Append(c.buf[:0]))
		return nil
	}
	call := protocol.CellCall{Target: id, Method: uint16(m.ExposedIndex), Args: args}
	c.send(call.Append(c.buf[:0]))
	return nil
}

// RequestAudit asks the server what this client should hold; the answer is the
// event Audited; several requests in one tick may have one answer. It means something
// only in a world at rest.
func (c *Client) RequestAudit() error {
	if c.state != Playing || c.leaving {
		return ErrNotPlaying
	}
	c.send(protocol.AppendAuditRequest(c.buf[:0]))
	return nil
}
