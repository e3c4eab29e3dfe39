package replay_test

import (
	"context"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/cellscape/cellscape/space/recording"
	"github.com/cellscape/cellscape/space/recording/keep"
	"github.com/cellscape/cellscape/space/replay"
	"github.com/cellscape/cellscape/space/spacetest"
)

// twice is a sink that gives all to two.
type twice struct{ a, b recording.Sink }

type twoStreams struct{ a, b recording.Stream }

func (s twice) Open(h *recording.Header) (recording.Stream, error) {
	a, err := s.a.Open(h)
	if err != nil {
		return nil, err
	}
	b, err := s.b.Open(h)
	return twoStreams{a, b}, err
}

func (s twoStreams) Append(chunk []byte) error {
	if err := s.a.Append(chunk); err != nil {
		return err
	}
	return s.b.Append(chunk)
}

func (s twoStreams) Close() error {
	_ = s.a.Close() // it keeps all in memory
	return s.b.Close()
}

// A minute of a hundred players who all move, and change and say something every 0.7 seconds, is kept in a file
// that is smaller than what was recorded, and shows the same. What that takes is logged.
func TestSizeOfAMinute(t *testing.T) {
	const many = 100
	dir := t.TempDir()
	files, err := keep.NewFiles(keep.FilesConfig{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	memory := new(keep.Memory)
	cfg := walkers(t, many, twice{memory, files})
	w := spacetest.Start(t, spacetest.Config{World: cfg, Seed: 1})
	w.Until(time.Minute, func() bool { return len(take(w).all) == many })
	begin(w)
	w.Run(time.Minute)
	end(w)
	w.Run(time.Second)
	if err := files.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	kept := int64(0)
	err = fs.WalkDir(os.DirFS(dir), ".", func(_ string, d fs.DirEntry, err error) error {
		if info, infoErr := d.Info(); infoErr == nil && !d.IsDir() {
			kept += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	logs, err := memory.Logs()
	if err != nil {
		t.Fatal(err)
	}
	found, err := keep.Find(dir)
	if err != nil || len(found) != 1 || len(found[0].Logs) != len(logs) {
		t.Fatal(found, err)
	}
	chunks := 0
	for i := range logs {
		if logs[i].Len() != found[0].Logs[i].Len() && len(logs) == 1 || found[0].Logs[i].Truncated != nil {
			t.Errorf("log %d: %v", i, found[0].Logs[i].Truncated)
		}
		chunks += logs[i].Len()
	}
	raw := int64(memory.Bytes())
	if kept >= raw {
		t.Errorf("%d bytes are kept as %d", raw, kept)
	}
	began := time.Now()
	p, err := replay.New(viewer(t, cfg.CellScripts.Schema(), new(audit)), found[0].Logs...)
	if err == nil {
		_, last := p.Span()
		err = p.Seek(last)
	}
	if err != nil || p.Client().Len() != many {
		t.Fatal(err)
	}
	t.Logf("%d logs, %d chunks; a player-minute is %d bytes, and %d in a file; a seek took %v", len(logs), chunks, raw/many, kept/many, time.Since(began))
	if err := found[0].Close(); err != nil {
		t.Error(err)
	}
}
