package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/cellscape/cellscape/entity/store/sqlite"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// stopLimit is how long a world may take to stop.
const stopLimit = time.Minute

// keep opens the store of -store, for roles that have it. Those that it keeps come back, the guards and the
// garrison that has posted them.
func keep(cfg *cluster.Config, f *flags) (close func() error, err error) {
	if f.store == "" {
		return func() error { return nil }, nil
	}
	cfg.BringBack = []string{"Guard"}
	if f.role != "" && f.role != "managers" {
		return func() error { return nil }, nil
	}
	kept, err := sqlite.Open(context.Background(), f.store, sqlite.Config{})
	if err != nil {
		return nil, err
	}
	cfg.Store = kept
	return kept.Close, nil
}

// endWorld stops a world in this process: in order after SIGTERM, and without a report after Ctrl-C, when the
// bots have left already.
func endWorld(ctx context.Context, w *cluster.Cluster) error {
	if !errors.Is(context.Cause(ctx), errTerminated) {
		return w.Stop()
	}
	limit, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	r, err := w.Shutdown(limit, "the arena closes")
	printStop(&r)
	return errors.Join(err, w.Stop())
}

// runStop stops a world whose processes run elsewhere.
func runStop(ctx context.Context, manager netip.AddrPort, key secure.PrivateKey) error {
	cfg := cluster.ObserverConfig{Manager: manager}
	if !key.IsZero() {
		cfg.ServerKey, cfg.Access = key.Public(), key.ClusterKey().Operator()
	}
	o, err := cluster.Observe(ctx, cfg)
	if err != nil {
		return err
	}
	limit, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	r, err := o.Shutdown(limit, "the arena closes")
	printStop(&r)
	return errors.Join(err, o.Close())
}

func printStop(r *status.Stop) {
	sum := r.Sum()
	fmt.Fprintf(os.Stderr, "stopped in %v, %v of it for calls under way: %d entities written, %d without their last place, %d not, %d never kept; %d spaces kept\n",
		r.Took.Round(time.Millisecond), r.Settling.Round(time.Millisecond), sum.Written, sum.Stale, sum.Failed, sum.Unkept, r.Spaces)
}
