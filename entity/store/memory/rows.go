package memory

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/property"
)

// Create implements store.Store.
func (s *Store) Create(ctx context.Context, records []store.Record) error {
	return s.put(ctx, records, func(r *store.Record, old *row) (*row, error) {
		if old != nil {
			return nil, old.Create(r)
		}
		return newRow(r, store.Created(r)), nil
	})
}

// Write implements store.Store.
func (s *Store) Write(ctx context.Context, records []store.Record) error {
	return s.put(ctx, records, func(r *store.Record, old *row) (*row, error) {
		if old == nil {
			return nil, store.ErrMissing
		}
		next, done, err := old.Write(r, s.start)
		if err != nil || done {
			return nil, err
		}
		return newRow(r, next), nil
	})
}

func newRow(r *store.Record, s store.State) *row {
	return &row{s, r.AutoLoad, slices.Clone(r.Columns), bytes.Clone(r.Data)}
}

// put decides on all records and then puts the rows that come of it; a nil row stays as it is.
func (s *Store) put(ctx context.Context, records []store.Record, decide func(r *store.Record, old *row) (*row, error)) error {
	if err := s.lock(ctx, true); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := s.schema.CheckRecords(records); err != nil {
		return err
	}
	refuse := func(i int, err error) error { return &store.RecordError{Index: i, Key: records[i].Key, Err: err} }
	next := make([]*row, len(records))
	for i := range records {
		r := &records[i]
		err := r.Holder.Check(s.start)
		if err == nil {
			next[i], err = decide(r, s.tables[r.Type][r.ID])
		}
		if err != nil {
			return refuse(i, err)
		}
	}
	old := make([]*row, len(records))
	for i := range records {
		if next[i] == nil {
			continue
		}
		r := &records[i]
		if err := s.unique(r); err != nil {
			for k := range i {
				if next[k] != nil {
					s.set(records[k].Key, old[k])
				}
			}
			return refuse(i, err)
		}
		old[i] = s.tables[r.Type][r.ID]
		s.set(r.Key, next[i])
	}
	return nil
}

func (s *Store) set(k store.Key, r *row) {
	if r == nil {
		delete(s.tables[k.Type], k.ID)
	} else {
		s.tables[k.Type][k.ID] = r
	}
}

// unique refuses a value that another row has.
func (s *Store) unique(r *store.Record) error {
	t := s.schema.Type(r.Type)
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Unique && taken(s.tables[r.Type], i, c, r.Columns[i], r.ID) {
			return fmt.Errorf("%w: %s %v", store.ErrTaken, c.Name, r.Columns[i])
		}
	}
	return nil
}

func taken(table map[store.ID]*row, i int, c *store.Column, v property.Value, but store.ID) bool {
	want := c.Scalar(v)
	// order does not show: it asks whether there is one
	for id, r := range table {
		if id != but && c.Compare(c.Scalar(r.columns[i]), want) == 0 {
			return true
		}
	}
	return false
}

// Load implements store.Store.
func (s *Store) Load(ctx context.Context, wants []store.Want) ([]store.Loaded, error) {
	if err := s.lock(ctx, true); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	wants = slices.Clone(wants)
	if err := s.schema.CheckWants(wants); err != nil {
		return nil, err
	}
	loaded := make([]store.Loaded, len(wants))
	for i := range wants {
		loaded[i] = s.load(&wants[i])
	}
	return loaded, nil
}

func (s *Store) load(w *store.Want) (out store.Loaded) {
	out.Key = w.Key
	if out.Err = w.Holder.Check(s.start); out.Err != nil {
		return out
	}
	if w.ID == 0 {
		t := s.schema.Type(w.Type)
		c := t.Identifier()
		i := slices.IndexFunc(t.Columns, func(d store.Column) bool { return d.Identifier })
		// order does not show: at most one is equal
		for id, r := range s.tables[w.Type] {
			if c.Compare(c.Scalar(r.columns[i]), c.Scalar(w.Identifier)) == 0 {
				out.ID = id
			}
		}
	}
	r := s.tables[w.Type][out.ID]
	if r == nil {
		out.Err = store.ErrMissing
		return out
	}
	next, err := r.Take(w.Holder, s.start)
	if err != nil {
		out.Err = err
		return out
	}
	r.State = next
	out.Record = store.Record{Key: out.Key, Version: r.Version, Holder: next.HeldBy(s.start), AutoLoad: r.autoload,
		Columns: slices.Clone(r.columns), Data: bytes.Clone(r.data)}
	return out
}

// HandOver implements store.Store.
func (s *Store) HandOver(ctx context.Context, hs []store.Handover) error {
	return s.each(ctx, len(hs), func(i int) store.Key { return hs[i].Key }, func(i int, r *row) (func(), error) {
		h := &hs[i]
		caller := h.To
		if caller.Nobody() {
			caller = h.From
		}
		if err := caller.Check(s.start); err != nil {
			return nil, err
		}
		if r == nil {
			return nil, store.ErrMissing
		}
		next, err := r.HandOver(h.From, h.To, s.start)
		return func() { r.State = next }, err
	})
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, rs []store.Removal) error {
	return s.each(ctx, len(rs), func(i int) store.Key { return rs[i].Key }, func(i int, r *row) (func(), error) {
		if err := rs[i].Holder.Check(s.start); err != nil {
			return nil, err
		}
		if r == nil {
			return nil, store.ErrMissing
		}
		return func() { s.set(rs[i].Key, nil) }, r.Delete(rs[i].Holder, s.start)
	})
}

// each decides on every row, and then does what was decided.
func (s *Store) each(ctx context.Context, n int, key func(i int) store.Key, decide func(i int, r *row) (do func(), err error)) error {
	if err := s.lock(ctx, true); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := s.schema.CheckKeys(n, key); err != nil {
		return err
	}
	todo := make([]func(), n)
	for i := range n {
		k := key(i)
		do, err := decide(i, s.tables[k.Type][k.ID])
		if err != nil {
			return &store.RecordError{Index: i, Key: k, Err: err}
		}
		todo[i] = do
	}
	for _, do := range todo {
		do()
	}
	return nil
}

// Free implements store.Store.
func (s *Store) Free(ctx context.Context, start uint64, app uint32) (int, error) {
	if err := s.lock(ctx, true); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	if start != s.start {
		return 0, fmt.Errorf("%w: start %d, the newest is %d", store.ErrSuperseded, start, s.start)
	}
	n := 0
	for _, t := range s.schema.Types {
		// order does not show: each row by itself
		for _, r := range s.tables[t.Name] {
			if r.Holder.Start == start && r.Holder.App == app && !r.Holder.Nobody() {
				r.Holder = store.Holder{}
				n++
			}
		}
	}
	return n, nil
}
