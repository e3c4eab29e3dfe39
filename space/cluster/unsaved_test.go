package cluster_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/space/cluster"
)

// fullStore has no room while full.
type fullStore struct {
	store.Store
	full atomic.Bool
}

func (f *fullStore) Write(ctx context.Context, records []store.Record) error {
	if f.full.Load() {
		return store.ErrFull
	}
	return f.Store.Write(ctx, records)
}

// TestUnsavedIsAnError: a world that is stopped from elsewhere while its store fails is no success in the
// processes of which something is lost, so that their programs can end with a failure. They all used to end
// with success. Those of which nothing is lost still do, and all of them if the store works.
func TestUnsavedIsAnError(t *testing.T) {
	for _, full := range []bool{false, true} {
		t.Run(map[bool]string{false: "works", true: "fails"}[full], func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			kept := &fullStore{Store: memory.New()}
			cfg := guilds(t, kept, 20)
			managers, err := cluster.StartManagers(ctx, cfg)
			if err != nil {
				t.Fatal(err)
			}
			at := managers.ManagerAddr()
			cfg.Store = nil
			started := func(c *cluster.Cluster, err error) *cluster.Cluster {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = c.Stop() })
				return c
			}
			bases, cells := started(cluster.StartBaseApp(ctx, cfg, at)), started(cluster.StartCellApp(ctx, cfg, at))
			empty := cfg
			empty.BaseStart = nil
			others := started(cluster.StartBaseApp(ctx, empty, at))
			eventually(t, "written", func() bool { return len(rows(t, kept)) == 20 })
			kept.full.Store(full)
			o, err := cluster.Observe(ctx, cluster.ObserverConfig{Manager: at})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = o.Close() }()
			report, err := o.Shutdown(ctx, "an update")
			if errors.Is(err, cluster.ErrUnsaved) != full || full && report.Sum().Failed != 20 {
				t.Errorf("the operator is told %+v, %v", report, err)
			}
			for name, p := range map[string]*cluster.Cluster{"managers": managers, "the bases": bases} {
				err := p.Wait()
				if errors.Is(err, cluster.ErrUnsaved) != full || full && !strings.Contains(err.Error(), "20 entities") || !full && err != nil {
					t.Errorf("%s end with %v", name, err)
				}
				if is := p.Stop(); errors.Is(is, cluster.ErrUnsaved) != full {
					t.Errorf("%s are stopped with %v", name, is)
				}
			}
			for name, p := range map[string]*cluster.Cluster{"the cells": cells, "a BaseApp without bases": others} {
				if err := p.Wait(); err != nil {
					t.Errorf("%s end with %v", name, err)
				}
			}
		})
	}
}
