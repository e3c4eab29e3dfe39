package cluster_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// registry says where names are, as a service registry does.
type registry struct {
	mu sync.Mutex
	at map[string][]netip.AddrPort
}

var errNoSuchName = errors.New("no such name")

func (r *registry) resolve(_ context.Context, name string) ([]netip.AddrPort, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.at[name]; len(at) > 0 {
		return at, nil
	}
	return nil, errNoSuchName
}

func (r *registry) set(name, at string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if delete(r.at, name); at != "" {
		r.at[name] = []netip.AddrPort{netip.MustParseAddrPort(at)}
	}
}

// moving is a world whose managers have names.
type moving struct {
	t        *testing.T
	cfg      cluster.Config
	names    registry
	managers map[string]*cluster.Cluster
	login    *cluster.Cluster
	watch    *cluster.Observer
	playing  []*session.Session
}

func newMoving(t *testing.T, names ...string) *moving {
	w := &moving{t: t, cfg: world(t), names: registry{at: map[string][]netip.AddrPort{}}, managers: map[string]*cluster.Cluster{}}
	w.cfg.Managers, w.cfg.Resolve = names, w.names.resolve
	return w
}

// start starts the managers of a name at an address that it has from then on.
func (w *moving) start(name string) {
	w.t.Helper()
	at := freePlaces(w.t, 1)[0]
	w.names.set(name, at)
	cfg := w.cfg
	cfg.ManagerPort = netip.MustParseAddrPort(at).Port()
	c, err := cluster.StartManagers(context.Background(), cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Stop() })
	w.managers[name] = c
}

// move ends the managers of a name. For a while nobody knows the name; then they are elsewhere.
func (w *moving) move(name string) {
	w.t.Helper()
	w.names.set(name, "")
	if err := w.managers[name].Stop(); err != nil {
		w.t.Fatal(err)
	}
	w.start(name)
}

// others starts all other processes.
func (w *moving) others() {
	w.t.Helper()
	ctx, keep := context.Background(), kept(w.t)
	for range 2 {
		keep(cluster.StartCellApp(ctx, w.cfg, netip.AddrPort{}))
	}
	keep(cluster.StartBaseApp(ctx, w.cfg, netip.AddrPort{}))
	w.login = keep(cluster.StartLogin(ctx, w.cfg, netip.AddrPort{}))
	o, err := cluster.Observe(ctx, cluster.ObserverConfig{Places: w.cfg.Managers, Resolve: w.cfg.Resolve})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = o.Close() })
	w.watch = o
}

// whole waits until managers that are not where others were know all processes, and somebody can log in.
func (w *moving) whole(user string, were netip.AddrPort) (are netip.AddrPort) {
	w.t.Helper()
	eventually(w.t, user+": all have joined", func() bool {
		s, _ := w.watch.Status()
		leader, ok := s.App(status.RoleCellAppMgr)
		are = leader.AddrPort()
		return ok && are != were && s.AppCount(status.RoleCellApp) == 2 && s.AppCount(status.RoleBaseApp) == 1 && s.AppCount(status.RoleLoginApp) == 1
	})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := session.Dial(ctx, session.Config{LoginApp: w.login.LoginURLs()[0], Schema: w.cfg.CellScripts.Schema(), User: user, Retry: true})
	if err != nil {
		w.t.Fatal(user, err)
	}
	w.t.Cleanup(func() { _ = s.Close() })
	w.playing = append(w.playing, s)
	return are
}

// stay checks that who has come in still plays.
func (w *moving) stay() {
	w.t.Helper()
	for i, s := range w.playing {
		select {
		case <-s.Done():
			w.t.Errorf("session %d has ended: %v", i, s.Err())
		default:
		}
	}
}

// TestManagersThatMove: managers of three places come back one after the other, each at another address. The
// world knows all of them by their names, and never ends.
func TestManagersThatMove(t *testing.T) {
	if testing.Short() {
		t.Skip("managers are elected, and names looked up, in seconds")
	}
	t.Parallel()
	w := newMoving(t, "one", "two", "three")
	w.start("one")
	w.start("two") // and nobody knows three yet
	w.others()
	w.whole("ann", netip.AddrPort{})
	w.start("three")
	for _, name := range w.cfg.Managers {
		w.move(name)
		w.whole(name, netip.AddrPort{})
	}
	w.stay()
	for name, c := range w.managers {
		if err := c.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLoneManagersThatMove: those of one place, with a name.
func TestLoneManagersThatMove(t *testing.T) {
	if testing.Short() {
		t.Skip("a channel that leads nowhere is found out in seconds")
	}
	t.Parallel()
	w := newMoving(t, "managers")
	w.start("managers")
	w.others()
	were := w.whole("ann", netip.AddrPort{})
	w.move("managers")
	w.whole("bob", were)
	w.stay()
}

// A start waits until a place is known, and its error says what it knows of each.
func TestStartWithoutAnyPlace(t *testing.T) {
	t.Parallel()
	cfg := world(t)
	cfg.StartTimeout = 300 * time.Millisecond
	names := registry{at: map[string][]netip.AddrPort{}}
	cfg.Managers, cfg.Resolve = []string{"one", "two", "three"}, names.resolve
	start := func() error {
		_, err := cluster.StartCellApp(context.Background(), cfg, netip.AddrPort{})
		return err
	}
	if err := start(); !errors.Is(err, errNoSuchName) || !strings.Contains(err.Error(), `"three"`) {
		t.Error(err)
	}
	names.set("one", "0.0.0.0:1")
	if err := start(); err == nil || !strings.Contains(err.Error(), "no address to dial") {
		t.Error(err)
	}
	names.set("one", "127.0.0.1:1")
	names.set("two", "127.0.0.1:1")
	if err := start(); err == nil || !strings.Contains(err.Error(), "another place has this address") {
		t.Error(err)
	}
	cfg.Resolve = nil
	for _, c := range []struct{ place, want string }{{"host", "host:port"}, {":7", "host:port"}, {"host:0", "its port"}, {"two:2", "again"}} {
		cfg.Managers = []string{c.place, "two:2", "three:3"}
		if c.place == "two:2" {
			cfg.Managers[1] = c.place
		}
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.place, err)
		}
	}
}
