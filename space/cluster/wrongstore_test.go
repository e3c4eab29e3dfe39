package cluster_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/sqlite"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// stateOfStore is what the status says of the store.
func stateOfStore(c *cluster.Cluster) string {
	w, err := c.Status()
	if err != nil {
		return ""
	}
	for _, a := range w.Apps {
		if a.Role == status.RoleDBApp {
			return a.Store
		}
	}
	return ""
}

// TestManagersWithAnotherStore: managers come back under a world that lives, with the file of another world.
// They say so, by name, and do no harm: everything lives on, and with the right file all that is kept is
// written, as if the store had been away.
func TestManagersWithAnotherStore(t *testing.T) {
	if testing.Short() {
		t.Skip("managers that end while others need their store wait for them, twice")
	}
	t.Parallel()
	dir, ctx := t.TempDir(), context.Background()
	logs := &lockedBuffer{}
	count := func(what string) int {
		logs.mu.Lock()
		defer logs.mu.Unlock()
		return strings.Count(logs.buf.String(), what)
	}
	open := func(name string) store.Store {
		kept, err := sqlite.Open(ctx, filepath.Join(dir, name), sqlite.Config{})
		if err != nil {
			t.Fatal(err)
		}
		return kept
	}
	other := open("other.db")
	func() { // it has been used by another world, for longer
		for range 3 {
			c, err := cluster.Start(ctx, guilds(t, other, 1))
			if err != nil {
				t.Fatal(err)
			}
			eventually(t, "written", func() bool { return len(rows(t, other)) > 0 })
			_ = c.Stop()
		}
	}()
	others := len(rows(t, other))
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}

	right := open("right.db")
	cfg := guilds(t, right, 3)
	cfg.ArchivePeriod, cfg.Log = time.Second, slog.New(slog.NewTextHandler(logs, nil))
	start := func(kept store.Store, port uint16, term uint32) *cluster.Cluster {
		cfg.Store, cfg.ManagerPort, cfg.Term = kept, port, term
		c, err := cluster.StartManagers(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	managers := start(right, 0, 1)
	t.Cleanup(func() { _ = managers.Stop(); _ = right.Close() }) // after the others, which save
	at := managers.ManagerAddr()
	keep := keptWhole(t)
	keep(cluster.StartBaseApp(ctx, cfg, at))
	keep(cluster.StartCellApp(ctx, cfg, at))
	gold := func(kept store.Store) (sum int64) {
		for _, r := range rows(t, kept) {
			sum += r.Columns[0].Int()
		}
		return sum
	}
	eventually(t, "written", func() bool { return len(rows(t, right)) == 3 && gold(right) > 0 })
	eventually(t, "well", func() bool { return stateOfStore(managers) == "ok" })
	had := gold(right)
	kill := func(c *cluster.Cluster, kept store.Store) {
		_ = c.Stop() // while others need its store it waits for them, for SaveTime
		if err := kept.Close(); err != nil {
			t.Error(err)
		}
	}

	kill(managers, right)
	wrong := open("other.db")
	managers = start(wrong, at.Port(), 2)
	eventually(t, "known as another store", func() bool { return strings.Contains(stateOfStore(managers), "another world") })
	time.Sleep(8 * time.Second) // longer than a DBApp waits that is told no start
	if n := len(rows(t, wrong)); n != others {
		t.Errorf("the other store has %d rows, and had %d", n, others)
	}
	if n := count("this is the store of another world"); n != 1 {
		t.Errorf("the log says %d times that it is another store", n)
	}
	if s := stateOfStore(managers); !strings.Contains(s, "another world") {
		t.Errorf("then the store is %q", s)
	}

	kill(managers, wrong)
	right = open("right.db")
	managers = start(right, at.Port(), 3)
	eventually(t, "well again", func() bool { return stateOfStore(managers) == "ok" })
	eventually(t, "written again", func() bool { return gold(right) > had+100 })
	if n := len(rows(t, right)); n != 3 {
		t.Errorf("the right store has %d rows", n)
	}
	if n := count("ends without a write") + count("the store refuses"); n > 0 {
		t.Errorf("%d entities were lost", n)
	}
}
