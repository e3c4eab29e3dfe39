package entity

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/property"
)

// StoreCode says why the store did not do something.
type StoreCode uint8

// These are the reasons.
const (
	StoreDone       StoreCode = iota // it did
	StoreBusy                        // it is busy, full or away: it may have been done or not, and trying again later is safe
	StoreMissing                     // there is no such row
	StoreExists                      // there is such a row already
	StoreTaken                       // another row has the value of a unique property
	StoreHeld                        // the entity lives already, elsewhere
	StoreFree                        // this entity does not have the row checked out
	StoreStale                       // what is stored is newer
	StoreSuperseded                  // a later start of the cluster has begun
	StoreRefused                     // it makes no sense, or the data cannot be read
	LastStoreCode   = StoreRefused
)

// Errors of the store.
var (
	// ErrStore is what every StoreError is.
	ErrStore = errors.New("entity: the store did not do it")
	// ErrNotStored is returned for an entity that no store keeps: its type is not Persistent, or the cluster
	// has no store.
	ErrNotStored = errors.New("entity: no store keeps this entity")
)

// StoreError is why the store did not do something. errors.Is says that it is ErrStore.
type StoreError struct {
	Code   StoreCode
	Reason string // for people
}

// Error says it.
func (e *StoreError) Error() string { return fmt.Sprintf("%v: %s", ErrStore, e.Reason) }

// Is reports whether target is ErrStore.
func (e *StoreError) Is(target error) bool { return target == ErrStore }

// StoreReply tells a script what became of a Write. Err is nil if the store has confirmed it, else a
// *StoreError.
type StoreReply struct {
	User int64
	Err  error
}

// Stored names an entity that is kept in the store: by its database id or, with Row 0, by its
// identifier.
type Stored struct {
	Type       string
	Row        uint64
	Identifier string
}

// Stood is where the cell part of an entity was, when the store heard of it last.
type Stood struct {
	Space     SpaceID
	Position  property.Vector3 // in metres
	Direction property.Vector3 // yaw, pitch and roll in radians
}

// storeHost is what the methods of Base below need from the app that holds it.
type storeHost interface {
	Write(method string, user int64) error
	SetAutoArchive(on bool)
	Row() uint64
	Stood() (Stood, bool)
	LoadBase(what Stored, method string) (request uint64, err error)
	QueryStore(q StoredQuery, method string) (request uint64, err error)
	DestroyRow() error
}

// Write has the store keep the entity as it is now: the persistent properties of the base part, and those
// of the cell part, which is asked for its newest ones first. Later the script's method of that name, a
// func (T) OnX(StoreReply), is called, once: without an error the store has it, and no crash undoes it. The
// first Write makes the entity's row. Without a call a base is written once in an archive period, and
// when it ends. Errors are ErrNoCallback, ErrGone, ErrNotStored and ErrTooMany.
func (b *Base) Write(method string, user int64) error { return b.host.Write(method, user) }

// SetAutoArchive says whether an entity that the store keeps is written once in an archive period, as it is at
// first. Without it the store has what the last Write wrote, until the base ends or the world is stopped in order:
// both write. What is said here lasts as long as the base, also on another BaseApp.
func (b *Base) SetAutoArchive(on bool) { b.host.SetAutoArchive(on) }

// Row is the entity's database id, by which it can be loaded for ever; 0 while it has none, because it was
// not written yet, or is not kept.
func (b *Base) Row() uint64 { return b.host.Row() }

// Stood is where the cell part was when the entity was last written or backed up: where to make it again
// after a load. It reports false for an entity that had none.
func (b *Base) Stood() (Stood, bool) { return b.host.Stood() }

// LoadBase asks for the base of an entity that the store keeps. It is made on this BaseApp, with the
// properties that were written. CreateCell then begins with those of the cell part. Later the script's method
// of that name, a func (T) OnX(BaseReply), is called with its mailbox, or with the reason why there is none:
// nobody has that name, or it lives already. The returned number tells replies apart. Errors are
// ErrNoCallback, ErrGone, ErrNotStored and ErrTooMany.
func (b *Base) LoadBase(what Stored, method string) (request uint64, err error) {
	return b.host.LoadBase(what, method)
}

// DestroyRow destroys the entity as Destroy does, and then removes it from the store: nothing will load it
// again. The error is ErrNotStored.
func (b *Base) DestroyRow() error { return b.host.DestroyRow() }
