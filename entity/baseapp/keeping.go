package baseapp

import (
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
)

// # The store
//
// If the cluster has one, a base of a type that is Persistent can have a row there (package store),
// which is checked out as long as it lives. keeping draws that state machine. It is written when
// its script says Write, once in Config.ArchivePeriod, and when it ends, with the newest copy of
// its cell part; the last write gives the row back, and is repeated until the store has it. A login
// loads what the player plays: by the key that the Auth has said, or else by the account, if the
// type of players has an identifier. A base that is restored takes the check-out over from the app
// that died, before anything else is written. One whose row is somebody else's ends without a
// write, so nobody lives twice. A base that ends stays, and its copies do, until the store has its
// last write; a script is told of a write when the holders of copies have what was written. So a
// death undoes nothing that the store has confirmed.
//
// Bases of Config.BringBack are marked in the store as long as they live, and come back when the cluster
// starts (bring.go). The steps in which a world is stopped are in stop.go.

// A base that the store keeps has a row there, which is checked out as long as the base lives. One call is
// under way for a row at a time:
//
//	           wanted: Write, the archive, the end of the base
//	    +--------------------------------------------------------+
//	    v                                                        |
//	queued --the cell part's newest copy is here--> calling --answer--> at rest
//	               or cellPatience is over
//
// The first call of a new base reserves its row, the next makes it. The last one of a base gives the row
// back with the last write, and is repeated until the store has it. A base that is restored on another app
// first takes the check-out over. Whose check-out is gone to somebody else may not live on: the base ends
// without a write.
//
// What an heir must not forget is in a copy of the base first:
//
//   - A row is made when the holders of copies know its id. Else the heir would make another one.
//   - The script is told of a write when they have what was written. Else the heir would write what
//     was before.
//   - A base that ends stays, and its copies do, until the store has its last write. That is made
//     when the holders know that the base has ended. So an heir which finds the row given back, or
//     somebody else's, has nothing to do.
const (
	// maxStoreCalls bounds the calls of the store that one app has under way. What more bases want waits
	// in them.
	maxStoreCalls = 1024

	// keepAgain is how long a base waits until it tries a write again that must not be lost.
	keepAgain = time.Second
)

// keeping is what a base knows of its row.
type keeping struct {
	typ *store.Type // nil: nobody keeps it
	row uint64      // 0: it has none yet
	// made says that the row exists, tried that it may. version is that of the last write that was
	// sent, or of the load.
	made    bool
	tried   bool
	version uint64
	// holder is the allocator of the former app, from which the check-out is to be taken over; 0: it is
	// this app's.
	holder uint32

	wanted, queued, calling bool
	manual                  bool // the archive passes it over (auto.go)
	notBefore               time.Duration
	// stepCopy is the copy of the base that has the id of the row or, at the end, that the base has ended.
	stepCopy copyMark
	// freshAt is the message of the base that the copy of the cell part must contain before a
	// write, but after freshBy any copy does. ahead says that the base has heard from it since.
	freshAt uint64
	freshBy time.Duration
	ahead   bool
	waits   []storeWait
	// copy is the newest copy of the cell part, which outlives it; loaded is the record that the base was
	// loaded from, until there is one.
	copy   cellCopy
	loaded []byte

	// confirmed is the version of the last write of this life that the store has. final is that of
	// the last write when the world stops, 0 while there is none. asked says that the cell part was
	// asked for its last state, and stale that it was written without that.
	confirmed, final uint64
	asked            bool
	stale            bool

	parting  bool // it waits for the last copy of its cell part before it ends
	ending   bool // the script has heard the last, and the next write gives the row back
	written  bool // the former life has made the last write
	refused  bool // the store does not take the last write
	released bool // a write that gives the row back was sent: a repeated one is the very same
	deleting bool // the row goes with it
	over     bool // nothing more is to be done
}

// mayExist reports whether there is a row, for all that is known. (A store that was busy had made
// one. The base ended as if there were none, and the row was held for ever.)
func (k *keeping) mayExist() bool { return k.made || k.tried }

// copyMark is the number of the first copy of a base that has something: 0 while none was sent, and kept when
// its holders have it.
type copyMark uint64

func (m *copyMark) sent(number uint64) {
	if *m == 0 {
		*m = copyMark(number)
	}
}

func (m *copyMark) held(number uint64) {
	if *m != 0 && *m <= copyMark(number) {
		*m = kept
	}
}

// copySent notes the number of the copy that has just been sent.
func (k *keeping) copySent(number uint64) {
	k.stepCopy.sent(number)
	for i := range k.waits {
		if w := &k.waits[i]; w.version != 0 {
			w.copy.sent(number)
		}
	}
}

// copyHeld notes up to which copy the holders have them.
func (k *keeping) copyHeld(number uint64) {
	k.stepCopy.held(number)
	for i := range k.waits {
		k.waits[i].copy.held(number)
	}
}

// heirKnows reports whether an heir would know the row that is to be made, or given back.
func (b *base) heirKnows() bool {
	k := &b.keep
	return (k.row == 0 || k.made) && !k.ending || k.stepCopy == kept || !b.protected()
}

// ended reports whether the script has heard the last. The base is there until the store has it.
func (b *base) ended() bool { return b.removed || b.keep.ending }

// storing is what an app knows of the store.
type storing struct {
	start   uint64 // of the cluster; 0 while unknown
	world   uint64 // of the store in which it began
	number  uint64 // of the last call
	open    int    // calls that are not answered
	queue   []*base
	loads   []*loading
	cursor  int // of the archive, in the list
	credit  float64
	closing bool // all is written, and nothing begins any more
	room    int  // records that may be made until the next tick
}

// keeps reports whether a store keeps the bases of a type.
func (a *BaseApp) keeps(d *property.Definition) *store.Type {
	if !a.stores || d == nil {
		return nil
	}
	return a.cfg.Stored.Type(d.Name)
}

// storeCall asks the DBApp, until it answers. done is told once.
func (a *BaseApp) storeCall(m *wire.CallStore, done func(*wire.StoreAnswer)) {
	s := &a.storing
	s.number++
	m.Number, m.Start, m.World = s.number, s.start, s.world
	s.open++
	if !insistOn(a, m, func(r *wire.StoreAnswer) {
		s.open--
		done(r)
	}) {
		s.open--
		done(&wire.StoreAnswer{Code: stored.Busy, Reason: "baseapp: too many calls of the store are open"})
	}
}

// callKeep makes the next call for the row.
func (b *base) callKeep() {
	k := &b.keep
	m := &wire.CallStore{Type: k.typ.Name, Row: k.row, Entity: b.id}
	switch {
	case k.over || k.ending && !k.mayExist() && !k.wanted:
		k.over = true
		return
	case k.holder != 0:
		m.Op, m.FromApp = wire.StoreTakeOver, k.holder
	case k.ending && k.deleting && k.mayExist():
		m.Op = wire.StoreDelete
	case k.ending && (b.failed || k.written || k.refused) && k.mayExist():
		m.Op = wire.StoreFree // a script that panicked may have left things half changed
	case !k.wanted || b.failed: // half changed
		k.wanted = false
		return
	case k.row == 0:
		m.Op = wire.StoreReserve
	default:
		if !b.fill(m) {
			return
		}
	}
	k.calling = true
	b.app.storeCall(m, func(r *wire.StoreAnswer) {
		if b.aside {
			return // its next life takes the row over
		}
		k.calling = false
		b.keptAnswer(m, r)
	})
}

// keptAnswer takes the answer to a call for the row.
func (b *base) keptAnswer(m *wire.CallStore, r *wire.StoreAnswer) {
	k := &b.keep
	writes := m.Op == wire.StoreWrite || m.Op == wire.StoreCreate
	switch r.Code {
	case stored.Done:
		b.keepDone(m, r)
	case stored.Busy:
		if writes {
			err := &stored.Error{Code: r.Code, Reason: r.Reason}
			b.tellEach(err, func(w *storeWait) bool { return w.version != 0 && w.version <= m.Version && !w.stored })
		}
		if !writes || k.ending || b.app.held || m.Op == wire.StoreCreate {
			k.wanted = k.wanted || writes
			k.notBefore = b.app.now + keepAgain
			b.queueKeep()
			return
		}
	case stored.Exists:
		// An earlier call made the row, and nobody has heard of it. If it is another's, the write is refused.
		k.made, k.wanted = true, true
	case stored.Missing:
		if k.made || m.Op != wire.StoreTakeOver {
			b.loseRow(m, r)
			return
		}
		k.holder = 0 // the former life has not come to make it
	case stored.Held, stored.Free, stored.Stale, stored.Superseded:
		b.loseRow(m, r)
		return
	default:
		k.tried = false
		if b.tellWaits(m.Version, &stored.Error{Code: r.Code, Reason: r.Reason}) {
			b.log.Info("the store refuses the base, as its script has heard", "reason", r.Reason)
		} else {
			b.app.report.Errors++
			b.log.Error("the store refuses the base", "reason", r.Reason)
		}
		if k.ending {
			b.giveRowBack()
			return
		}
		if m.Op == wire.StoreCreate && b.account != "" && !b.app.held {
			b.Destroy() // a player who cannot be kept does not play in vain
		}
	}
	if k.wanted || k.ending && !k.over || k.holder != 0 {
		b.queueKeep()
	}
}

// giveRowBack ends the check-out of a base that cannot be written at its end, and must not be held
// for ever: who loads it next has what was written before. (The account of a player whose last
// write had a value that must be unique, and was another's, was locked until the world started
// again.)
func (b *base) giveRowBack() {
	k := &b.keep
	k.refused, k.over = k.made && !k.refused, !k.made || k.refused
	if !k.over {
		b.queueKeep()
	}
}

// keepDone goes on after a call that was carried out.
func (b *base) keepDone(m *wire.CallStore, r *wire.StoreAnswer) {
	k := &b.keep
	switch m.Op {
	case wire.StoreReserve:
		k.row, k.stepCopy = r.Row, 0
		b.backupSoon() // an heir must know it
	case wire.StoreTakeOver:
		k.written = k.ending && r.Version > k.version
		k.holder, k.version = 0, max(k.version, r.Version)
		k.made, k.wanted = true, true
	case wire.StoreCreate, wire.StoreWrite:
		if m.Op == wire.StoreCreate {
			k.made = true
			b.backupSoon()
		}
		k.over = k.over || m.Release
		k.confirmed = m.Version
		for i := range k.waits {
			k.waits[i].stored = k.waits[i].stored || k.waits[i].version <= m.Version && k.waits[i].version != 0
		}
		b.tellStored()
	default:
		k.over = true
	}
}

// loseRow ends a base whose row is somebody else's: nobody may live twice.
func (b *base) loseRow(m *wire.CallStore, r *wire.StoreAnswer) {
	k := &b.keep
	k.over = true
	if k.released || k.ending && m.Op == wire.StoreTakeOver {
		return // it was given back by a write of which no answer came, or by the former life
	}
	b.app.report.Errors++
	b.log.Error("the row of the base is not its own any more; the base ends without a write", "row", k.row, "reason", r.Reason)
	b.tellWaits(m.Version, &stored.Error{Code: r.Code, Reason: r.Reason})
	b.Destroy()
}

// awaitLast has a base that ends wait for the last state of its cell part.
func (b *base) awaitLast() bool {
	k := &b.keep
	if k.typ == nil || k.over || k.deleting || b.failed || !k.made && !k.wanted || b.app.dismissed || !b.link.Live() || !b.askCell() {
		return false
	}
	k.parting = true
	return true
}

// tickParting ends the wait.
func (b *base) tickParting() {
	if b.keep.parting && b.cellAnswered() {
		b.keep.parting = false
		b.keepCopy()
		b.endLink()
	}
}

// keepLast writes a base that has ended, and gives its row back. It reports whether the base has to
// wait for that: should the app die meanwhile, an heir does it.
func (b *base) keepLast() bool {
	k := &b.keep
	if k.ending || k.typ == nil || k.over || b.app.dismissed {
		return k.ending && !k.over
	}
	b.keepCopy()
	k.wanted = (k.made || k.wanted || k.calling) && !b.failed && !k.deleting
	if k.ending = k.mayExist() || k.wanted || k.calling || k.holder != 0; !k.ending {
		return false
	}
	k.freshAt, k.freshBy, k.stepCopy = 0, 0, 0
	b.queueKeep()
	b.backupSoon()
	return true
}

// Row is part of entity.Base's host.
func (b *base) Row() uint64 {
	if !b.keep.made {
		return 0
	}
	return b.keep.row
}

// DestroyRow is part of entity.Base's host.
func (b *base) DestroyRow() error {
	switch {
	case b.destroying: // its last write may be done, and the row another's by now
		return entity.ErrGone
	case b.keep.typ == nil:
		return stored.ErrNotKept
	}
	b.keep.deleting = true
	b.Destroy()
	return nil
}
