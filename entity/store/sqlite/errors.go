package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cellscape/cellscape/entity/store"
)

// The result codes of SQLite that kindOf knows, https://www.sqlite.org/rescode.html.
const (
	codePerm                 = 3
	codeBusy                 = 5
	codeLocked               = 6
	codeNoMem                = 7
	codeReadOnly             = 8
	codeInterrupt            = 9
	codeIOErr                = 10
	codeCorrupt              = 11
	codeFull                 = 13
	codeCantOpen             = 14
	codeTooBig               = 18
	codeAuth                 = 23
	codeNotADB               = 26
	codeReadOnlyDBMoved      = codeReadOnly | 4<<8
	codeConstraint           = 19
	codeConstraintPrimaryKey = codeConstraint | 6<<8
	codeConstraintUnique     = codeConstraint | 8<<8
	codeConstraintRowID      = codeConstraint | 10<<8
)

// Error implements relational.Database.
func (f *file) Error(err error) error {
	var e interface { // what the driver's errors have
		error
		Code() int
	}
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

// kindOf is what a result code means; nil for what only a mistake in this package could cause.
func kindOf(code int) error {
	switch code {
	case codeConstraintPrimaryKey, codeConstraintRowID:
		return store.ErrExists
	case codeConstraintUnique:
		return store.ErrTaken
	case codeReadOnlyDBMoved:
		return store.ErrAway
	}
	switch code & 0xff {
	case codeBusy, codeLocked, codeInterrupt, codeNoMem:
		return store.ErrBusy
	case codeFull:
		return store.ErrFull
	case codeIOErr, codeCantOpen:
		return store.ErrAway
	case codeCorrupt, codeNotADB:
		return store.ErrCorrupt
	case codeReadOnly, codePerm, codeAuth:
		return store.ErrDenied
	case codeTooBig:
		return store.ErrValue
	}
	return nil
}
