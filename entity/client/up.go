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
	// ErrUnknownEntity is returned for an entity that the client does not see.
	ErrUnknownEntity = errors.New("client: no such entity in sight")
	// ErrPosition is returned for a place with a number that is not finite or
	// beyond entity.MaxCoordinate.
	ErrPosition = errors.New("client: position or direction out of range")
)

// MoveTo puts the player's entity at a place. The server hears of it at the next
// Tick: unreliably while the player moves, and once reliably when it has come to
// rest. Errors are ErrNotInWorld and ErrPosition.
func (c *Client) MoveTo(position, direction property.Vector3) error {
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

// sendMove says where the player is, if the server does not know.
func (c *Client) sendMove() {
	if c.state != Playing || !c.inWorld || c.leaving || !c.dirty && !c.moving {
		return
	}
	c.sequence++
	m := protocol.Move{Sequence: c.sequence, Incarnation: c.incarnation, Position: c.player.Position, Direction: c.player.Direction}
	c.buf = m.Append(c.buf[:0])
	c.stats.MovesSent++
	c.stats.BytesUp += uint64(len(c.buf))
	if c.dirty {
		c.unsent(c.cfg.Transport.SendUnreliable(c.ch, c.buf))
	} else if c.unsent(c.cfg.Transport.Send(c.ch, c.buf)) {
		return // it is at rest, and the server still has to hear of it
	}
	c.dirty, c.moving = false, c.dirty
}

// AtRest reports whether the server has been told reliably where the player is.
func (c *Client) AtRest() bool { return !c.dirty && !c.moving }

// CallCell calls an exposed cell method of the player's own entity or of one in
// its area of interest. Whether it really is called is the server's to decide.
// Errors are ErrNotPlaying, ErrUnknownEntity, entity.ErrNoMethod,
// entity.ErrNotExposed and entity.ErrArguments.
func (c *Client) CallCell(target entity.ID, method string, args ...property.Value) error {
	if c.state != Playing || c.leaving {
		return ErrNotPlaying
	}
	r := c.Entity(target)
	if r == nil {
		return fmt.Errorf("%w: %v", ErrUnknownEntity, target)
	}
	m := r.Def.CellMethod(method)
	body, err := arguments(r, "cell", method, m, args)
	if err != nil {
		return err
	}
	call := protocol.CellCall{Target: target, Method: uint16(m.ExposedIndex), Args: body}
	c.stats.CallsSent++
	c.send(call.Append(c.buf[:0]))
	return nil
}

// CallBase calls an exposed base method of the player's own entity, with the
// errors of CallCell.
func (c *Client) CallBase(method string, args ...property.Value) error {
	if c.state != Playing || c.leaving || c.player == nil {
		return ErrNotPlaying
	}
	m := c.player.Def.BaseMethod(method)
	body, err := arguments(c.player, "base", method, m, args)
	if err != nil {
		return err
	}
	call := protocol.BaseCall{Method: uint16(m.ExposedIndex), Args: body}
	c.stats.CallsSent++
	c.send(call.Append(c.buf[:0]))
	return nil
}

// arguments checks a call that the server would refuse, and encodes it.
func arguments(r *Replica, side, name string, m *property.Method, args []property.Value) ([]byte, error) {
	switch {
	case m == nil:
		return nil, fmt.Errorf("%w: %s has no %s method %q", entity.ErrNoMethod, r.Def.Name, side, name)
	case m.Exposed == property.NotExposed, m.Exposed == property.ExposedOwn && !r.Own():
		return nil, fmt.Errorf("%w: %s.%s", entity.ErrNotExposed, r.Def.Name, name)
	}
	body, err := m.AppendArgs(nil, args)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", entity.ErrArguments, err)
	}
	if len(body) > protocol.MaxArguments {
		return nil, fmt.Errorf("%w: %s.%s: %d bytes, at most %d are sent", entity.ErrArguments, r.Def.Name, name, len(body), protocol.MaxArguments)
	}
	return body, nil
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
