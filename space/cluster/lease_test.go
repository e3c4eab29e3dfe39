package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/dbapp"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/entity/store/postgres"
	"github.com/cellscape/cellscape/entity/store/sqlite"
	"github.com/cellscape/cellscape/space/cluster"
)

// TestStoreInUse: a second world is refused at the store of one that lives, and that loses nothing. After an
// end in order the next start waits for nobody.
func TestStoreInUse(t *testing.T) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		kept := memory.New()
		storeInUse(t, kept, kept)
	})
	t.Run("sqlite", func(t *testing.T) { // each has opened the file, as two OS processes have
		open := func(path string) store.Store {
			s, err := sqlite.Open(context.Background(), path, sqlite.Config{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s
		}
		path := filepath.Join(t.TempDir(), "world.db")
		storeInUse(t, open(path), open(path))
	})
	t.Run("postgres", func(t *testing.T) { // two worlds that were given the same database, and schema
		server := os.Getenv("CELLSCAPE_POSTGRES")
		if server == "" {
			t.Skip("passed over: CELLSCAPE_POSTGRES names no server")
		}
		open := func() store.Store {
			s, err := postgres.Open(context.Background(), server)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s
		}
		storeInUse(t, open(), open())
	})
}

// storeInUse tries it with what each of the worlds has of the store.
func storeInUse(t *testing.T, kept, others store.Store) {
	ctx := context.Background()
	first, err := cluster.Start(ctx, guilds(t, kept, 1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = first.Stop() })
	eventually(t, "shown to live", func() bool { l, err := dbapp.ReadLease(ctx, kept); return err == nil && l.Start > 0 })
	other := ladder(t, others, "wins")
	other.StoreForgets = true // it would forget the first world
	second, err := cluster.Start(ctx, other)
	if !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), "stop that") ||
		!strings.Contains(err.Error(), fmt.Sprintf("managers at %v, since 2", first.ManagerAddr())) || !strings.Contains(err.Error(), fmt.Sprintf("process %d on ", os.Getpid())) {
		t.Fatalf("the second: %v", err)
	}
	if second != nil {
		t.Error("there is a second")
	}
	if s := stateOfStore(first); s != "ok" {
		t.Errorf("the store of the first is %q", s)
	}
	if n := len(rows(t, kept)); n == 0 {
		t.Error("the first has lost its rows")
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	again, err := cluster.Start(ctx, guilds(t, kept, 1))
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > dbapp.LeaseTime {
		t.Errorf("it has waited %v for a world that ended in order", took)
	}
	if err := again.Stop(); err != nil {
		t.Error(err)
	}
}

// TestNewDefinitionsUnderALivingWorld: managers that were started by mistake with new definitions end, and leave
// the store as it is, while the processes of the old ones live; managers with the old ones take it up again.
func TestNewDefinitionsUnderALivingWorld(t *testing.T) {
	if testing.Short() {
		t.Skip("managers that end while others need their store wait for them")
	}
	t.Parallel()
	ctx, kept := context.Background(), memory.New()
	old, grown := ladder(t, kept, "wins"), ladder(t, kept, "wins", "losses")
	start := func(cfg cluster.Config, port uint16, term uint32) *cluster.Cluster {
		cfg.ManagerPort, cfg.Term = port, term
		c, err := cluster.StartManagers(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	managers := start(old, 0, 1)
	t.Cleanup(func() { _ = managers.Stop() }) // after the others, which save
	at := managers.ManagerAddr()
	keep := keptWhole(t)
	keep(cluster.StartBaseApp(ctx, old, at))
	eventually(t, "well", func() bool { return stateOfStore(managers) == "ok" })
	_ = managers.Stop()

	grown.ManagerPort, grown.Term = at.Port(), 2
	if _, err := cluster.StartManagers(ctx, grown); !errors.Is(err, cluster.ErrRefused) || !strings.Contains(err.Error(), "a world runs") || !strings.Contains(err.Error(), "digest") {
		t.Errorf("managers of other definitions than the world: %v", err)
	}
	if p, err := old.PlanStore(ctx); err != nil || len(p) > 0 {
		t.Errorf("the store was changed under the old world: %v, %v", p, err)
	}

	managers = start(old, at.Port(), 3)
	eventually(t, "well again", func() bool { return stateOfStore(managers) == "ok" })
}

// TestNewDefinitionsComeWithTheWorld: when it is known that no world lives, the managers change the store.
func TestNewDefinitionsComeWithTheWorld(t *testing.T) {
	t.Parallel()
	ctx, kept := context.Background(), memory.New()
	first, err := cluster.Start(ctx, ladder(t, kept, "wins"))
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	grown := ladder(t, kept, "wins", "losses")
	managers, err := cluster.StartManagers(ctx, grown)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = managers.Stop() })
	keep := keptWhole(t)
	keep(cluster.StartBaseApp(ctx, grown, managers.ManagerAddr()))
	eventually(t, "well", func() bool { return stateOfStore(managers) == "ok" })
	if p, err := grown.PlanStore(ctx); err != nil || len(p) > 0 {
		t.Errorf("left to be changed: %v, %v", p, err)
	}
}
