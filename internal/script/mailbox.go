package script

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// Caller sends calls: the app behind a mailbox, for one part of an entity.
type Caller interface {
	CallMethod(r entity.Request) error
}

// Callable is a stored mailbox as one that calls through an app. A type that the schema does not
// have, or an unknown kind, makes one that reaches nobody.
func Callable(m property.Mailbox, s *property.Schema, via Caller) entity.Mailbox {
	kind, id := entity.MailboxKind(m.Kind), entity.ID(m.Entity)
	d := s.Called(m.Type)
	if d == nil || !kind.Valid() || !id.Valid() && kind != entity.ServiceMailbox || d.Service != (kind == entity.ServiceMailbox) {
		return entity.Mailbox{}
	}
	return entity.Mailbox{ID: id, Kind: kind, Def: d, Via: via, At: m.At, Salt: m.Salt}
}

// CheckCalled reports a call of an entity by a mailbox of another type: the method with the index would
// be another one. Such a mailbox comes from Lookup by a wrong name, or from the store of an earlier world,
// whose ids are given anew.
func CheckCalled(s *property.Schema, called uint16, is *property.Definition) error {
	if called == is.ID {
		return nil
	}
	as := "type that nobody has"
	if d := s.Called(called); d != nil {
		as = d.Name
	}
	return fmt.Errorf("%w: it is of type %s, and was called as %s", entity.ErrNoMethod, is.Name, as)
}

// Find is what Lookup of a part of an entity returns.
func Find(s *property.Schema, id entity.ID, typeName string, kind entity.MailboxKind, via Caller) entity.Mailbox {
	d := s.Type(typeName)
	if kind == entity.ServiceMailbox {
		d = s.Service(typeName)
	}
	if d == nil {
		return entity.Mailbox{}
	}
	return Callable(property.Mailbox{Entity: uint64(id), Type: d.ID, Kind: uint8(kind)}, s, via)
}
