package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strconv"

	"github.com/cellscape/cellscape/entity/store/internal/relational"
)

// maxPrepared is how many statements the writer keeps prepared: some ten a type. If there are more, it
// begins anew.
const maxPrepared = 1024

// writer is the one connection that writes. Its statements are not cancelled in the middle: each is
// short, and between two of them the context is asked. A context that can be cancelled would cost
// the driver a goroutine for each of them.
type writer struct {
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
}

func (w *writer) close() error { return errors.Join(w.forget(), w.conn.Close()) }

func (w *writer) forget() error {
	var errs []error
	// order does not show: they are independent
	for _, s := range w.prepared {
		errs = append(errs, s.Close())
	}
	clear(w.prepared)
	return errors.Join(errs...)
}

// transact runs a transaction. If the connection is not usable any more, it must be closed.
func (w *writer) transact(ctx context.Context, fn func(relational.Tx) error) (err error, usable bool) {
	whole := context.WithoutCancel(ctx)
	if _, err := w.conn.ExecContext(whole, "BEGIN IMMEDIATE"); err != nil {
		return err, !errors.Is(err, sql.ErrConnDone)
	}
	if err = fn(w); err == nil {
		err = ctx.Err()
	}
	if err == nil {
		if _, err = w.conn.ExecContext(whole, "COMMIT"); err == nil {
			return nil, true
		}
	}
	// Some errors end the transaction by themselves, such as that of a full disk. Then there is nothing
	// to roll back, and what SQLite says of that is of no use to anybody.
	_, undone := w.conn.ExecContext(whole, "ROLLBACK")
	return err, undone == nil
}

func (w *writer) stmt(ctx context.Context, text string) (*sql.Stmt, error) {
	if s := w.prepared[text]; s != nil {
		return s, nil
	}
	if len(w.prepared) >= maxPrepared {
		if err := w.forget(); err != nil {
			return nil, err
		}
	}
	s, err := w.conn.PrepareContext(ctx, text)
	if err == nil {
		w.prepared[text] = s
	}
	return s, err
}

// Exec implements relational.Tx.
func (w *writer) Exec(ctx context.Context, s relational.Statement) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	whole := context.WithoutCancel(ctx)
	var result sql.Result
	var err error
	if len(s.Args) == 0 { // changes of tables, which come once
		result, err = w.conn.ExecContext(ctx, s.SQL)
	} else if st, fault := w.stmt(whole, s.SQL); fault != nil {
		return 0, fault
	} else {
		result, err = st.ExecContext(whole, s.Args...)
	}
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Query implements relational.Tx.
func (w *writer) Query(ctx context.Context, s relational.Statement, row func(func(...any) error) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	st, err := w.stmt(context.WithoutCancel(ctx), s.SQL)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(context.WithoutCancel(ctx), s.Args...)
	if err != nil {
		return err
	}
	return each(rows, row)
}

// Batch implements relational.Tx.
func (w *writer) Batch(ctx context.Context, list []relational.Statement) (failed int, err error) {
	for i := range list {
		if _, err := w.Exec(ctx, list[i]); err != nil {
			return i, err
		}
	}
	return -1, nil
}

// reader reads over any of its connections.
type reader struct{ db *sql.DB }

// errReader is for a caller that would write where it must not.
var errReader = errors.New("sqlite: a reader does not write")

// Exec implements relational.Tx.
func (r reader) Exec(context.Context, relational.Statement) (int64, error) { return 0, errReader }

// Batch implements relational.Tx.
func (r reader) Batch(context.Context, []relational.Statement) (int, error) { return -1, errReader }

// Query implements relational.Tx.
func (r reader) Query(ctx context.Context, s relational.Statement, row func(func(...any) error) error) error {
	rows, err := r.db.QueryContext(ctx, s.SQL, s.Args...)
	if err != nil {
		return err
	}
	return each(rows, row)
}

func each(rows *sql.Rows, row func(func(...any) error) error) error {
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// jsonList is the argument that json_each takes apart.
func jsonList(ids []int64) any {
	b := append(make([]byte, 0, 12*len(ids)+2), '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return string(append(b, ']'))
}
