package dbapp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity/store"
)

// A world that lives shows so in its store: a blob names the start, and is put again each beatTime. Whoever
// is about to begin another start looks whether that goes on:
//
//	          no blob
//	unread -----------------------------------------------> nobody lives here: a start begins
//	   |                                                       ^
//	   | a blob                          the same blob         |
//	   +--------> seen, for LeaseTime -------------------------+
//	               ^     |
//	               |     | another blob
//	               +- taken: the log and the status say so, and no start begins
//
// Blobs are compared by their version, which none had before, so that no clock is compared with that of
// another machine. A world that ends in order takes the blob away. One that was killed leaves it, and the
// next one waits for LeaseTime. A DBApp that goes on with a start does not look: the world that lives is its
// own.
//
// It used to be that the second world, such as a rehearsal with the settings of the real one, took the
// store over at its start, and each player of the first lost what was not yet written.
const leaseKey = "lease"

const (
	// LeaseTime is how long a world is silent that has ended: three beats, and a slow answer of the store.
	LeaseTime = 6 * time.Second

	// beatTime is cheap for a store, and short enough that nobody waits long after a crash.
	beatTime = 2 * time.Second
)

// Lease is what a store says of the world that lives in it. The zero Lease says that none does.
type Lease struct {
	Start   uint64 // of the cluster
	Version uint64 // changes each beatTime or so while that world lives
}

// ReadLease reads it. It blocks, as a store does.
func ReadLease(ctx context.Context, s store.Cluster) (Lease, error) {
	b, err := s.Get(ctx, leaseKey)
	if errors.Is(err, store.ErrMissing) {
		return Lease{}, nil
	}
	if err != nil {
		return Lease{}, err
	}
	start, n := binary.Uvarint(b.Data)
	if n <= 0 || n != len(b.Data) || start == 0 {
		return Lease{}, fmt.Errorf("%w: the blob %q", store.ErrCorrupt, leaseKey)
	}
	return Lease{start, b.Version}, nil
}

// Release says that a start of the cluster has ended, so that the next one need not wait. It blocks.
func Release(ctx context.Context, s store.Cluster, start uint64) error {
	l, err := ReadLease(ctx, s)
	if err != nil || l.Start != start || start == 0 {
		return err // another one's stays
	}
	return s.Remove(ctx, leaseKey, l.Version)
}

// beat says that a start lives. That of a later start stays.
func (l Lease) beat(ctx context.Context, s store.Cluster, start uint64) error {
	if l.Start > start {
		return fmt.Errorf("%w: %d", store.ErrSuperseded, l.Start)
	}
	_, err := s.Put(ctx, leaseKey, binary.AppendUvarint(nil, start), l.Version)
	return err
}

// leasing is what a DBApp knows of the lease of its store.
type leasing struct {
	seen  Lease         // of another start, before this one
	since time.Duration // when it was first seen
	taken bool

	beatAt   time.Duration // not before
	working  bool          // a job is under way
	released bool
}

// leaseDone is the result of a job.
type leaseDone struct {
	err      error
	released bool
}

// tickLease says that the world lives, and at its end that it does not.
func (d *DBApp) tickLease() {
	l := &d.lease
	if d.cfg.Unleased || d.start == 0 || d.over || l.working || l.released {
		return
	}
	start, end := d.start, d.saved()
	if !end && d.now < l.beatAt {
		return
	}
	l.working, l.beatAt = true, d.now+beatTime
	d.storeJob(leaseToken, func(ctx context.Context, s store.Store) any {
		if end {
			return leaseDone{Release(ctx, s, start), true}
		}
		was, err := ReadLease(ctx, s)
		if err == nil {
			err = was.beat(ctx, s, start)
		}
		return leaseDone{err, false}
	})
}

// leaseTold takes what became of that. ErrStale is of a DBApp whose place this one has taken, and which has
// just said the same.
func (d *DBApp) leaseTold(result any) {
	l := &d.lease
	l.working = false
	r, ok := result.(leaseDone)
	if !ok {
		return
	}
	if r.released { // or not: the next start waits then
		l.released = true
	}
	if r.err != nil { // a blob that could be put says nothing of a row that finds no room
		d.noteStore(writings, r.err)
		d.noteOver(d.start, r.err)
	}
}

// vacant reports whether nobody else is known to live in the store. Before a start begins, the lease is
// read once more.
func (d *DBApp) vacant() bool {
	return d.cfg.Fresh || d.lease.seen == Lease{} || d.now-d.lease.since >= LeaseTime
}

// foundLease takes what was found in the store before this start.
func (d *DBApp) foundLease(l Lease) {
	if l != d.lease.seen {
		d.lease.seen, d.lease.since = l, d.now
	}
}

// foundTaken takes in that another world lives in the store.
func (d *DBApp) foundTaken(l Lease) {
	d.foundLease(l)
	if !d.lease.taken {
		d.lease.taken = true
		d.report.Errors++
		d.log.Error(errTaken.Error(), "its start", l.Start)
	}
}

var errTaken = fmt.Errorf("%w: this one waits until that has ended. Stop that, or give this one a store of its own", store.ErrInUse)
