package entity

import (
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// BaseInfo describes a base for game code to create.
type BaseInfo struct {
	// Type is the name of the entity type, which must have a base part and a script.
	Type string
	// On is the BaseApp that makes the base: Base.App of one that lives there, or the At and Salt of a
	// mailbox. The zero address means the least loaded BaseApp.
	On mercury.Address
	// Init sets properties of the base part before its script sees them. It runs where the base is
	// asked for, before CreateBase returns. Nil leaves their defaults.
	Init func(*property.Values)
}

// BaseReply answers Base.CreateBase and space.Real.CreateBase. It is the argument of the callback that
// the script named.
type BaseReply struct {
	// Request is what Base.CreateBase returned, and User what a cell part gave to its own.
	Request uint64
	User    int64
	// Base is the mailbox of the new base, zero if there is none; Reason says why, in one line for
	// people.
	Base   property.Mailbox
	Reason string
}

// NameReply answers RegisterName and LookupName, of Base and of space.Real. It is the argument of the
// callback that the script named.
type NameReply struct {
	// Request is what a base was returned, and User what a cell part gave.
	Request uint64
	User    int64
	Name    string
	// Holder is the mailbox of the base that has the name, zero if nobody has.
	Holder property.Mailbox
	// Reason says, in one line for people, why RegisterName has failed, or that LookupName has found
	// nobody. It is empty if all is well.
	Reason string
}
