package baseapp

import (
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/internal/wire"
)

// maxWritesPerTick bounds the records that a tick makes: a megabyte of usual bases.
const maxWritesPerTick = 512

// storeWait is a callback that waits for a write:
//
//	Write --> wanted --sent--> sent --the store has it, and so have the holders of copies--> the callback
type storeWait struct {
	method  string
	user    int64
	asked   uint64 // the message by which the cell part was asked; 0 if it was not
	version uint64 // of the write; 0 while none has been sent
	stored  bool
	copy    copyMark // of what was written
	stale   bool     // the cell part did not say its newest state in time
}

// want has the base written as soon as may be.
func (b *base) want() {
	k := &b.keep
	if k.typ == nil || k.over {
		return
	}
	k.wanted = true
	b.queueKeep()
}

func (b *base) queueKeep() {
	if k := &b.keep; !k.queued && !k.calling {
		k.queued = true
		b.app.storing.queue = append(b.app.storing.queue, b)
	}
}

// tickKeeping does what is due for the store.
func (a *BaseApp) tickKeeping() {
	if !a.stores {
		return
	}
	a.dbApp.Tick(a.now)
	a.storeAsks.Tick()
	a.archive()
	a.tickLoads()
	s := &a.storing
	due := s.queue
	later := due[:0]
	s.queue = nil // a script that hears that it cannot be written may ask again
	if s.room = maxWritesPerTick; a.held {
		s.room = maxHeldWritesPerTick
	}
	for _, b := range due {
		k := &b.keep
		if !k.calling && (s.room == 0 || !a.mayKeep(b) || k.holder == 0 && k.row != 0 && !b.cellFresh()) {
			later = append(later, b)
			continue
		}
		k.queued = false
		if !k.calling { // else it was written when the copy of its cell part came
			s.room--
			b.callKeep()
		}
	}
	clear(due[len(later):])
	s.queue = append(later, s.queue...)
}

// mayKeep reports whether the next call for the row of a base may be made.
func (a *BaseApp) mayKeep(b *base) bool {
	s := &a.storing
	return s.start != 0 && s.open < maxStoreCalls && a.now >= b.keep.notBefore && b.heirKnows()
}

// archive has a share of all bases written, so that each comes once in a period.
func (a *BaseApp) archive() {
	s := &a.storing
	if a.cfg.ArchivePeriod < 0 || a.frozen || s.closing || len(a.list) == 0 || len(s.queue) >= maxWritesPerTick {
		return
	}
	s.credit = min(s.credit+float64(len(a.list))*float64(a.ticks.Period)/float64(a.cfg.ArchivePeriod), maxWritesPerTick)
	for ; s.credit >= 1; s.credit-- {
		s.cursor = (s.cursor + 1) % len(a.list)
		if b := a.list[s.cursor]; !b.removed && !b.destroying && b.keep.made && !b.keep.manual {
			b.askForWrite()
			b.want()
		}
	}
}

// fill makes a write of the base as it is now.
func (b *base) fill(m *wire.CallStore) bool {
	k := &b.keep
	data, err := b.record()
	if err != nil {
		k.wanted = false
		b.log.Error("the base cannot be written", "error", err)
		b.tellWaits(k.version+1, &stored.Error{Code: stored.Refused, Reason: err.Error()})
		if k.ending {
			b.giveRowBack()
		}
		return false
	}
	if !k.released {
		k.version++
	}
	k.wanted, k.released = false, k.ending
	if b.app.held {
		k.final, k.stale = k.version, !b.cellIsLast()
	}
	m.Op, m.Version, m.Data, m.Release, m.AutoLoad = wire.StoreWrite, k.version, data, k.ending, b.bringsBack()
	if !k.made {
		m.Op, k.tried = wire.StoreCreate, true
	}
	b.joinWrite()
	return true
}

// joinWrite has those wait for the write that is being made who asked before the copy of the cell
// part was taken. For the others another one follows, when the cell part has answered them, too.
func (b *base) joinWrite() {
	k := &b.keep
	expired := !b.cellSaid()
	for i := range k.waits {
		w := &k.waits[i]
		said := b.cellHandled(w.asked)
		switch {
		case w.version != 0:
		case said || expired || b.app.held:
			w.version, w.stale = k.version, !said
			b.backupSoon() // it is told when others have this, too
		case !k.wanted:
			k.wanted, k.freshAt, k.freshBy = true, w.asked, b.app.now+cellPatience
		}
	}
}

// tellWaits tells the script of a write that the store will not take, of those before it, and of
// those that would have followed it.
func (b *base) tellWaits(version uint64, err error) (told bool) {
	return b.tellEach(err, func(w *storeWait) bool { return w.version <= version && !w.stored })
}

// tellStored tells the script what is safe: the store has it, and what an heir would go on with has it, too.
func (b *base) tellStored() {
	if len(b.keep.waits) > 0 && !b.app.frozen {
		safe := func(w *storeWait) bool { return w.stored && (w.copy == kept || !b.protected()) }
		b.tellEach(errStale(), func(w *storeWait) bool { return safe(w) && w.stale })
		b.tellEach(nil, safe)
	}
}

// errStale is of a write without the newest state of the cell part. The script may want another one.
func errStale() error {
	return &stored.Error{Code: stored.Busy, Reason: "baseapp: the base was written, and the cell part as it was, since that did not say its newest state in time"}
}

// tellEach tells the script of the writes that wait at the call. What it asks for in a callback has
// an answer of its own: a script that tries a refused write again would else be refused without an
// end.
func (b *base) tellEach(err error, which func(*storeWait) bool) (told bool) {
	k := &b.keep
	for i, left := 0, len(k.waits); left > 0 && i < len(k.waits) && b.hears(); left-- {
		w := k.waits[i]
		if !which(&w) {
			i++
			continue
		}
		k.waits = slices.Delete(k.waits, i, i+1)
		told = told || w.method != ""
		callBack(b, w.method, stored.Reply{User: w.user, Err: err})
	}
	return told
}

// Write is part of entity.Base's host.
func (b *base) Write(method string, user int64) error {
	switch err := script.CheckCallback[stored.Reply](b.kind, method); {
	case b.destroying:
		return entity.ErrGone
	case err != nil:
		return err
	case b.keep.typ == nil:
		return stored.ErrNotKept
	case len(b.keep.waits) >= limits.StoreWaits:
		return entity.ErrTooMany
	}
	b.keep.waits = append(b.keep.waits, storeWait{method: method, user: user, asked: b.askForWrite()})
	b.want()
	return nil
}

// SaveAll has everything written that the store keeps, for a cluster that stops: look at Unsaved until it
// is 0. Nothing is loaded any more. If only this app stops, its bases go on at others from their copies, and
// soon write what these have over what is written now: so each is copied once more as well.
func (a *BaseApp) SaveAll() {
	a.storing.closing = true
	for _, b := range a.list {
		if b.removed {
			continue
		}
		if b.keep.made || b.keep.wanted {
			b.askCell()
			b.want()
		}
		b.backupSoon()
	}
}

// Unsaved is how many bases wait for the store.
func (a *BaseApp) Unsaved() int { return len(a.storing.queue) + a.storing.open }
