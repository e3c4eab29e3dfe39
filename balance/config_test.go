package balance

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
)

func TestConfigValidate(t *testing.T) {
	if err := (Config{}).Validate(); err != nil {
		t.Errorf("zero Config: %v", err)
	}
	bad := Config{
		Policy: "x", Period: -1, TargetLoad: math.NaN(), MinCells: -1, MaxCells: -1, MinDifference: 2, MinMove: -1,
		OffloadBudget: -1, SafetyBound: math.NaN(), SafetyRatio: 0.5, Smoothing: 2, InitialCellLoad: -1,
		WarningLevel: math.Inf(1), GhostDistance: -1, MaxLoadingCells: bsp.MaxLeaves + 1, MinLoadingArea: -1,
		Scheme: 9, Scorers: []Scorer{{Name: "mine"}}, MetaTolerance: 2, LowerBound: -1, MaxCPUOffload: 2,
		AggressionDecrease: 1, AggressionIncreasePeriod: -1, MaxAggressionIncreasePeriod: -2, MaxAggression: 2,
	}
	err := bad.Validate()
	var all interface{ Unwrap() []error }
	if !errors.As(err, &all) {
		t.Fatalf("want many faults, got: %v", err)
	}
	for _, field := range strings.Fields(`Policy Period TargetLoad MinCells MaxCells MinDifference MinMove OffloadBudget
		SafetyBound SafetyRatio Smoothing InitialCellLoad WarningLevel GhostDistance MaxLoadingCells MinLoadingArea Scheme
		Scorers MetaTolerance LowerBound MaxCPUOffload AggressionDecrease AggressionIncreasePeriod
		MaxAggressionIncreasePeriod MaxAggression`) {
		if !slices.ContainsFunc(all.Unwrap(), func(e error) bool { return strings.Contains(fmt.Sprint(e), "balance: "+field) }) {
			t.Errorf("no fault names %s", field)
		}
	}
	for _, policy := range []string{"", ClassicPolicy, ProfilePolicy, "x"} {
		if _, err := New(Config{Policy: policy, MinMove: -1}); err == nil {
			t.Errorf("New takes a bad Config for %q", policy)
		}
	}
}

func TestConfigThatContradictsItself(t *testing.T) {
	tests := []struct {
		cfg   Config
		field string // "" if it is sound
	}{
		{Config{MinCells: 5, MaxCells: 4}, "MaxCells"},
		{Config{Period: 10 * time.Second, MetaPeriod: time.Second}, "MetaPeriod"},
		{Config{TargetLoad: 0.9}, "TargetLoad"},
		{Config{AggressionIncreasePeriod: time.Minute, MaxAggressionIncreasePeriod: time.Second}, "MaxAggressionIncreasePeriod"},
		// An app is given back, and its group at once is over the tolerance: it is taken back, and so on.
		{Config{LowerBound: 0.3}, "LowerBound"},
		{Config{LowerBound: 0.3, MetaTolerance: 0.3}, ""},
		// No side would ever be so far under its bound that a line moves by the area to be loaded.
		{Config{MaxCPUOffload: 0.3, SafetyBound: 0.3, TargetLoad: 0.2}, "MaxCPUOffload"},
		{Config{MaxCPUOffload: 0.3, SafetyBound: 0.4, TargetLoad: 0.2}, ""},
		{Config{MinCells: 5, MaxCells: 4, TargetLoad: 0.9, LowerBound: 0.3}, "MaxCells TargetLoad LowerBound"},
	}
	for _, tt := range tests {
		err := fmt.Sprint(tt.cfg.Validate())
		for _, field := range strings.Fields(tt.field) {
			if !strings.Contains(err, "balance: "+field+" ") {
				t.Errorf("%+v: no fault names %s: %v", tt.cfg, field, err)
			}
		}
		if n := strings.Count(err, "balance: "); n != len(strings.Fields(tt.field)) {
			t.Errorf("%+v: %d faults: %v", tt.cfg, n, err)
		}
	}
}
