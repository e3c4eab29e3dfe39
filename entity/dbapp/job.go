package dbapp

import (
	"context"
	"errors"
	"slices"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
)

// outcome is what became of a call.
type outcome struct {
	err     error
	row     store.ID
	version uint64
	data    []byte
}

// asked is what a job knows of a call.
type asked struct {
	m      wire.CallStore
	typ    *store.Type
	holder store.Holder
}

// job is the blocking part of calls, one or several of a batch. It has copies of all that it needs.
func job(s store.Store, limit Limit, calls []*call) func(context.Context) any {
	list := make([]asked, len(calls))
	for i, c := range calls {
		list[i] = asked{c.m, c.typ, c.holder}
	}
	return func(ctx context.Context) any {
		ctx, cancel := limit(ctx)
		defer cancel()
		switch x := &list[0]; {
		case len(list) == 1:
			return []outcome{do(ctx, s, &x.m, x.typ, x.holder)}
		case x.m.Op == wire.StoreLoad:
			return loadEach(ctx, s, list)
		}
		return writeEach(ctx, s, list)
	}
}

// storeJob has f call the store in a job, within the time of one call.
func (d *DBApp) storeJob(token uint64, f func(context.Context, store.Store) any) {
	s, limit := d.cfg.Store, d.cfg.Limit
	d.cfg.Jobs.Do(token, func(ctx context.Context) any {
		ctx, cancel := limit(ctx)
		defer cancel()
		return f(ctx, s)
	})
}

// writeEach writes rows, old and new ones.
func writeEach(ctx context.Context, s store.Store, list []asked) []outcome {
	out := make([]outcome, len(list))
	var fresh, known []store.Record
	index := make(map[store.Key]int, len(list))
	for i := range list {
		r, err := record(&list[i].m, list[i].typ, list[i].holder)
		switch {
		case err != nil:
			out[i].err = err
			continue
		case list[i].m.Op == wire.StoreCreate:
			fresh = append(fresh, r)
		default:
			known = append(known, r)
		}
		index[r.Key] = i
	}
	refused := func(r *store.Record, err error) { out[index[r.Key]].err = err }
	failed := func(records []store.Record, err error) {
		for i := range records { // each that was not refused gets the same
			if o := &out[index[records[i].Key]]; err != nil && o.err == nil {
				o.err = err
			}
		}
	}
	failed(fresh, createEach(ctx, s, fresh, refused))
	failed(known, store.WriteEach(ctx, s, known, refused))
	return out
}

// createEach is store.WriteEach for new rows.
func createEach(ctx context.Context, s store.Store, records []store.Record, refused func(*store.Record, error)) error {
	left := slices.Clone(records)
	for len(left) > 0 {
		err := s.Create(ctx, left)
		var one *store.RecordError
		if err == nil || !errors.As(err, &one) || errors.Is(err, store.ErrRetry) || one.Index < 0 || one.Index >= len(left) {
			return err
		}
		refused(&left[one.Index], one.Err)
		left = slices.Delete(left, one.Index, one.Index+1)
	}
	return nil
}

// record is what a call writes. Its columns are read out of the data.
func record(m *wire.CallStore, t *store.Type, h store.Holder) (store.Record, error) {
	columns, err := t.ColumnsOf(m.Data)
	return store.Record{Key: store.Key{Type: t.Name, ID: store.ID(m.Row)}, Version: m.Version, Holder: h, Release: m.Release, AutoLoad: m.AutoLoad, Columns: columns, Data: m.Data}, err
}

// do makes one call.
func do(ctx context.Context, s store.Store, m *wire.CallStore, t *store.Type, h store.Holder) (o outcome) {
	key := store.Key{Type: t.Name, ID: store.ID(m.Row)}
	switch m.Op {
	case wire.StoreReserve:
		first, err := s.Reserve(ctx, store.EntityIDs(t.Name), reserved)
		return outcome{err: err, row: store.ID(first)}
	case wire.StoreCreate, wire.StoreWrite:
		r, err := record(m, t, h)
		if err != nil {
			return outcome{err: err}
		}
		if m.Op == wire.StoreWrite {
			return outcome{err: s.Write(ctx, []store.Record{r})}
		}
		return outcome{err: s.Create(ctx, []store.Record{r})}
	case wire.StoreLoad:
		return load(ctx, s, wanting(m, t, h), t)
	case wire.StoreFree:
		err := s.HandOver(ctx, []store.Handover{{Key: key, From: h}})
		if errors.Is(err, store.ErrFree) || errors.Is(err, store.ErrMissing) {
			err = nil // it is not its own any more
		}
		return outcome{err: err}
	case wire.StoreTakeOver:
		from := store.Holder{Start: h.Start, App: m.FromApp, Entity: h.Entity}
		if err := s.HandOver(ctx, []store.Handover{{Key: key, From: from, To: h}}); err != nil && !errors.Is(err, store.ErrFree) {
			return outcome{err: err}
		}
		return load(ctx, s, store.Want{Key: key, Holder: h}, t)
	case wire.StoreDelete:
		err := s.Delete(ctx, []store.Removal{{Key: key, Holder: h}})
		if errors.Is(err, store.ErrMissing) {
			err = nil // by a call whose answer was lost
		}
		return outcome{err: err}
	case wire.StoreQuery:
		return query(ctx, s, m.Data, t)
	}
	return outcome{err: errCall}
}

// identifier is a text as a value of a type's identifier.
func identifier(t *store.Type, text string) property.Value {
	if c := t.Identifier(); c != nil {
		if v, err := c.Fit(property.StringValue(text)); err == nil {
			return v
		}
	}
	return property.StringValue(text)
}

// load checks a row out.
func load(ctx context.Context, s store.Store, w store.Want, t *store.Type) outcome {
	list, err := s.Load(ctx, []store.Want{w})
	if err != nil {
		return outcome{err: err}
	}
	return open(ctx, s, &list[0], w.Holder, t)
}

// loadEach checks rows out that have nothing to do with each other: one that makes no sense keeps
// no other from being loaded.
func loadEach(ctx context.Context, s store.Store, calls []asked) []outcome {
	out, wants := make([]outcome, len(calls)), make([]store.Want, len(calls))
	for i := range calls {
		wants[i] = wanting(&calls[i].m, calls[i].typ, calls[i].holder)
	}
	list, err := s.Load(ctx, wants)
	for i := range calls {
		switch {
		case err == nil:
			out[i] = open(ctx, s, &list[i], wants[i].Holder, calls[i].typ)
		case errors.Is(err, store.ErrRetry):
			out[i].err = err
		default:
			out[i] = load(ctx, s, wants[i], calls[i].typ)
		}
	}
	return out
}

// wanting is the row that a StoreLoad asks for.
func wanting(m *wire.CallStore, t *store.Type, h store.Holder) store.Want {
	return store.Want{Key: store.Key{Type: t.Name, ID: store.ID(m.Row)}, Identifier: identifier(t, m.Identifier), Holder: h}
}

// open reads a row that was checked out. What a tool has changed in the columns goes into the data.
func open(ctx context.Context, s store.Store, l *store.Loaded, h store.Holder, t *store.Type) outcome {
	if l.Err != nil {
		return outcome{err: l.Err}
	}
	var base, cell *property.Values
	if t.Definition().HasBase {
		base = property.NewValues(t.Definition(), property.BaseSide, nil)
	}
	if t.Definition().HasCell {
		cell = property.NewValues(t.Definition(), property.CellSide, nil)
	}
	rest, _, err := t.Decode(l.Columns, l.Data, base, cell)
	if err == nil {
		_, l.Data, err = t.Encode(base, cell, rest)
	}
	if err != nil { // it stays in the store for a person to look at, and nobody has it
		if freed := s.HandOver(ctx, []store.Handover{{Key: l.Key, From: h}}); freed != nil {
			err = errors.Join(err, freed)
		}
		return outcome{err: err}
	}
	return outcome{row: l.ID, version: l.Version, data: l.Data}
}
