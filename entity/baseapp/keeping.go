package baseapp

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

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
//   - The script is told of a write when they have what was written. Else the heir would write what was before.
//   - A base that ends stays, and its copies do, until the store has its last write. That is made when the holders
//     know that the base has ended. So an heir which finds the row given back, or somebody else's, has nothing to do.
const (
	// cellPatience is how long a write waits for the cell part's newest properties: a backup takes a
	// round trip, and the restore of a cell part some seconds.
	cellPatience = 2 * time.Second

	// maxStoreCalls bounds the calls of the store that one app has under way. What more bases want waits
	// in them.
	maxStoreCalls = 1024

	// maxWritesPerTick bounds the records that a tick makes: a megabyte of usual bases.
	maxWritesPerTick = 512

	// keepAgain is how long a base waits until it tries a write again that must not be lost.
	keepAgain = time.Second
)

// keeping is what a base knows of its row.
type keeping struct {
	typ *store.Type // nil: nobody keeps it
	row uint64      // 0: it has none yet
	// made says that the row exists. version is that of the last write that was sent, or of the load.
	made    bool
	version uint64
	// holder is the allocator of the former app, from which the check-out is to be taken over; 0: it is
	// this app's.
	holder uint32

	wanted, queued, calling bool
	notBefore               time.Duration
	// stepCopy is the copy of the base that has the id of the row or, at the end, that the base has ended.
	stepCopy copyMark
	// freshAt is the message of the base that the copy of the cell part must contain before a write, but
	// after freshBy any copy does.
	freshAt uint64
	freshBy time.Duration
	waits   []storeWait
	// copy is the newest copy of the cell part, which outlives it; loaded is the record that the base was
	// loaded from, until there is one.
	copy   cellCopy
	loaded []byte

	// confirmed is the version of the last write of this life that the store has. final is that of the last write
	// when the world stops, 0 while there is none. asked says that the cell part was asked for its last state, and
	// stale that it was written without that.
	confirmed, final uint64
	asked            bool
	stale            bool

	parting  bool // it waits for the last copy of its cell part before it ends
	ending   bool // the script has heard the last, and the next write gives the row back
	written  bool // the former life has made the last write
	released bool // a write that gives the row back was sent: a repeated one is the very same
	deleting bool // the row goes with it
	over     bool // nothing more is to be done
}

// storeWait is a callback that waits for a write:
//
//	Write --> wanted --sent--> sent --the store has it, and so have the holders of copies--> the callback
type storeWait struct {
	method  string
	user    int64
	version uint64 // of the write; 0 while none has been sent
	stored  bool
	copy    copyMark // of what was written
}

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
	number  uint64 // of the last call
	open    int    // calls that are not answered
	queue   []*base
	loads   []*loading
	cursor  int // of the archive, in the list
	credit  float64
	closing bool // all is written, and nothing begins any more
}

// keeps reports whether a store keeps the bases of a type.
func (a *BaseApp) keeps(d *property.Definition) *store.Type {
	if !a.stores || d == nil {
		return nil
	}
	return a.cfg.Stored.Type(d.Name)
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

// askCell asks the cell part for its newest state, for a write.
func (b *base) askCell() bool {
	if !b.link.Live() {
		return false
	}
	if err := b.addToFlow(append(b.app.payload[:0], byte(flow.BackupNowPayload))); err != nil {
		return false // what is here must do
	}
	b.keep.freshAt, b.keep.freshBy = b.link.out.Last(), b.app.now+cellPatience
	return true
}

// cellFresh reports whether the newest copy of the cell part is good for a write.
func (b *base) cellFresh() bool {
	k := &b.keep
	return b.app.now >= k.freshBy || b.link.State() == linkNone || b.link.out.Known(b.link.copy.Handled, b.link.life) >= k.freshAt
}

// keepCopy notes the newest copy of the cell part, which the link forgets with it.
func (b *base) keepCopy() {
	if b.keep.typ != nil && b.link.State() != linkNone {
		b.keep.copy, b.keep.loaded = b.link.Copy(), nil
	}
}

// cellValues are the newest known properties of the cell part; nil for none.
func (b *base) cellValues() *property.Values {
	b.keepCopy()
	k, d := &b.keep, b.props.Definition()
	if !d.HasCell || k.typ == nil {
		return nil
	}
	cell := property.NewValues(d, property.CellSide, nil)
	switch {
	case len(k.copy.Parts) > 0:
		err := migrate.EachPart(k.copy.Parts, func(tag migrate.Tag, body []byte) error {
			if tag != migrate.PropsPart {
				return nil
			}
			return migrate.ReadProps(body, cell, &b.app.compressor)
		})
		if err != nil {
			b.app.fault("cannot read the copy of a cell part", "entity", b.id, "error", err)
			return nil
		}
	case len(k.loaded) > 0:
		var own *property.Values
		if d.HasBase {
			own = property.NewValues(d, property.BaseSide, nil)
		}
		if _, _, err := k.typ.Decode(nil, k.loaded, own, cell); err != nil {
			b.app.fault("cannot read what the store has of a cell part", "entity", b.id, "error", err)
			return nil
		}
	default:
		return nil
	}
	return cell
}

// Stood is part of entity.StoreHost.
func (b *base) Stood() (s entity.Stood, ok bool) {
	b.keepCopy()
	k := &b.keep
	switch {
	case len(k.copy.Parts) > 0:
		s.Space, s.Position = k.copy.Space, k.copy.Position
		_ = migrate.EachPart(k.copy.Parts, func(tag migrate.Tag, body []byte) error {
			var core migrate.Core
			if tag == migrate.CorePart && core.Parse(body) == nil {
				s.Position, s.Direction, ok = core.Position, core.Direction, true
			}
			return nil
		})
	case len(k.loaded) > 0:
		s, ok = b.stoodIn(k.loaded)
	}
	return s, ok
}

// stoodIn reads where the cell part was out of a record.
func (b *base) stoodIn(data []byte) (s entity.Stood, ok bool) {
	d := b.props.Definition()
	var cell *property.Values
	if d.HasCell {
		cell = property.NewValues(d, property.CellSide, nil)
	}
	rest, _, err := b.keep.typ.Decode(nil, data, property.NewValues(d, property.BaseSide, nil), cell)
	if err != nil || len(rest) == 0 {
		return s, false
	}
	if err := codec.Parse(rest, func(c *codec.Coder) { codeStood(c, &s) }); err != nil {
		return entity.Stood{}, false // of a later build
	}
	return s, s.Space != 0
}

func codeStood(c *codec.Coder, s *entity.Stood) {
	codec.Uint32(c, &s.Space)
	fields.Vector3(c, &s.Position)
	fields.Vector3(c, &s.Direction)
}

// record is what the store is to have of the base.
func (b *base) record() ([]byte, error) {
	var rest []byte
	if s, ok := b.Stood(); ok {
		rest = codec.Append(nil, func(c *codec.Coder) { codeStood(c, &s) })
	}
	_, data, err := b.keep.typ.Encode(b.props, b.cellValues(), rest)
	return data, err
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
	later, room := s.queue[:0], maxWritesPerTick
	if a.held {
		room = maxHeldWritesPerTick
	}
	for _, b := range s.queue {
		if s.start == 0 || room == 0 || s.open >= maxStoreCalls || a.now < b.keep.notBefore || !b.cellFresh() || !b.heirKnows() {
			later = append(later, b)
			continue
		}
		room--
		b.keep.queued = false
		b.callKeep()
	}
	clear(s.queue[len(later):])
	s.queue = later
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
		if b := a.list[s.cursor]; !b.removed && !b.destroying && b.keep.made {
			b.want()
		}
	}
}

// storeCall asks the DBApp, until it answers. done is told once.
func (a *BaseApp) storeCall(m *wire.CallStore, done func(*wire.StoreAnswer)) {
	s := &a.storing
	s.number++
	m.Number, m.Start = s.number, s.start
	s.open++
	if !insistOn(a, m, func(r *wire.StoreAnswer) {
		s.open--
		done(r)
	}) {
		s.open--
		done(&wire.StoreAnswer{Code: entity.StoreBusy, Reason: "baseapp: too many calls of the store are open"})
	}
}

// callKeep makes the next call for the row.
func (b *base) callKeep() {
	k := &b.keep
	m := &wire.CallStore{Type: k.typ.Name, Row: k.row, Entity: b.id}
	switch {
	case k.over || k.ending && !k.made && !k.wanted:
		k.over = true
		return
	case k.holder != 0:
		m.Op, m.FromApp = wire.StoreTakeOver, k.holder
	case k.ending && k.deleting && k.made:
		m.Op = wire.StoreDelete
	case k.ending && (b.failed || k.written) && k.made:
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

// fill makes a write of the base as it is now.
func (b *base) fill(m *wire.CallStore) bool {
	k := &b.keep
	data, err := b.record()
	if err != nil {
		k.wanted, k.over = false, k.ending
		b.log.Error("the base cannot be written", "error", err)
		b.tellWaits(k.version+1, &entity.StoreError{Code: entity.StoreRefused, Reason: err.Error()})
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
		m.Op = wire.StoreCreate
	}
	for i := range k.waits {
		if k.waits[i].version == 0 {
			k.waits[i].version = k.version
			b.backupSoon() // it is told when others have this, too
		}
	}
	return true
}

// keptAnswer takes the answer to a call for the row.
func (b *base) keptAnswer(m *wire.CallStore, r *wire.StoreAnswer) {
	k := &b.keep
	writes := m.Op == wire.StoreWrite || m.Op == wire.StoreCreate
	switch r.Code {
	case entity.StoreDone:
		b.keepDone(m, r)
	case entity.StoreBusy:
		if writes {
			err := &entity.StoreError{Code: r.Code, Reason: r.Reason}
			b.tellEach(err, func(w *storeWait) bool { return w.version != 0 && w.version <= m.Version && !w.stored })
		}
		if !writes || k.ending || b.app.held {
			k.wanted = k.wanted || writes
			k.notBefore = b.app.now + keepAgain
			b.queueKeep()
			return
		}
	case entity.StoreExists:
		// An earlier call made the row, and nobody has heard of it. If it is another's, the write is refused.
		k.made, k.wanted = true, true
	case entity.StoreMissing:
		if k.made || m.Op != wire.StoreTakeOver {
			b.loseRow(m, r)
			return
		}
		k.holder = 0 // the former life has not come to make it
	case entity.StoreHeld, entity.StoreFree, entity.StoreStale, entity.StoreSuperseded:
		b.loseRow(m, r)
		return
	default:
		b.app.report.Errors++
		b.log.Error("the store refuses the base", "reason", r.Reason)
		b.tellWaits(m.Version, &entity.StoreError{Code: r.Code, Reason: r.Reason})
		if k.ending {
			k.over = true
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
	b.tellWaits(m.Version, &entity.StoreError{Code: r.Code, Reason: r.Reason})
	b.Destroy()
}

// tellWaits tells the script of a write that the store will not take, of those before it, and of those that would
// have followed it.
func (b *base) tellWaits(version uint64, err error) {
	b.tellEach(err, func(w *storeWait) bool { return w.version <= version && !w.stored })
}

// tellStored tells the script what is safe: the store has it, and what an heir would go on with has it, too.
func (b *base) tellStored() {
	if len(b.keep.waits) > 0 && !b.app.frozen {
		b.tellEach(nil, func(w *storeWait) bool { return w.stored && (w.copy == kept || !b.protected()) })
	}
}

func (b *base) tellEach(err error, which func(*storeWait) bool) {
	for b.hears() {
		i := slices.IndexFunc(b.keep.waits, func(w storeWait) bool { return which(&w) })
		if i < 0 {
			return
		}
		w := b.keep.waits[i]
		b.keep.waits = slices.Delete(b.keep.waits, i, i+1)
		callBack(b, w.method, entity.StoreReply{User: w.user, Err: err})
	}
}

// awaitLast has a base that ends wait for the last state of its cell part.
func (b *base) awaitLast() bool {
	k := &b.keep
	if k.typ == nil || k.over || k.deleting || b.failed || !k.made && !k.wanted || b.app.dismissed || !b.askCell() {
		return false
	}
	k.parting = true
	return true
}

// tickParting ends the wait.
func (b *base) tickParting() {
	if b.keep.parting && b.cellFresh() {
		b.keep.parting = false
		b.keepCopy()
		b.endLink()
	}
}

// keepLast writes a base that has ended, and gives its row back. It reports whether the base has to wait for that:
// should the app die meanwhile, an heir does it.
func (b *base) keepLast() bool {
	k := &b.keep
	if k.ending || k.typ == nil || k.over || b.app.dismissed {
		return k.ending && !k.over
	}
	b.keepCopy()
	k.wanted = (k.made || k.wanted || k.calling) && !b.failed && !k.deleting
	if k.ending = k.made || k.wanted || k.calling || k.holder != 0; !k.ending {
		return false
	}
	k.freshAt, k.freshBy, k.stepCopy = 0, 0, 0
	b.queueKeep()
	b.backupSoon()
	return true
}

// Write is part of entity.StoreHost.
func (b *base) Write(method string, user int64) error {
	switch err := script.CheckCallback[entity.StoreReply](b.kind, method); {
	case b.destroying:
		return entity.ErrGone
	case err != nil:
		return err
	case b.keep.typ == nil:
		return entity.ErrNotStored
	case len(b.keep.waits) >= entity.MaxStoreWaits:
		return entity.ErrTooMany
	}
	b.keep.waits = append(b.keep.waits, storeWait{method: method, user: user})
	b.askCell()
	b.want()
	return nil
}

// Row is part of entity.StoreHost.
func (b *base) Row() uint64 {
	if !b.keep.made {
		return 0
	}
	return b.keep.row
}

// DestroyRow is part of entity.StoreHost.
func (b *base) DestroyRow() error {
	if b.keep.typ == nil {
		return entity.ErrNotStored
	}
	b.keep.deleting = true
	b.Destroy()
	return nil
}

// SaveAll has everything written that the store keeps, for a cluster that stops: look at Unsaved until it
// is 0. Nothing is loaded any more.
func (a *BaseApp) SaveAll() {
	a.storing.closing = true
	for _, b := range a.list {
		if !b.removed && (b.keep.made || b.keep.wanted) {
			b.askCell()
			b.want()
		}
	}
}

// Unsaved is how many bases wait for the store.
func (a *BaseApp) Unsaved() int { return len(a.storing.queue) + a.storing.open }

// codeKeep codes what an heir needs.
func (b *base) codeKeep(c *codec.Coder) {
	k := &b.keep
	c.Uvarint(&k.row)
	c.Uvarint(&k.version)
	c.Bool(&k.made)
	holder, copy, reading, wanted := k.holder, k.copy, !b.value.IsValid(), k.wanted || k.calling
	for _, v := range [...]*bool{&wanted, &k.parting, &k.ending, &k.deleting, &b.failed} {
		c.Bool(v)
	}
	if holder == 0 {
		holder = b.app.allocator
	}
	if b.link.State() != linkNone {
		copy = cellCopy{} // the link has it
	}
	codec.Uint32(c, &holder)
	copy.code(c)
	if reading {
		k.holder, k.copy, k.wanted, k.stepCopy = holder, copy, wanted, kept
	}
	c.Bytes(&k.loaded, store.MaxData)
	codec.List(c, &k.waits, entity.MaxStoreWaits, 3, func(c *codec.Coder, w *storeWait) {
		c.String(&w.method, script.MaxName)
		codec.Field(c, &w.user, appendVarint, (*codec.Reader).Varint)
	})
}

var errStoreForgotten = errors.New("baseapp: the BaseApp that asked has died; it may have been written")

// reviveKeep takes the row over from the former life.
func (b *base) reviveKeep() {
	k := &b.keep
	if k.typ == nil {
		return
	}
	if k.parting {
		k.freshAt, k.freshBy = math.MaxUint64, b.app.now+adoptGrace+cellPatience // wherever its cell part is
	}
	if k.row == 0 {
		k.holder = 0
	}
	if k.wanted = k.wanted || b.account != "" || k.row != 0; k.wanted {
		b.queueKeep()
	}
}

// tellStoreForgotten answers the writes of the former life.
func (b *base) tellStoreForgotten() {
	waits := b.keep.waits
	b.keep.waits = nil
	for _, w := range waits {
		if b.hears() {
			callBack(b, w.method, entity.StoreReply{User: w.user, Err: &entity.StoreError{Code: entity.StoreBusy, Reason: errStoreForgotten.Error()}})
		}
	}
}
