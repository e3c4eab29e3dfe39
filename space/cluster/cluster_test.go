package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// patience bounds what a test waits for.
const patience = 20 * time.Second

type player struct {
	*entity.Base
	last uint32 `cellscape:"local"`
}

// Tick is called by the client with one number after the other; it answers with its own count.
func (p *player) Tick(n uint32) {
	if n == p.last+1 {
		p.last++
	}
	_ = p.Client().Call("ticked", n, p.last)
}

func (p *player) OnCreated() {
	_ = p.CreateCell(1, property.Vector3{}, property.Vector3{}, nil)
}

type avatar struct {
	*space.Real
	Mood property.String
	Last property.Uint32
}

// Count is what Tick is for the base.
func (a *avatar) Count(by entity.ID, n uint32) {
	if n == a.Last.Get()+1 {
		a.Last.Set(n)
	}
	_ = a.OwnClient().Call("counted", n, a.Last.Get())
}

func (a *avatar) Cheer(by entity.ID) {
	a.Mood.Set("happy")
	_ = a.AllClients().Call("cheered")
}

// world is the smallest one.
func world(t testing.TB) cluster.Config {
	t.Helper()
	schema, err := property.Load(fstest.MapFS{
		"entities.xml": {Data: []byte(`<root> <Avatar/> </root>`)},
		"entity_defs/Avatar.def": {Data: []byte(`<root>
			<Properties> <mood> <Type> STRING </Type> <Flags> ALL_CLIENTS </Flags> </mood> <last> <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </last> </Properties>
			<CellMethods> <cheer> <Exposed> OWN_CLIENT </Exposed> </cheer> <count> <Exposed> OWN_CLIENT </Exposed> <Arg> UINT32 </Arg> </count> </CellMethods>
			<BaseMethods> <tick> <Exposed> OWN_CLIENT </Exposed> <Arg> UINT32 </Arg> </tick> </BaseMethods>
			<ClientMethods> <cheered/> <counted> <Arg> UINT32 </Arg> <Arg> UINT32 </Arg> </counted> <ticked> <Arg> UINT32 </Arg> <Arg> UINT32 </Arg> </ticked> </ClientMethods>
		</root>`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register[avatar](cells, "Avatar")
	baseapp.Register[player](bases, "Avatar")
	return cluster.Config{
		CellScripts: cells, BaseScripts: bases, PlayerType: "Avatar", CellApps: 2, BaseApps: 1,
		Tick: 20 * time.Millisecond, StatusPeriod: 50 * time.Millisecond, AppTimeout: 1500 * time.Millisecond,
		Logins: cellappmgr.LoginConfig{Always: true}, // a busy machine makes a load of late ticks
	}
}

func noLeaks(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before; {
			if time.Now().After(deadline) {
				t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
}

// wait waits for a signal of another goroutine.
func wait(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatal("never " + what)
	}
}

// play logs in and has the avatar cheer, and waits for both.
func play(t *testing.T, c *cluster.Cluster, user string) *session.Session {
	t.Helper()
	ready, cheered := make(chan struct{}), make(chan struct{})
	var once sync.Once // others cheer too
	s, err := c.Connect(user, "", client.Events{
		CellPlayer: func(*client.Replica) { close(ready) },
		Called:     func(*client.Replica, *property.Method, []property.Value) { once.Do(func() { close(cheered) }) },
		Closed:     func(err error) { t.Logf("%s: %v", user, err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, "in the world", ready)
	if err := s.Do(func(c *client.Client) error { return c.Player().Cell().Call("cheer") }); err != nil {
		t.Fatal(err)
	}
	wait(t, "cheered", cheered)
	return s
}

func TestWorld(t *testing.T) { variants(t, testWorld) }

// myAvatar is the player's own avatar at its client.
type myAvatar struct {
	*client.Replica
	Mood  property.String
	moods chan string `cellscape:"local"`
}

func (*myAvatar) Cheered()             {}
func (*myAvatar) Counted(n, of uint32) {}
func (*myAvatar) Ticked(n, of uint32)  {}

func (a *myAvatar) OnSetMood(*property.Change) { a.moods <- a.Mood.Get() }

// The status tells which properties cost most, and on which way.
func TestTrafficInTheStatus(t *testing.T) {
	noLeaks(t)
	c, err := cluster.Start(context.Background(), world(t))
	if err != nil {
		t.Fatal(err)
	}
	s := play(t, c, "ada")
	if err := s.Do(func(c *client.Client) error { return c.Player().Cell().Call("cheer") }); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the status tells of the mood on its way to the player", func() bool {
		st, err := c.Status()
		if err != nil {
			t.Fatal(err)
		}
		for i := range st.Apps {
			for _, row := range st.Apps[i].Traffic {
				if row.Type == "Avatar" && row.Property == "mood" && row.Way == property.ToOwnClient.String() {
					return st.Apps[i].Role == status.RoleCellApp && row.Changes == 1 && row.Bytes >= uint64(len("happy"))
				}
			}
		}
		return false
	})
	if err := errors.Join(s.Close(), c.Stop()); err != nil {
		t.Error(err)
	}
}

// What a client sees is of the classes that the configuration has.
func TestClientScripts(t *testing.T) {
	noLeaks(t)
	cfg := world(t)
	cfg.ClientScripts = client.NewScripts(cfg.CellScripts.Schema())
	client.RegisterPlayer[myAvatar](cfg.ClientScripts, "Avatar")
	c, err := cluster.Start(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	moods := make(chan string, 1)
	s, err := c.Connect("ada", "", client.Events{
		BasePlayer: func(r *client.Replica) { r.Script().(*myAvatar).moods = moods },
		CellPlayer: func(r *client.Replica) { moods <- "here" },
	})
	if err != nil {
		t.Fatal(err)
	}
	hear := func(want string) {
		select {
		case got := <-moods:
			if got != want {
				t.Errorf("mood %q, want %q", got, want)
			}
		case <-time.After(patience):
			t.Fatal("never " + want)
		}
	}
	hear("here")
	if err := s.Do(func(c *client.Client) error { return c.Player().Cell().Call("cheer") }); err != nil {
		t.Fatal(err)
	}
	hear("happy")
	if err := errors.Join(s.Close(), c.Stop()); err != nil {
		t.Error(err)
	}
	client.Register[avatar](cfg.ClientScripts, "Avatar")
	if _, err := cluster.Start(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "does not embed *client.Replica") {
		t.Errorf("a class that does not fit: %v", err)
	}
}

func testWorld(t *testing.T, cfg cluster.Config) {
	noLeaks(t)
	c, err := cluster.Start(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := play(t, c, "ada")
	st, err := c.Status()
	if err != nil || st.Cells != 1 || st.AppCount(status.RoleCellApp) != 2 || st.AppCount(status.RoleBaseApp) != 1 {
		t.Errorf("status %+v, %v", st, err)
	}
	login, ok := st.App(status.RoleLoginApp)
	if !ok || len(login.Carriers) > 0 && login.Carriers[1].URL() != c.LoginURLs()[0] {
		t.Errorf("the LoginApp is at %v, status says %v", c.LoginURLs(), login)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Do(func(*client.Client) error { return nil }); !errors.Is(err, host.ErrStopped) {
		t.Errorf("Do after Close: %v", err)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// An end of the context stops the world.
func TestContextEnds(t *testing.T) {
	noLeaks(t)
	ctx, cancel := context.WithCancel(context.Background())
	c, err := cluster.Start(ctx, world(t))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := c.Status(); !errors.Is(err, host.ErrStopped) {
		t.Errorf("status of a stopped world: %v", err)
	}
}

// Every role in a Cluster of its own, as in separate OS processes.
func TestRoles(t *testing.T) {
	t.Parallel()
	variants(t, testRoles)
}

func testRoles(t *testing.T, cfg cluster.Config) {
	t.Parallel()
	ctx := context.Background()
	stop := keptWhole(t)
	managers := stop(cluster.StartManagers(ctx, cfg))
	at := managers.ManagerAddr()
	base := stop(cluster.StartBaseApp(ctx, cfg, at))
	stop(cluster.StartCellApp(ctx, cfg, at))
	login := stop(cluster.StartLogin(ctx, cfg, at))
	if _, err := login.Status(); !errors.Is(err, cluster.ErrNoManager) {
		t.Errorf("status at the LoginApp: %v", err)
	}
	if _, err := managers.Connect("ada", "", client.Events{}); !errors.Is(err, cluster.ErrNoLogin) {
		t.Errorf("login at the managers: %v", err)
	}
	if managers.LoginAddr().IsValid() || !login.LoginAddr().IsValid() || login.ManagerAddr() != at {
		t.Errorf("addresses: %v %v %v", managers.LoginAddr(), login.LoginAddr(), login.ManagerAddr())
	}

	watch := cluster.ObserverConfig{Manager: at}
	if !cfg.Key.IsZero() {
		watch.ServerKey, watch.Access = cfg.Key.Public(), cfg.Key.ClusterKey().Operator()
	}
	o, err := cluster.Observe(ctx, watch)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if ready, err := o.Ready(limit); err != nil || !slices.Equal(ready, login.LoginURLs()) {
		t.Fatalf("players may log in at %v: %v", ready, err)
	}
	play(t, login, "ada")
	if s := sealStats(t, base); s.Resumed != 1 && !cfg.Key.IsZero() {
		t.Errorf("the player's channel took a round trip: %+v", s)
	}
	observe(t, o, "told of the player", func(s *status.World) bool { return s.Clients == 1 && s.Reals == 1 })
	if testing.Short() {
		return // the rest waits for reports of a second each
	}
	if err := o.Freeze(true); err != nil {
		t.Fatal(err)
	}
	observe(t, o, "at rest", func(s *status.World) bool { return s.ReportsSinceFreeze >= 2 && s.Pending == 0 })
}

// Whoever waits for a world that does not become ready is told what it lacks.
func TestObserverReadyNever(t *testing.T) {
	t.Parallel()
	cfg := world(t)
	cfg.Key = testKey(1)
	managers := started(t, cfg).ManagerAddr()
	alone, err := cluster.StartManagers(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = alone.Stop() }()
	for name, x := range map[string]struct {
		at   netip.AddrPort
		key  secure.PublicKey
		is   error
		says string
	}{
		"no managers":   {netip.MustParseAddrPort("127.0.0.1:9"), cfg.Key.Public(), context.DeadlineExceeded, "no managers answer at 127.0.0.1:9"},
		"managers only": {alone.ManagerAddr(), cfg.Key.Public(), context.DeadlineExceeded, "there is no LoginApp, there is no BaseApp, there is no CellApp, space 1 has no cell"},
		"another key":   {managers, testKey(9).Public(), mercury.ErrKey, "its key is not the one that this end dials it by"},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := cluster.Observe(context.Background(), cluster.ObserverConfig{Manager: x.at, ServerKey: x.key, Access: cfg.Key.ClusterKey().Observer()})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = o.Close() }()
			d := time.Second
			if x.is == mercury.ErrKey {
				d = patience
			}
			ctx, cancel := context.WithTimeout(context.Background(), d)
			defer cancel()
			if login, err := o.Ready(ctx); !errors.Is(err, x.is) || !strings.Contains(err.Error(), x.says) || login != nil {
				t.Errorf("%v, %v", login, err)
			}
		})
	}
}

func observe(t *testing.T, o *cluster.Observer, what string, ok func(*status.World) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		s, err := o.Next(ctx)
		if err != nil {
			t.Fatalf("never %s: %v", what, err)
		}
		if ok(&s) {
			return
		}
	}
}

// A killed CellApp is declared dead, and its players live on elsewhere.
func TestKillCellApp(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a death verdict of three seconds")
	}
	t.Parallel()
	c, err := cluster.Start(context.Background(), world(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Stop() }()
	ready := make(chan struct{}, 10)
	reset := make(chan struct{}, 10)
	s, err := c.Connect("ada", "", client.Events{
		CellPlayer: func(*client.Replica) { ready <- struct{}{} },
		Reset:      func() { reset <- struct{}{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, "in the world", ready)
	st, err := c.Status()
	if err != nil {
		t.Fatal(err)
	}
	// The cells are numbered in the order in which the CellApps joined, not started.
	for i := range c.CellApps() {
		if c.CellAppAddr(i) == appOf(&st) {
			if err := c.KillCellApp(i); err != nil {
				t.Fatal(err)
			}
		}
	}
	wait(t, "reset", reset)
	wait(t, "back in the world", ready)
	if st, err = c.Status(); err != nil || st.Deaths != 1 {
		t.Errorf("%d deaths, %v", st.Deaths, err)
	}
	if err := s.Do(func(c *client.Client) error { return c.SetPosition(property.Vector3{X: 1}, property.Vector3{}) }); err != nil {
		t.Error(err)
	}
	if err := c.KillCellApp(99); err == nil {
		t.Error("a CellApp that does not exist was killed")
	}
}

// appOf is where the CellApp of the first cell listens.
func appOf(s *status.World) netip.AddrPort {
	for i := range s.Apps {
		if a := &s.Apps[i]; a.Role == status.RoleCellApp && a.Number == s.Spaces[0].Cells[0].App {
			return a.AddrPort()
		}
	}
	return netip.AddrPort{}
}

func TestPortInUse(t *testing.T) {
	noLeaks(t)
	c, err := cluster.StartManagers(context.Background(), world(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Stop() }()
	cfg := world(t)
	cfg.ManagerPort = c.ManagerAddr().Port()
	_, err = cluster.Start(context.Background(), cfg)
	if !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), "CellAppMgr") {
		t.Errorf("managers at a taken port: %v", err)
	}
}

func TestNoManagers(t *testing.T) {
	noLeaks(t)
	cfg := world(t)
	cfg.StartTimeout = 200 * time.Millisecond
	_, err := cluster.StartCellApp(context.Background(), cfg, netip.MustParseAddrPort("127.0.0.1:9"))
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:9") || !strings.Contains(err.Error(), "start them first") {
		t.Errorf("a CellApp without managers: %v", err)
	}
}

// A start that is given up leaves nothing running.
func TestStartCancelled(t *testing.T) {
	noLeaks(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := cluster.Start(ctx, world(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("start with an ended context: %v", err)
	}
}

func TestConfigFaultsAtOnce(t *testing.T) {
	cfg := cluster.Config{CellApps: -1, BaseApps: -1, Tick: -1, StartTimeout: -1, Space: space.Config{Border: balance.Border{GhostDistance: 10}}}
	_, err := cluster.Start(context.Background(), cfg)
	for _, want := range []string{"Schema", "CellApps", "BaseApps", "Tick", "StartTimeout", "GhostDistance"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
	for _, addr := range []string{"", "127.0.0.1", ":1", "no such host:1"} {
		if at, err := cluster.ManagerAddr(addr); err == nil {
			t.Errorf("ManagerAddr(%q) = %v", addr, at)
		}
	}
}

// A world in a few lines.
func ExampleStart() {
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":           {Data: []byte(`<root> <Avatar/> </root>`)},
		"entity_defs/Avatar.def": {Data: []byte(`<root/>`)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	world, err := cluster.Start(context.Background(), cluster.Config{CellScripts: space.NewScripts(schema), CellApps: 1, BaseApps: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	status, err := world.Status()
	fmt.Println(len(status.Apps), "processes,", status.Cells, "cell,", err)
	fmt.Println(world.Stop())
	// Output:
	// 5 processes, 1 cell, <nil>
	// <nil>
}
