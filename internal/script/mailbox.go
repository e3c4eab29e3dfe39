package script

import (
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
	d := s.ByID(m.Type)
	if kind == entity.ServiceMailbox && int(m.Type) < len(s.Services) {
		d = s.Services[m.Type]
	}
	if d == nil || !kind.Valid() || !id.Valid() && kind != entity.ServiceMailbox {
		return entity.Mailbox{}
	}
	return entity.Mailbox{ID: id, Kind: kind, Def: d, Via: via, At: m.At, Salt: m.Salt}
}

// Find is what Lookup of a part of an entity returns.
func Find(s *property.Schema, id entity.ID, typeName string, kind entity.MailboxKind, via Caller) entity.Mailbox {
	d := s.Type(typeName)
	if kind == entity.ServiceMailbox {
		for _, x := range s.Services {
			if x.Name == typeName {
				d = x
			}
		}
	}
	if d == nil {
		return entity.Mailbox{}
	}
	return Callable(property.Mailbox{Entity: uint64(id), Type: d.ID, Kind: uint8(kind)}, s, via)
}
