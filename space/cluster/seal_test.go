package cluster_test

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
)

func testKey(seed byte) secure.PrivateKey {
	k, err := secure.GenerateKey(rand.NewChaCha8([32]byte{seed}))
	if err != nil {
		panic(err)
	}
	return k
}

// variants runs a test in a world without a seal, and in one with it.
func variants(t *testing.T, f func(t *testing.T, cfg cluster.Config)) {
	t.Run("clear", func(t *testing.T) { f(t, world(t)) })
	t.Run("sealed", func(t *testing.T) {
		cfg := world(t)
		cfg.Key = testKey(1)
		cfg.TicketKeys = []secure.TicketKey{secure.TicketKey(testKey(2))}
		f(t, cfg)
	})
}

func started(t *testing.T, cfg cluster.Config) *cluster.Cluster {
	t.Helper()
	return keptWhole(t)(cluster.Start(context.Background(), cfg))
}

func sealStats(t *testing.T, c *cluster.Cluster) secure.Stats {
	t.Helper()
	s, err := c.SealStats()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A player opens its channel to the LoginApp in a round trip, and that to the BaseApp by a ticket,
// in none.
func TestTicketOpensBaseApp(t *testing.T) {
	t.Parallel()
	cfg := world(t)
	cfg.Key = testKey(1)
	c := started(t, cfg)
	before := sealStats(t, c)
	const players = 3
	for i := range players {
		play(t, c, fmt.Sprint("player ", i))
	}
	after := sealStats(t, c)
	if n := after.Resumed - before.Resumed; n != players {
		t.Errorf("%d channels were opened by tickets, want %d: %+v", n, players, after)
	}
	if after.Refused+after.Replayed+after.Full+after.BadHellos != 0 {
		t.Errorf("refused: %+v", after)
	}
}

// Without shared ticket keys nothing is minted, and players come in all the same.
func TestSealedRolesWithoutTickets(t *testing.T) {
	t.Parallel()
	ctx, cfg := context.Background(), world(t)
	cfg.Key = testKey(1)
	stop := kept(t)
	at := stop(cluster.StartManagers(ctx, cfg)).ManagerAddr()
	base := stop(cluster.StartBaseApp(ctx, cfg, at))
	stop(cluster.StartCellApp(ctx, cfg, at))
	login := stop(cluster.StartLogin(ctx, cfg, at))
	o, err := cluster.Observe(ctx, cluster.ObserverConfig{Manager: at, ServerKey: cfg.Key.Public(), Access: cfg.Key.ClusterKey().Observer()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	observe(t, o, "ready", func(s *status.World) bool { return s.Cells == 1 && s.Spaces[0].Ready() })
	play(t, login, "ada")
	if s := sealStats(t, base); s.Resumed+s.Refused != 0 || s.Admitted == 0 {
		t.Errorf("at the BaseApp: %+v", s)
	}
}

// A player walks over the line between two cells of a sealed world, and on.
func TestMigrateSealed(t *testing.T) {
	t.Parallel()
	cfg, half := world(t), float64(cluster.DefaultSpaceSize/2)
	cfg.Key = testKey(1)
	cfg.Spaces = []cellappmgr.SpaceConfig{{ID: 1, MinCells: 2, Bounds: bsp.Rect{MinX: -half, MinZ: -half, MaxX: half, MaxZ: half}}}
	c := started(t, cfg)
	s := play(t, c, "ada")
	corners := []property.Vector3{{X: 400, Z: 400}, {X: -400, Z: -400}}
	for deadline, i := time.Now().Add(3*patience), 0; ; i++ {
		if st, err := c.Status(); err != nil {
			t.Fatal(err)
		} else if st.Counters.Migrations >= 2 && st.Cells == 2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("never migrated")
		}
		if err := s.Do(func(c *client.Client) error { return c.SetPosition(corners[i/10%2], property.Vector3{}) }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := s.Do(func(c *client.Client) error {
		if !c.InWorld() {
			return fmt.Errorf("the player is %v: %w", c.State(), c.Err())
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// stranger is a player with a key that is not the world's.
func stranger(t *testing.T, login netip.AddrPort, schema *property.Schema, opts ...host.Option) error {
	t.Helper()
	h, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	closed := make(chan error, 1)
	opts = append(opts, host.Shared(), host.Mercury(mercury.Config{Inactivity: 800 * time.Millisecond, KeepAlive: 100 * time.Millisecond}))
	_, err = h.Start("stranger", "127.0.0.1:0", func(e host.Env) (host.App, error) {
		return client.New(client.Config{
			Transport: e.Transport, Tickets: e.Guard, Schema: schema, LoginApp: login, User: "eve", Password: "a secret",
			Events: client.Events{Closed: func(err error) { closed <- err }},
		})
	}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-closed:
		return err
	case <-time.After(patience):
		t.Fatal("a stranger was never told")
		return nil
	}
}

// Whoever does not know the world's key is told so, at once where its own side knows.
func TestStrangers(t *testing.T) {
	t.Parallel()
	cfg := world(t)
	cfg.Key = testKey(1)
	sealed, open := started(t, cfg), started(t, world(t))
	schema := cfg.CellScripts.Schema()
	key := func(k secure.PublicKey) host.Option { return host.Secure(secure.Config{ServerKey: k}) }
	for _, x := range []struct {
		name string
		at   *cluster.Cluster
		opt  host.Option
		want error
	}{
		{"another key", sealed, key(testKey(9).Public()), mercury.ErrKey},
		{"no seal", sealed, nil, mercury.ErrKey},
		{"no key", sealed, key(secure.PublicKey{}), secure.ErrNoServerKey},
		{"a world without a seal", open, key(cfg.Key.Public()), mercury.ErrKey},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			if err := stranger(t, x.at.LoginAddr(), schema, x.opt); !errors.Is(err, x.want) {
				t.Errorf("%v, want %v", err, x.want)
			}
		})
	}
}

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// Keys do not show in logs and errors.
func TestKeysStayHidden(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	cfg := world(t)
	cfg.Key = testKey(1)
	cfg.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c := started(t, cfg)
	cfg.Log.Info("config", "key", cfg.Key)
	play(t, c, "ada")
	log.mu.Lock()
	defer log.mu.Unlock()
	if all := log.buf.String(); strings.Contains(all, cfg.Key.Hex()) || !strings.Contains(all, "hidden") {
		t.Error("the key is in the log")
	}
}

func TestSealFaults(t *testing.T) {
	cfg := world(t)
	cfg.TicketKeys = make([]secure.TicketKey, 1)
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "without Key") {
		t.Errorf("ticket keys alone: %v", err)
	}
	cfg.Key = testKey(1)
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "TicketKeys") {
		t.Errorf("a ticket key of zeros: %v", err)
	}
	cfg.TicketKeys[0][0] = 1
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
}

// One setting seals a world. Players elsewhere are given the public half of the key.
func ExampleConfig_sealed() {
	key, err := secure.GenerateKey(crand.Reader) // once; a server reads it from where secrets are kept
	if err != nil {
		fmt.Println(err)
		return
	}
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":           {Data: []byte(`<root> <Avatar/> </root>`)},
		"entity_defs/Avatar.def": {Data: []byte(`<root/>`)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	world, err := cluster.Start(context.Background(), cluster.Config{CellScripts: space.NewScripts(schema), CellApps: 1, BaseApps: 1, Key: key})
	if err != nil {
		fmt.Println(err)
		return
	}
	seal, err := world.SealStats()
	fmt.Println("sealed channels:", seal.Admitted > 0, err)
	fmt.Println(world.Stop())
	// Output:
	// sealed channels: true <nil>
	// <nil>
}
