package cluster_test

import (
	"context"
	"errors"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/sqlite"
	"github.com/cellscape/cellscape/space/cluster"
)

// inFile opens the store in a file, which is made if it is not there.
func inFile(t *testing.T, path string) store.Store {
	t.Helper()
	kept, err := sqlite.Open(context.Background(), path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// TestStoreBegun: a world that has begun before does not begin anew in a file that is empty since its path
// is wrong or its volume is not mounted, by whatever door it starts. It used to, and without a word.
func TestStoreBegun(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), t.TempDir()
	right, empty := inFile(t, filepath.Join(dir, "right.db")), inFile(t, filepath.Join(dir, "empty.db"))
	defer func() { _ = errors.Join(right.Close(), empty.Close()) }()
	w, err := cluster.Start(ctx, guilds(t, right, 2))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "written", func() bool { return len(rows(t, right)) == 2 })
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}

	again, astray := guilds(t, right, 0), guilds(t, empty, 0)
	again.StoreBegun, astray.StoreBegun = true, true
	later, several := astray, astray
	later.Term = 2
	several.Managers = freePlaces(t, 3)
	several.ManagerPort = netip.MustParseAddrPort(several.Managers[0]).Port()
	for name, start := range map[string]func() error{
		"a whole world":             func() error { _, err := cluster.Start(ctx, astray); return err },
		"managers that begin":       func() error { _, err := cluster.StartManagers(ctx, astray); return err },
		"managers that come back":   func() error { _, err := cluster.StartManagers(ctx, later); return err },
		"managers among several":    func() error { _, err := cluster.StartManagers(ctx, several); return err },
		"a dry run":                 func() error { _, err := astray.PlanStore(ctx); return err },
		"a dry run on the real one": func() error { _, err := again.PlanStore(ctx); return err },
	} {
		err := start()
		if strings.HasSuffix(name, "real one") {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !errors.Is(err, store.ErrEmpty) || !strings.Contains(err.Error(), "mounted") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if plan, err := guilds(t, empty, 0).PlanStore(ctx); err != nil || len(plan) == 0 {
		t.Errorf("the empty store was changed: %v, %v", plan, err)
	}
	w, err = cluster.Start(ctx, again)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(rows(t, right)); n != 2 {
		t.Errorf("the right store has %d rows", n)
	}
	if err := w.Stop(); err != nil {
		t.Error(err)
	}
}

// TestVolumeAway: managers that come back under a living world while the volume of their file is away end
// with an error, as often as they are started, until it is mounted: then the world goes on.
func TestVolumeAway(t *testing.T) {
	if testing.Short() {
		t.Skip("managers that end while others need their store wait for them")
	}
	t.Parallel()
	ctx, dir := context.Background(), t.TempDir()
	file, away := filepath.Join(dir, "world.db"), filepath.Join(dir, "not mounted.db")
	kept := inFile(t, file)
	cfg := guilds(t, kept, 2)
	cfg.Term = 1
	managers, err := cluster.StartManagers(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.ManagerPort, cfg.StoreBegun = managers.ManagerAddr().Port(), true
	t.Cleanup(func() { _ = managers.Stop(); _ = kept.Close() }) // after the others, which save
	keep := keptWhole(t)
	keep(cluster.StartBaseApp(ctx, cfg, managers.ManagerAddr()))
	keep(cluster.StartCellApp(ctx, cfg, managers.ManagerAddr()))
	eventually(t, "written", func() bool { return len(rows(t, kept)) == 2 })
	_ = managers.Stop() // while others need its store it waits for them, for SaveTime
	if err := kept.Close(); err != nil {
		t.Error(err)
	}

	for cfg.Term = 2; cfg.Term < 5; cfg.Term++ {
		cfg.Store = inFile(t, away)
		if _, err := cluster.StartManagers(ctx, cfg); !errors.Is(err, store.ErrEmpty) {
			t.Fatalf("they start with %v", err)
		}
		if err := cfg.Store.Close(); err != nil {
			t.Error(err)
		}
	}
	kept = inFile(t, file)
	cfg.Store = kept
	if managers, err = cluster.StartManagers(ctx, cfg); err != nil {
		t.Fatal(err)
	}
	eventually(t, "well again", func() bool { return stateOfStore(managers) == "ok" })
}
