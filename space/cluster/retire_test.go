package cluster_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/space/cluster/status"
)

// A CellApp without cells retires at once, and is no member any more. One with the only cell of the
// world stays as long as nobody can take that over.
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
		if a.Role == status.RoleCellApp {
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

// What has left in order is no trouble: a health check that asks for Trouble would never be content
// again, and nobody is to look for a death in the log.
func TestRetiredIsNoTrouble(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	cfg := world(t)
	cfg.CellApps, cfg.BaseApps, cfg.BackupPeriod = 2, 2, time.Second
	cfg.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	c := started(t, cfg)
	st, err := c.Status()
	if err != nil {
		t.Fatal(err)
	}
	spare := 0
	if c.CellAppAddr(0) == appOf(&st) {
		spare = 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := errors.Join(c.RetireCellApp(ctx, spare, "a test"), c.RetireBaseApp(ctx, 0, "a test")); err != nil {
		t.Fatal(err)
	}
	if err := c.Trouble(); err != nil {
		t.Errorf("trouble after two have left in order: %v", err)
	}
	log.mu.Lock()
	warnings := log.buf.String()
	log.mu.Unlock()
	for _, bad := range []string{"declared dead", "CellAppMgr lost", "lost the", "BaseApp gone", "a BaseApp is gone"} {
		if strings.Contains(warnings, bad) {
			t.Errorf("the log warns of %q:\n%s", bad, warnings)
		}
	}
	if err := c.KillCellApp(1 - spare); err != nil {
		t.Fatal(err)
	}
	if err := c.Trouble(); err == nil || !strings.Contains(err.Error(), "CellApp") {
		t.Errorf("trouble after a kill: %v", err)
	}
}

// What cells and the policy both go by is said once, and is refused once.
func TestBorderIsSaidOnce(t *testing.T) {
	cfg := world(t)
	cfg.Space.Border.Band = 300
	err := cfg.Validate()
	if err == nil || strings.Count(err.Error(), "Band is 300") != 1 {
		t.Errorf("want one fault of a band that cells cannot have: %v", err)
	}
	cfg.Space.Border.Band, cfg.Space.AoIRadius = 7.2, 900
	if err := cfg.Validate(); err != nil {
		t.Errorf("ghosts do not reach as far as players see: %v", err)
	}
}
