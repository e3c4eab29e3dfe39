package cluster_test

import (
	"context"
	"errors"
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
