// Package memory is a store that forgets everything with its process: for tests, examples, and to
// look up what a call means. It keeps the whole contract of package store but for the crash.
//
// All methods may be called from any goroutine; a call waits for the one before it, and for nothing
// else.
package memory

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/property"
)

// Store is a store.Store.
type Store struct {
	mu           sync.Mutex
	schema       *store.Schema
	descriptions map[string][]byte
	types        map[string]*store.Type // as which the rows of the tables were kept
	tables       map[string]map[store.ID]*row
	start        uint64
	counters     map[store.Counter]uint64
	blobs        map[string]store.Blob
	blobVersion  uint64
	closed       bool
}

// row is a row. Its values are never changed in place.
type row struct {
	store.State
	autoload bool
	columns  []property.Value
	data     []byte
}

var _ store.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store {
	return &Store{descriptions: map[string][]byte{}, tables: map[string]map[store.ID]*row{}, counters: map[store.Counter]uint64{}, blobs: map[string]store.Blob{}}
}

// Reopen opens a store again that was closed, with all that it has: what a restarted process finds.
func (s *Store) Reopen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.schema = false, nil
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// lock begins a call; the caller unlocks if there is no error.
func (s *Store) lock(ctx context.Context, onRows bool) error {
	s.mu.Lock()
	var err error
	switch {
	case s.closed:
		err = store.ErrClosed
	case ctx.Err() != nil:
		err = fmt.Errorf("%w: %w", store.ErrBusy, ctx.Err())
	case onRows && s.schema == nil:
		err = store.ErrNotApplied
	}
	if err != nil {
		s.mu.Unlock()
	}
	return err
}

// Plan implements store.Store.
func (s *Store) Plan(ctx context.Context, schema *store.Schema) (store.Plan, error) {
	if err := s.lock(ctx, false); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return schema.PlanFrom(s.descriptions)
}

// Apply implements store.Store.
func (s *Store) Apply(ctx context.Context, schema *store.Schema, destructive bool) (store.Plan, error) {
	if err := s.lock(ctx, false); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	plan, err := schema.PlanFrom(s.descriptions)
	if err == nil {
		err = plan.Allow(destructive)
	}
	if err != nil {
		return plan, err
	}
	tables, descriptions, types := make(map[string]map[store.ID]*row), make(map[string][]byte), make(map[string]*store.Type)
	for _, t := range schema.Types {
		if tables[t.Name], err = s.fitted(t); err != nil {
			return plan, err
		}
		descriptions[t.Name], types[t.Name] = t.Description(), t
	}
	s.types = types
	s.schema, s.tables, s.descriptions = schema, tables, descriptions
	return plan, nil
}

// fitted returns the rows of a type with the columns that it has now.
func (s *Store) fitted(t *store.Type) (map[store.ID]*row, error) {
	old := s.tables[t.Name]
	if old == nil {
		return make(map[store.ID]*row), nil
	}
	if bytes.Equal(t.Description(), s.descriptions[t.Name]) {
		return old, nil
	}
	was := s.types[t.Name].Columns
	out := make(map[store.ID]*row, len(old))
	for _, id := range sortedIDs(old) {
		r := *old[id]
		columns, err := t.ColumnsOf(r.data)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", store.Key{Type: t.Name, ID: id}, err)
		}
		for i := range t.Columns {
			c := &t.Columns[i]
			if k := slices.IndexFunc(was, func(d store.Column) bool { return d.Name == c.Name && d.Class == c.Class }); k >= 0 {
				columns[i] = r.columns[k]
			}
		}
		r.columns = columns
		for i := range t.Columns {
			if c := &t.Columns[i]; c.Unique && taken(out, i, c, columns[i], id) {
				return nil, fmt.Errorf("%w: %s.%s would not be unique", store.ErrTaken, t.Name, c.Name)
			}
		}
		out[id] = &r
	}
	return out, nil
}

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

// Query implements store.Store.
func (s *Store) Query(ctx context.Context, q store.Query) (page store.Page, err error) {
	if err := s.lock(ctx, true); err != nil {
		return page, err
	}
	defer s.mu.Unlock()
	t, column, err := s.schema.CheckQuery(&q)
	if err != nil {
		return page, err
	}
	at := -1
	if column != nil {
		at = slices.IndexFunc(t.Columns, func(c store.Column) bool { return c.Name == column.Name })
	}
	order := func(a, b store.Cursor) int {
		n := 0
		if column != nil {
			n = column.Compare(column.Scalar(a.Value), column.Scalar(b.Value))
		}
		if n = cmp.Or(n, cmp.Compare(a.ID, b.ID)); q.Descending {
			return -n
		}
		return n
	}
	place := func(id store.ID, r *row) store.Cursor {
		if at < 0 {
			return store.Cursor{ID: id}
		}
		return store.Cursor{Value: r.columns[at], ID: id}
	}
	table := s.tables[q.Type]
	var places []store.Cursor
	for _, id := range sortedIDs(table) {
		p := place(id, table[id])
		if matches(&q, column, p, table[id]) && (q.After == nil || order(p, *q.After) > 0) {
			places = append(places, p)
		}
	}
	slices.SortFunc(places, order)
	if len(places) > q.Limit {
		places = places[:q.Limit]
		page.Next = &places[q.Limit-1]
	}
	for _, p := range places {
		r := table[p.ID]
		page.Rows = append(page.Rows, store.Row{Key: store.Key{Type: q.Type, ID: p.ID}, Version: r.Version, Holder: r.HeldBy(s.start),
			AutoLoad: r.autoload, Columns: slices.Clone(r.columns)})
	}
	return page, nil
}

func matches(q *store.Query, c *store.Column, p store.Cursor, r *row) bool {
	switch {
	case q.AutoLoad && !r.autoload:
		return false
	case c == nil:
		return true
	case !q.Min.IsNone() && c.Compare(c.Scalar(p.Value), c.Scalar(q.Min)) < 0:
		return false
	}
	return q.Max.IsNone() || c.Compare(c.Scalar(p.Value), c.Scalar(q.Max)) <= 0
}

func sortedIDs(table map[store.ID]*row) []store.ID {
	ids := make([]store.ID, 0, len(table))
	// order does not show: they are sorted
	for id := range table {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Begin implements store.Store.
func (s *Store) Begin(ctx context.Context) (uint64, error) {
	if err := s.lock(ctx, false); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	s.start++
	return s.start, nil
}

// Reserve implements store.Store.
func (s *Store) Reserve(ctx context.Context, c store.Counter, n uint64) (uint64, error) {
	if err := store.CheckReserve(c, n); err != nil {
		return 0, err
	}
	if err := s.lock(ctx, false); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	if s.counters[c]+n > uint64(store.MaxID) {
		return 0, fmt.Errorf("%w: the numbers of %s are used up", store.ErrValue, c)
	}
	s.counters[c] += n
	return s.counters[c] - n + 1, nil
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key string) (store.Blob, error) {
	if err := store.CheckBlob(key, nil); err != nil {
		return store.Blob{}, err
	}
	if err := s.lock(ctx, false); err != nil {
		return store.Blob{}, err
	}
	defer s.mu.Unlock()
	b, ok := s.blobs[key]
	if !ok {
		return b, fmt.Errorf("%w: blob %q", store.ErrMissing, key)
	}
	b.Data = bytes.Clone(b.Data)
	return b, nil
}

// Put implements store.Store.
func (s *Store) Put(ctx context.Context, key string, data []byte, version uint64) (uint64, error) {
	if err := store.CheckBlob(key, data); err != nil {
		return 0, err
	}
	if err := s.lock(ctx, false); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	if s.blobs[key].Version != version {
		return 0, fmt.Errorf("%w: blob %q is not of version %d", store.ErrStale, key, version)
	}
	s.blobVersion++
	s.blobs[key] = store.Blob{Key: key, Version: s.blobVersion, Data: bytes.Clone(data)}
	return s.blobVersion, nil
}

// Remove implements store.Store.
func (s *Store) Remove(ctx context.Context, key string, version uint64) error {
	if err := store.CheckBlob(key, nil); err != nil {
		return err
	}
	if err := s.lock(ctx, false); err != nil {
		return err
	}
	defer s.mu.Unlock()
	b, ok := s.blobs[key]
	if !ok {
		return fmt.Errorf("%w: blob %q", store.ErrMissing, key)
	}
	if b.Version != version {
		return fmt.Errorf("%w: blob %q is not of version %d", store.ErrStale, key, version)
	}
	delete(s.blobs, key)
	return nil
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix, after string, limit int) ([]store.Blob, error) {
	if err := store.CheckList(prefix, after, limit); err != nil {
		return nil, err
	}
	if err := s.lock(ctx, false); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var list []store.Blob
	// order does not show: they are sorted
	for key, b := range s.blobs {
		if strings.HasPrefix(key, prefix) && key > after {
			b.Data = bytes.Clone(b.Data)
			list = append(list, b)
		}
	}
	slices.SortFunc(list, func(a, b store.Blob) int { return strings.Compare(a.Key, b.Key) })
	return list[:min(limit, len(list))], nil
}
