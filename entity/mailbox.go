package entity

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/argument"
	"github.com/cellscape/cellscape/property"
)

var errNotFinite = errors.New("entity: a coordinate is not finite or out of range")

// Errors of calls and of other requests.
var (
	// ErrNoMethod is returned for a method that the definition does not have.
	ErrNoMethod = errors.New("entity: no such method")
	// ErrArguments is returned when arguments do not fit the method.
	ErrArguments = argument.Err
	// ErrNoPart is returned when the entity has no such part now.
	ErrNoPart = errors.New("entity: the entity has no such part")
	// ErrHasPart is returned for creating a part that exists or is being created.
	ErrHasPart = errors.New("entity: the entity has that part already")
	// ErrNotExposed is returned for a client's call of a method that is not exposed to it.
	ErrNotExposed = errors.New("entity: the method is not exposed to this client")
	// ErrNotGiven is returned by GiveClientTo if the client cannot be given to that base.
	ErrNotGiven = errors.New("entity: the client cannot be given")
)

// caller sends encoded method calls; the app behind a mailbox is one.
type caller interface {
	// CallMethod queues a call, whose arguments are encoded. It does not keep r.Args.
	CallMethod(r Request) error
}

// bufferedCaller is a caller that lends memory for the arguments of its calls.
type bufferedCaller interface {
	caller
	ArgumentBuffer() *argument.Buffer
}

// Request is a call as a Mailbox gives it to its app.
type Request struct {
	To     ID
	Kind   MailboxKind
	At     netip.AddrPort // as in Mailbox
	Salt   uint32
	Def    *property.Definition // of To
	Method int                  // its index among those of the part
	Args   []byte

	OnReply string // the caller's callback; "" for a call without an answer
	User    int64
	Within  time.Duration // in game time; above 0 if there is a callback
}

// Description is the called method. The index is one that a Mailbox gave.
func (r *Request) Description() *property.Method { return methods(r.Def, r.Kind.Part())[r.Method] }

// Method is the method of that part of an entity type, nil for an index out of range.
func (s Part) Method(d *property.Definition, index int) *property.Method {
	list := methods(d, s)
	if index < 0 || index >= len(list) {
		return nil
	}
	return list[index]
}

func methods(d *property.Definition, part Part) []*property.Method {
	switch part {
	case CellPart:
		return d.CellMethods
	case BasePart:
		return d.BaseMethods
	}
	return d.ClientMethods
}

// Mailbox lets a script call a part of an entity, wherever that part is. It is a value and may be
// copied; use it only on the goroutine of its app, in the scripts of the entity that it was made for.
// See the package doc for the kinds, and for who may call whom.
type Mailbox struct {
	ID   ID
	Kind MailboxKind
	Def  *property.Definition
	Via  caller
	// At and Salt name the app that held the entity when the mailbox was made; zero if that is not
	// known. Only a cell part without a base is looked for there.
	At   netip.AddrPort
	Salt uint32

	onReply string
	user    int64
	within  time.Duration
}

// Then makes the next Call a two-way call: it is answered exactly once, by the caller's method of that
// name, a func (T) OnX(Reply). user is for the caller to tell answers apart.
//
//	err := guild.Then("OnPaid", 0).Call("pay", 5)
//
// The answer has the results of the called method, or an error. If Call returns an error, nothing was
// called and no answer comes. The methods of clients have no answers.
func (m Mailbox) Then(method string, user int64) Mailbox {
	m.onReply, m.user, m.within = method, user, limits.DefaultCallTime
	return m
}

// Within sets how long a two-way call may take, in game time, instead of limits.DefaultCallTime; at most
// limits.CallTime. Use it after Then.
func (m Mailbox) Within(d time.Duration) Mailbox {
	m.within = d
	return m
}

// Call calls a method by name. Arguments are Go values:
//
//	property.Value                                 any type
//	int … int64, uint … uint64, float32, float64   numbers
//	bool                                           BOOL
//	string, []byte                                 STRING, UNICODE_STRING, BLOB
//	property.Vector2, Vector3, Vector4             VECTOR2, VECTOR3, VECTOR4
//	ID                                             ENTITY_ID
//	Mailbox, property.Mailbox, a script            MAILBOX
//	a slice                                        ARRAY, TUPLE
//	a map                                          MAP
//	what property.AnyValue takes                   ANY
//
// They are checked before the call is sent. Errors are ErrNoMethod, ErrArguments, ErrNoPart if the
// called part does not exist as far as is known here, ErrNoService, ErrFull if too much waits to be
// sent or answered, ErrNoCallback, and ErrGone if the calling part is gone. The zero Mailbox reaches
// nobody and returns ErrNoPart.
func (m Mailbox) Call(method string, args ...any) error {
	if m.Def == nil || m.Via == nil {
		return ErrNoPart
	}
	desc := m.method(method)
	if desc == nil {
		return fmt.Errorf("%w: %s has no %s method %q", ErrNoMethod, m.Def.Name, m.Kind.Part(), method)
	}
	switch {
	case m.onReply == "":
	case m.Kind.Part() == ClientPart:
		return fmt.Errorf("%w: %s.%s: a client does not answer; call without Then", ErrNoMethod, m.Def.Name, method)
	case m.within <= 0 || m.within > limits.CallTime:
		return fmt.Errorf("entity: call of %s.%s within %v: give more than 0 and at most %v", m.Def.Name, method, m.within, limits.CallTime)
	}
	var buffer *argument.Buffer
	if via, ok := m.Via.(bufferedCaller); ok {
		buffer = via.ArgumentBuffer()
	}
	b, err := buffer.Encode(m.Def, desc, args)
	if err != nil {
		return fmt.Errorf("%s.%s: %w", m.Def.Name, method, err)
	}
	defer buffer.Release(b)
	return m.Via.CallMethod(Request{To: m.ID, Kind: m.Kind, At: m.At, Salt: m.Salt, Def: m.Def, Method: desc.Index, Args: b,
		OnReply: m.onReply, User: m.user, Within: m.within})
}

func (m Mailbox) method(name string) *property.Method {
	switch m.Kind.Part() {
	case CellPart:
		return m.Def.CellMethod(name)
	case BasePart:
		return m.Def.BaseMethod(name)
	default:
		return m.Def.ClientMethod(name)
	}
}
