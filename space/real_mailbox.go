package space

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/argument"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/property"
)

// Mailbox makes a stored mailbox callable, from a property, an argument or a result. Calls come from
// this cell part. A mailbox of a type that the definitions do not have reaches nobody.
func (r *Real) Mailbox(m property.Mailbox) entity.Mailbox {
	return script.Callable(m, r.cell.scripts.Schema(), realCaller{r})
}

// Lookup is the mailbox of an entity whose id and type are known. A type that the definitions do not
// have makes one that reaches nobody.
func (r *Real) Lookup(id entity.ID, typeName string, kind entity.MailboxKind) entity.Mailbox {
	return script.Find(r.cell.scripts.Schema(), id, typeName, kind, realCaller{r})
}

// Cell is the mailbox of the cell part itself. Its methods are called at once, before Call returns.
func (r *Real) Cell() entity.Mailbox {
	return entity.Mailbox{ID: r.e.ID, Kind: entity.CellMailbox, Def: r.e.Def, Via: realCaller{r}}
}

// ClientEntity is the mailbox for calls of client methods of another entity at this entity's own
// client only: there it looks as if the other one had said it. Calls fail with ErrNotSeen unless the
// client sees the other entity.
func (r *Real) ClientEntity(id entity.ID) entity.Mailbox {
	if id == r.e.ID {
		return r.OwnClient()
	}
	d := r.e.Def
	if rec := r.cell.population.find(id); rec != nil {
		d = rec.e.Def
	}
	return entity.Mailbox{ID: id, Kind: entity.ClientMailbox, Def: d, Via: clientEntityCaller{r}}
}

// ErrNotSeen is returned for a call at a client that does not see the entity.
var ErrNotSeen = errors.New("space: the client does not see the entity")

// MailboxValue is the mailbox of the cell part. It lets a script that embeds *Real be passed as an
// argument of type MAILBOX.
func (r *Real) MailboxValue() property.Mailbox {
	m := entity.Mailbox{ID: r.e.ID, Kind: entity.CellMailbox, Def: r.e.Def}
	if r.e.Base.IsZero() { // nobody else knows where it is
		m.At, m.Salt = r.cell.self.At, r.cell.self.Salt
	}
	return m.Value()
}

// clientCaller is the Caller behind OwnClient, OtherClients and AllClients.
type clientCaller struct {
	r           *Real
	own, others bool
}

// ArgumentBuffer lends memory for arguments.
func (c clientCaller) ArgumentBuffer() *argument.Buffer { return &c.r.cell.population.arguments }

func (c clientCaller) CallMethod(q entity.Request) error {
	if err := c.r.checkClientCall(&q, c.own && c.r.HasClient() || c.others); err != nil {
		return err
	}
	if c.others {
		if err := c.r.mayBroadcast(&q); err != nil {
			return err
		}
	}
	c.r.tapeCall(q.Method, q.Args, c.others)
	if c.own && c.r.HasClient() {
		c.r.callClient(q.To, q.Method, q.Args)
	}
	if c.others {
		c.r.event(q.Method, q.Args)
	}
	return nil
}

// checkClientCall refuses a call that no client can be told of. heard says that some client is to hear it,
// and so bounds what it is told.
func (r *Real) checkClientCall(q *entity.Request, heard bool) error {
	switch {
	case r.gone.mute():
		return entity.ErrGone
	case q.OnReply != "":
		return errNoAnswers
	case heard && len(q.Args) > witness.MaxEntity:
		return fmt.Errorf("%w: %d bytes, clients take %d", entity.ErrArguments, len(q.Args), witness.MaxEntity)
	}
	return nil
}

// mayBroadcast refuses a call that those who see the entity would not hear: one that is too long for
// one turn of it, or one that would push another of the same tick out of the history. (The call was
// taken, and they heard nothing of it, or of all of them.)
func (r *Real) mayBroadcast(q *entity.Request) error {
	args := q.Args
	switch {
	case len(args) > witness.MaxCall:
		return fmt.Errorf("%w: %d bytes, who sees the entity takes %d", entity.ErrArguments, len(args), witness.MaxCall)
	case r.e.Def.ClientMethods[q.Method].SendLatestOnly:
		return nil // it takes the place of the one before
	}
	s := &r.broadcasts
	if s.tick != r.cell.tick {
		*s = broadcasts{tick: r.cell.tick}
	}
	if s.calls == property.MaxHistory || s.bytes+len(args) > property.MaxHistoryBytes {
		return fmt.Errorf("%w: %d calls with %d bytes for all who see the entity in one tick", entity.ErrFull, s.calls, s.bytes)
	}
	s.calls, s.bytes = s.calls+1, s.bytes+len(args)
	return nil
}

// broadcasts counts the calls of one tick that go to all who see an entity.
type broadcasts struct {
	tick         uint64
	calls, bytes int
}

var errNoAnswers = fmt.Errorf("%w: a client does not answer; call without Then", entity.ErrNoMethod)

// callClient calls a method of an entity at the own client.
func (r *Real) callClient(id entity.ID, method int, args []byte) {
	m := protocol.Call{ID: id, Method: uint16(method), Args: args}
	r.direct = m.Append(r.direct)
	r.spill()
}

// clientEntityCaller is the Caller behind ClientEntity.
type clientEntityCaller struct{ r *Real }

// ArgumentBuffer lends memory for arguments.
func (c clientEntityCaller) ArgumentBuffer() *argument.Buffer {
	return &c.r.cell.population.arguments
}

func (c clientEntityCaller) CallMethod(q entity.Request) error {
	if err := c.r.checkClientCall(&q, true); err != nil {
		return err
	}
	if c.r.witness == nil || !c.r.sees(q.To) || !c.r.witness.Shows(q.To) {
		return fmt.Errorf("%w: %v", ErrNotSeen, q.To)
	}
	c.r.callClient(q.To, q.Method, q.Args)
	return nil
}
