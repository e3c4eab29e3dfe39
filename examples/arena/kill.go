package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/cellscape/cellscape/examples/internal/options"
	"github.com/cellscape/cellscape/space/cluster"
)

// strike kills the first process of the role in a while, and starts another later, unless ctx has ended.
func strike(ctx context.Context, d *options.Death, w *cluster.Cluster, log *slog.Logger) {
	if d.After == 0 {
		return
	}
	kill, add := d.Of(w)
	for _, x := range []struct {
		after time.Duration
		what  string
		do    func() error
	}{{d.After, "is killed", kill}, {replaceAfter, "takes its place", add}} {
		select {
		case <-ctx.Done():
			return
		case <-time.After(x.after):
		}
		fmt.Fprintf(os.Stderr, "a %s %s\n", d.Role, x.what)
		if err := x.do(); err != nil {
			log.Error("no "+d.Role+" "+x.what, "error", err)
		}
	}
}
