package cluster_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
)

// guild is a persistent entity with both parts, which changes all the time.
type guild struct {
	*entity.Base
	Gold property.Int64
}

func (g *guild) OnCreated() {
	at, known := g.Stood()
	if !known {
		at.Space = 1
	}
	_ = g.CreateCell(at.Space, at.Position, at.Direction, nil)
	_ = g.Write("OnKept", 0)
	_, _ = g.AddTimer(10*time.Millisecond, 10*time.Millisecond, "OnBeat", 0)
}

func (g *guild) OnKept(stored.Reply) {}

func (g *guild) OnBeat(entity.Callback) {
	g.Gold.Set(g.Gold.Get() + 1)
	_ = g.Cell().Call("deposit", int64(1))
}

type hall struct {
	*space.Real
	Chest property.Int64
}

// Deposit is for the base to call.
func (h *hall) Deposit(n int64) { h.Chest.Set(h.Chest.Get() + n) }

// guilds is the smallest world with a store, and n guilds on each BaseApp.
func guilds(t testing.TB, kept store.Store, n int) cluster.Config {
	t.Helper()
	cfg := world(t)
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":           {Data: []byte(`<root> <Avatar hasCell="true" hasBase="true" hasClient="true"/> <Guild hasCell="true" hasBase="true" hasClient="false"/> </root>`)},
		"entity_defs/Avatar.def": {Data: []byte(`<root> <Persistent> false </Persistent> </root>`)},
		"entity_defs/Guild.def": {Data: []byte(`<root> <Persistent> true </Persistent>
			<Properties> <gold> <Type> INT64 </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> <Indexed> true </Indexed> </gold>
				<chest> <Type> INT64 </Type> <Flags> CELL_PRIVATE </Flags> <Persistent> true </Persistent> </chest> </Properties>
			<CellMethods> <deposit> <Arg> INT64 </Arg> </deposit> </CellMethods>
		</root>`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register[visitorCell](cells, "Avatar")
	baseapp.Register[visitor](bases, "Avatar")
	space.Register[hall](cells, "Guild")
	baseapp.Register[guild](bases, "Guild")
	cfg.CellScripts, cfg.BaseScripts, cfg.Store = cells, bases, kept
	cfg.BaseStart = func(s *baseapp.Starter) {
		for range n {
			if _, err := s.CreateBase("Guild", nil); err != nil {
				s.Log().Error("no guild", "error", err)
			}
		}
	}
	return cfg
}

type visitor struct{ *entity.Base }

func (v *visitor) OnCreated() {
	_ = v.CreateCell(1, property.Vector3{}, property.Vector3{}, nil)
}

type visitorCell struct{ *space.Real }

func rows(t *testing.T, kept store.Store) []store.Row {
	t.Helper()
	page, err := kept.Query(context.Background(), store.Query{Type: "Guild", Limit: store.MaxPage})
	if err != nil {
		t.Fatal(err)
	}
	return page.Rows
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never " + what)
		}
	}
}

// TestShutdown: the whole world in one OS process stops by its operator's order, and the store has it.
func TestShutdown(t *testing.T) {
	t.Parallel()
	kept := memory.New()
	c, err := cluster.Start(context.Background(), guilds(t, kept, 20))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Stop() }()
	closed := make(chan error, 1)
	in := make(chan struct{})
	if _, err := c.Connect("ada", "", client.Events{
		CellPlayer: func(*client.Replica) { close(in) },
		Closed:     func(err error) { closed <- err },
	}); err != nil {
		t.Fatal(err)
	}
	wait(t, "in the world", in)
	eventually(t, "written", func() bool { return len(rows(t, kept)) == 20 })
	limit, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := c.Shutdown(limit, "an update")
	if err != nil || !r.Whole() || len(r.Types) != 1 || r.Types[0].Written != 20 || r.Spaces != 1 || r.Reason != "an update" {
		t.Errorf("%+v, %v", r, err)
	}
	select {
	case err := <-closed:
		if err == nil || !strings.Contains(err.Error(), "an update") {
			t.Errorf("the player was told %v", err)
		}
	case <-time.After(patience):
		t.Error("the player was told nothing")
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	for _, row := range rows(t, kept) {
		if row.Columns[0].Int() == 0 {
			t.Errorf("%v has nothing of what happened since the first write", row.Key)
		}
	}
}

// TestShutdownByObserver: the processes of a world, each by itself, end by the order of an operator
// elsewhere, and only of an operator.
func TestShutdownByObserver(t *testing.T) {
	t.Parallel()
	kept := memory.New()
	cfg := guilds(t, kept, 20)
	cfg.Key = testKey(1)
	managers, err := cluster.StartManagers(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = managers.Stop() }()
	all := []*cluster.Cluster{managers}
	for _, start := range []func(context.Context) (*cluster.Cluster, error){
		func(ctx context.Context) (*cluster.Cluster, error) {
			return cluster.StartBaseApp(ctx, cfg, managers.ManagerAddr())
		},
		func(ctx context.Context) (*cluster.Cluster, error) {
			return cluster.StartBaseApp(ctx, cfg, managers.ManagerAddr())
		},
		func(ctx context.Context) (*cluster.Cluster, error) {
			return cluster.StartCellApp(ctx, cfg, managers.ManagerAddr())
		},
		func(ctx context.Context) (*cluster.Cluster, error) {
			return cluster.StartLogin(ctx, cfg, managers.ManagerAddr())
		},
	} {
		c, err := start(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Stop() }()
		all = append(all, c)
	}
	eventually(t, "written", func() bool { return len(rows(t, kept)) == 40 })
	limit, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := all[1].Shutdown(limit, ""); !errors.Is(err, cluster.ErrNoManager) {
		t.Errorf("an order to a BaseApp: %v", err)
	}
	for _, x := range []struct {
		may bool
		cfg cluster.ObserverConfig
	}{
		{false, cluster.ObserverConfig{Manager: managers.ManagerAddr(), ServerKey: cfg.Key.Public(), Access: cfg.Key.ClusterKey().Observer()}},
		{true, cluster.ObserverConfig{Manager: managers.ManagerAddr(), ServerKey: cfg.Key.Public(), Access: cfg.Key.ClusterKey().Operator()}},
	} {
		o, err := cluster.Observe(context.Background(), x.cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = o.Close() }()
		r, err := o.Shutdown(limit, "an update")
		if !x.may {
			if !errors.Is(err, cluster.ErrNotOperator) {
				t.Errorf("an observer: %v", err)
			}
			continue
		}
		if err != nil || !r.Whole() || r.Sum().Written != 40 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	for _, c := range all {
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-limit.Done():
			t.Fatal("a process has not ended")
		}
	}
}

// An operator who gives up before the managers have answered hears that they have not.
func TestShutdownUnheard(t *testing.T) {
	t.Parallel()
	o, err := cluster.Observe(context.Background(), cluster.ObserverConfig{Manager: netip.MustParseAddrPort("127.0.0.1:1")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := o.Shutdown(over, "an update"); err == nil || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "the managers have not answered") {
		t.Errorf("%v", err)
	}
}

// TestStopOfAll: all processes of a world are stopped at once, as by a machine that goes down, and
// the one with the store is the first to hear it. It stays until the BaseApp has written all.
func TestStopOfAll(t *testing.T) {
	t.Parallel()
	kept := memory.New()
	cfg := guilds(t, kept, 20)
	managers, err := cluster.StartManagers(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = managers.Stop() }()
	bases, err := cluster.StartBaseApp(context.Background(), cfg, managers.ManagerAddr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bases.Stop() }()
	eventually(t, "written", func() bool { return len(rows(t, kept)) == 20 })
	ended := make(chan error, 1)
	go func() { ended <- managers.Stop() }()
	time.Sleep(2 * time.Second) // one that does not wait has ended by then
	begun := time.Now()
	if err := bases.Stop(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > cluster.SaveTime/2 {
		t.Errorf("stopped within %v", took)
	}
}

// TestStopOfAllManagers: as TestStopOfAll, with managers at three places, of which two stand by. These
// used to end first, and took the majority away from the one with the store.
func TestStopOfAllManagers(t *testing.T) {
	t.Parallel()
	kept := memory.New()
	cfg := guilds(t, kept, 20)
	cfg.Managers = freePlaces(t, 3)
	managers := make([]*cluster.Cluster, len(cfg.Managers))
	for i, place := range cfg.Managers {
		own := cfg
		own.ManagerPort = netip.MustParseAddrPort(place).Port()
		c, err := cluster.StartManagers(context.Background(), own)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Stop() }()
		managers[i] = c
	}
	bases, err := cluster.StartBaseApp(context.Background(), cfg, netip.AddrPort{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bases.Stop() }()
	eventually(t, "written", func() bool { return len(rows(t, kept)) == 20 })
	ended := make(chan error, len(managers))
	for _, c := range managers {
		go func() { ended <- c.Stop() }()
	}
	time.Sleep(3 * time.Second) // a leader that has lost its majority stops leading earlier
	if err := bases.Stop(); err != nil {
		t.Error(err)
	}
	begun := time.Now()
	for range managers {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if took := time.Since(begun); took > cluster.SaveTime/2 {
		t.Errorf("stopped within %v", took)
	}
}

// TestStopOfStandby: managers that stand by end soon when nobody else is being stopped.
func TestStopOfStandby(t *testing.T) {
	t.Parallel()
	cfg := guilds(t, memory.New(), 0)
	cfg.Managers = freePlaces(t, 3)
	var standby *cluster.Cluster
	for i, place := range cfg.Managers {
		own := cfg
		own.ManagerPort = netip.MustParseAddrPort(place).Port()
		c, err := cluster.StartManagers(context.Background(), own)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Stop() }()
		if i == 2 { // the other two have a leader when it comes
			standby = c
		}
	}
	eventually(t, "stands by", func() bool { _, err := standby.Status(); return errors.Is(err, cluster.ErrStandsBy) })
	begun := time.Now()
	if err := standby.Stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > cluster.SaveTime/2 {
		t.Errorf("stopped within %v", took)
	}
}

// TestStopWithoutStore: a BaseApp that is stopped after the store has gone says why it could not
// write.
func TestStopWithoutStore(t *testing.T) {
	t.Parallel()
	kept := memory.New()
	cfg := guilds(t, kept, 1)
	managers, err := cluster.StartManagers(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	bases, err := cluster.StartBaseApp(context.Background(), cfg, managers.ManagerAddr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bases.Stop() }()
	eventually(t, "written", func() bool { return len(rows(t, kept)) == 1 })
	begun := time.Now()
	if err := managers.Stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took < cluster.SaveTime || took > cluster.SaveTime+patience/2 {
		t.Errorf("the managers waited %v for a BaseApp that stays", took)
	}
	if err := bases.Stop(); !errors.Is(err, cluster.ErrUnsaved) || !strings.Contains(err.Error(), "no DBApp") {
		t.Errorf("stopped with %v", err)
	}
}

// TestComesBack: what a world had when it was stopped lives again in the next one, and by itself.
func TestComesBack(t *testing.T) {
	t.Parallel()
	kept := memory.New()
	limit, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	last := map[store.ID]int64{}
	for round := range 3 {
		cfg := guilds(t, kept, map[int]int{0: 20}[round])
		cfg.BringBack = []string{"Guild"}
		c, err := cluster.Start(limit, cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Stop() }()
		eventually(t, "written anew", func() bool {
			list := rows(t, kept)
			for _, r := range list {
				if gold := r.Columns[0].Int(); gold < last[r.ID] {
					t.Fatalf("%v has %d, and had %d", r.Key, gold, last[r.ID])
				}
			}
			w, err := c.Status()
			return err == nil && len(list) == 20 && w.Reals == 20
		})
		r, err := c.Shutdown(limit, "")
		if err != nil || r.Sum().Written != 20 {
			t.Fatalf("round %d: %+v, %v", round, r, err)
		}
		for _, r := range rows(t, kept) {
			if r.Columns[0].Int() <= last[r.ID] {
				t.Errorf("%v has %d, and had %d", r.Key, r.Columns[0].Int(), last[r.ID])
			}
			last[r.ID] = r.Columns[0].Int()
		}
	}
}

func TestBringBackFaults(t *testing.T) {
	cfg := guilds(t, memory.New(), 0)
	cfg.BringBack = []string{"Guild", "Avatar", "Nobody"}
	err := cfg.Validate()
	if err == nil || strings.Contains(err.Error(), "Guild") || !strings.Contains(err.Error(), "Avatar") || !strings.Contains(err.Error(), "Nobody") {
		t.Errorf("%v", err)
	}
}
