package spacetest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/cellscape/cellscape/entity/baseappmgr"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
)

const (
	// DefaultLoad is the work of an entity in nanoseconds per second, where Config.World has no
	// Space.ArtificialLoad: 500 fill a CellApp.
	DefaultLoad = 2_000_000
	// DefaultPatience is the virtual time that Start, Login and Shutdown may take.
	DefaultPatience = time.Minute
)

// TB is what a world needs of a testing.TB.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Output() io.Writer
}

// Config says which world to run, and how.
type Config struct {
	// World is the game's. CellApps and BaseApps are how many there are at first. Required.
	World cluster.Config
	// Seed decides all chance: that of scripts, of the network, of keys. Default 1.
	Seed uint64
	// Link is how the network is between all. Default: a millisecond each way, and up to half of
	// one more.
	Link mercurytest.Link
	// Patience is the virtual time after which a wait of this package fails the test. Default
	// DefaultPatience.
	Patience time.Duration
}

// World is a world in virtual time. It belongs to one goroutine.
type World struct {
	// Net is the network between all processes and players.
	Net *mercurytest.Network

	t        TB
	cfg      Config
	run      *mercurytest.World
	roles    *cluster.Roles
	log      *slog.Logger
	chance   *rand.Rand
	apps     []*App
	managers []*App // the CellAppMgr first
	baseMgr  *App
	login    *App
	cells    []*App
	bases    []*App
}

// Start runs a world until players can log in. Warnings and errors go to the test's output, unless
// Config.World has a Log.
func Start(t TB, cfg Config) *World {
	t.Helper()
	cfg.Seed = cmp.Or(cfg.Seed, 1)
	cfg.Patience = cmp.Or(cfg.Patience, DefaultPatience)
	if cfg.Link == (mercurytest.Link{}) {
		cfg.Link = mercurytest.Link{Delay: time.Millisecond, Jitter: time.Millisecond / 2}
	}
	run := mercurytest.NewWorld(cfg.Seed)
	run.Net.SetLink(cfg.Link)
	w := &World{Net: run.Net, t: t, cfg: cfg, run: run, chance: rand.New(rand.NewPCG(cfg.Seed, 0x5e7))}
	w.log = w.logger(cfg.World.Log)
	game := inside(cfg.World)
	game.Log = w.log
	roles, err := game.Roles(mercurytest.Place(managerPlace))
	if err != nil {
		t.Fatalf("spacetest: %v", err)
	}
	w.roles = roles
	run.Add(waker{w})
	if err := roles.OpenStore(context.Background()); err != nil {
		t.Fatalf("spacetest: %v", err)
	}
	w.populate(roles.Config())
	if missing := w.wait(w.missing); missing != "" {
		t.Fatalf("spacetest: the world is not ready after %v: %s", cfg.Patience, missing)
	}
	return w
}

// inside is a configuration without what only a real network, clock and machine have.
func inside(c cluster.Config) cluster.Config {
	c.Key, c.ClusterKeys, c.TicketKeys, c.TLS = secure.PrivateKey{}, nil, nil, nil
	c.Listen, c.Inner, c.InnerPorts, c.ManagerPort, c.Managers, c.Doors = "", "", cluster.Ports{}, 0, nil, nil
	c.Workers, c.StartTimeout, c.Seed = 0, 0, 0
	if c.Space.ArtificialLoad == 0 {
		c.Space.ArtificialLoad = DefaultLoad
	}
	return c
}

// populate starts the processes. The managers have the first place, which all others know.
func (w *World) populate(c cluster.Config) {
	mgr := w.add("CellAppMgr", func(a *App) (process, error) { return w.roles.CellAppMgr(a.env(), a.starts == 1) })
	w.baseMgr = w.add("BaseAppMgr", func(a *App) (process, error) { return w.roles.BaseAppMgr(a.env()) })
	w.managers = []*App{mgr, w.baseMgr}
	if c.Store != nil {
		w.managers = append(w.managers, w.add("DBApp", func(a *App) (process, error) { return w.roles.DBApp(a.env(), a.starts == 1) }))
	}
	w.login = w.add("LoginApp", func(a *App) (process, error) { return w.roles.LoginApp(a.env()) })
	for range c.BaseApps {
		w.AddBaseApp()
	}
	for range c.CellApps {
		w.AddCellApp()
	}
}

// AddCellApp starts another CellApp.
func (w *World) AddCellApp() *App {
	a := w.add(fmt.Sprintf("CellApp %d", len(w.cells)+1), func(a *App) (process, error) { return w.roles.CellApp(a.env()) })
	w.cells = append(w.cells, a)
	return a
}

// AddBaseApp starts another BaseApp.
func (w *World) AddBaseApp() *App {
	a := w.add(fmt.Sprintf("BaseApp %d", len(w.bases)+1), func(a *App) (process, error) { return w.roles.BaseApp(a.env()) })
	w.bases = append(w.bases, a)
	return a
}

// CellApps and BaseApps are those processes, the ones that have ended among them, in the order in
// which they were added.
func (w *World) CellApps() []*App { return w.cells }
func (w *World) BaseApps() []*App { return w.bases }

// Managers are the CellAppMgr, the BaseAppMgr and, with a store, the DBApp. Outside one OS process
// has all of them, so kill them together, and restart them in this order.
func (w *World) Managers() []*App { return w.managers }

// LoginApp is where players come in.
func (w *World) LoginApp() *App { return w.login }

// Now is the virtual time since Start began.
func (w *World) Now() time.Duration { return w.run.Now() }

// Run lets time pass.
func (w *World) Run(d time.Duration) { w.run.Run(d) }

// Until lets time pass until done, and fails the test if that is not within d. It asks after each
// event.
func (w *World) Until(d time.Duration, done func() bool) {
	w.t.Helper()
	if !w.run.RunUntil(d, done) {
		w.t.Fatalf("spacetest: at %v, what was waited for has not come within %v", w.Now(), d)
	}
}

// wait lets time pass until nothing is missing any more, or the patience is over.
func (w *World) wait(missing func() string) (still string) {
	w.run.RunUntil(w.cfg.Patience, func() bool {
		still = missing()
		return still == ""
	})
	return still
}

// Status is what the managers tell operators; false while they are not there.
func (w *World) Status() (status.World, bool) {
	if w.managers[0].app == nil {
		return status.World{}, false
	}
	return w.managers[0].app.(*cellappmgr.Seat).Status(), true
}

// missing says what must be there before players can log in.
func (w *World) missing() string {
	s, ok := w.Status()
	if !ok {
		return "the managers"
	}
	var list []string
	counts := w.baseMgr.app.(*baseappmgr.BaseAppMgr).Counts()
	if counts.BaseApps < len(w.bases) || counts.LoginApps == 0 {
		list = append(list, "the BaseAppMgr has yet to hear of all")
	}
	for _, a := range w.apps {
		if a != w.managers[0] && !slices.ContainsFunc(s.Apps, func(x status.App) bool { return x.AddrPort() == a.at }) {
			list = append(list, a.name+" has not joined")
		}
	}
	for i := range s.Spaces {
		if !s.Spaces[i].Ready() {
			list = append(list, fmt.Sprintf("space %d has no cell", s.Spaces[i].ID))
		}
	}
	return strings.Join(list, ", ")
}

// Shutdown ends the world in order, as cluster.Shutdown does, and returns what was saved. Another
// world may be started with the same store afterwards.
func (w *World) Shutdown(reason string) (report status.Stop) {
	w.t.Helper()
	seat, ok := w.managers[0].app.(*cellappmgr.Seat)
	if !ok || !seat.Shutdown(w.Now(), reason) {
		w.t.Fatalf("spacetest: the managers do not lead")
	}
	still := w.wait(func() string {
		if w.managers[0].app != nil {
			report = seat.Stop()
			return cmp.Or(report.Step, "the managers have not begun")
		}
		return ""
	})
	if report = seat.Stop(); still != "" && !report.Done {
		w.t.Fatalf("spacetest: the world has not stopped after %v: %s", w.cfg.Patience, still)
	}
	return report
}
