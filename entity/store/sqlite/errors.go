package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cellscape/cellscape/entity/store"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Error implements relational.Database.
func (f *file) Error(err error) error {
	var e *sqlite.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		if kind := kindOf(e.Code()); kind != nil {
			return fmt.Errorf("%w: %w", kind, err)
		}
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", store.ErrBusy, err)
	case errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", store.ErrAway, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %w", store.ErrDenied, err)
	}
	return err
}

// kindOf is what a result code of SQLite means, https://www.sqlite.org/rescode.html; nil for what
// only a mistake in this package could cause.
func kindOf(code int) error {
	switch code {
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID:
		return store.ErrExists
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE:
		return store.ErrTaken
	case sqlite3.SQLITE_READONLY_DBMOVED:
		return store.ErrAway
	}
	switch code & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_NOMEM:
		return store.ErrBusy
	case sqlite3.SQLITE_FULL:
		return store.ErrFull
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		return store.ErrAway
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return store.ErrCorrupt
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return store.ErrDenied
	case sqlite3.SQLITE_TOOBIG:
		return store.ErrValue
	}
	return nil
}
