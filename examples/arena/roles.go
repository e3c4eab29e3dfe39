package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/cellscape/cellscape/examples/arena/defs"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster"
)

// run runs the role that was asked for.
func run(ctx context.Context, f *flags, log *slog.Logger) error {
	schema, err := defs.Load()
	if err != nil {
		return err
	}
	cfg := world(schema, f, log)
	if cfg.Key, err = sealKey(f); err != nil {
		return err
	}
	if cfg.Key.IsZero() {
		f.seal = false // for want of a key
	}
	if err := openDoors(&cfg, f); err != nil {
		return err
	}
	manager, err := cluster.ManagerAddr(f.manager)
	if err != nil {
		return err
	}
	release, err := keep(&cfg, f)
	if err != nil {
		return err
	}
	defer func() {
		if err := release(); err != nil {
			log.Error("the store was not closed well", "error", err)
		}
	}()
	switch f.role {
	case "stop":
		return runStop(ctx, manager, cfg.Key)
	case "key":
		return printKey(os.Stdout, cfg.Key)
	case "":
		return runAll(ctx, cfg, f, log)
	case "managers":
		return runManagers(ctx, cfg, manager, f, log)
	case "login":
		return runRole(ctx, f, cfg.Key, func() (*cluster.Cluster, error) { return cluster.StartLogin(ctx, cfg, manager) })
	case "baseapp":
		return runRole(ctx, f, cfg.Key, func() (*cluster.Cluster, error) { return cluster.StartBaseApp(ctx, cfg, manager) })
	case "cellapp":
		return runRole(ctx, f, cfg.Key, func() (*cluster.Cluster, error) { return cluster.StartCellApp(ctx, cfg, manager) })
	case "bots":
		return runBots(ctx, schema, manager, cfg.Key, f, log)
	}
	return fmt.Errorf("-role %q: take managers, login, baseapp, cellapp, bots, stop or key, or leave it out to run all in one process", f.role)
}

// runAll runs the whole world with its bots in this OS process.
func runAll(ctx context.Context, cfg cluster.Config, f *flags, log *slog.Logger) error {
	// The world outlives Ctrl-C: first it is frozen and compared.
	w, err := cluster.Start(context.WithoutCancel(ctx), cfg)
	if err != nil {
		return err
	}
	var far *distance
	if f.rtt > 0 {
		if far, err = startDistance(f.rtt, w.LoginAddr(), cfg.Doors[0].Ports, log); err != nil {
			return errors.Join(err, w.Stop())
		}
	}
	s := newShow(f, log, cfg.Key)
	s.world = w
	invite(os.Stderr, f, w.LoginURLs(), cfg.Key)
	if err = s.open(w.ManagerAddr()); err == nil {
		go strike(ctx, &f.kill, w, log)
		err = s.dance(ctx, cfg.CellScripts.Schema(), w.LoginAddr())
	}
	return errors.Join(err, s.close(), far.close(), endWorld(ctx, w))
}

// runManagers runs the managers until Ctrl-C or the end of the world, and shows what they know.
func runManagers(ctx context.Context, cfg cluster.Config, at netip.AddrPort, f *flags, log *slog.Logger) error {
	cfg.Listen, cfg.ManagerPort = at.Addr().String(), at.Port()
	w, err := cluster.StartManagers(context.WithoutCancel(ctx), cfg)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "managers at %v\n", w.ManagerAddr())
	limit, cancel := context.WithCancel(ctx)
	go func() {
		_ = w.Wait() // Stop returns the error
		cancel()
	}()
	s := newShow(f, log, cfg.Key)
	if err = s.open(w.ManagerAddr()); err == nil {
		err = s.watch(limit, f.duration)
	}
	return errors.Join(err, s.close(), w.Stop())
}

// runRole runs one server process until Ctrl-C.
func runRole(ctx context.Context, f *flags, key secure.PrivateKey, start func() (*cluster.Cluster, error)) error {
	w, err := start()
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s has joined the managers at %v\n", f.role, w.ManagerAddr())
	invite(os.Stderr, f, w.LoginURLs(), key) // there are none but at the LoginApp
	ended := make(chan error, 1)
	go func() { ended <- w.Wait() }()
	var over <-chan time.Time
	if f.duration > 0 {
		over = time.After(f.duration)
	}
	select {
	case <-ctx.Done():
	case <-over:
	case err := <-ended:
		return err
	}
	return w.Stop()
}

// runBots runs the bots of a world whose processes run elsewhere.
func runBots(ctx context.Context, schema *property.Schema, manager netip.AddrPort, key secure.PrivateKey, f *flags, log *slog.Logger) error {
	if !f.httpSet {
		f.http = "" // the managers serve the page
	}
	s := newShow(f, log, key)
	err := s.open(manager)
	if err == nil {
		var login netip.AddrPort
		if login, err = s.findLogin(ctx); err == nil {
			err = s.dance(ctx, schema, login)
		}
	}
	return errors.Join(err, s.close())
}

// listenHTTP listens for the page. If the usual port is taken, another one will do.
func listenHTTP(f *flags) (net.Listener, error) {
	l, err := net.Listen("tcp", f.http)
	if err == nil || f.httpSet {
		return l, err
	}
	fmt.Fprintf(os.Stderr, "%v: taking another port for the page\n", err)
	return net.Listen("tcp", "127.0.0.1:0")
}
