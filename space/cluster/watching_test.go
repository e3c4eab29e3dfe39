package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// manyValues are several pages.
const manyValues = 3*watch.MaxList + 5

// An operator reads and sets values of each process of a sealed world, a game's among them. Who may
// only read is refused, by its own side and by the managers.
func TestWatching(t *testing.T) {
	t.Parallel()
	cfg, rate := world(t), new(atomic.Int64)
	cfg.Key = testKey(1)
	cfg.Watch = func(role string, t *watch.Tree) {
		watch.Show(t, "role", "where this is shown", func() string { return role })
		for i := range manyValues {
			watch.Show(t, fmt.Sprintf("many/v%d", i), "one of many", func() int { return i })
		}
		if role == status.RoleCellApp {
			watch.Setting(t, "spawn_rate", "monsters a minute", rate.Load, func(n int64) error {
				if n < 0 || n > 10 {
					return errors.New("take 0 to 10 monsters a minute")
				}
				rate.Store(n)
				return nil
			})
		}
	}
	c := started(t, cfg)
	ctx := t.Context()
	of := cluster.ObserverConfig{Manager: c.ManagerAddr(), ServerKey: cfg.Key.Public(), Access: cfg.Key.ClusterKey().Operator()}
	op, err := cluster.Observe(ctx, of)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = op.Close() }()
	observe(t, op, "whole", func(s *status.World) bool { return s.AppCount(status.RoleCellApp) == 2 && s.Cells > 0 })
	st, _ := op.Status()
	for i := range st.Apps {
		p := watch.Process{Role: st.Apps[i].Role, Number: st.Apps[i].Number}
		list, err := op.Values(ctx, p, "")
		if err != nil || len(list) < 6 {
			t.Errorf("%v: %v %v", p, list, err)
		}
		if list, err := op.Values(ctx, p, "game/many"); err != nil || len(list) != manyValues || list[manyValues-1].Path != "game/many/v99" {
			t.Errorf("%v: %d values, %v", p, len(list), err)
		}
		if v, err := op.Read(ctx, p, "game/role"); err != nil || v.Text != p.Role {
			t.Errorf("%v: %+v %v", p, v, err)
		}
	}
	one := watch.Process{Role: status.RoleCellApp, Number: 1}
	if v, err := op.Set(ctx, one, "game/spawn_rate", "7"); err != nil || v.Text != "7" || rate.Load() != 7 {
		t.Errorf("%+v %v, and the game has %d", v, err, rate.Load())
	}
	if _, err := op.Set(ctx, one, "game/spawn_rate", "11"); !errors.Is(err, watch.Refused) || !strings.HasSuffix(err.Error(), "take 0 to 10 monsters a minute") {
		t.Error(err)
	}
	if _, err := op.Set(ctx, one, "cells/reals", "11"); !errors.Is(err, watch.ReadOnly) {
		t.Error(err)
	}
	if _, err := op.Read(ctx, one, "cells/what"); !errors.Is(err, watch.NoPath) {
		t.Error(err)
	}
	if _, err := op.Read(ctx, one, strings.Repeat("a", 1<<20)); !errors.Is(err, watch.NoPath) {
		t.Error(err)
	}
	if _, err := op.Values(ctx, watch.Process{Role: status.RoleCellApp, Number: 77}, ""); !errors.Is(err, watch.NoProcess) {
		t.Error(err)
	}
	if _, err := op.Values(ctx, watch.Process{Role: "Manager"}, ""); !errors.Is(err, watch.NoProcess) || !strings.Contains(err.Error(), "CellAppMgr") {
		t.Error(err)
	}
	of.Access = cfg.Key.ClusterKey().Observer()
	testReader(t, of, rate)
}

// testReader looks on with a key that only reads.
func testReader(t *testing.T, of cluster.ObserverConfig, rate *atomic.Int64) {
	ctx, one := t.Context(), watch.Process{Role: status.RoleCellApp, Number: 1}
	reader, err := cluster.Observe(ctx, of)
	if err != nil {
		t.Fatal(err)
	}
	observe(t, reader, "there", func(*status.World) bool { return true })
	if v, err := reader.Read(ctx, one, "game/spawn_rate"); err != nil || v.Text != "7" || !v.Writable {
		t.Errorf("%+v %v", v, err)
	}
	if _, err := reader.Set(ctx, one, "game/spawn_rate", "1"); !errors.Is(err, cluster.ErrNotOperator) || rate.Load() != 7 {
		t.Errorf("%v, and the game has %d", err, rate.Load())
	}
	if err := reader.Trace(ctx, 5); !errors.Is(err, cluster.ErrNotOperator) {
		t.Error(err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Read(ctx, one, "game/spawn_rate"); err == nil {
		t.Error("it reads after its end")
	}
}

// An observer that cheats is not obeyed: with the table's word alone the managers refuse what only
// operators say. It hears nothing.
func TestReaderCannotSet(t *testing.T) {
	t.Parallel()
	cfg := world(t)
	cfg.Key = testKey(1)
	c := started(t, cfg)
	o, err := cluster.Observe(t.Context(), cluster.ObserverConfig{Manager: c.ManagerAddr(), ServerKey: cfg.Key.Public(), Access: cfg.Key.ClusterKey().Observer()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	observe(t, o, "there", func(*status.World) bool { return true })
	cluster.Pretend(o)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	mgr := watch.Process{Role: status.RoleCellAppMgr}
	if _, err := o.Set(ctx, mgr, "balance/lines", "false"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if v, err := o.Read(t.Context(), mgr, "balance/lines"); err != nil || v.Text != "true" {
		t.Errorf("%+v %v", v, err)
	}
}

// locked is a buffer for the logs of several processes.
type locked struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(b)
}

func (l *locked) steps(step string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if strings.Contains(step, " ") {
		step = fmt.Sprintf("%q", step)
	}
	return strings.Count(l.String(), " step="+step+" entity=")
}

// The log tells of a player who goes over a line, and whose CellApp dies.
func TestTrace(t *testing.T) {
	t.Parallel()
	cfg, half, logs := world(t), float64(cluster.DefaultSpaceSize/2), new(locked)
	cfg.Spaces = []cellappmgr.SpaceConfig{{ID: 1, MinCells: 2, Bounds: bsp.Rect{MinX: -half, MinZ: -half, MaxX: half, MaxZ: half}}}
	cfg.BackupPeriod, cfg.Log = time.Second, slog.New(slog.NewTextHandler(logs, nil))
	c := kept(t)(cluster.Start(context.Background(), cfg))
	o, err := cluster.Observe(t.Context(), cluster.ObserverConfig{Manager: c.ManagerAddr()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	observe(t, o, "divided", func(s *status.World) bool { return s.Cells == 2 })
	s := play(t, c, "ada")
	var id entity.ID
	if err := s.Do(func(c *client.Client) error { id = c.Player().ID; return nil }); err != nil {
		t.Fatal(err)
	}
	if err := o.Trace(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	corners := []property.Vector3{{X: 400, Z: 400}, {X: -400, Z: -400}}
	until := func(what string, f func(i int)) {
		t.Helper()
		for deadline, i := time.Now().Add(3*patience), 0; logs.steps(what) == 0; i++ {
			if time.Now().After(deadline) {
				t.Fatalf("no step %q", what)
			}
			f(i)
			time.Sleep(20 * time.Millisecond)
		}
	}
	until("offload in", func(i int) {
		_ = s.Do(func(c *client.Client) error { return c.SetPosition(corners[i/10%2], property.Vector3{}) })
	})
	if err := c.KillCellApp(0); err != nil {
		t.Fatal(err)
	}
	if err := c.KillCellApp(1); err != nil { // one of them has her
		t.Fatal(err)
	}
	stop := kept(t)
	stop(cluster.StartCellApp(context.Background(), cfg, c.ManagerAddr())) // which is told what to trace as it comes
	until("restored", func(int) {})
	for _, step := range []string{"offload out", "cell moved", "cell lost", "cell asked for"} {
		if logs.steps(step) == 0 {
			t.Errorf("no step %q", step)
		}
	}
}
