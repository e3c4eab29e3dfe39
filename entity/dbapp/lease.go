package dbapp

import (
	"cmp"
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
//	unread -----------------------------------------------> nobody lives here: claimed
//	   |                                                       ^        |
//	   | a blob                          the same blob         |        | the definitions are applied,
//	   +--------> seen, for LeaseTime -------------------------+        | and a start begins
//	               ^     |                                              v
//	               |     | another blob                            this world lives
//	               +- taken: the log and the status say so, and nothing is changed
//
// A claim is the same blob, put in place of the one that was seen.
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

	claimed  uint64        // the start that a claim names, before its own has begun; 0 without one
	workAt   time.Duration // the next job, not before
	working  bool          // a job is under way
	released bool
}

// leaseDone is the result of a job.
type leaseDone struct {
	err      error
	claimed  uint64
	found    Lease // of a world that lives, in place of a claim
	released bool
}

// leases is the start that is said to live.
func (d *DBApp) leases() uint64 { return cmp.Or(d.start, d.lease.claimed) }

// claims reports whether no other world can begin in the store, and else sees to it that this one can. It
// comes before all that would hurt another world: of two that have seen nobody, one fails to claim.
func (d *DBApp) claims() bool {
	l := &d.lease
	if d.cfg.Unleased || l.claimed != 0 {
		return true
	}
	seen, fresh := l.seen, d.cfg.Fresh
	if l.working || d.now < l.workAt || !fresh && seen != (Lease{}) && d.now-l.since < LeaseTime {
		return false
	}
	l.working, l.workAt = true, d.now+bringAgain
	d.storeJob(leaseToken, func(ctx context.Context, s store.Store) any {
		is, err := ReadLease(ctx, s)
		if err == nil && !fresh && is != seen && is != (Lease{}) {
			return leaseDone{found: is}
		}
		start := max(1, is.Start)
		if err == nil {
			err = is.beat(ctx, s, start)
		}
		return leaseDone{err: err, claimed: start}
	})
	return false
}

// tickLease says that the world lives, and at its end that it does not.
func (d *DBApp) tickLease() {
	l := &d.lease
	start, end := d.leases(), d.saved()
	if d.cfg.Unleased || start == 0 || d.over || l.working || l.released || !end && d.now < l.workAt {
		return
	}
	l.working, l.workAt = true, d.now+beatTime
	d.storeJob(leaseToken, func(ctx context.Context, s store.Store) any {
		if end {
			return leaseDone{err: Release(ctx, s, start), released: true}
		}
		was, err := ReadLease(ctx, s)
		if err == nil {
			err = was.beat(ctx, s, start)
		}
		return leaseDone{err: err}
	})
}

// leaseTold takes what became of a claim, a beat, or the end.
func (d *DBApp) leaseTold(result any) {
	l := &d.lease
	l.working = false
	r, ok := result.(leaseDone)
	if !ok {
		return
	}
	switch {
	case r.found != (Lease{}):
		d.foundTaken(r.found)
	case r.released: // or not: the next start waits then
		l.released = true
	case r.err == nil && r.claimed != 0 && d.start == 0:
		l.claimed, l.taken = r.claimed, false
	case d.start == 0 && (errors.Is(r.err, store.ErrStale) || errors.Is(r.err, store.ErrSuperseded)):
		l.claimed = 0 // another world was first, or this one was silent for too long
	}
	// ErrStale is also of a DBApp whose place this one has taken, and which has just said the same. A blob
	// that could be put says nothing of a row that finds no room.
	if r.err != nil {
		d.noteStore(writings, r.err)
	}
	if d.start != 0 {
		d.noteOver(d.start, r.err)
	}
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
