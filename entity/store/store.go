package store

import (
	"context"
	"errors"
)

// Store is all that a store does. The package's documentation has the contract, and the parts of
// the interface what they need of it. Every method blocks, may be called from any goroutine, and
// gives up when ctx is done, with an error that is both ErrBusy and ctx's.
type Store interface {
	Definer
	Entities
	Cluster
	// Close waits for calls under way and ends the use of the store. Check-outs stay.
	Close() error
}

// Definer brings the tables of a store in line with a Schema.
type Definer interface {
	// Plan lists what Apply would do, and changes nothing. A column that is to be unique, of which rows
	// have the same value, is ErrTaken, as of Apply; the Plan is there all the same.
	Plan(ctx context.Context, s *Schema) (Plan, error)
	// Apply does it, all or nothing, and returns what it did. From then on the store is used with
	// that Schema. If a step is destructive, and that is not allowed, nothing is done: the error is
	// ErrDestructive then, and the Plan says what stands against it.
	Apply(ctx context.Context, s *Schema, destructive bool) (Plan, error)
}

// Entities are the rows.
type Entities interface {
	// Create adds rows.
	Create(ctx context.Context, records []Record) error
	// Write replaces what rows have.
	Write(ctx context.Context, records []Record) error
	// Load returns one answer for each Want, in their order. What was checked out before an error
	// of the whole call stays so.
	Load(ctx context.Context, wants []Want) ([]Loaded, error)
	// HandOver moves check-outs, or ends them.
	HandOver(ctx context.Context, hs []Handover) error
	// Free ends all check-outs of an app, which must be dead, and returns how many there were.
	Free(ctx context.Context, start uint64, app uint32) (int, error)
	// Delete removes rows.
	Delete(ctx context.Context, rs []Removal) error
	// Query returns a page of the rows of a type.
	Query(ctx context.Context, q Query) (Page, error)
}

// Cluster is what a cluster remembers besides entities.
type Cluster interface {
	// Begin starts a new start of the cluster, and ends every earlier one. Call it once, when all
	// processes of the earlier start are gone or given up; a manager that takes over within a start
	// does not.
	Begin(ctx context.Context) (start uint64, err error)
	// Reserve takes n numbers, at least 1, of a counter, which nobody else will get: first and those
	// that follow it. A counter starts at 1.
	Reserve(ctx context.Context, c Counter, n uint64) (first uint64, err error)
	// Get returns a blob; the error is ErrMissing if there is none.
	Get(ctx context.Context, key string) (Blob, error)
	// Put replaces a blob if its version still is the given one, 0 for a new blob; else the error is
	// ErrStale. It returns the new version, which no blob had before.
	Put(ctx context.Context, key string, data []byte, version uint64) (uint64, error)
	// Remove removes a blob if its version still is the given one; else the error is ErrStale, or
	// ErrMissing.
	Remove(ctx context.Context, key string, version uint64) error
	// List returns the blobs whose keys begin with prefix and come after a key, in the order of
	// their bytes, at most limit.
	List(ctx context.Context, prefix, after string, limit int) ([]Blob, error)
}

// Counter names a sequence of numbers.
type Counter string

// Allocators is the counter of the allocator numbers that entity ids begin with. A manager that takes
// them from here gives no entity id twice, whatever starts anew.
const Allocators Counter = "allocators"

// Spaces is the counter of the spaces that game code creates.
const Spaces Counter = "spaces"

// EntityIDs is the counter of the database ids of a type.
func EntityIDs(typ string) Counter { return Counter("ids:" + typ) }

// Blob is something small that the cluster remembers: a space to bring back, a manager's lease.
type Blob struct {
	Key     string
	Version uint64
	Data    []byte // at most MaxBlob
}

// WriteEach writes records that have nothing to do with each other, as an archive does: one that is
// refused keeps no other from being written. It calls refused for each of those, and returns the
// first error that is of the whole store, after which the records that were neither written nor
// refused are unknown.
func WriteEach(ctx context.Context, s Entities, records []Record, refused func(r *Record, err error)) error {
	left := append([]Record(nil), records...)
	for len(left) > 0 {
		err := s.Write(ctx, left)
		var one *RecordError
		if err == nil || !errors.As(err, &one) || errors.Is(err, ErrRetry) || one.Index < 0 || one.Index >= len(left) {
			return err
		}
		refused(&left[one.Index], one.Err)
		left = append(left[:one.Index], left[one.Index+1:]...)
	}
	return nil
}
