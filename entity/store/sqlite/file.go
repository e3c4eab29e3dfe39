package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strconv"
	"sync"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/internal/relational"
)

const (
	// readers is how many calls read at once.
	readers = 4
	// pageSize is SQLite's default, stated so that MaxBytes can count in it.
	pageSize = 4096
)

// file is a relational.Database.
type file struct {
	path string
	cfg  Config

	turn   chan struct{} // holds one token: that of the writer, for its whole transaction
	closed bool

	use sync.RWMutex // held for writing while the handles below change
	is  fs.FileInfo  // the file that is open, to notice when it is no longer the one at path
	db  *sql.DB      // of the writer
	w   *writer
	r   *sql.DB // of the readers
}

// open opens the handles. The caller has the turn, or is alone.
func (f *file) open(ctx context.Context, create bool) (err error) {
	mode := "rw"
	if create {
		mode = "rwc"
	}
	db, err := sql.Open("sqlite", f.name(mode, "journal_mode(WAL)", "synchronous(FULL)", "page_size("+strconv.Itoa(pageSize)+")", f.limit()))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	if _, err := conn.ExecContext(ctx, "SELECT count(*) FROM sqlite_master"); err != nil { // reads the header
		return errors.Join(err, conn.Close(), db.Close())
	}
	r, err := sql.Open("sqlite", f.name("rw", "query_only(1)"))
	if err != nil {
		return errors.Join(err, conn.Close(), db.Close())
	}
	r.SetMaxOpenConns(readers)
	is, err := os.Stat(f.path)
	if err != nil {
		return errors.Join(err, conn.Close(), db.Close(), r.Close())
	}
	f.use.Lock()
	defer f.use.Unlock()
	f.db, f.r, f.is, f.w = db, r, is, &writer{conn: conn, prepared: make(map[string]*sql.Stmt)}
	return nil
}

// name is the file as the driver wants it.
func (f *file) name(mode string, pragmas ...string) string {
	q := url.Values{"mode": {mode}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", f.cfg.Patience.Milliseconds())}}
	for _, p := range pragmas {
		if p != "" {
			q.Add("_pragma", p)
		}
	}
	return "file:" + (&url.URL{Path: f.path}).EscapedPath() + "?" + q.Encode()
}

func (f *file) limit() string {
	if f.cfg.MaxBytes == 0 {
		return ""
	}
	return fmt.Sprintf("max_page_count(%d)", max(1, f.cfg.MaxBytes/pageSize))
}

// current makes sure that the handles are of the file at the path: SQLite would go on writing into
// one that was deleted, and what it confirmed would be lost. The caller has the turn.
func (f *file) current(ctx context.Context) error {
	if f.closed {
		return store.ErrClosed
	}
	is, err := os.Stat(f.path)
	if err != nil {
		return fmt.Errorf("%w: %w", store.ErrAway, err)
	}
	if f.w != nil && os.SameFile(is, f.is) {
		return nil
	}
	if err := f.drop(); err != nil { // it is closed all the same: the next call opens what is there
		return fmt.Errorf("%w: closing the file that is no longer at %s: %w", store.ErrAway, f.path, err)
	}
	return f.open(ctx, false)
}

// drop closes the handles. The caller has the turn.
func (f *file) drop() error {
	f.use.Lock()
	defer f.use.Unlock()
	if f.w == nil {
		return nil
	}
	err := errors.Join(f.w.close(), f.db.Close(), f.r.Close())
	f.w, f.db, f.r = nil, nil, nil
	return err
}

// Close implements relational.Database.
func (f *file) Close() error {
	<-f.turn
	defer f.yield()
	if f.closed {
		return nil
	}
	f.closed = true
	return f.drop()
}

// Update implements relational.Database.
func (f *file) Update(ctx context.Context, fn func(relational.Tx) error) error {
	if err := f.await(ctx); err != nil {
		return err
	}
	defer f.yield()
	if err := f.current(ctx); err != nil {
		return err
	}
	err, usable := f.w.transact(ctx, fn)
	if !usable || errors.Is(f.Error(err), store.ErrDenied) {
		// Nobody knows what state the connection is in, or it was made while the file could not be
		// written, and would never write: the next call has a new one.
		return errors.Join(err, f.drop())
	}
	return err
}

// View implements relational.Database.
func (f *file) View(ctx context.Context, fn func(relational.Tx) error) error {
	if err := f.ready(ctx); err != nil {
		return err
	}
	f.use.RLock()
	defer f.use.RUnlock()
	if f.r == nil {
		return fmt.Errorf("%w: the file is being opened", store.ErrBusy)
	}
	return fn(reader{f.r})
}

// ready is current for a reader, who waits for a writer only if the file has changed.
func (f *file) ready(ctx context.Context) error {
	is, err := os.Stat(f.path)
	f.use.RLock()
	same := err == nil && f.r != nil && os.SameFile(is, f.is)
	f.use.RUnlock()
	if same {
		return nil
	}
	if err := f.await(ctx); err != nil {
		return err
	}
	defer f.yield()
	return f.current(ctx)
}

// await takes the writer's turn.
func (f *file) await(ctx context.Context) error {
	select {
	case <-f.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *file) yield() { f.turn <- struct{}{} }
