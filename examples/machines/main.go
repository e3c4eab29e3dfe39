// Machines is a server for a world over many machines: each runs processes of it, one role each.
//
//	machines -role managers -managers m0:7000,m1:7000,m2:7000 -listen m0    and likewise on m1 and m2
//	machines -role login    -managers m0:7000,m1:7000,m2:7000 -listen eth0 -public eth1 -ports 20013-20013
//	machines -role baseapp  -managers ... -listen eth0 -public eth1 -ports 20100-20199
//	machines -role cellapp  -managers ... -listen eth0
//	machines -role visitor  -url udp://203.0.113.7:20013 -trust (public key)    a player, from anywhere
//	machines -role stop     -managers ... -listen eth0                          stops the world in order
//	machines -role key                                                          prints a key, and its public half
//
// All of them but visitors have the world's key in $MACHINES_KEY. SIGTERM has a CellApp or BaseApp leave
// without loss, its players play on, and then end. With -http a process answers /ready, and managers
// /metrics for Prometheus, too.
//
// Folder deploy has units for systemd and manifests for Kubernetes that run it.
package main

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/examples/internal/options"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
)

//go:embed defs
var files embed.FS

// build names this build of the game: go build -ldflags "-X main.build=1.4". Two builds with the same
// definitions share a world, so that one takes the place of the other process by process, while
// players play.
var build = "unnamed"

// Player is the base part of a Walker.
type Player struct{ *entity.Base }

// OnCreated puts the player into the world.
func (p *Player) OnCreated() {
	_ = p.CreateCell(1, property.Vector3{}, property.Vector3{}, nil)
	_ = p.Cell().Call("rename", p.Account())
}

// Wave is for the player's client to call: everyone near by sees it, and which builds made it.
func (p *Player) Wave() { _ = p.Cell().Call("wave", build) }

// Walker is its cell part.
type Walker struct {
	*space.Real
	Name property.String
}

// Rename is for the base part to call.
func (w *Walker) Rename(name string) { w.Name.Set(name) }

// Wave is, too.
func (w *Walker) Wave(base string) { _ = w.AllClients().Call("waved", w.Name.Get(), base, build) }

// game is the world, the same for all roles. What differs comes from the flags.
func game() (cluster.Config, error) {
	schema, err := property.LoadDir(files, "defs")
	if err != nil {
		return cluster.Config{}, err
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register[Walker](cells, "Walker")
	baseapp.Register[Player](bases, "Walker")
	field := bsp.Rect{MinX: -500, MinZ: -500, MaxX: 500, MaxZ: 500}
	return cluster.Config{
		CellScripts: cells, BaseScripts: bases, PlayerType: "Walker",
		Spaces: []cellappmgr.SpaceConfig{{ID: 1, Bounds: field, MinCells: 2}}, // visitors cross from one to the other
	}, nil
}

func main() {
	f := options.Parse("machines", parseFlags)
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends at once
	if err := run(ctx, f, log); err != nil {
		fmt.Fprintln(os.Stderr, "machines:", err)
		os.Exit(1)
	}
}

// run runs the role that was asked for.
func run(ctx context.Context, f *flags, log *slog.Logger) error {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	cfg.Log = log
	var start func(context.Context, cluster.Config, netip.AddrPort) (*cluster.Cluster, error)
	leave := func(context.Context, *cluster.Cluster) error { return nil }
	switch f.role {
	case "key":
		return printKey()
	case "visitor":
		return visit(ctx, f, cfg)
	case "stop":
		return stopWorld(ctx, f, cfg)
	case "managers":
		start = func(ctx context.Context, cfg cluster.Config, _ netip.AddrPort) (*cluster.Cluster, error) {
			return cluster.StartManagers(ctx, cfg)
		}
	case "login":
		start = cluster.StartLogin
	case "baseapp":
		start = cluster.StartBaseApp
		leave = func(ctx context.Context, c *cluster.Cluster) error {
			return c.RetireBaseApp(ctx, 0, "its process was told to end")
		}
	case "cellapp":
		start = cluster.StartCellApp
		leave = func(ctx context.Context, c *cluster.Cluster) error {
			return c.RetireCellApp(ctx, 0, "its process was told to end")
		}
	}
	c, err := start(context.WithoutCancel(ctx), cfg, netip.AddrPort{})
	if err != nil {
		return err
	}
	log.Info("joined", "role", f.role, "build", build, "logins", c.LoginURLs())
	shut, err := serve(ctx, f, cfg, c)
	if err != nil {
		return errors.Join(err, c.Stop())
	}
	defer shut()
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended: // as when the world was stopped
		return err
	case <-ctx.Done():
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.leave)
	defer cancel()
	if err := leave(limit, c); err != nil {
		log.Warn("not everything went elsewhere in time; what has copies goes on from those", "error", err)
	}
	return c.Stop()
}

// stopWorld stops all processes of the world in order.
func stopWorld(ctx context.Context, f *flags, cfg cluster.Config) error {
	o, err := cluster.Observe(ctx, observer(cfg))
	if err != nil {
		return err
	}
	limit, cancel := context.WithTimeout(ctx, f.leave)
	defer cancel()
	_, err = o.Shutdown(limit, "an operator stops the world")
	return errors.Join(err, o.Close())
}

// observer observes the world of cfg.
func observer(cfg cluster.Config) cluster.ObserverConfig {
	o := cluster.ObserverConfig{Places: cfg.Managers, Listen: cfg.Listen, Log: cfg.Log}
	if !cfg.Key.IsZero() {
		o.ServerKey, o.Access = cfg.Key.Public(), cfg.Key.ClusterKey().Operator()
	}
	return o
}

func printKey() error {
	key, err := secure.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	fmt.Printf("%s=%s\n# players: -trust %v\n", keyVariable, key.Hex(), key.Public())
	return nil
}

// leaveLimit is the default of -leave: half a minute for who asks after entities that have left, and
// a minute and a half for many of them to go.
const leaveLimit = 2 * time.Minute
