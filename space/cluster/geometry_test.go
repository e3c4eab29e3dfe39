package cluster_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
)

// withGeometry is the smallest world with something to load.
func withGeometry(t testing.TB) (cluster.Config, bsp.Rect) {
	t.Helper()
	land := bsp.Around(0, 0, 500)
	cfg := world(t)
	cfg.Spaces = []cellappmgr.SpaceConfig{{ID: 1, Bounds: land, Geometry: land, MinCells: 2}}
	return cfg, land
}

// A player is let in once the cell has loaded the land, which is a job of the runner.
func TestGeometryIsLoadedByJobs(t *testing.T) {
	noLeaks(t)
	cfg, land := withGeometry(t)
	var loaded atomic.Int32
	cfg.CellScripts.OnArea(func(c *space.Cell) {
		if c.GeometryLoaded() == land || c.Local() != nil {
			return
		}
		c.SetLocal("busy")
		read := func(context.Context) any { time.Sleep(50 * time.Millisecond); return land }
		if err := c.Do(read, func(result any) {
			c.SetGeometryLoaded(result.(bsp.Rect))
			loaded.Add(1)
		}); err != nil {
			t.Error(err)
		}
	})
	c, err := cluster.Start(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Stop() }()
	play(t, c, "ada")
	if loaded.Load() == 0 {
		t.Error("a player is in the world, and nothing was loaded")
	}
	for deadline := time.Now().Add(patience); loaded.Load() < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d cells have loaded, want 2", loaded.Load())
		}
	}
}

// A world that nobody loads does not start.
func TestGeometryThatNobodyLoads(t *testing.T) {
	cfg, _ := withGeometry(t)
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "Spaces[0] has Geometry, and CellScripts do not load it") {
		t.Errorf("got %v", err)
	}
	cfg.Balance.IgnoreGeometry = true
	if err := cfg.Validate(); err != nil && strings.Contains(err.Error(), "Geometry") {
		t.Errorf("told to ignore it: %v", err)
	}
}
