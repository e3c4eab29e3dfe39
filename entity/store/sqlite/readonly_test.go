package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/internal/relational"
)

// SQLite opens a file that it may not write to be read, and such a connection never writes. When
// the file can be written again, so can the store, which used to keep that connection until it was
// closed.
func TestWritesAgain(t *testing.T) {
	ctx := context.Background()
	f := &file{path: filepath.Join(t.TempDir(), "world.db"), turn: make(chan struct{}, 1)}
	f.yield()
	if err := f.open(ctx, true); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.w.conn.ExecContext(ctx, "PRAGMA query_only(1)"); err != nil { // refuses writes with the same code
		t.Fatal(err)
	}
	write := func() error {
		return f.Error(f.Update(ctx, func(tx relational.Tx) error {
			_, err := tx.Exec(ctx, relational.Statement{SQL: "CREATE TABLE chest (id INTEGER PRIMARY KEY)"})
			return err
		}))
	}
	if err := write(); !errors.Is(err, store.ErrDenied) {
		t.Errorf("while it may not write: %v", err)
	}
	if err := write(); err != nil {
		t.Errorf("when it may: %v", err)
	}
}
