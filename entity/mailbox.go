package entity

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

var errNotFinite = errors.New("entity: a coordinate is not finite or out of range")

// Errors of calls.
var (
	// ErrNoMethod is returned for a method that the definition does not have.
	ErrNoMethod = errors.New("entity: no such method")
	// ErrArguments is returned when arguments do not fit the method.
	ErrArguments = errors.New("entity: arguments do not fit the method")
	// ErrNoPart is returned when the entity has no such part now.
	ErrNoPart = errors.New("entity: the entity has no such part")
)

// Caller sends an encoded method call on its way; the app behind a mailbox is one.
type Caller interface {
	// CallMethod queues a call of method index of the part of entity id that
	// side names, with arguments that AppendArgs encoded.
	CallMethod(to ID, side Side, method int, args []byte) error
}

// Mailbox is how a script calls a part of an entity, wherever that part is. It
// is a value and may be copied; it belongs to the goroutine of its app.
type Mailbox struct {
	ID   ID
	Side Side
	Def  *property.Definition
	Via  Caller
}

// Call calls a method by name. Arguments are Go values as ToValue takes them. The
// error says what does not fit; delivery itself is the flow's affair.
func (m Mailbox) Call(method string, args ...any) error {
	desc := m.method(method)
	if desc == nil {
		return fmt.Errorf("%w: %s has no %s method %q", ErrNoMethod, m.Def.Name, m.Side, method)
	}
	b, err := AppendArgs(nil, desc, args)
	if err != nil {
		return fmt.Errorf("%s.%s: %w", m.Def.Name, method, err)
	}
	return m.Via.CallMethod(m.ID, m.Side, desc.Index, b)
}

func (m Mailbox) method(name string) *property.Method {
	switch m.Side {
	case CellSide:
		return m.Def.CellMethod(name)
	case BaseSide:
		return m.Def.BaseMethod(name)
	default:
		return m.Def.ClientMethod(name)
	}
}

// AppendArgs encodes Go values as the arguments of a method.
func AppendArgs(b []byte, m *property.Method, args []any) ([]byte, error) {
	if len(args) != len(m.Args) {
		return b, fmt.Errorf("%w: %d given, %d wanted", ErrArguments, len(args), len(m.Args))
	}
	values := make([]property.Value, len(args))
	for i, a := range args {
		v, err := ToValue(m.Args[i].Type, a)
		if err != nil {
			return b, fmt.Errorf("%w: argument %d (%s): %w", ErrArguments, i+1, m.Args[i].Name, err)
		}
		values[i] = v
	}
	out, err := m.AppendArgs(b, values)
	if err != nil {
		return b, fmt.Errorf("%w: %w", ErrArguments, err)
	}
	return out, nil
}

// AppendMailbox encodes who a flow's other end is, and where it was.
func AppendMailbox(b []byte, id ID, side Side, at mercury.Address) []byte {
	b = appendID(b, id)
	b = append(b, byte(side))
	return mercury.AppendAddress(b, at)
}

// ReadMailbox reads what AppendMailbox wrote.
func ReadMailbox(r *mercury.Reader) (id ID, side Side, at mercury.Address) {
	return ReadID(r), readSide(r), r.Address()
}
