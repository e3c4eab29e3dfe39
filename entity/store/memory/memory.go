// Package memory is a store that forgets everything with its process: for tests, examples, and to
// look up what a call means. It keeps the whole contract of package store but for the crash.
//
// All methods may be called from any goroutine; a call waits for the one before it, and for nothing
// else.
package memory

import (
	"bytes"
	"context"
	"fmt"
	"slices"
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
	plan, err := schema.PlanFrom(s.descriptions)
	for i := 0; i < len(plan) && err == nil; i++ {
		if plan[i].Action == store.AddIndex { // which may be unique in vain
			_, err = s.fitted(schema.Type(plan[i].Type), plan)
		}
	}
	return plan, err
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
		if tables[t.Name], err = s.fitted(t, plan); err != nil {
			return plan, err
		}
		descriptions[t.Name], types[t.Name] = t.Description(), t
	}
	s.types = types
	s.schema, s.tables, s.descriptions = schema, tables, descriptions
	return plan, nil
}

// fitted returns the rows of a type with the columns that it has after a plan.
func (s *Store) fitted(t *store.Type, plan store.Plan) (map[store.ID]*row, error) {
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
			anew := slices.ContainsFunc(plan, func(step store.Step) bool {
				return step.Action == store.AddColumn && step.Type == t.Name && step.Column == c.Name
			})
			if k := slices.IndexFunc(was, func(d store.Column) bool { return d.Name == c.Name }); k >= 0 && !anew {
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
