package dbapp

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/internal/wire"
)

// How the store does is in the status, and the log has it when that changes:
//
//	     a call fails for the whole store             for troubleTime
//	ok ------------------------------------> in doubt ----------------> failing
//	 ^                                          |                          |
//	 +------- one of the same kind is carried out -------------------------+
//
// Reads and writes count apart: a disk that is full can still be read. A call that was refused for
// its own sake shows that the store can be read, and no more: to find that there is no such row
// takes no write.
//
// What fails for the whole store is mended by an operator, and the calls wait for that as for a
// store that is away: who is written has done nothing wrong.
type storeUse uint8

// troubleTime is how long calls fail until the store does: one that is only busy is so for moments. It is
// longer than two of the pauses between two tries.
const troubleTime = 5 * time.Second

const (
	reads storeUse = iota
	writings
	storeUses
)

// trouble is why calls of one kind fail.
type trouble struct {
	err     error // nil while they do not
	since   time.Duration
	failing bool
}

// ofTheStore reports whether an error is of the whole store, and not of a row or of a call.
func ofTheStore(err error) bool {
	for _, e := range [...]error{store.ErrRetry, store.ErrCorrupt, store.ErrDenied, store.ErrNotApplied, store.ErrClosed} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// noteStore takes in how a call of the store went. What can be written can be read, too.
func (d *DBApp) noteStore(use storeUse, err error) {
	if err != nil && ofTheStore(err) {
		t := &d.health[use]
		if t.err == nil {
			t.since = d.now
		}
		t.err = err
		return
	}
	if err != nil {
		use = reads
	}
	for u := reads; u <= use; u++ {
		t := &d.health[u]
		if t.failing {
			d.log.Info("the store works again", "writing", u == writings, "after", d.now-t.since)
		}
		*t = trouble{}
	}
}

// inDoubt reports whether the last call of a kind failed for the whole store.
func (d *DBApp) inDoubt() bool { return d.health[reads].err != nil || d.health[writings].err != nil }

// noteOver takes in that a call of this start was refused since a later one has begun: nothing of
// this world is read or written in the store any more.
func (d *DBApp) noteOver(start uint64, err error) {
	if d.over || start != d.start || !errors.Is(err, store.ErrSuperseded) {
		return
	}
	d.over = true
	d.report.Errors++
	d.log.Error(errOver.Error(), "start", d.start, "error", err)
}

var errOver = errors.New("another world has begun in this store, and nothing of this one is read or written there any more: " +
	"give each world a store of its own, and start this one anew")

// tickHealth tells the log of calls that have failed for long enough.
func (d *DBApp) tickHealth() {
	for u := range d.health {
		if t := &d.health[u]; t.err != nil && !t.failing && d.now-t.since >= troubleTime {
			t.failing = true // what comes of it counts as an error, such as a call that is given up
			d.log.Error("the store fails; what must not be lost is kept and tried again", "writing", storeUse(u) == writings, "error", t.err)
		}
	}
}

// useOf tells what a call needs of the store.
func useOf(op wire.StoreOp) storeUse {
	if op == wire.StoreQuery {
		return reads
	}
	return writings // a load checks out
}

// storeState says how the store does, for the status.
func (d *DBApp) storeState() string {
	text := "ok"
	for u := storeUses; u > reads; u-- {
		if t := &d.health[u-1]; t.failing {
			text = fmt.Sprintf("failing for %v: %v", (d.now - t.since).Round(time.Second), t.err)
			break
		}
	}
	if text == "ok" && d.start == 0 {
		text = "no start has begun: waiting to hear from BaseApps whether a world lives"
	}
	switch {
	case d.change.err != nil:
		text = "the store does not take the definitions: " + d.change.err.Error()
	case d.lease.taken:
		text = errTaken.Error()
		if d.lease.whose != "" {
			text += ": it is " + d.lease.whose
		}
	case d.world.strange:
		text = errStrange.Error()
	case d.over:
		text = errOver.Error()
	}
	return text[:min(len(text), wire.MaxStoreState)]
}
