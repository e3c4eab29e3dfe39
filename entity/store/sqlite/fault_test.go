package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/sqlite"
)

// opened is a store with the row 1 of type Item.
func opened(t *testing.T, cfg sqlite.Config) (s store.Store, typ *store.Type, path string) {
	t.Helper()
	ctx := context.Background()
	path = filepath.Join(t.TempDir(), "world.db")
	s, err := sqlite.Open(ctx, path, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil && !errors.Is(err, store.ErrAway) {
			t.Error(err)
		}
	})
	schema := items(t, true)
	if _, err := s.Apply(ctx, schema, false); err != nil {
		t.Fatal(err)
	}
	typ = schema.Type("Item")
	if err := s.Create(ctx, []store.Record{itemOf(t, typ, 1, 1)}); err != nil {
		t.Fatal(err)
	}
	return s, typ, path
}

func version(t *testing.T, s store.Store) uint64 {
	t.Helper()
	list, err := s.Load(context.Background(), []store.Want{{Key: store.Key{Type: "Item", ID: 1}}})
	if err != nil || list[0].Err != nil {
		t.Fatalf("%v, %+v", err, list)
	}
	return list[0].Version
}

// Another program has the file locked: writers are told so after a while, readers are not held up.
func TestLocked(t *testing.T) {
	s, typ, path := opened(t, sqlite.Config{Patience: 50 * time.Millisecond})
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	err = s.Write(context.Background(), []store.Record{itemOf(t, typ, 1, 2)})
	if !errors.Is(err, store.ErrBusy) || !errors.Is(err, store.ErrRetry) {
		t.Errorf("a locked file: %v", err)
	}
	if v := version(t, s); v != 1 {
		t.Errorf("version %d", v)
	}
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(context.Background(), []store.Record{itemOf(t, typ, 1, 2)}); err != nil {
		t.Error(err)
	}
}

// A full store refuses what does not fit, keeps what it has, and takes more when there is room again.
func TestFull(t *testing.T) {
	s, typ, _ := opened(t, sqlite.Config{MaxBytes: 1 << 20})
	ctx := context.Background()
	var err error
	last := store.ID(1)
	for err == nil && last < 3000 {
		last++
		err = s.Create(ctx, []store.Record{itemOf(t, typ, last, 9)})
	}
	if !errors.Is(err, store.ErrFull) || !errors.Is(err, store.ErrRetry) {
		t.Fatalf("after %d rows: %v", last, err)
	}
	if strings.Contains(err.Error(), "rollback") { // the status has it, for an operator
		t.Errorf("it says more than why: %v", err)
	}
	if v := version(t, s); v != 1 {
		t.Errorf("version %d", v)
	}
	var gone []store.Removal
	for id := store.ID(2); id < last; id++ {
		gone = append(gone, store.Removal{Key: store.Key{Type: "Item", ID: id}})
	}
	if err := s.Delete(ctx, gone); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(ctx, []store.Record{itemOf(t, typ, last, 9)}); err != nil {
		t.Errorf("after there is room again: %v", err)
	}
}

// The file is taken away: nothing is confirmed into a file that nobody will find. When it is back, the
// store goes on.
func TestAway(t *testing.T) {
	s, typ, path := opened(t, sqlite.Config{})
	ctx := context.Background()
	if err := s.Close(); err != nil { // so that the one file has it all
		t.Fatal(err)
	}
	s, err := sqlite.Open(ctx, path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Apply(ctx, items(t, true), false); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(filepath.Dir(path), "elsewhere")
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(path+end, moved+end); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := s.Write(ctx, []store.Record{itemOf(t, typ, 1, 2)}); !errors.Is(err, store.ErrAway) || !errors.Is(err, store.ErrRetry) {
			t.Errorf("a write into nothing: %v", err)
		}
		if _, err := s.Load(ctx, []store.Want{{Key: store.Key{Type: "Item", ID: 1}}}); !errors.Is(err, store.ErrAway) {
			t.Errorf("a read of nothing: %v", err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a new file was made in its place")
	}
	back, err := os.ReadFile(moved)
	if err == nil {
		err = os.WriteFile(path, back, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if v := version(t, s); v != 1 {
		t.Errorf("version %d", v)
	}
	if err := s.Write(ctx, []store.Record{itemOf(t, typ, 1, 2)}); err != nil {
		t.Errorf("after it is back: %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("this is not a database, and longer than a page's header would be, too"), 0o600); err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(dir, "newer")
	s, err := sqlite.Open(ctx, newer, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", newer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE cellscape_counter SET value = 9 WHERE name = 'cellscape:format'"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		cfg  sqlite.Config
		want error
	}{
		{"", sqlite.Config{}, store.ErrValue},
		{":memory:", sqlite.Config{}, store.ErrValue},
		{filepath.Join(dir, "x"), sqlite.Config{Patience: -1}, store.ErrValue},
		{filepath.Join(dir, "no", "such", "folder"), sqlite.Config{}, store.ErrAway},
		{text, sqlite.Config{}, store.ErrCorrupt},
		{newer, sqlite.Config{}, store.ErrCorrupt},
	} {
		s, err := sqlite.Open(ctx, c.path, c.cfg)
		if !errors.Is(err, c.want) {
			t.Errorf("%q: %v, want %v", c.path, err, c.want)
		}
		if err != nil && !strings.Contains(err.Error(), c.path) {
			t.Errorf("which file? %v", err)
		}
		if err == nil {
			_ = s.Close()
		}
	}
}
