package store

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
)

// Holder is who has checked a row out. The zero Holder is nobody.
type Holder struct {
	Start  uint64    // the start of the cluster, from Begin
	App    uint32    // the app of that start on which the entity lives; its allocator number names it
	Entity entity.ID // as which the row is live
}

// String tells the entity, the app and the start.
func (h Holder) String() string {
	if h == (Holder{}) {
		return "nobody"
	}
	return fmt.Sprintf("entity %v on app %d of start %d", h.Entity, h.App, h.Start)
}

// Nobody reports whether h is the zero Holder.
func (h Holder) Nobody() bool { return h == Holder{} }

// Check tells whether calls may be made in the name of h while start is the newest start of the
// cluster. Errors are ErrSuperseded and ErrValue.
func (h Holder) Check(start uint64) error {
	switch {
	case h.Nobody():
		return nil
	case h.Start == 0 || !h.Entity.Valid():
		return fmt.Errorf("%w: %v is no holder", ErrValue, h)
	case h.Start > start:
		return fmt.Errorf("%w: %v, and the store has begun %d", ErrValue, h, start)
	case h.Start < start:
		return fmt.Errorf("%w: %v, the newest is %d", ErrSuperseded, h, start)
	}
	return nil
}

// State is what of a row decides who may do what with it. Its methods are the machine in the
// package's documentation; start is the newest start of the cluster. They assume that Holder.Check
// has passed the caller.
type State struct {
	Version uint64
	Holder  Holder
}

// HeldBy returns who holds the row: nobody if its holder's start is over.
func (s State) HeldBy(start uint64) Holder {
	if s.Holder.Start < start {
		return Holder{}
	}
	return s.Holder
}

// Created is the state of a new row.
func Created(r *Record) State {
	if r.Release {
		return State{r.Version, Holder{}}
	}
	return State{r.Version, r.Holder}
}

// Create tells what becomes of a Create of a row that exists: nothing if it is the very one, which
// its holder creates again because an answer was lost; else the error is ErrExists.
func (s State) Create(r *Record) error {
	if !r.Holder.Nobody() && s == Created(r) {
		return nil
	}
	return ErrExists
}

// Write returns the state after a write, or why there is none: ErrStale, ErrHeld or ErrFree. done
// means that this very write was carried out before: it is confirmed, and nothing is left to do.
func (s State) Write(r *Record, start uint64) (next State, done bool, err error) {
	held := s.HeldBy(start)
	next = Created(r)
	switch {
	case r.Holder.Nobody() && !held.Nobody():
		return s, false, &HeldError{held}
	case r.Holder.Nobody() && r.Version != s.Version+1:
		return s, false, fmt.Errorf("%w: version %d, and %d would be next", ErrStale, r.Version, s.Version+1)
	case r.Holder.Nobody():
		return next, false, nil
	case r.Release && held.Nobody() && r.Version == s.Version && s.Holder.Nobody():
		return s, true, nil
	case held != r.Holder:
		return s, false, refuse(held)
	case r.Version < s.Version:
		return s, false, fmt.Errorf("%w: version %d, and %d is stored", ErrStale, r.Version, s.Version)
	}
	return next, false, nil
}

// Take returns the state after a check-out; the error is ErrHeld. For nobody it is no check-out, and
// changes nothing.
func (s State) Take(by Holder, start uint64) (State, error) {
	held := s.HeldBy(start)
	switch {
	case by.Nobody():
		return s, nil
	case held.Nobody() || held == by:
		return State{s.Version, by}, nil
	}
	return s, &HeldError{held}
}

// HandOver returns the state after a hand-over, or why there is none: ErrHeld or ErrFree.
func (s State) HandOver(from, to Holder, start uint64) (State, error) {
	held := s.HeldBy(start)
	if held != from && held != to {
		return s, refuse(held)
	}
	return State{s.Version, to}, nil
}

// Delete tells whether by may delete the row; errors are ErrHeld and ErrFree.
func (s State) Delete(by Holder, start uint64) error {
	if held := s.HeldBy(start); held != by {
		return refuse(held)
	}
	return nil
}

// refuse is for a caller that does not hold the row.
func refuse(held Holder) error {
	if held.Nobody() {
		return ErrFree
	}
	return &HeldError{held}
}
