package keep_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cellscape/cellscape/space/recording"
	"github.com/cellscape/cellscape/space/recording/keep"
)

func header(app string) *recording.Header {
	return &recording.Header{Space: 1, Number: 2, Label: "a/b ü", App: app}
}

// chunk is a chunk at a time.
func chunk(at time.Duration) []byte {
	var e recording.Encoder
	e.EndKey()
	return e.Chunk(recording.Head{Game: at, Key: true})
}

// Many cells write at once; all is found again, in one recording.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	f, err := keep.NewFiles(keep.FilesConfig{Dir: filepath.Join(dir, "new")})
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			s, err := f.Open(header("10.0.0.1:7"))
			if err != nil {
				t.Error(err)
				return
			}
			for n := range 500 {
				if err := s.Append(chunk(time.Duration(n))); err != nil {
					t.Error(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if err := s.Append(chunk(0)); !errors.Is(err, keep.ErrClosed) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if err := f.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Open(header("")); !errors.Is(err, keep.ErrClosed) {
		t.Error(err)
	}
	found, err := keep.Find(filepath.Join(dir, "new"))
	if err != nil || len(found) != 1 || len(found[0].Logs) != 4 || found[0].Label != "a/b ü" {
		t.Fatal(found, err)
	}
	for _, l := range found[0].Logs {
		if l.Len() != 500 || l.Truncated != nil {
			t.Errorf("%d chunks, %v", l.Len(), l.Truncated)
		}
	}
	if err := found[0].Close(); err != nil {
		t.Error(err)
	}
}

// What cannot be kept is refused, told and bounded.
func TestFilesRefuse(t *testing.T) {
	for _, c := range []keep.FilesConfig{{}, {Dir: "x", MaxQueued: 1}, {Dir: "x", MaxBytes: -1}} {
		if _, err := keep.NewFiles(c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
	dir := filepath.Join(t.TempDir(), "gone")
	f, err := keep.NewFiles(keep.FilesConfig{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	s, err := f.Open(header("a"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		err = s.Append(chunk(0))
		time.Sleep(time.Millisecond)
	}
	if !errors.Is(err, os.ErrNotExist) || !errors.Is(s.Close(), os.ErrNotExist) || !errors.Is(f.Close(context.Background()), os.ErrNotExist) {
		t.Error("nobody tells that the directory is gone")
	}
	f, err = keep.NewFiles(keep.FilesConfig{Dir: t.TempDir(), MaxBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	s, err = f.Open(header("a"))
	for err == nil {
		noise := make([]byte, 300)
		for i := range noise {
			noise[i] = byte(rand.Uint32())
		}
		err = s.Append(noise)
		time.Sleep(time.Millisecond)
	}
	if !errors.Is(err, keep.ErrNoRoom) {
		t.Error(err)
	}
	if _, err := f.Open(header("b")); !errors.Is(err, keep.ErrNoRoom) {
		t.Error(err)
	}
	if err := f.Close(context.Background()); !errors.Is(err, keep.ErrNoRoom) {
		t.Error(err)
	}
}

// A queue that is full says so, and takes again later.
func TestFilesFull(t *testing.T) {
	f, err := keep.NewFiles(keep.FilesConfig{Dir: t.TempDir(), MaxQueued: 2 * recording.MaxChunk})
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Open(header("a"))
	if err != nil {
		t.Fatal(err)
	}
	big := make([]byte, recording.MaxChunk-100)
	for full := 0; full == 0; {
		switch err := s.Append(big); {
		case errors.Is(err, recording.ErrFull):
			full++
		case err != nil:
			t.Fatal(err)
		}
	}
	for err = recording.ErrFull; errors.Is(err, recording.ErrFull); err = s.Append(chunk(0)) {
		time.Sleep(time.Millisecond)
	}
	if err := errors.Join(err, f.Close(context.Background())); err != nil {
		t.Error(err)
	}
}

// A file that is no log is named, and the others are found.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bad"+keep.Extension), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	log := recording.AppendFrame(recording.AppendLog(nil, header("a")), chunk(0))
	for _, n := range []int{len(log), len(log) - 1} {
		if err := os.WriteFile(filepath.Join(dir, strings.Repeat("x", n)+keep.Extension), log[:n], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := keep.Find(dir)
	if !errors.Is(err, recording.ErrMalformed) || !strings.Contains(err.Error(), "bad") || len(found) != 1 || len(found[0].Logs) != 2 {
		t.Fatal(found, err)
	}
	truncated := 0
	for _, l := range found[0].Logs {
		if l.Truncated != nil {
			truncated++
		}
	}
	if truncated != 1 {
		t.Errorf("%d logs are truncated", truncated)
	}
	if err := found[0].Close(); err != nil {
		t.Error(err)
	}
}

func TestMemory(t *testing.T) {
	m := keep.Memory{MaxBytes: 200}
	s, err := m.Open(header("a"))
	n := 0
	for err == nil {
		if err = s.Append(chunk(time.Duration(n))); err == nil {
			n++
		}
	}
	if !errors.Is(err, recording.ErrFull) {
		t.Error(err)
	}
	if logs, err := m.Logs(); err != nil || len(logs) != 1 || logs[0].Len() != n {
		t.Error(logs, err)
	}
	for err = error(nil); err == nil; {
		_, err = m.Open(header("b"))
	}
	if !errors.Is(err, recording.ErrFull) {
		t.Error(err)
	}
}
