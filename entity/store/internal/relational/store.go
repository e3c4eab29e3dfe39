package relational

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/cellscape/cellscape/entity/store"
)

// format is the version of the tables' layout.
const format = 1

// Counters of the store's own. EntityIDs and Allocators have other names.
const (
	startCounter  = "cellscape:start"
	blobCounter   = "cellscape:blob"
	formatCounter = "cellscape:format"
)

// Store is a store.Store over a Database.
type Store struct {
	db      Database
	dialect *Dialect
	applied atomic.Pointer[layout]
}

// layout is a Schema that has been applied, with its SQL.
type layout struct {
	schema *store.Schema
	tables map[string]*table
}

var _ store.Store = (*Store)(nil)

// New makes the tables that do not depend on a Schema, unless they are there. It closes the database
// if it fails.
func New(ctx context.Context, db Database, d *Dialect) (*Store, error) {
	s := &Store{db: db, dialect: d}
	if err := s.setUp(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func (s *Store) setUp(ctx context.Context) error {
	d := s.dialect
	return s.update(ctx, d.OwnFence, func(tx Tx) error {
		for _, sql := range []string{
			"CREATE TABLE IF NOT EXISTS cellscape_counter (name " + d.Text + " PRIMARY KEY, value " + d.Int + " NOT NULL)",
			"CREATE TABLE IF NOT EXISTS cellscape_blob (key " + d.Text + " PRIMARY KEY, version " + d.Int + " NOT NULL, data " + d.Blob + " NOT NULL)",
			"CREATE TABLE IF NOT EXISTS cellscape_type (name " + d.Text + " PRIMARY KEY, description " + d.Blob + " NOT NULL)",
			fmt.Sprintf("INSERT INTO cellscape_counter (name, value) VALUES ('%s', %d), ('%s', 0) ON CONFLICT (name) DO NOTHING", formatCounter, format, startCounter),
		} {
			if _, err := tx.Exec(ctx, Statement{SQL: sql}); err != nil {
				return err
			}
		}
		found, err := counter(ctx, tx, formatCounter)
		if err == nil && found != format {
			err = fmt.Errorf("%w: its format is %d, and this build knows %d", store.ErrCorrupt, found, format)
		}
		return err
	})
}

// Close implements store.Store.
func (s *Store) Close() error { return s.db.Error(s.db.Close()) }

// update runs fn in a transaction behind a fence.
func (s *Store) update(ctx context.Context, fence string, fn func(Tx) error) error {
	return s.tell(ctx, s.db.Update(ctx, func(tx Tx) error {
		if fence != "" {
			if _, err := tx.Exec(ctx, Statement{SQL: fence}); err != nil {
				return err
			}
		}
		return fn(tx)
	}))
}

// change is update for calls on rows; fn is told the newest start.
func (s *Store) change(ctx context.Context, fn func(tx Tx, start uint64) error) error {
	return s.update(ctx, s.dialect.ShareFence, func(tx Tx) error {
		start, err := counter(ctx, tx, startCounter)
		if err != nil {
			return err
		}
		return fn(tx, start)
	})
}

func (s *Store) view(ctx context.Context, fn func(Tx) error) error {
	return s.tell(ctx, s.db.View(ctx, fn))
}

// tell turns the error of a transaction into one of package store.
func (s *Store) tell(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	told := err
	if !classified(err) {
		told = s.db.Error(err)
	}
	if ctx.Err() != nil && !errors.Is(told, ctx.Err()) {
		return fmt.Errorf("%w: %w: %w", store.ErrBusy, ctx.Err(), told)
	}
	if ctx.Err() != nil && !errors.Is(told, store.ErrRetry) {
		return fmt.Errorf("%w: %w", store.ErrBusy, told)
	}
	return told
}

// layout returns what was applied.
func (s *Store) layout() (*layout, error) {
	l := s.applied.Load()
	if l == nil {
		return nil, store.ErrNotApplied
	}
	return l, nil
}

func counter(ctx context.Context, tx Tx, name string) (value uint64, err error) {
	err = tx.Query(ctx, Statement{"SELECT value FROM cellscape_counter WHERE name = $1", []any{name}}, func(scan func(...any) error) error {
		var n int64
		err := scan(&n)
		value = uint64(n)
		return err
	})
	return value, err
}

// add raises a counter and returns its new value.
func add(ctx context.Context, tx Tx, name string, n uint64) (value uint64, err error) {
	err = tx.Query(ctx, Statement{"INSERT INTO cellscape_counter (name, value) VALUES ($1, $2) " +
		"ON CONFLICT (name) DO UPDATE SET value = cellscape_counter.value + excluded.value RETURNING value", []any{name, int64(n)}},
		func(scan func(...any) error) error {
			var n int64
			err := scan(&n)
			value = uint64(n)
			return err
		})
	if err == nil && value > uint64(store.MaxID) {
		err = fmt.Errorf("%w: the numbers of %s are used up", store.ErrValue, name)
	}
	return value, err
}

// names are the types of a call, in the order in which rows are locked.
func names[T any](list []T, of func(*T) string) []string {
	var out []string
	for i := range list {
		if n := of(&list[i]); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// classified reports whether an error already is one of package store.
func classified(err error) bool {
	for _, known := range []error{store.ErrRetry, store.ErrMissing, store.ErrExists, store.ErrTaken, store.ErrHeld, store.ErrFree, store.ErrStale,
		store.ErrSuperseded, store.ErrValue, store.ErrForm, store.ErrDestructive, store.ErrNotApplied, store.ErrCorrupt, store.ErrDenied, store.ErrClosed} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}
