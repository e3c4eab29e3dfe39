package keep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/cellscape/cellscape/space/recording"
)

// Extension is that of the files.
const Extension = ".cellrec"

// FilesConfig configures Files. Zero fields have defaults.
type FilesConfig struct {
	// Dir is where the files are; it is made if it is not there. Required.
	Dir string
	// MaxQueued bounds the bytes of one log that wait to be written, default 16 MiB: some seconds of
	// a crowded cell, and at least two chunks.
	MaxQueued int
	// MaxBytes bounds the bytes that all files of one Files take together, default 16 GiB. What
	// would be beyond is refused.
	MaxBytes int64
}

// Defaults of FilesConfig.
const (
	DefaultMaxQueued = 16 << 20
	DefaultMaxBytes  = 16 << 30
)

// Validate reports all faults of c at once.
func (c *FilesConfig) Validate() error {
	var faults []error
	if c.Dir == "" {
		faults = append(faults, errors.New("keep: FilesConfig.Dir is empty; name a directory"))
	}
	if c.MaxQueued != 0 && c.MaxQueued < 2*recording.MaxChunk {
		faults = append(faults, fmt.Errorf("keep: FilesConfig.MaxQueued is %d; take 0 for the default, or at least %d", c.MaxQueued, 2*recording.MaxChunk))
	}
	if c.MaxBytes < 0 {
		faults = append(faults, fmt.Errorf("keep: FilesConfig.MaxBytes is %d; take 0 for the default, or more", c.MaxBytes))
	}
	return errors.Join(faults...)
}

// Errors of Files.
var (
	ErrClosed = errors.New("keep: the files were closed")
	ErrNoRoom = errors.New("keep: the files have all the bytes that they may have (FilesConfig.MaxBytes)")
)

// Files is a recording.Sink that keeps each log in a file. Any goroutine may call it.
type Files struct {
	cfg     FilesConfig
	packer  *zstd.Encoder
	written atomic.Int64

	mu      sync.Mutex
	closed  bool
	writers []*writer // that have not ended
	failed  []error   // of those that have
}

// NewFiles returns Files, and makes the directory.
func NewFiles(cfg FilesConfig) (*Files, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.MaxQueued = cmp.Or(cfg.MaxQueued, DefaultMaxQueued)
	cfg.MaxBytes = cmp.Or(cfg.MaxBytes, DefaultMaxBytes)
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("keep: %w", err)
	}
	packer, err := newPacker()
	if err != nil {
		return nil, fmt.Errorf("keep: %w", err)
	}
	return &Files{cfg: cfg, packer: packer}, nil
}

// Open implements recording.Sink. The file is made by the log's goroutine.
func (f *Files) Open(h *recording.Header) (recording.Stream, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return nil, ErrClosed
	case f.written.Load() >= f.cfg.MaxBytes:
		return nil, ErrNoRoom
	}
	w := &writer{files: f, name: nameOf(h), wake: make(chan struct{}, 1), done: make(chan struct{})}
	w.queue = recording.AppendLog(nil, h)
	f.writers = append(f.writers, w)
	go w.run()
	return w, nil
}

// nameOf is the name of a log's file, without the number that makes it the only one.
func nameOf(h *recording.Header) string {
	return fmt.Sprintf("%d-%d-%s-%s", h.Space, h.Number, plain(h.Label), plain(h.App))
}

// plain is s with only what may stand in a file's name everywhere.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '_'
	}, s)
}

// Close ends all logs, and waits until they are written or ctx ends. The error tells of all that was
// not written since NewFiles.
func (f *Files) Close(ctx context.Context) error {
	f.mu.Lock()
	f.closed = true
	writers := slices.Clone(f.writers)
	f.mu.Unlock()
	for _, w := range writers {
		w.end()
	}
	for _, w := range writers {
		select {
		case <-w.done:
		case <-ctx.Done():
			return fmt.Errorf("keep: not all is written: %w", ctx.Err())
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.failed...)
}

// maxFailed bounds the errors that Close tells.
const maxFailed = 16

func (f *Files) ended(w *writer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.writers {
		if f.writers[i] == w {
			f.writers[i] = f.writers[len(f.writers)-1]
			f.writers = f.writers[:len(f.writers)-1]
			break
		}
	}
	if w.err != nil && len(f.failed) < maxFailed {
		f.failed = append(f.failed, w.err)
	}
}

// writer writes one log.
type writer struct {
	files *Files
	name  string
	wake  chan struct{} // something waits, or the log has ended
	done  chan struct{} // closed when all is written

	mu    sync.Mutex
	queue []byte // frames
	over  bool
	err   error // the first; nothing is taken after it
}

// Append implements recording.Stream.
func (w *writer) Append(chunk []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil:
		return w.err
	case w.over:
		return ErrClosed
	case len(w.queue)+len(chunk) > w.files.cfg.MaxQueued:
		return fmt.Errorf("%w: %d bytes of %s wait for the disk", recording.ErrFull, len(w.queue), w.name)
	}
	w.queue = recording.AppendFrame(w.queue, chunk)
	w.ring()
	return nil
}

// Close implements recording.Stream.
func (w *writer) Close() error {
	w.end()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *writer) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.ring()
}

func (w *writer) ring() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// take exchanges the queue for an empty one.
func (w *writer) take(empty []byte) (full []byte, over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	full, w.queue = w.queue, empty[:0]
	return full, w.over
}

func (w *writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = fmt.Errorf("keep: %w", err)
	}
	w.queue = nil
}

func (w *writer) run() {
	defer close(w.done)
	defer w.files.ended(w)
	f, err := create(filepath.Join(w.files.cfg.Dir, w.name))
	if err != nil {
		w.fail(err)
		return
	}
	w.write(f)
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		w.fail(err)
	}
}

func (w *writer) write(f *os.File) {
	var spare []byte
	packed := []byte(packedMagic)
	for {
		w.gather()
		full, over := w.take(spare)
		if len(full) > 0 {
			packed = appendBlocks(packed, w.files.packer, full)
			if w.files.written.Add(int64(len(packed))) > w.files.cfg.MaxBytes {
				w.fail(ErrNoRoom)
				return
			}
			if _, err := f.Write(packed); err != nil {
				w.fail(err)
				return
			}
			spare, packed = full, packed[:0]
			continue
		}
		if over {
			return
		}
		spare = full
	}
}

// gather waits until there is enough for a block, or something has waited for long, or all is over.
func (w *writer) gather() {
	late := time.NewTimer(blockDelay)
	defer late.Stop()
	for {
		w.mu.Lock()
		enough := w.over || len(w.queue) >= blockFill
		w.mu.Unlock()
		if enough {
			return
		}
		select {
		case <-w.wake:
		case <-late.C:
			return
		}
	}
}

// maxSame bounds the files of one name.
const maxSame = 1 << 16

// create makes a file that was not there.
func create(path string) (*os.File, error) {
	for n := 1; n <= maxSame; n++ {
		f, err := os.OpenFile(fmt.Sprintf("%s-%d%s", path, n, Extension), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, os.ErrExist) {
			return f, err
		}
	}
	return nil, fmt.Errorf("there are %d files %s already", maxSame, path)
}
