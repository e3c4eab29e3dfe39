package entity

import (
	"errors"
	"fmt"

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
	// ErrHasPart is returned for creating a part that exists or is being created.
	ErrHasPart = errors.New("entity: the entity has that part already")
	// ErrNotExposed is returned for a client's call of a method that is not exposed to it.
	ErrNotExposed = errors.New("entity: the method is not exposed to this client")
)

// Caller sends encoded method calls; the app behind a mailbox is one.
type Caller interface {
	// CallMethod queues a call of the method with an index, of a part of an entity, with arguments
	// that AppendArgs encoded.
	CallMethod(to ID, part Part, method int, args []byte) error
}

// Mailbox lets a script call a part of an entity, wherever that part is. It is a value and may be
// copied; use it only on the goroutine of its app.
type Mailbox struct {
	ID   ID
	Part Part
	Def  *property.Definition
	Via  Caller
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
// called part does not exist, and ErrGone if the calling part is gone. The zero Mailbox reaches
// nobody and returns ErrNoPart.
func (m Mailbox) Call(method string, args ...any) error {
	if m.Def == nil || m.Via == nil {
		return ErrNoPart
	}
	desc := m.method(method)
	if desc == nil {
		return fmt.Errorf("%w: %s has no %s method %q", ErrNoMethod, m.Def.Name, m.Part, method)
	}
	b, err := AppendArgs(nil, desc, args)
	if err != nil {
		return fmt.Errorf("%s.%s: %w", m.Def.Name, method, err)
	}
	return m.Via.CallMethod(m.ID, m.Part, desc.Index, b)
}

func (m Mailbox) method(name string) *property.Method {
	switch m.Part {
	case CellPart:
		return m.Def.CellMethod(name)
	case BasePart:
		return m.Def.BaseMethod(name)
	default:
		return m.Def.ClientMethod(name)
	}
}
