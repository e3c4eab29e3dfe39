package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"syscall"

	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/space/cluster"
)

// keyVariable hands the world's key on to the server processes: on a command line everyone could
// read it.
const keyVariable = "CROWD_KEY"

// serve runs one server process until it is told to end.
func serve(ctx context.Context, f *flags) error {
	schema, err := loadSchema()
	if err != nil {
		return err
	}
	cfg := f.world(schema)
	if f.seal {
		if cfg.Key, err = secure.ParsePrivateKey(os.Getenv(keyVariable)); err != nil {
			return fmt.Errorf("$%s: %w", keyVariable, err)
		}
	}
	manager, err := cluster.ManagerAddr(f.manager)
	if err != nil {
		return err
	}
	life := context.WithoutCancel(ctx) // a signal ends it in order
	var w *cluster.Cluster
	switch f.role {
	case "managers":
		cfg.Listen, cfg.ManagerPort = manager.Addr().String(), manager.Port()
		w, err = cluster.StartManagers(life, cfg)
	case "login":
		w, err = cluster.StartLogin(life, cfg, manager)
	case "baseapp":
		w, err = cluster.StartBaseApp(life, cfg, manager)
	case "cellapp":
		w, err = cluster.StartCellApp(life, cfg, manager)
	default:
		return fmt.Errorf("-role %q: it is for the processes that this program starts", f.role)
	}
	if err != nil {
		return err
	}
	if f.profile != "" {
		go profile(f)
	}
	ended := make(chan error, 1)
	go func() { ended <- w.Wait() }()
	select {
	case <-ctx.Done():
		return w.Stop()
	case err := <-ended:
		return err
	}
}

// profile writes a profile of the time between two SIGUSR1.
func profile(f *flags) {
	turn := make(chan os.Signal, 1)
	signal.Notify(turn, syscall.SIGUSR1)
	<-turn
	end, err := startProfile(f.profile, f.role)
	if err != nil {
		fmt.Fprintln(os.Stderr, "crowd: no profile:", err)
		return
	}
	<-turn
	if err := end(); err != nil {
		fmt.Fprintln(os.Stderr, "crowd: the profile:", err)
	}
}

// startProfile begins a profile of this process's processor time in a folder; end writes it, and one
// of the memory beside it.
func startProfile(folder, role string) (end func() error, err error) {
	name := filepath.Join(folder, fmt.Sprintf("%s-%d", role, os.Getpid()))
	file, err := os.Create(name + ".pprof")
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		heap, err := os.Create(name + ".heap.pprof")
		if err != nil {
			return errors.Join(err, file.Close())
		}
		return errors.Join(pprof.WriteHeapProfile(heap), heap.Close(), file.Close())
	}, nil
}
