// Package stored is what scripts say and hear of entities that are kept in a store: which one they
// mean, a query and its pages, and why the store did not do something. Package entity/store says what a
// store does.
package stored

import (
	"errors"
	"fmt"
)

// Code says why the store did not do something.
type Code uint8

// These are the reasons.
const (
	Done       Code = iota // it did
	Busy                   // it is busy, full or away: it may have been done or not, and trying again later is safe
	Missing                // there is no such row
	Exists                 // there is such a row already
	Taken                  // another row has the value of a unique property
	Held                   // the entity lives already, elsewhere
	Free                   // this entity does not have the row checked out
	Stale                  // what is stored is newer
	Superseded             // a later start of the cluster has begun
	Refused                // it makes no sense, or the data cannot be read
	LastCode   = Refused
)

// Errors of the store.
var (
	// ErrFailed is what every Error is.
	ErrFailed = errors.New("stored: the store did not do it")
	// ErrNotKept is returned for an entity that no store keeps: its type is not Persistent, or the cluster
	// has no store.
	ErrNotKept = errors.New("stored: no store keeps this entity")
)

// Error is why the store did not do something. errors.Is says that it is ErrFailed.
type Error struct {
	Code   Code
	Reason string // for people
	// By is the entity that has the row, if Code is Held and the store can tell, else 0.
	By uint64
}

// Error says it.
func (e *Error) Error() string { return fmt.Sprintf("%v: %s", ErrFailed, e.Reason) }

// Is reports whether target is ErrFailed.
func (e *Error) Is(target error) bool { return target == ErrFailed }

// Reply tells a script what became of a Write. Err is nil if the store has confirmed it, else a
// *Error.
type Reply struct {
	User int64
	Err  error
}

// Key names an entity that is kept in the store: by its database id or, with Row 0, by its
// identifier.
type Key struct {
	Type       string
	Row        uint64
	Identifier string
}
