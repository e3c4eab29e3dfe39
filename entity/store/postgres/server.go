package postgres

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/internal/relational"
)

// server is a relational.Database.
type server struct {
	pool   *pgxpool.Pool
	closed atomic.Bool
}

// Close implements relational.Database.
func (s *server) Close() error {
	s.closed.Store(true)
	s.pool.Close()
	return nil
}

// Update implements relational.Database.
func (s *server) Update(ctx context.Context, fn func(relational.Tx) error) error {
	if s.closed.Load() {
		return store.ErrClosed
	}
	return pgx.BeginTxFunc(ctx, s.pool, txOptions(), func(t pgx.Tx) error { return fn(tx{t}) })
}

// View implements relational.Database.
func (s *server) View(ctx context.Context, fn func(relational.Tx) error) error {
	if s.closed.Load() {
		return store.ErrClosed
	}
	return s.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return fn(tx{c}) })
}

// querier is a transaction or a connection.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// tx is a relational.Tx.
type tx struct{ on querier }

// Exec implements relational.Tx.
func (t tx) Exec(ctx context.Context, s relational.Statement) (int64, error) {
	rows, err := t.on.Query(ctx, s.SQL, s.Args...)
	if err != nil {
		return 0, err
	}
	rows.Close()
	return rows.CommandTag().RowsAffected(), rows.Err()
}

// Query implements relational.Tx.
func (t tx) Query(ctx context.Context, s relational.Statement, row func(func(...any) error) error) error {
	rows, err := t.on.Query(ctx, s.SQL, s.Args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Batch implements relational.Tx: all statements go out before the first answer comes.
func (t tx) Batch(ctx context.Context, list []relational.Statement) (failed int, err error) {
	var b pgx.Batch
	for i := range list {
		b.Queue(list[i].SQL, list[i].Args...)
	}
	results := t.on.SendBatch(ctx, &b)
	for i := range list {
		if _, err := results.Exec(); err != nil {
			return i, errors.Join(err, ignoreSame(results.Close(), err))
		}
	}
	return -1, results.Close()
}

// ignoreSame leaves out an error that repeats the one before.
func ignoreSame(err, before error) error {
	if err == nil || err.Error() == before.Error() {
		return nil
	}
	return err
}
