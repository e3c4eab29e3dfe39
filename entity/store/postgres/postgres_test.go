package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/postgres"
	"github.com/cellscape/cellscape/entity/store/storetest"
	"github.com/cellscape/cellscape/property"
)

// serverURL is the server that CELLSCAPE_POSTGRES names, or one that is started for the test.
func serverURL(t testing.TB) string {
	if named := os.Getenv("CELLSCAPE_POSTGRES"); named != "" {
		return named
	}
	return startLocal(t).url()
}

// schemas counts the schemas that this process has made.
type schemas struct{ n atomic.Int32 }

// fresh returns the connection string of an empty schema.
func (s *schemas) fresh(t testing.TB, server string) string {
	t.Helper()
	name := fmt.Sprintf("cellscape_%d_%d", os.Getpid(), s.n.Add(1))
	run := func(sql string) {
		conn, err := pgx.Connect(context.Background(), server)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := conn.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		if _, err := conn.Exec(context.Background(), sql); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE SCHEMA " + name)
	t.Cleanup(func() { run("DROP SCHEMA " + name + " CASCADE") })
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal("CELLSCAPE_POSTGRES is no URL:", err)
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

func TestStore(t *testing.T) {
	server, made := serverURL(t), &schemas{}
	storetest.Run(t, func(t *testing.T) *storetest.Rig {
		at := made.fresh(t, server)
		return &storetest.Rig{Open: func(ctx context.Context) (store.Store, error) { return postgres.Open(ctx, at) }}
	})
}

// items is a schema of one small type.
func items(t testing.TB) *store.Schema {
	t.Helper()
	return storetest.Schema(t, &property.Definition{Name: "Item", HasBase: true, Persistent: true, Properties: []*property.Property{
		{Name: "count", Type: property.Scalar(property.KindInt32), Flags: property.Base, Persistent: true, Indexed: true},
	}})
}

func record(id store.ID, version uint64) store.Record {
	return store.Record{Key: store.Key{Type: "Item", ID: id}, Version: version, Columns: []property.Value{property.Int(int64(version))}, Data: []byte{1}}
}

// The server crashes, stays away, and comes back: callers are told, what was confirmed is there.
func TestServerGone(t *testing.T) {
	l := startLocal(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := postgres.Open(ctx, l.url())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Apply(ctx, items(t), false); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(ctx, []store.Record{record(1, 1)}); err != nil {
		t.Fatal(err)
	}
	confirmed := uint64(1)
	for round := range 3 {
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			time.Sleep(100 * time.Millisecond)
			l.stop(syscall.SIGQUIT)
		}()
		for err = nil; err == nil; {
			if err = s.Write(ctx, []store.Record{record(1, confirmed+1)}); err == nil {
				confirmed++
			}
		}
		if !errors.Is(err, store.ErrAway) || !errors.Is(err, store.ErrRetry) {
			t.Fatalf("round %d: %v", round, err)
		}
		<-stopped
		if _, err := s.Get(ctx, "x"); !errors.Is(err, store.ErrAway) {
			t.Errorf("away: %v", err)
		}
		l.start()
		list, err := s.Load(ctx, []store.Want{{Key: record(1, 1).Key}})
		for try := 0; errors.Is(err, store.ErrRetry) && try < 40; try++ { // connections that are not known to be dead
			list, err = s.Load(ctx, []store.Want{{Key: record(1, 1).Key}})
		}
		if err != nil || list[0].Err != nil {
			t.Fatalf("round %d: %v, %+v", round, err, list)
		}
		if v := list[0].Version; v != confirmed && v != confirmed+1 {
			t.Fatalf("round %d: version %d, and %d was confirmed", round, v, confirmed)
		}
		confirmed = list[0].Version
	}
	t.Logf("%d writes were confirmed", confirmed)
}

// A lock that another has makes a call wait, and no longer than its context allows.
func TestLocked(t *testing.T) {
	server, made := serverURL(t), &schemas{}
	at := made.fresh(t, server)
	s, err := postgres.Open(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Apply(context.Background(), items(t), false); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(context.Background(), []store.Record{record(1, 1)}); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), `BEGIN; LOCK TABLE "entity_Item" IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if err := s.Write(ctx, []store.Record{record(1, 2)}); !errors.Is(err, store.ErrBusy) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a locked table: %v", err)
	}
	if _, err := conn.Exec(context.Background(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(context.Background(), []store.Record{record(1, 2)}); err != nil {
		t.Error(err)
	}
}

func TestOpenErrors(t *testing.T) {
	ctx := context.Background()
	if _, err := postgres.Open(ctx, "postgres://%zz"); !errors.Is(err, store.ErrValue) {
		t.Error(err)
	}
	if _, err := postgres.Open(ctx, "postgres://nobody@127.0.0.1:1/x?sslmode=disable"); !errors.Is(err, store.ErrAway) {
		t.Error(err)
	}
}
