package dbapp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// When a start of the cluster has begun, the DBApp brings back what the store has kept of the one before:
//
//	(start known) --> reading --> spaces --all answered--> entities --all answered--> ending --> done
//	                     |         to the CellAppMgr        page by page, each to       a blob says that
//	                     |                                  the BaseApp that was        this start is done
//	                     +-- this start is done already     given fewest
//	                         ---------------------------------------------------------------------> done
//
// A DBApp that takes the place of another under the same start goes through all of it again, unless
// it was done: spaces that there are stay as they are, and entities that live are left out.
const (
	broughtKey = "brought"

	// maxBringing bounds the entities that a BaseApp is asked to load at a time: half of what it loads at a
	// time, so that players who log in meanwhile find room.
	maxBringing = 512
	// bringPage is how many rows a query gives.
	bringPage = 500
	// bringPatience is how long a BaseApp may take for one: longer than a load waits there.
	bringPatience = 15 * time.Second
	// bringTries is how often one is tried, on whichever BaseApp, before it is given up. Those made while
	// the store fails do not count.
	bringTries = 5
	// bringAgain is the pause after something has failed.
	bringAgain = time.Second
	// gatherTime is how long the first BaseApp waits for others, so that the entities are spread.
	gatherTime = time.Second
	// maxSpacesBringing bounds the spaces that the manager is told of at a time.
	maxSpacesBringing = 16
)

type bringState uint8

const (
	bringNone bringState = iota
	bringReading
	bringSpaces
	bringEntities
	bringEnding
	bringDone
)

// bringing is how far that is.
type bringing struct {
	state   bringState
	working bool          // a job is under way
	at      time.Duration // not before
	asks    app.Errands

	spaces []wire.KeptSpace
	told   int  // of them
	open   int  // of those without an answer
	all    bool // the manager was told that there are no more

	typ      int // index in Config.BringBack
	after    *store.Cursor
	lastPage bool
	rows     []bringRow
	out      int
	apps     []bringApp

	brought, failed, lostSpaces int
}

// bringRow is an entity that is to come back.
type bringRow struct {
	store.Key
	tries int
	at    time.Duration // not before
}

// bringApp is a BaseApp that has joined.
type bringApp struct {
	at    mercury.Address
	ch    mercury.ChannelID
	given int
	out   int // of those that were given, without an answer
}

// kept is the result of the job of reading.
type kept struct {
	done   bool
	spaces []wire.KeptSpace
	keys   []string // of the blobs
	faults []string
	err    error
}

// page is that of a query.
type page struct {
	store.Page
	err error
}

// gather notes a BaseApp that has joined.
func (d *DBApp) gather(from sender) {
	b := &d.bring
	if len(b.apps) == 0 {
		b.at = max(b.at, d.now+gatherTime)
	}
	if i := slices.IndexFunc(b.apps, func(x bringApp) bool { return x.at == from.app }); i >= 0 {
		b.apps[i].ch = from.ch
		return
	}
	b.apps = append(b.apps, bringApp{at: from.app, ch: from.ch})
}

// tickBring goes on.
func (d *DBApp) tickBring() {
	b := &d.bring
	b.asks.Tick()
	if b.state == bringDone || d.start == 0 || b.working {
		return
	}
	if b.state > bringReading && d.stops() {
		return // what has not come back stays in the store
	}
	switch b.state {
	case bringNone:
		b.state = bringReading
	case bringReading:
		if d.now >= b.at {
			d.readKept()
		}
	case bringSpaces:
		d.tellSpaces()
	case bringEntities:
		d.bringRows()
	case bringEnding:
		if d.now >= b.at {
			d.endBring()
		}
	}
}

func (d *DBApp) bringJob(f func(ctx context.Context, s store.Store) any) {
	d.bring.working = true
	d.storeJob(bringToken, f)
}

// readKept reads the spaces of the world before, unless this start has had them.
func (d *DBApp) readKept() {
	start := d.start
	d.bringJob(func(ctx context.Context, s store.Store) any {
		b, err := s.Get(ctx, broughtKey)
		if err != nil && !errors.Is(err, store.ErrMissing) {
			return kept{err: err}
		}
		n, _ := binary.Uvarint(b.Data)
		k := readSpaces(ctx, s, start)
		if k.done = err == nil && n == start; k.done {
			k.spaces = nil
		}
		return k
	})
}

// readSpaces reads the blobs of all spaces. Those that were written in this start are of spaces that live.
func readSpaces(ctx context.Context, s store.Store, now uint64) (k kept) {
	for after := ""; ; {
		blobs, err := s.List(ctx, spacePrefix, after, bringPage)
		if err != nil {
			return kept{err: err}
		}
		for _, b := range blobs {
			after = b.Key
			start, n := binary.Uvarint(b.Data)
			x, err := wire.ParseKeptSpace(b.Data[max(n, 0):])
			if n <= 0 || err != nil {
				k.faults = append(k.faults, fmt.Sprintf("%s: %v", b.Key, err))
				continue // it stays for whoever can read it
			}
			if k.keys = append(k.keys, b.Key); start != now {
				k.spaces = append(k.spaces, x)
			}
		}
		if len(blobs) < bringPage {
			return k
		}
	}
}

// tellSpaces tells the manager of the spaces, and then that these are all.
func (d *DBApp) tellSpaces() {
	b := &d.bring
	for b.told < len(b.spaces) && b.open < maxSpacesBringing {
		m := &wire.BringSpace{KeptSpace: b.spaces[b.told]}
		if !app.Insist(&b.asks, m, func(a *wire.SpaceBrought) {
			b.open--
			if a.Reason != "" {
				b.lostSpaces++
				d.spaces.leave(m.Space)
				d.log.Error("a space was not brought back; it stays in the store", "space", m.Space, "reason", a.Reason)
			}
		}) {
			return
		}
		b.told++
		b.open++
	}
	if b.told == len(b.spaces) && b.open == 0 && !b.all {
		b.all = app.Insist(&b.asks, &wire.BringSpace{All: true}, func(*wire.SpaceBrought) { b.state, b.spaces = bringEntities, nil })
	}
}

// bringRows asks BaseApps to load entities, and for further rows when there are few.
func (d *DBApp) bringRows() {
	b := &d.bring
	if b.typ < len(d.cfg.BringBack) && !b.lastPage && len(b.rows) < maxBringing && d.now >= b.at {
		q := store.Query{Type: d.cfg.BringBack[b.typ], AutoLoad: true, After: b.after, Limit: bringPage}
		d.bringJob(func(ctx context.Context, s store.Store) any {
			p, err := s.Query(ctx, q)
			return page{p, err}
		})
		return
	}
	for i := 0; i < len(b.rows) && d.now >= b.at; {
		if b.rows[i].at > d.now {
			i++
			continue
		}
		x := b.rows[i]
		if !d.bringRow(x) {
			break
		}
		b.rows = slices.Delete(b.rows, i, i+1)
	}
	if len(b.rows) > 0 || b.out > 0 {
		return
	}
	switch {
	case b.typ < len(d.cfg.BringBack) && b.lastPage:
		b.typ, b.after, b.lastPage = b.typ+1, nil, false
	case b.typ == len(d.cfg.BringBack):
		b.state = bringEnding
	}
}

// bringRow asks the BaseApp that was given fewest of those that take more. It reports false if there is none.
func (d *DBApp) bringRow(x bringRow) bool {
	b := &d.bring
	var to *bringApp
	for i := range b.apps {
		y := &b.apps[i]
		if role, _ := d.roster.Role(y.at); role == wire.BaseApp && !d.links.Dead(y.at) && y.out < maxBringing && (to == nil || y.given < to.given) {
			to = y
		}
	}
	if to == nil {
		return false
	}
	at := to.at
	_, err := app.Ask(&d.links, to.ch, bringPatience, &wire.BringBack{Type: x.Type, Row: uint64(x.ID)}, func(_ time.Duration, a *wire.BroughtBack, err error) {
		b.answered(at)
		if err != nil {
			d.bringAgain(x, err.Error())
			return
		}
		d.broughtBack(x, a)
	})
	if err != nil { // its channel has ended
		b.apps = slices.DeleteFunc(b.apps, func(y bringApp) bool { return y.at == at })
		return false
	}
	to.given++
	to.out++
	b.out++
	return true
}

// answered notes that a BaseApp has answered for an entity, or never will.
func (b *bringing) answered(by mercury.Address) {
	b.out--
	if i := slices.IndexFunc(b.apps, func(x bringApp) bool { return x.at == by }); i >= 0 && b.apps[i].out > 0 {
		b.apps[i].out--
	}
}

func (d *DBApp) broughtBack(x bringRow, a *wire.BroughtBack) {
	switch a.Code {
	case stored.Done, stored.Held: // held: it lives already, as by an answer that was lost
		d.bring.brought++
	case stored.Missing: // it was deleted meanwhile
	case stored.Busy:
		if d.inDoubt() {
			x.tries-- // it comes back when the store works again
		}
		d.bringAgain(x, a.Reason)
	default:
		d.giveUpBring(x, a.Reason)
	}
}

func (d *DBApp) bringAgain(x bringRow, why string) {
	if x.tries++; x.tries >= bringTries {
		d.giveUpBring(x, why)
		return
	}
	x.at = d.now + bringAgain
	d.bring.rows = append(d.bring.rows, x)
}

func (d *DBApp) giveUpBring(x bringRow, why string) {
	d.bring.failed++
	d.report.Errors++
	d.log.Error("an entity cannot be brought back; it stays in the store", "row", x.Key.String(), "reason", why)
}

// endBring notes that this start is done.
func (d *DBApp) endBring() {
	start := d.start
	d.bringJob(func(ctx context.Context, s store.Store) any {
		b, err := s.Get(ctx, broughtKey)
		if err != nil && !errors.Is(err, store.ErrMissing) {
			return err
		}
		_, err = s.Put(ctx, broughtKey, binary.AppendUvarint(nil, start), b.Version)
		return err
	})
}

// bringJobDone takes the result of a job.
func (d *DBApp) bringJobDone(result any) {
	b := &d.bring
	b.working = false
	var err error
	switch r := result.(type) {
	case kept:
		if err = r.err; err == nil {
			d.keptRead(&r)
		}
	case page:
		if err = r.err; err == nil {
			d.pageRead(&r)
		}
	case error:
		err = r
	case nil: // the end is noted
		b.state = bringDone
		d.log.Info("what the store kept is back", "entities", b.brought, "failed", b.failed, "spaces_lost", b.lostSpaces)
	}
	d.noteStore(reads, err)
	if err != nil {
		b.at = d.now + bringAgain
		d.report.Errors++
		if unlogged, ok := d.lines.Allow(d.now, "bring"); ok {
			d.log.Warn("cannot read what is to come back; it is tried again", "error", err, "unlogged", unlogged)
		}
	}
}

func (d *DBApp) keptRead(r *kept) {
	for _, f := range r.faults {
		d.bring.lostSpaces++
		d.log.Error("a space of the store cannot be read", "space", f)
	}
	d.spaces.stored = r.keys
	d.bring.state, d.bring.spaces = bringSpaces, r.spaces
	if r.done {
		d.bring.state = bringDone
		// A manager that waits is told that there is nothing more.
		app.Insist(&d.bring.asks, &wire.BringSpace{All: true}, func(*wire.SpaceBrought) {})
	}
}

// pageRead takes the rows that nobody has of this start.
func (d *DBApp) pageRead(r *page) {
	b := &d.bring
	for i := range r.Rows {
		if x := &r.Rows[i]; x.Holder.Start != d.start {
			b.rows = append(b.rows, bringRow{Key: x.Key})
		}
	}
	b.after, b.lastPage = r.Next, r.Next == nil
}
