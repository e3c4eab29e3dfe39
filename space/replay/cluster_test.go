package replay_test

import (
	"context"
	"testing"
	"time"

	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/recording"
	"github.com/cellscape/cellscape/space/recording/keep"
	"github.com/cellscape/cellscape/space/replay"
	"github.com/cellscape/cellscape/space/spacetest"
)

// A world over real sockets, whose space is recorded into files from its first moment. One CellApp is
// killed. Nobody is missing when it is played back.
func TestClusterIsPlayedBack(t *testing.T) {
	const many = 20
	dir := t.TempDir()
	files, err := keep.NewFiles(keep.FilesConfig{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	cfg := walkers(t, many, files)
	cfg.Space.ArtificialLoad = spacetest.DefaultLoad
	cfg.CellScripts.OnFirstCell(func(c *space.Cell, _ bool) {
		if err := c.SetSpaceData(recording.Key, []byte("match 1")); err != nil {
			t.Error(err)
		}
	})
	world, err := cluster.Start(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(4 * time.Second)
	if err := world.KillCellApp(1); err != nil {
		t.Error(err)
	}
	time.Sleep(3 * time.Second)
	if err := world.Stop(); err != nil {
		t.Log(err)
	}
	if err := files.Close(context.Background()); err != nil {
		t.Fatal(err)
	}

	found, err := keep.Find(dir)
	if err != nil || len(found) != 1 || found[0].Label != "match 1" {
		t.Fatal(found, err)
	}
	a := new(audit)
	p, err := replay.New(viewer(t, cfg.CellScripts.Schema(), a), found[0].Logs...)
	if err != nil {
		t.Fatal(err)
	}
	for more := true; more && err == nil; {
		more, err = p.Step()
	}
	first, last := p.Span()
	t.Logf("%d logs, %v to %v, %+v, %+v", len(found[0].Logs), first, last, *a, p.Stats())
	if err != nil || p.Client().Len() != many || a.entered != many || a.left > 0 || a.gaps > 0 || a.said < many {
		t.Errorf("%d entities, %+v, %v", p.Client().Len(), *a, err)
	}
	if len(found[0].Logs) < 3 {
		t.Errorf("only %d cells were recorded", len(found[0].Logs))
	}
	if err := found[0].Close(); err != nil {
		t.Error(err)
	}
}
