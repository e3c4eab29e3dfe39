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

// holderKey is the blob that says in words who has the store. It is apart from the lease: what it
// says is for people, and a build that knows nothing of it reads the lease all the same.
const holderKey = "lease holder"

// MaxHolder bounds Config.Holder: a line.
const MaxHolder = 256

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

// ReadHolder reads what the DBApp that had the store last has said of itself (Config.Holder);
// "" if nothing. It blocks.
func ReadHolder(ctx context.Context, s store.Cluster) (string, error) {
	b, err := s.Get(ctx, holderKey)
	if errors.Is(err, store.ErrMissing) {
		return "", nil
	}
	return string(b.Data[:min(len(b.Data), MaxHolder)]), err
}

// nameHolder says who has the store from now on.
func nameHolder(ctx context.Context, s store.Cluster, who string) error {
	b, err := s.Get(ctx, holderKey)
	if err != nil && !errors.Is(err, store.ErrMissing) {
		return err
	}
	if who == "" || who == string(b.Data) {
		return nil
	}
	_, err = s.Put(ctx, holderKey, []byte(who), b.Version)
	return err
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
	whose string // what the world that has taken it says of itself
	named bool   // the store says that this DBApp has it

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
	whose    string
	named    bool
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
	who := d.cfg.Holder
	d.storeJob(leaseToken, func(ctx context.Context, s store.Store) any {
		is, err := ReadLease(ctx, s)
		if err == nil && !fresh && is != seen && is != (Lease{}) {
			whose, err := ReadHolder(ctx, s)
			return leaseDone{err: err, found: is, whose: whose}
		}
		start := max(1, is.Start)
		if err == nil {
			err = is.beat(ctx, s, start)
		}
		if err == nil {
			err = nameHolder(ctx, s, who)
		}
		return leaseDone{err: err, claimed: start, named: err == nil}
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
	who, named := d.cfg.Holder, l.named
	d.storeJob(leaseToken, func(ctx context.Context, s store.Store) any {
		if end {
			return leaseDone{err: Release(ctx, s, start), released: true}
		}
		was, err := ReadLease(ctx, s)
		if err == nil {
			err = was.beat(ctx, s, start)
		}
		if err == nil && !named {
			err = nameHolder(ctx, s, who)
		}
		return leaseDone{err: err, named: err == nil}
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
	l.named = l.named || r.named
	switch {
	case r.found != (Lease{}):
		d.foundTaken(r.found, r.whose)
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
func (d *DBApp) foundTaken(l Lease, whose string) {
	d.foundLease(l)
	d.lease.whose = whose
	if !d.lease.taken {
		d.lease.taken = true
		d.report.Errors++
		d.log.Error(errTaken.Error(), "its start", l.Start, "it is", whose)
	}
}

var errTaken = fmt.Errorf("%w: this one waits until that has ended. Stop that, or give this one a store of its own", store.ErrInUse)
