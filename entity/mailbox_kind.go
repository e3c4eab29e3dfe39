package entity

import "github.com/cellscape/cellscape/property"

// MailboxKind says which part of an entity a stored mailbox reaches, and through which other part:
// the Kind of a property.Mailbox. A kind that goes through the base never becomes stale, since a
// base knows where its cell part is.
type MailboxKind uint8

// The kinds. The numbers are part of what is stored and sent.
const (
	CellMailbox MailboxKind = 1 + iota
	BaseMailbox
	ClientMailbox
	BaseViaCell
	ClientViaCell
	CellViaBase
	ClientViaBase
	ServiceMailbox
	mailboxKinds
)

// Valid reports whether k is one of them.
func (k MailboxKind) Valid() bool { return k > 0 && k < mailboxKinds }

// String names the kind as its constant does.
func (k MailboxKind) String() string {
	if !k.Valid() {
		return "no mailbox"
	}
	return [...]string{CellMailbox: "cell", BaseMailbox: "base", ClientMailbox: "client", BaseViaCell: "base via cell",
		ClientViaCell: "client via cell", CellViaBase: "cell via base", ClientViaBase: "client via base",
		ServiceMailbox: "service"}[k]
}

// Part is the part that a mailbox of the kind finally reaches.
func (k MailboxKind) Part() Part {
	switch k {
	case CellMailbox, CellViaBase:
		return CellPart
	case BaseMailbox, BaseViaCell, ServiceMailbox:
		return BasePart
	case ClientMailbox, ClientViaCell, ClientViaBase:
		return ClientPart
	}
	return 0
}

// Via is the part that a call to a mailbox of the kind is sent to, which hands it on if it is not the
// one that the kind finally reaches.
func (k MailboxKind) Via() Part {
	switch k {
	case CellMailbox, CellViaBase, BaseViaCell, ClientViaCell:
		return CellPart
	case BaseMailbox, ClientMailbox, ClientViaBase, ServiceMailbox:
		return BasePart
	}
	return 0
}

// Value is the mailbox as a property or an argument holds it.
func (m Mailbox) Value() property.Mailbox {
	if m.Def == nil {
		return property.Mailbox{}
	}
	return property.Mailbox{Entity: uint64(m.ID), Type: m.Def.ID, Kind: uint8(m.Kind), At: m.At, Salt: m.Salt}
}

// MailboxValue is Value. It lets a Mailbox be passed as an argument of type MAILBOX.
func (m Mailbox) MailboxValue() property.Mailbox { return m.Value() }

// MailboxValue is the mailbox of the base part, or of the service of which this is a fragment. It lets a
// script that embeds *Base be passed as an argument of type MAILBOX.
func (b *Base) MailboxValue() property.Mailbox {
	if b.Def().Service {
		return Mailbox{Kind: ServiceMailbox, Def: b.Def()}.Value()
	}
	return Mailbox{ID: b.id, Kind: BaseMailbox, Def: b.Def()}.Value()
}
