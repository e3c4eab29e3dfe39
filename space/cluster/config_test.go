package cluster

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
)

// The balance goes by what cells do, whichever of the two was told.
func TestWhatTheBalanceTakesFromCells(t *testing.T) {
	period := balance.Config{}.WithDefaults().Period
	perPeriod := int(space.DefaultOffloadBudget * period / space.DefaultCheckPeriod)
	for name, tt := range map[string]struct {
		space     space.Config
		balance   balance.Config
		budget    int
		band      float64 // that of the balance
		spaceBand float32
	}{
		"nothing":           {budget: perPeriod, band: 10, spaceBand: space.DefaultBorderBand},
		"a budget":          {space: space.Config{OffloadBudget: 20, CheckPeriod: 100 * time.Millisecond}, balance: balance.Config{Period: 2 * time.Second}, budget: 400, band: 10, spaceBand: 10},
		"a slow check":      {space: space.Config{OffloadBudget: 3, CheckPeriod: time.Minute}, budget: 1, band: 10, spaceBand: 10},
		"no limit":          {space: space.Config{OffloadBudget: math.MaxInt}, budget: math.MaxInt32, band: 10, spaceBand: 10},
		"its own budget":    {space: space.Config{OffloadBudget: 20}, balance: balance.Config{OffloadBudget: 7}, budget: 7, band: 10, spaceBand: 10},
		"the cells' band":   {space: space.Config{BorderBand: 7.5}, budget: perPeriod, band: 7.5, spaceBand: 7.5},
		"the balance's one": {balance: balance.Config{BorderBand: 7.2}, budget: perPeriod, band: 7.2, spaceBand: 7.2},
	} {
		d := Config{Space: tt.space, Balance: tt.balance}.withDefaults()
		b, s := d.Balance, d.Space.WithDefaults()
		if b.OffloadBudget != tt.budget || b.BorderBand != tt.band || s.BorderBand != tt.spaceBand {
			t.Errorf("%s: a budget of %d, bands of %g and %g, want %d, %g and %g", name, b.OffloadBudget, b.BorderBand, s.BorderBand, tt.budget, tt.band, tt.spaceBand)
		}
	}
}

// A Config with faults of every kind names all of them at once, each once: also those that
// only the managers, which are started later, would meet.
func TestAllFaultsAtOnce(t *testing.T) {
	err := Config{
		CellApps: -1, Term: 1 << 30, AppTimeout: time.Millisecond,
		Balance: balance.Config{TargetLoad: 2}, Space: space.Config{AoIRadius: 900}, Logins: cellappmgr.LoginConfig{MaxLoad: -1},
		Spaces: []cellappmgr.SpaceConfig{
			{ID: 7, Bounds: bsp.Rect{MaxX: 1, MaxZ: 1}, MinCells: 5, MaxCells: 2},
			{ID: 7, Bounds: bsp.Rect{MaxX: 1, MaxZ: 1}},
		},
	}.Validate()
	for _, want := range []string{
		"Schema and CellScripts", "CellApps is -1", "Term is", "AppTimeout is 1ms", "TargetLoad 2", "GhostDistance 550 m is too short",
		"MaxLoad -1", "Spaces[0]: MinCells is 5 and MaxCells 2", "Spaces[1].ID is 7 again",
	} {
		if n := strings.Count(err.Error(), want); n != 1 && want != "TargetLoad 2" || n == 0 {
			t.Errorf("%d times %q in: %v", n, want, err)
		}
	}
}

// A distance that is said once is taken, also one that a float32 cannot hold.
func TestDistanceOfTheBalanceAlone(t *testing.T) {
	err := Config{Balance: balance.Config{GhostDistance: 700.1}}.Validate()
	if err == nil || strings.Contains(err.Error(), "GhostDistance") {
		t.Error(err)
	}
}
