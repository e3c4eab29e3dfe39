package cluster_test

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// What a newcomer gets wrong is told by Start, with what to do.

type hastyCell struct{ *space.Real }

func (*hastyCell) OnCreate() {}

type hastyBase struct{ *entity.Base }

func (*hastyBase) OnCreate() {}

func TestStartRefusesMisspeltCallbacks(t *testing.T) {
	cfg := world(t)
	schema := cfg.CellScripts.Schema()
	cfg.CellScripts = space.NewScripts(schema)
	cfg.BaseScripts = baseapp.NewScripts(schema)
	space.Register[hastyCell](cfg.CellScripts, "Avatar")
	baseapp.Register[hastyBase](cfg.BaseScripts, "Avatar")
	c, err := cluster.Start(context.Background(), cfg)
	if err == nil {
		_ = c.Stop()
		t.Fatal("a world with a misspelt callback has started")
	}
	for _, want := range []string{
		"did you mean func (*cluster_test.hastyCell) OnCreated()?",
		"did you mean func (*cluster_test.hastyBase) OnCreated()?",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in\n%v", want, err)
		}
	}
}

// A process of other definitions is told why it may not join, at once and without a log.
func TestStartSaysWhyItWasRefused(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	cfg := world(t)
	managers, err := cluster.StartManagers(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = managers.Stop() }()
	other, err := property.NewSchema(&property.Definition{Name: "Avatar", HasCell: true, HasBase: true, HasClient: true})
	if err != nil {
		t.Fatal(err)
	}
	wrong := cfg
	wrong.CellScripts, wrong.BaseScripts, wrong.PlayerType = space.NewScripts(other), nil, ""
	for name, start := range map[string]func(context.Context, cluster.Config, netip.AddrPort) (*cluster.Cluster, error){
		"CellApp": cluster.StartCellApp, "BaseApp": cluster.StartBaseApp, "LoginApp": cluster.StartLogin,
	} {
		began := time.Now()
		c, err := start(ctx, wrong, managers.ManagerAddr())
		if err == nil {
			_ = c.Stop()
			t.Errorf("%s: it was let in", name)
			continue
		}
		if !errors.Is(err, cluster.ErrRefused) || !strings.Contains(err.Error(), "other entity definitions: digest") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(began); took > cluster.DefaultStartTimeout/2 {
			t.Errorf("%s: it waited %v", name, took)
		}
	}
}

// An observer that is refused gets an error, and does not wait for what never comes.
func TestRefusedObserver(t *testing.T) {
	t.Parallel()
	managers, err := cluster.StartManagers(context.Background(), world(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = managers.Stop() }()
	w, err := managers.Status()
	if err != nil {
		t.Fatal(err)
	}
	at, _ := w.App(status.RoleBaseAppMgr) // which no observer joins
	o, err := cluster.Observe(context.Background(), cluster.ObserverConfig{Manager: at.AddrPort()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := o.Next(ctx); !errors.Is(err, cluster.ErrRefused) {
		t.Errorf("it waits for a status: %v", err)
	}
	if _, err := o.Shutdown(ctx, "an update"); !errors.Is(err, cluster.ErrRefused) {
		t.Errorf("it orders a stop: %v", err)
	}
	if _, err := o.Ready(ctx); !errors.Is(err, cluster.ErrRefused) {
		t.Errorf("it waits for the world: %v", err)
	}
}

// A process with another key than the managers, or with none, is told so at once.
func TestStartSaysThatTheKeyIsWrong(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	cfg := world(t)
	cfg.Key = testKey(1)
	managers, err := cluster.StartManagers(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = managers.Stop() }()
	for want, key := range map[string]secure.PrivateKey{
		"it is sealed and this end is not": {}, "its key is not the one that this end dials it by, or": testKey(9),
	} {
		wrong := world(t)
		wrong.Key = key
		began := time.Now()
		c, err := cluster.StartCellApp(ctx, wrong, managers.ManagerAddr())
		if err == nil {
			_ = c.Stop()
			t.Fatal("it was let in")
		}
		if !errors.Is(err, mercury.ErrKey) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if took := time.Since(began); took > cluster.DefaultStartTimeout/2 {
			t.Errorf("it waited %v", took)
		}
	}
}

// A process that talks to others over another network than the managers is told so at once, and is no member
// meanwhile: whoever does not dial over that network would never reach it.
func TestStartSaysThatTheInnerNetworkIsAnother(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, x := range []struct{ managers, other string }{{cluster.UDP, cluster.TCP}, {cluster.TCP, cluster.UDP}} {
		cfg := world(t)
		cfg.Key, cfg.Inner = testKey(1), x.managers
		managers, err := cluster.StartManagers(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = managers.Stop() }()
		began := time.Now()
		cfg.Inner = x.other
		c, err := cluster.StartCellApp(ctx, cfg, managers.ManagerAddr())
		if err == nil {
			_ = c.Stop()
			t.Fatalf("%+v: it was let in", x)
		}
		if !errors.Is(err, cluster.ErrRefused) || !strings.Contains(err.Error(), "the same Config.Inner") {
			t.Errorf("%+v: %v", x, err)
		}
		if took := time.Since(began); took > cluster.DefaultStartTimeout/2 {
			t.Errorf("%+v: it waited %v", x, took)
		}
		if w, err := managers.Status(); err != nil || w.AppCount(status.RoleCellApp)+w.Deaths > 0 {
			t.Errorf("%+v: it was a member: %d, %d deaths, %v", x, w.AppCount(status.RoleCellApp), w.Deaths, err)
		}
	}
}

// What a start lacks is in its error, with what its processes know of it.
func TestStartSaysWhyItIsSlow(t *testing.T) {
	t.Parallel()
	cfg := world(t)
	cfg.StartTimeout = 300 * time.Millisecond
	_, err := cluster.StartCellApp(context.Background(), cfg, netip.MustParseAddrPort("127.0.0.1:9"))
	if err == nil || !strings.Contains(err.Error(), "no managers answer at 127.0.0.1:9") || strings.Contains(err.Error(), "log") {
		t.Error(err)
	}
	cfg.Managers = []string{"127.0.0.1:7", "127.0.0.1:9", "127.0.0.1:11"}
	_, err = cluster.StartCellApp(context.Background(), cfg, netip.AddrPort{})
	if err == nil || !strings.Contains(err.Error(), "no managers answer at 127.0.0.1:7, 127.0.0.1:9, 127.0.0.1:11: ") {
		t.Error(err)
	}
}

// One of three managers does not lead. Whoever wants to join learns that from it, and what to do.
func TestStartSaysThatNobodyLeads(t *testing.T) {
	t.Parallel()
	cfg := world(t)
	cfg.Managers = freePlaces(t, 3)
	own, err := cluster.ManagerAddr(cfg.Managers[1])
	if err != nil {
		t.Fatal(err)
	}
	cfg.ManagerPort = own.Port()
	alone, err := cluster.StartManagers(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = alone.Stop() }()
	cfg.StartTimeout = 5 * time.Second
	_, err = cluster.StartCellApp(context.Background(), cfg, netip.AddrPort{})
	if err == nil || !strings.Contains(err.Error(), "no manager that leads answers at "+cfg.Managers[0]) {
		t.Error(err)
	}
}

// full is a store whose disk is full.
type full struct{ store.Store }

func (full) Reserve(context.Context, store.Counter, uint64) (uint64, error) { return 0, store.ErrFull }

// A BaseApp that waits since the store gives the managers no numbers says so.
func TestStartSaysThatTheStoreFails(t *testing.T) {
	t.Parallel()
	cfg := world(t)
	cfg.Store = full{memory.New()}
	managers, err := cluster.StartManagers(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = managers.Stop() }()
	cfg.StartTimeout = 5 * time.Second
	_, err = cluster.StartBaseApp(context.Background(), cfg, managers.ManagerAddr())
	if err == nil || !strings.Contains(err.Error(), "no numbers for new apps or spaces: "+store.ErrFull.Error()) {
		t.Error(err)
	}
}

// Port 0 takes a free port, and the others join the one that was taken.
func TestManagerAddrOfPortZero(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	at, err := cluster.ManagerAddr("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := world(t)
	cfg.Listen, cfg.ManagerPort = at.Addr().String(), at.Port()
	managers, err := cluster.StartManagers(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = managers.Stop() }()
	if managers.ManagerAddr().Port() == 0 {
		t.Fatalf("the managers say that they are at %v", managers.ManagerAddr())
	}
	app, err := cluster.StartCellApp(ctx, cfg, managers.ManagerAddr())
	if err != nil {
		t.Fatal(err)
	}
	if err := app.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := cluster.StartCellApp(ctx, cfg, at); err == nil || !strings.Contains(err.Error(), "cannot be joined at 127.0.0.1:0") {
		t.Errorf("joining at port 0: %v", err)
	}
}

// What the definitions ask for and does not happen is told when a world starts.
func TestStartTellsNotices(t *testing.T) {
	t.Parallel()
	cfg := world(t)
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":           {Data: []byte(`<root> <Avatar/> </root>`)},
		"entity_defs/Avatar.def": {Data: []byte("<root>\n<ExplicitDatabaseID> true </ExplicitDatabaseID> </root>")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var log lockedBuffer
	cfg.CellScripts, cfg.BaseScripts, cfg.PlayerType = space.NewScripts(schema), nil, ""
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	c, err := cluster.Start(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	for _, want := range []string{
		"entity_defs/Avatar.def:1: ExplicitDatabaseID: it is read and not acted by yet: the store gives every entity its database id",
	} {
		if text := log.buf.String(); !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}
