package cluster_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/space/cluster"
)

// A CellApp without cells retires at once, and is no member any more. One with the only
// cell of the world stays as long as nobody can take that over.
func TestRetireCellApp(t *testing.T) {
	t.Parallel()
	cfg := world(t)
	cfg.CellApps = 2
	c := started(t, cfg)
	st, err := c.Status()
	if err != nil {
		t.Fatal(err)
	}
	spare, busy := 0, 1
	if c.CellAppAddr(0) == appOf(&st) {
		spare, busy = 1, 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.RetireCellApp(ctx, spare, "a test"); err != nil {
		t.Fatal(err)
	}
	if st, err = c.Status(); err != nil || st.Deaths != 0 {
		t.Errorf("%d deaths, %v", st.Deaths, err)
	}
	cellApps := 0
	for _, a := range st.Apps {
		if a.Role == cluster.RoleCellApp {
			cellApps++
		}
	}
	if cellApps != 1 {
		t.Errorf("%d CellApps are members", cellApps)
	}
	short, stop := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer stop()
	if err := c.RetireCellApp(short, busy, "a test"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the last CellApp: %v", err)
	}
	if err := c.RetireCellApp(ctx, 99, ""); err == nil {
		t.Error("a CellApp that does not exist has retired")
	}
}

// What cells and the balance both go by is said once, or twice alike.
func TestSharedFigures(t *testing.T) {
	cfg := world(t)
	cfg.Space.GhostDistance, cfg.Balance.GhostDistance = 700, 800
	cfg.Space.OffloadLevel, cfg.Balance.MaxCPUOffload = 0.02, 0.01
	cfg.Space.BorderBand, cfg.Balance.BorderBand = 20, 7.2
	err := cfg.Validate()
	for _, want := range []string{"Balance.GhostDistance is 800", "Balance.MaxCPUOffload is 0.01", "Balance.BorderBand is 7.2"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
	cfg.Space.GhostDistance, cfg.Balance.MaxCPUOffload, cfg.Space.BorderBand = 0, 0, 0
	if err := cfg.Validate(); err != nil {
		t.Errorf("each said once: %v", err)
	}
	cfg.Balance.BorderBand = 300 // more than ghosts reach
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "GhostDistance 800 m is too short") {
		t.Errorf("a band that cells cannot have: %v", err)
	}
}
