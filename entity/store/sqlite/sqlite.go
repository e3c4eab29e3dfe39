package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/internal/relational"
)

// Config says how a file is used. The zero value is ready for use.
type Config struct {
	// Patience is how long a call waits for another program that has locked the file, default 1 s.
	// It is rounded to milliseconds.
	Patience time.Duration
	// MaxBytes is the size to which the file may grow, 0 for as much as the disk holds. Beside it,
	// the -wal file takes some megabytes.
	MaxBytes int64
}

// Open opens the store in a file, and makes the file if there is none: a world that is to be there
// already says so by cluster.Config.StoreBegun. Errors are those of package store.
func Open(ctx context.Context, path string, cfg Config) (store.Store, error) {
	if cfg.Patience < 0 || cfg.MaxBytes < 0 || path == "" || path == ":memory:" {
		return nil, fmt.Errorf("%w: sqlite: path %q, Patience %v, MaxBytes %d: take a file, and nothing negative", store.ErrValue, path, cfg.Patience, cfg.MaxBytes)
	}
	cfg.Patience = cmp.Or(cfg.Patience, time.Second)
	f := &file{path: path, cfg: cfg, turn: make(chan struct{}, 1)}
	f.yield()
	if err := f.open(ctx, true); err != nil {
		return nil, fmt.Errorf("sqlite: file %q: %w", path, f.Error(err))
	}
	s, err := relational.New(ctx, f, dialect())
	if err != nil {
		return nil, fmt.Errorf("sqlite: file %q: %w", path, err)
	}
	return s, nil
}

func dialect() *relational.Dialect {
	return &relational.Dialect{
		ID: "INTEGER PRIMARY KEY", Int: "INTEGER", Real: "REAL", Text: "TEXT", Blob: "BLOB",
		AnyInt: "id IN (SELECT value FROM json_each($1))",
		Ints:   jsonList,
	}
}
