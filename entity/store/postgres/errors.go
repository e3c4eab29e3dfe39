package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cellscape/cellscape/entity/store"
)

// Error implements relational.Database.
func (s *server) Error(err error) error {
	var pg *pgconn.PgError
	var connect *pgconn.ConnectError
	var network net.Error
	switch {
	case err == nil:
		return nil
	case s.closed.Load() && !errors.As(err, &pg):
		return fmt.Errorf("%w: %w", store.ErrClosed, err)
	case errors.As(err, &pg):
		if kind := kindOf(pg); kind != nil {
			return fmt.Errorf("%w: %w", kind, err)
		}
		return err
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", store.ErrBusy, err)
	case errors.As(err, &connect), errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, pgx.ErrTxClosed), errors.Is(err, pgx.ErrTxCommitRollback), pgconn.SafeToRetry(err), strings.Contains(err.Error(), "conn closed"):
		return fmt.Errorf("%w: %w", store.ErrAway, err)
	}
	return err
}

// kindOf is what an error of the server means,
// https://www.postgresql.org/docs/current/errcodes-appendix.html; nil for what only a mistake in
// this package could cause.
func kindOf(e *pgconn.PgError) error {
	switch e.Code {
	case "23505":
		if strings.HasSuffix(e.ConstraintName, "_pkey") {
			return store.ErrExists
		}
		return store.ErrTaken
	case "53100": // disk full
		return store.ErrFull
	case "57014", "40001", "40P01", "55P03", "25P03", "25P04", "55006": // cancelled, serialization, deadlock, lock not available, timeouts, in use
		return store.ErrBusy
	case "0A000", "26000": // a statement that was prepared before another process changed the tables: it is prepared anew
		return store.ErrBusy
	case "42P01", "42703": // no such table, no such column: another process has changed the definitions
		return store.ErrNotApplied
	case "25006": // read only: a standby
		return store.ErrAway
	case "42501": // no privilege
		return store.ErrDenied
	case "3D000": // there is no such database
		return store.ErrDenied
	}
	switch e.Code[:min(2, len(e.Code))] {
	case "08", "57": // connection; shutdown, crash, cannot connect now
		return store.ErrAway
	case "53": // out of memory, too many connections
		return store.ErrBusy
	case "54", "22": // too large or complex; data
		return store.ErrValue
	case "58": // input, output
		return store.ErrAway
	case "XX":
		return store.ErrCorrupt
	case "28":
		return store.ErrDenied
	}
	return nil
}
