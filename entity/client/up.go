package client

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// Errors of a client's requests.
var (
	// ErrNotPlaying is returned before LoggedIn and after the session is over.
	ErrNotPlaying = errors.New("client: not playing")
	// ErrNotInWorld is returned while the player's entity has no cell part.
	ErrNotInWorld = errors.New("client: the player is not in a space")
	// ErrNoControl is returned while the server moves the player's entity, and for an entity of which this
	// client has no control.
	ErrNoControl = errors.New("client: the entity is not for this client to move")
	// ErrPosition is returned for a place with a number that is not finite or is beyond
	// property.MaxCoordinate.
	ErrPosition = errors.New("client: position or direction out of range")
)

// EnableEntities says that the game is ready to be shown the player's entity and the world. It is
// needed, once, after LoggedIn and after each EntitiesReset, with Config.EnableLater. Errors are
// ErrNotPlaying, also if it was said before, and ErrUnsettled.
func (c *Client) EnableEntities() error {
	if c.state != Playing || c.leaving || c.enabled {
		return ErrNotPlaying
	}
	err := c.upload(protocol.AppendEnableEntities(c.buf[:0]))
	c.enabled = err == nil
	return err
}

// SetPosition moves the player's entity at once. The next Tick tells the server: unreliably while
// the player moves, and once reliably when it has come to rest. Who is on a vehicle takes another
// seat on it, and goes on with it. The server has the last word: it may put the entity elsewhere
// (Events.Forced). Errors are ErrNotInWorld, ErrNoControl and ErrPosition.
func (c *Client) SetPosition(position, direction property.Vector3) error {
	if c.state != Playing || !c.inWorld {
		return ErrNotInWorld
	}
	if !c.control {
		return ErrNoControl
	}
	if !property.Finite(position) || !property.Finite(direction) {
		return ErrPosition
	}
	to := presence.Spot{Position: position, Direction: direction}
	if c.player.spot() == to {
		return nil
	}
	if c.player.riding() != nil {
		return c.player.seatAt(to)
	}
	c.player.putAt(to)
	c.dirty = true
	c.carry(c.player, 0)
	return nil
}

// quietBundles is how many bundles a client takes before it reports them although it stands still
// and has received no packets. The witness needs the report to free aliases.
const quietBundles = 64

// sendMove tells the server where the player is, if it does not know, and which packets have come.
func (c *Client) sendMove() {
	if c.state != Playing || !c.inWorld || c.leaving || c.life.lost != nil {
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
	m := protocol.Move{Sequence: c.sequence, Incarnation: c.incarnation, Forced: c.forced, Seen: c.seen, Position: c.player.Position, Direction: c.player.Direction}
	if c.player.riding() != nil {
		m.Position, m.Direction = c.player.Seat()
	}
	c.sayMove(m.Append(c.buf[:0]), &c.dirty, &c.moving)
}

// sayMove sends where an entity is: unreliably if it has moved since the last time (dirty), else
// reliably, since it has come to rest. It reports false if the server has yet to hear of that rest.
func (c *Client) sayMove(msg []byte, dirty, moving *bool) bool {
	c.stats.MovesSent++
	if *dirty {
		c.whisper(msg)
	} else if c.rest(msg) != nil {
		return false
	}
	*dirty, *moving = false, *dirty
	return true
}

// rest sends reliably where an entity has come to rest.
func (c *Client) rest(msg []byte) error {
	if c.life.time > 0 {
		return c.upload(msg)
	}
	c.buf = msg
	c.stats.BytesUp += uint64(len(msg))
	err := c.cfg.Transport.Send(c.ch, msg)
	c.unsent(err)
	return err
}

// whisper sends unreliably what a later message would make good.
func (c *Client) whisper(msg []byte) {
	c.buf = msg
	c.stats.BytesUp += uint64(len(msg))
	_, err := c.cfg.Transport.SendUnreliable(c.ch, msg)
	c.unsent(err)
}

// AtRest reports whether the server has been told reliably where the player is, and where all else is
// that this client controls.
func (c *Client) AtRest() bool {
	return !c.dirty && !c.moving && c.chargesAtRest() && c.life.lost == nil && c.life.uploads.Unsent() == 0
}

// Cell is the mailbox of the cell part, for the exposed cell methods of the player's own entity or
// of one in its area of interest. A call is checked before it is sent, but the server decides
// whether to handle it. Errors of a call are those of entity.Mailbox, entity.ErrNotExposed,
// entity.ErrNoPart for an entity that is no longer in sight, ErrNotPlaying and ErrUnsettled. A call that is
// made while the connection is lost (Client.Interrupted) is sent when it is back.
func (r *Replica) Cell() entity.Mailbox { return r.mailbox(entity.CellMailbox) }

// Base is the mailbox of the base part, for the exposed base methods of the player's own entity. A
// client cannot call those of other entities. Errors are those of Cell.
func (r *Replica) Base() entity.Mailbox { return r.mailbox(entity.BaseMailbox) }

func (r *Replica) mailbox(kind entity.MailboxKind) entity.Mailbox {
	if r == nil {
		return entity.Mailbox{} // the entity is not in sight
	}
	return entity.Mailbox{ID: r.ID, Kind: kind, Def: r.Def, Via: replicaCaller{r}}
}

// replicaCaller is the Caller behind Cell and Base.
type replicaCaller struct{ r *Replica }

// CallMethod is how mailboxes call.
func (to replicaCaller) CallMethod(q entity.Request) error {
	id, part, method, args := q.To, q.Kind.Part(), q.Method, q.Args
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
	case q.OnReply != "":
		return fmt.Errorf("%w: %s.%s: a client gets no answers; call without Then", entity.ErrNoMethod, r.Def.Name, m.Name)
	case m.Exposed == property.NotExposed, !r.Own() && (m.Exposed == property.ExposedOwn || part == entity.BasePart):
		return fmt.Errorf("%w: %s.%s", entity.ErrNotExposed, r.Def.Name, m.Name)
	case len(args) > protocol.MaxArguments:
		return fmt.Errorf("%w: %s.%s: %d bytes, at most %d are sent", entity.ErrArguments, r.Def.Name, m.Name, len(args), protocol.MaxArguments)
	}
	var err error
	if part == entity.BasePart {
		call := protocol.BaseCall{Method: uint16(m.ExposedIndex), Args: args}
		err = c.upload(call.Append(c.buf[:0]))
	} else {
		call := protocol.CellCall{Target: id, Method: uint16(m.ExposedIndex), Args: args}
		err = c.upload(call.Append(c.buf[:0]))
	}
	if err == nil {
		c.stats.CallsSent++
	}
	return err
}

// RequestAudit asks the server what this client should hold. The event Audited has the answer;
// several requests in one tick may have one answer. It is meaningful only in a world at rest.
func (c *Client) RequestAudit() error {
	if c.state != Playing || c.leaving {
		return ErrNotPlaying
	}
	return c.upload(protocol.AppendAuditRequest(c.buf[:0]))
}
