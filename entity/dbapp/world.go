package dbapp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/internal/wire"
)

// A store belongs to one world. A blob says so: it has a number of the world, drawn at its first start, and
// the newest start. BaseApps are told both, and name them in each call. A DBApp that takes the place of
// another under a world that lives so finds out whether it has the store of that world:
//
//	             the blob        a BaseApp says the same world, and this start
//	(unread) ---------> read ------------------------------------------------> its store: goes on
//	                     | ^
//	                     | +--- nobody has said so for strangeTime
//	                     v      |
//	               another store: a BaseApp has said another world, or a later start
//	               no start begins, and whoever is of another world is not answered, or heard: Busy
//
// Invariants:
//
//   - No call is made in the store of another world. Its rows have other owners, and a base that heard
//     of them would believe to have lost its own.
//   - What a BaseApp wants of another store fails as if the store were away: nothing ends by that, what
//     must not be lost is tried again, and once the right store is back all goes on.
//   - Nobody begins a start in a store while BaseApps of another world ask for one.
//
// A store that is an older copy of the right one counts as another one: its rows are from before this
// start.
const worldKey = "world"

// strangeTime is how long a store counts as another one after a BaseApp has said so. They say it each
// second.
const strangeTime = 5 * time.Second

// worldBlob is what the blob has, and its version in the store.
type worldBlob struct {
	world, newest uint64 // 0 in a store in which no start has begun
	version       uint64
}

func (w *worldBlob) append() []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, w.world), w.newest)
}

func parseWorld(b store.Blob) (w worldBlob, err error) {
	var n, k int
	if w.world, n = binary.Uvarint(b.Data); n > 0 {
		w.newest, k = binary.Uvarint(b.Data[n:])
	}
	if n <= 0 || k <= 0 || n+k != len(b.Data) || w.world == 0 {
		return w, fmt.Errorf("%w: the blob %q", store.ErrCorrupt, worldKey)
	}
	w.version = b.Version
	return w, nil
}

// Used reports whether a start of a cluster has begun in a store. It blocks.
func Used(ctx context.Context, s store.Cluster) (bool, error) {
	_, err := s.Get(ctx, worldKey)
	if errors.Is(err, store.ErrMissing) {
		return false, nil
	}
	return err == nil, err
}

// ownWorld is what a DBApp knows of the world that its store is of.
type ownWorld struct {
	worldBlob
	known, reading bool
	at             time.Duration // not before
	// strange says that BaseApps of another world have asked, the last time at strangeAt.
	strange   bool
	strangeAt time.Duration
}

// readWorld is the result of the job that reads the blob.
type readWorld struct {
	worldBlob
	lease Lease
	err   error
}

// tickWorld reads which world the store is of.
func (d *DBApp) tickWorld() {
	w := &d.world
	if w.strange && d.now-w.strangeAt >= strangeTime {
		w.strange = false
		d.log.Info("no BaseApp of another world asks for this store any more")
	}
	if w.known || w.reading || d.now < w.at {
		return
	}
	w.reading = true
	d.storeJob(worldToken, func(ctx context.Context, s store.Store) any {
		lease, err := ReadLease(ctx, s)
		if err != nil {
			return readWorld{err: err}
		}
		b, err := s.Get(ctx, worldKey)
		if errors.Is(err, store.ErrMissing) {
			return readWorld{lease: lease}
		}
		if err != nil {
			return readWorld{err: err}
		}
		x, err := parseWorld(b)
		return readWorld{x, lease, err}
	})
}

func (d *DBApp) worldRead(result any) {
	w := &d.world
	w.reading = false
	r, ok := result.(readWorld)
	if !ok || r.err != nil {
		w.at = d.now + bringAgain
		d.noteStore(reads, r.err)
		return
	}
	d.noteStore(reads, nil)
	w.worldBlob, w.known = r.worldBlob, true
	d.foundLease(r.lease)
}

// drawn is the number of the world, drawn if the store is of none yet.
func (d *DBApp) drawn() uint64 {
	if d.world.world != 0 {
		return d.world.world
	}
	var b [8]byte
	d.cfg.Secrets(b[:])
	return max(1, binary.LittleEndian.Uint64(b[:]))
}

// stranger reports whether a call is of another world than the store, and notes it.
func (d *DBApp) stranger(m *wire.CallStore) bool {
	w := &d.world
	if m.Start == 0 || m.World == w.world && m.Start <= w.newest {
		return false
	}
	if w.strangeAt = d.now; !w.strange {
		w.strange = true
		d.report.Errors++
		d.log.Error("this is the store of another world than that of the BaseApps, or an older copy: nothing of theirs is read or written. Stop the managers, and start them with the store that the world began with",
			"world", w.world, "newest start", w.newest, "of the BaseApps", m.World, "their start", m.Start)
	}
	return true
}

var errStrange = wrap(store.ErrBusy, "dbapp: this is the store of another world, or an older copy; start the managers with the store that the world began with")
