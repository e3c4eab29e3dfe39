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

// BaseReply answers CreateBase, of Base and of space.Real, and Base.LoadBase. It is the argument of
// the callback that the script named.
type BaseReply struct {
	// User is the number that the script gave with the request.
	User int64
	// Base is the mailbox of the new base, zero if there is none. After LoadBase, with an error whose
	// code is stored.Held, it is that of the one that lives.
	Base property.Mailbox
	// Err says why there is none; nil if there is one. ErrTimeout, ErrTooMany and ErrGone are some
	// of the errors. After LoadBase a *stored.Error says what the store did not do.
	Err error
}

// NameReply answers RegisterName and LookupName, of Base and of space.Real. It is the argument of the
// callback that the script named.
type NameReply struct {
	// User is the number that the script gave with the request.
	User int64
	Name string
	// Holder is the mailbox of the base that has the name, zero if nobody has, or if it is not known.
	Holder property.Mailbox
	// Err says why RegisterName has failed, or why LookupName has found nobody. It is nil if all is
	// well. After LookupName ErrNoEntity means that nobody has the name. ErrTimeout, ErrTooMany and
	// ErrGone are others.
	Err error
}
