package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/dbapp"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/property"
)

// Ledgers are bases that the store keeps. Each counts, and has the count written. What the store has
// confirmed must be there, whatever dies; and no row may live twice. With Wild.Loans half of them end now and
// then, and the others have them loaded again.

const ledgerDef = `<root><Persistent> true </Persistent><Properties>
	<count> <Type> INT64 </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> <Indexed> true </Indexed> </count>
</Properties></root>`

// ledger is the base part of a ledger; it has no other.
type ledger struct {
	*entity.Base
	Count property.Int64
	w     *world  `cellscape:"local"`
	beats int     `cellscape:"local"`
	asked *survey `cellscape:"local"`
}

// OnCreated starts the beat. What was loaded has what was confirmed.
func (b *ledger) OnCreated() {
	if k := b.w.books; b.Row() != 0 {
		k.loaded++
		if b.Count.Get() < k.least[b.Row()] {
			k.lost = append(k.lost, fmt.Sprintf("row %d was loaded with %d, and %d was confirmed", b.Row(), b.Count.Get(), k.least[b.Row()]))
		}
	}
	_, _ = b.AddTimer(beat, beat, "OnBeat", 0)
}

// OnDestroy notes what the last write will have.
func (b *ledger) OnDestroy() { b.w.books.last[b.Row()] = b.Count.Get() }

// OnBeat counts, and writes now and then.
func (b *ledger) OnBeat(entity.Callback) {
	b.w.crack(b.Base)
	if b.w.calm {
		return
	}
	b.Count.Set(b.Count.Get() + 1)
	if b.beats++; b.beats%3 == 0 {
		_ = b.Write("OnKept", b.Count.Get())
	}
	if b.w.books.surveys && b.beats%4 == 0 && b.asked == nil {
		b.survey()
	}
	if k := b.w.books; k.loans && b.Row() != 0 {
		switch odd := (b.Row()^b.Row()>>6)%2 != 0; {
		case odd && b.beats > 17:
			b.Destroy()
		case !odd && b.beats%2 == 0 && len(k.rows) > 0:
			k.next++
			_ = b.LoadBase(stored.Key{Type: "Ledger", Row: k.rows[k.next%len(k.rows)]}, "OnLoaded", 0)
		}
	}
}

// OnLoaded hears of a ledger that was to be loaded: most live.
func (b *ledger) OnLoaded(entity.BaseReply) {}

// OnKept notes what the store has confirmed.
func (b *ledger) OnKept(r stored.Reply) {
	if r.Err != nil {
		b.w.books.refused++
		return
	}
	b.w.books.confirmed++
	if _, known := b.w.books.least[b.Row()]; !known {
		b.w.books.rows = append(b.w.books.rows, b.Row())
	}
	b.w.books.least[b.Row()] = max(b.w.books.least[b.Row()], r.User)
}

// books are the store of a run, and what it has confirmed.
type books struct {
	kept               *memory.Store
	types              *store.Schema
	least              map[uint64]int64 // by row
	rows               []uint64         // of least, in the order in which they were made
	last               map[uint64]int64 // by row, of ledgers that have ended
	lost               []string
	loans, surveys     bool
	rowsSeen           int // by surveys
	surveysFailed      int
	next               int // of rows, to be loaded
	confirmed, refused int
	loaded             int
	trouble            error // what the store answers everything with; nil for none
}

func newBooks(schema *property.Schema, o *Options) (*books, error) {
	types, err := store.NewSchema(schema)
	if err != nil {
		return nil, err
	}
	kept := o.Kept
	if kept == nil {
		kept = memory.New()
	}
	k := &books{kept: kept, types: types, least: map[uint64]int64{}, last: map[uint64]int64{}, loans: o.Wild.Loans, surveys: o.Wild.Surveys}
	_, err = k.kept.Apply(context.Background(), types, false)
	return k, err
}

// troubled is a store that is in trouble when a script says so.
type troubled struct {
	*memory.Store
	k *books
}

// Begin implements store.Cluster.
func (s troubled) Begin(ctx context.Context) (uint64, error) {
	if s.k.trouble != nil {
		return 0, s.k.trouble
	}
	return s.Store.Begin(ctx)
}

// Reserve implements store.Cluster.
func (s troubled) Reserve(ctx context.Context, c store.Counter, n uint64) (uint64, error) {
	if s.k.trouble != nil {
		return 0, s.k.trouble
	}
	return s.Store.Reserve(ctx, c, n)
}

// Query implements store.Entities.
func (s troubled) Query(ctx context.Context, q store.Query) (store.Page, error) {
	if s.k.trouble != nil {
		return store.Page{}, s.k.trouble
	}
	return s.Store.Query(ctx, q)
}

// Load implements store.Entities.
func (s troubled) Load(ctx context.Context, wants []store.Want) ([]store.Loaded, error) {
	if s.k.trouble != nil {
		return nil, s.k.trouble
	}
	return s.Store.Load(ctx, wants)
}

// HandOver implements store.Entities.
func (s troubled) HandOver(ctx context.Context, hs []store.Handover) error {
	if s.k.trouble != nil {
		return s.k.trouble
	}
	return s.Store.HandOver(ctx, hs)
}

// Delete implements store.Entities.
func (s troubled) Delete(ctx context.Context, rs []store.Removal) error {
	if s.k.trouble != nil {
		return s.k.trouble
	}
	return s.Store.Delete(ctx, rs)
}

// Free implements store.Entities.
func (s troubled) Free(ctx context.Context, start uint64, app uint32) (int, error) {
	if s.k.trouble != nil {
		return 0, s.k.trouble
	}
	return s.Store.Free(ctx, start, app)
}

// shaky is one that is busy now and then besides, before or after it has done what it was asked for.
type shaky struct {
	troubled
	chance *rand.Rand
	inARow *int // how many calls it was busy for since it has done one
}

// mostBusy is for how many calls in a row a shaky store is busy. Chance alone would have it so
// until the DBApp gives a call up, in one of some hundred worlds, and that is counted as an error.
const mostBusy = 6

func (s shaky) busy() error {
	if s.k.trouble == nil && s.chance.IntN(4) == 0 && *s.inARow < mostBusy {
		*s.inARow++
		return store.ErrBusy
	}
	return s.k.trouble
}

// done is the end of a call that has been carried out.
func (s shaky) done() error {
	err := s.busy()
	if err == nil {
		*s.inARow = 0
	}
	return err
}

// Write implements store.Entities.
func (s shaky) Write(ctx context.Context, records []store.Record) error {
	if err := s.busy(); err != nil {
		return err
	}
	if err := s.Store.Write(ctx, records); err != nil {
		return err
	}
	return s.done()
}

// Create implements store.Entities.
func (s shaky) Create(ctx context.Context, records []store.Record) error {
	if err := s.busy(); err != nil {
		return err
	}
	if err := s.Store.Create(ctx, records); err != nil {
		return err
	}
	return s.done()
}

// makeDBApp makes the process that has the store.
func (c *Cluster) makeDBApp(p *Process) (App, error) {
	return c.makeDBAppAt(p, c.managerAt(), p.starts == 1)
}

func (c *Cluster) makeDBAppAt(p *Process, manager netip.AddrPort, fresh bool) (App, error) {
	k := c.world.books
	return dbapp.New(dbapp.Config{
		Transport: p.ep, Manager: manager, Schema: c.world.schema, Store: shaky{troubled{k.kept, k}, p.random(), new(int)}, Types: k.types, BringBack: c.world.returning(), Fresh: fresh, Unleased: !c.opts.Wild.Leases,
		Jobs: p, Secrets: func(b []byte) { b[0] = 1 }, Log: p.log(), // no draw of chance
	})
}

// storeKeeps checks the promise of the store.
type storeKeeps struct{ c *Cluster }

func (k *storeKeeps) safe() error {
	books := k.c.world.books
	if books == nil || books.types.Type("Ledger") == nil {
		return nil
	}
	if len(books.lost) > 0 {
		return errors.New(books.lost[0])
	}
	page, err := books.kept.Query(context.Background(), store.Query{Type: "Ledger", Limit: store.MaxPage})
	if err != nil {
		return err
	}
	has := make(map[uint64]int64, len(page.Rows))
	for i := range page.Rows {
		has[uint64(page.Rows[i].ID)] = page.Rows[i].Columns[0].Int()
	}
	for _, row := range books.rows {
		if has[row] < books.least[row] {
			return fmt.Errorf("row %d has %d, and %d was confirmed", row, has[row], books.least[row])
		}
	}
	return nil
}

func (k *storeKeeps) converged() error {
	live := map[uint64]entity.ID{}
	err := k.leased()
	for b, s := range basesOf[*ledger](k.c) {
		if s.Row() == 0 {
			continue
		}
		if other, twice := live[s.Row()]; twice {
			err = fmt.Errorf("row %d lives as %v and as %v", s.Row(), other, b.ID)
		}
		live[s.Row()] = b.ID
	}
	return err
}

// leased checks that the store says which start lives.
func (k *storeKeeps) leased() error {
	if !k.c.opts.Wild.Leases || !k.c.dbApp.alive {
		return nil
	}
	d, ok := k.c.dbApp.app.(*dbapp.DBApp)
	if !ok || d.Counts().Start == 0 {
		return nil
	}
	l, err := dbapp.ReadLease(context.Background(), k.c.world.books.kept)
	if start := d.Counts().Start; err == nil && l.Start != start {
		err = fmt.Errorf("start %d lives, and the lease of the store is %+v", start, l)
	}
	return err
}

// stored are the types that the store keeps.
func (w *world) stored() *store.Schema {
	if w.books == nil {
		return nil
	}
	return w.books.types
}
