package dbapp

import (
	"errors"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// callKey names a call, however often it is repeated.
type callKey struct {
	app    mercury.Address
	number uint64
}

// rowKey is what one call at a time is about: a row, or one that is looked up by its identifier.
type rowKey struct {
	store.Key
	identifier string
}

// call is one call of a BaseApp.
type call struct {
	key     callKey
	ch      mercury.ChannelID
	request uint64 // of the newest question
	m       wire.CallStore
	typ     *store.Type
	holder  store.Holder
	row     rowKey
	pause   time.Duration
	at      time.Duration // not to be tried before
	until   time.Duration // not to be tried again after
	running bool
}

// batch is with which others a call goes into one job. Jobs of a batch follow one another, so that
// each has many calls: to reach the disk, or a server, costs as much for one row as for a hundred.
type batch uint8

const (
	alone  batch = iota
	writes       // and new rows
	loads
	batches
)

func (c *call) batch() batch {
	switch c.m.Op {
	case wire.StoreWrite, wire.StoreCreate:
		return writes
	case wire.StoreLoad:
		return loads
	}
	return alone
}

// most is how many calls of a batch one job takes.
func (b batch) most() int {
	if b == loads {
		return MaxLoadsTogether
	}
	return MaxTogether
}

// size is what a call takes of MaxBytes: its data and about what it takes else.
func (c *call) size() int { return len(c.m.Data) + 256 }

// calls are those that wait or are under way.
type calls struct {
	byKey map[callKey]*call
	queue []*call // oldest first; those under way and ended ones included until the next pump
	busy  map[rowKey]bool
	bytes int
	jobs  map[uint64][]*call // under way, by token
	token uint64
	under [batches]bool // a job of the batch is under way
}

func newCalls() calls {
	return calls{byKey: make(map[callKey]*call), busy: make(map[rowKey]bool), jobs: make(map[uint64][]*call)}
}

// drop forgets the calls of a dead app that are not under way. Its heirs say what is to be kept.
func (c *calls) drop(app mercury.Address) {
	c.queue = slices.DeleteFunc(c.queue, func(x *call) bool {
		gone := x.key.app == app && !x.running
		if gone {
			c.end(x)
		}
		return gone
	})
}

// end forgets a call.
func (c *calls) end(x *call) {
	if c.byKey[x.key] == x {
		delete(c.byKey, x.key)
		c.bytes -= x.size()
	}
}

// take takes a call of a BaseApp.
func (d *DBApp) take(from sender, m *wire.CallStore) {
	key := callKey{from.app, m.Number}
	if old := d.calls.byKey[key]; old != nil {
		old.ch, old.request = from.ch, m.Request
		return
	}
	switch {
	case m.Op == wire.StoreBegin:
		d.tellStart(from, m)
		return
	case !d.world.known:
		return // it is asked again
	case d.stranger(m):
		d.answer(from.ch, m.Request, errStrange, wire.StoreAnswer{})
		return
	case d.start == 0:
		return // it is asked again
	case len(d.calls.byKey) >= MaxCalls || d.calls.bytes+len(m.Data) > MaxBytes:
		d.reply(from.ch, m.Request, errFull, wire.StoreAnswer{})
		return
	case m.Op == wire.StoreReserve && d.giveID(from.ch, m.Request, m.Type):
		return
	}
	c := &call{key: key, ch: from.ch, request: m.Request, m: *m, typ: d.cfg.Types.Type(m.Type), until: d.now + Patience, pause: FirstPause}
	c.m.Data = slices.Clone(m.Data)
	c.row = rowKey{store.Key{Type: m.Type, ID: store.ID(m.Row)}, m.Identifier}
	c.holder = store.Holder{Start: m.Start, App: d.roster.Allocator(from.app), Entity: m.Entity}
	if m.Op == wire.StoreLoad || m.Op == wire.StoreQuery {
		c.until = d.now + LoadPatience
	}
	if m.Op == wire.StoreTakeOver && d.lives(m.FromApp) && d.roster.Home(m.Entity).App != from.app {
		d.reply(from.ch, m.Request, errLives, wire.StoreAnswer{}) // the heir has heard the verdict first: it asks again
		return
	}
	if c.typ == nil || c.typ.Definition() == nil || c.holder.App == 0 || m.Op != wire.StoreReserve && !m.Entity.Valid() {
		d.reply(from.ch, m.Request, errCall, wire.StoreAnswer{})
		return
	}
	d.calls.byKey[key] = c
	d.calls.bytes += c.size()
	d.calls.queue = append(d.calls.queue, c)
	if !d.calls.under[c.batch()] {
		d.pump()
	}
}

// lives reports whether the BaseApp of an allocator is not known to be dead.
func (d *DBApp) lives(allocator uint32) bool {
	for a := range d.roster.Of(wire.BaseApp) {
		if d.roster.Allocator(a) == allocator {
			return true
		}
	}
	return false
}

var (
	errFull  = wrap(store.ErrBusy, "dbapp: too many calls wait")
	errLives = wrap(store.ErrBusy, "dbapp: the BaseApp that has the row is not dead, and has not given the base away")
	// errFreedSoon is told who wants to load such a row: an heir takes it, or it is free after
	// FreeAfter. Of one that is held nobody would ask again.
	errFreedSoon = wrap(store.ErrBusy, "dbapp: a BaseApp that has died had the row, which is not free yet")

	errCall = wrap(store.ErrValue, "dbapp: no such persistent type, or no holder")
)

// wrap is an error with a text of its own.
func wrap(err error, text string) error { return &wrapped{text, err} }

type wrapped struct {
	text string
	err  error
}

func (w *wrapped) Error() string { return w.text }
func (w *wrapped) Unwrap() error { return w.err }

// pump begins what can begin, oldest first.
func (d *DBApp) pump() {
	c := &d.calls
	if d.start == 0 || len(c.queue) == 0 {
		return
	}
	var begun [batches][]*call
	bytes, free := 0, MaxJobs-len(c.jobs)
	for _, x := range c.queue {
		if free <= 0 && len(begun[writes])+len(begun[loads]) == 0 {
			break
		}
		k := x.batch()
		with := begun[k]
		switch {
		case x.running || c.busy[x.row] || x.at > d.now:
			continue
		case c.under[k] || len(with) == k.most() || len(with) == 0 && free <= 0:
			continue
		case k == writes && len(with) > 0 && bytes+x.size() > MaxBytesTogether:
			continue
		}
		if len(with) == 0 {
			free--
		}
		x.running = true
		c.busy[x.row] = true
		switch k {
		case alone:
			d.run(x)
			continue
		case writes:
			bytes += x.size()
		}
		begun[k] = append(with, x)
	}
	for k, list := range begun {
		if len(list) > 0 {
			c.under[k] = true
			d.run(list...)
		}
	}
}

// run gives out a job for a call, or for several of a batch.
func (d *DBApp) run(calls ...*call) {
	d.calls.token++
	d.calls.jobs[d.calls.token] = calls
	d.cfg.Jobs.Do(d.calls.token, job(d.cfg.Store, d.cfg.Limit, calls))
}

// JobDone takes the result of a job.
func (d *DBApp) JobDone(now time.Duration, token uint64, result any) {
	d.now = now
	switch token {
	case beginToken:
		d.startBegun(result)
	case freeToken:
		d.freed(result)
	case bringToken:
		d.bringJobDone(result)
	case spaceToken:
		d.spacesDone(result)
	case worldToken:
		d.worldRead(result)
	case leaseToken:
		d.leaseTold(result)
	case changeToken:
		d.changed(result)
	default:
		d.callsDone(token, result)
	}
}

// callsDone takes the outcomes of the calls of a job.
func (d *DBApp) callsDone(token uint64, result any) {
	list, ok := d.calls.jobs[token]
	if !ok {
		return
	}
	delete(d.calls.jobs, token)
	outcomes, ok := result.([]outcome)
	d.calls.under[list[0].batch()] = false
	for i, x := range list {
		x.running = false
		delete(d.calls.busy, x.row)
		o := outcome{err: store.ErrBusy}
		if ok && i < len(outcomes) {
			o = outcomes[i]
		}
		d.noteStore(useOf(x.m.Op), o.err)
		d.noteOver(x.m.Start, o.err)
		d.ended(x, &o)
	}
	d.calls.queue = slices.DeleteFunc(d.calls.queue, func(x *call) bool { return d.calls.byKey[x.key] != x })
	d.pump()
}

// ended takes the outcome of a call: it is answered, or tried again.
func (d *DBApp) ended(x *call, o *outcome) {
	if d.links.Dead(x.key.app) {
		d.calls.end(x) // nobody hears the answer
		return
	}
	if ofTheStore(o.err) && d.now+x.pause < x.until {
		x.at = d.now + x.pause
		x.pause = min(2*x.pause, LastPause)
		return
	}
	if d.heldByDead(x, o) {
		return
	}
	d.calls.end(x)
	if x.m.Op == wire.StoreReserve && o.err == nil {
		d.keepIDs(x.m.Type, o.row)
		if d.giveID(x.ch, x.request, x.m.Type) {
			return
		}
	}
	d.reply(x.ch, x.request, o.err, wire.StoreAnswer{Version: o.version, Row: uint64(o.row), Data: o.data})
}

// heldByDead sees to a row that an app has which is dead. An heir gets it, whichever of those
// before it had it last; the call goes on then. For others it is freed, when heirs have had their
// time.
func (d *DBApp) heldByDead(x *call, o *outcome) (goesOn bool) {
	var held *store.HeldError
	if !errors.As(o.err, &held) || held.By.Start != d.start || d.lives(held.By.App) {
		if held != nil && x.m.Op == wire.StoreTakeOver && held.By.Start == d.start && held.By.Entity == x.m.Entity {
			o.err = errLives
		}
		return false
	}
	if x.m.Op == wire.StoreTakeOver && held.By.Entity == x.m.Entity {
		x.m.FromApp = held.By.App
		return true
	}
	d.freeLater(held.By.App)
	if x.m.Op == wire.StoreLoad {
		o.err = errFreedSoon
	}
	return false
}

// reply answers a call, and logs what should not be.
func (d *DBApp) reply(ch mercury.ChannelID, request uint64, err error, a wire.StoreAnswer) {
	if code := codeOf(err); err != nil && (code >= stored.Superseded || code == stored.Busy && err != errLives && err != errFreedSoon) {
		d.report.Errors++
		if unlogged, ok := d.lines.Allow(d.now, "store"); ok {
			d.log.Warn("the store did not do what it was asked for", "error", err, "unlogged", unlogged)
		}
	}
	d.answer(ch, request, err, a)
}

// answer answers a call.
func (d *DBApp) answer(ch mercury.ChannelID, request uint64, err error, a wire.StoreAnswer) {
	a.Request = request
	if err != nil {
		reason := err.Error()
		a = wire.StoreAnswer{Request: request, Code: codeOf(err), Reason: reason[:min(len(reason), wire.MaxReason)], Holder: d.holderOf(err)}
	}
	d.links.Reply(ch, &a)
}

// holderOf is who has the row that a call was refused, 0 if that is nobody of this start.
func (d *DBApp) holderOf(err error) entity.ID {
	var held *store.HeldError
	if !errors.As(err, &held) || held.By.Start != d.start {
		return 0
	}
	return held.By.Entity
}

// codeOf is what an app is told of an error.
func codeOf(err error) stored.Code {
	if ofTheStore(err) {
		return stored.Busy
	}
	for _, x := range [...]struct {
		err  error
		code stored.Code
	}{
		{store.ErrMissing, stored.Missing}, {store.ErrExists, stored.Exists}, {store.ErrTaken, stored.Taken},
		{store.ErrHeld, stored.Held}, {store.ErrFree, stored.Free}, {store.ErrStale, stored.Stale}, {store.ErrSuperseded, stored.Superseded},
	} {
		if errors.Is(err, x.err) {
			return x.code
		}
	}
	return stored.Refused
}
