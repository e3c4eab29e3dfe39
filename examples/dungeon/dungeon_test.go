package main

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellscape/cellscape/examples/internal/options"
)

// The whole game, with a process that is killed while heroes trade, until it is interrupted, as by
// Ctrl-C: nothing is made or lost. (The interrupt once ended the world before it was counted.)
func TestNothingIsMadeOrLost(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole run")
	}
	for _, role := range []string{"cellapp", "baseapp"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			ctx, interrupt := context.WithTimeout(t.Context(), 10*time.Second)
			defer interrupt()
			dir := t.TempDir()
			if err := run(ctx, flags{bots: 24, cellApps: 3, baseApps: 2, record: dir, kill: options.Death{Role: role, After: 4 * time.Second}}); err != nil {
				t.Error(err)
			}
			if err := run(ctx, flags{show: dir}); err != nil {
				t.Error(err)
			}
		})
	}
}

// The verdict needs several censuses that come out right, one after the other.
func TestVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		have []sum
		says string // the verdict; "" if all is right
	}{
		"right":            {[]sum{{9, 3}, {9, 3}, {9, 3}}, ""},
		"right in the end": {[]sum{{9, 3}, {14, 3}, {9, 3}, {9, 3}, {9, 3}}, ""},
		"an item too many": {[]sum{{9, 4}, {9, 4}, {9, 4}, {9, 4}}, "the sums differ"},
		"right by chance":  {[]sum{{9, 3}, {8, 3}, {9, 3}, {8, 3}, {9, 3}, {8, 3}}, "the sums differ"},
		"nobody counts":    {nil, "undecided"},
		"too few count":    {[]sum{{9, 3}, {9, 4}}, "undecided"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &game{}
				var counting sync.WaitGroup
				counting.Go(func() {
					for _, s := range c.have {
						g.census.Store(&census{heroes: 1, have: s, handedOut: sum{9, 3}})
						time.Sleep(time.Second)
					}
				})
				defer counting.Wait()
				if err := g.close(); (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
					t.Errorf("verdict: %v", err)
				}
			})
		})
	}
}
