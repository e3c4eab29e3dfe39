package store

import (
	"errors"
	"fmt"
)

// ErrRetry is what errors are of which the cause may pass: wait, and repeat the call. Nothing that
// was confirmed is lost. Such an error also is one of ErrBusy, ErrFull and ErrAway.
var ErrRetry = errors.New("store: cannot now; try again later")

// Causes of ErrRetry.
var (
	// ErrBusy: somebody has locked the store, it is too slow for the context of the call, or calls
	// were in each other's way.
	ErrBusy error = &retryError{"store: busy or locked"}
	// ErrFull: there is no room on the disk, or the store has reached its limit.
	ErrFull error = &retryError{"store: full"}
	// ErrAway: the database cannot be reached, is starting or stopping, or its disk fails.
	ErrAway error = &retryError{"store: the database is away"}
)

// Errors that repeating the call does not mend.
var (
	// ErrMissing: there is no such row, or blob.
	ErrMissing = errors.New("store: no such row")
	// ErrExists: there is a row of that id already.
	ErrExists = errors.New("store: the row exists already")
	// ErrTaken: another row of the type has the value of a column that is unique.
	ErrTaken = errors.New("store: the value is taken")
	// ErrHeld: somebody else has checked the row out; errors.As finds the *HeldError.
	ErrHeld = errors.New("store: the row is checked out")
	// ErrFree: the caller has not checked the row out, nor has anybody else.
	ErrFree = errors.New("store: the row is not checked out")
	// ErrStale: what is stored is newer.
	ErrStale = errors.New("store: what is stored is newer")
	// ErrSuperseded: the caller's start of the cluster is over, since a later one began.
	ErrSuperseded = errors.New("store: a later start of the cluster has begun")
	// ErrValue: a request makes no sense: an unknown type, a bad key, too much at once.
	ErrValue = errors.New("store: bad value")
	// ErrForm: the data of a row cannot be read, or are not what the definition says.
	ErrForm = errors.New("store: bad data")
	// ErrDestructive: Apply would have to forget something that is stored, and may not.
	ErrDestructive = errors.New("store: the definitions forget what is stored")
	// ErrNotApplied: there was no Apply before a call on entities, or another process has changed the
	// tables since.
	ErrNotApplied = errors.New("store: no schema has been applied")
	// ErrCorrupt: the file or the tables of the database are damaged, or of something else.
	ErrCorrupt = errors.New("store: the database is damaged")
	// ErrDenied: the database does not let this process write.
	ErrDenied = errors.New("store: the database does not allow it")
	// ErrInUse: another world lives in the store.
	ErrInUse = errors.New("store: another world lives in it")
	// ErrEmpty: no world has ever begun in the store, where one should have.
	ErrEmpty = errors.New("store: no world has begun in it")
	// ErrClosed: Close was called.
	ErrClosed = errors.New("store: closed")
)

// retryError is a cause of ErrRetry.
type retryError struct{ text string }

func (e *retryError) Error() string { return e.text }

func (e *retryError) Is(target error) bool { return target == ErrRetry }

// HeldError tells who has checked a row out. errors.Is says that it is ErrHeld.
type HeldError struct{ By Holder }

// Error names the holder.
func (e *HeldError) Error() string { return fmt.Sprintf("%v by %v", ErrHeld, e.By) }

// Is reports whether target is ErrHeld.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// RecordError tells which record of a call was refused. Nothing of the call was done.
type RecordError struct {
	Index int // in the call's slice
	Key   Key
	Err   error
}

// Error names the record and tells why it was refused.
func (e *RecordError) Error() string { return fmt.Sprintf("%v (record %d): %v", e.Key, e.Index, e.Err) }

// Unwrap returns why it was refused.
func (e *RecordError) Unwrap() error { return e.Err }
