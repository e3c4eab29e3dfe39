package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/cellscape/cellscape/space/cluster"
)

// death is which process of a world in one OS process is killed, and when; a zero time means none.
type death struct {
	role  string
	after time.Duration
}

// String implements flag.Value.
func (d *death) String() string {
	if d.after == 0 {
		return ""
	}
	return d.role + ":" + d.after.String()
}

// Set implements flag.Value.
func (d *death) Set(s string) (err error) {
	role, after, named := strings.Cut(s, ":")
	if !named {
		role, after = "cellapp", s
	}
	if role != "cellapp" && role != "baseapp" {
		return fmt.Errorf("role %q: take cellapp or baseapp", role)
	}
	d.role = role
	d.after, err = time.ParseDuration(after)
	return err
}

// strike kills the first process of the role in a while, and starts another later, unless ctx has ended.
func (d *death) strike(ctx context.Context, w *cluster.Cluster, log *slog.Logger) {
	if d.after == 0 {
		return
	}
	kill, add := w.KillCellApp, w.AddCellApp
	if d.role == "baseapp" {
		kill, add = w.KillBaseApp, w.AddBaseApp
	}
	for _, x := range []struct {
		after time.Duration
		what  string
		do    func() error
	}{{d.after, "is killed", func() error { return kill(0) }}, {replaceAfter, "takes its place", add}} {
		select {
		case <-ctx.Done():
			return
		case <-time.After(x.after):
		}
		fmt.Fprintf(os.Stderr, "a %s %s\n", d.role, x.what)
		if err := x.do(); err != nil {
			log.Error("no "+d.role+" "+x.what, "error", err)
		}
	}
}
