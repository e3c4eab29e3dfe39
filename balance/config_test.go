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
	if err := (Border{}).Validate(); err != nil {
		t.Errorf("zero Border: %v", err)
	}
	shared := Config{
		Period: -1, MinCells: -1, MaxCells: -1, SafetyBound: math.NaN(), SafetyRatio: 0.5, Smoothing: 2, InitialCellLoad: -1,
		WarningLevel: math.Inf(1), MaxLoadingCells: bsp.MaxLeaves + 1, MinLoadingArea: -1, Scheme: 9, Scorers: []Scorer{{Name: "mine"}},
	}
	border := Border{GhostDistance: -1, Band: bsp.MinSize, OffloadRate: math.NaN(), MaxSlice: 2}
	for _, tt := range []struct {
		prefix, fields string
		err            error
	}{
		{"balance: ", `Period MinCells MaxCells SafetyBound SafetyRatio Smoothing InitialCellLoad WarningLevel MaxLoadingCells
			MinLoadingArea Scheme Scorers`, shared.Validate()},
		{"border: ", "GhostDistance Band OffloadRate MaxSlice", border.Validate()},
		{"classic: ", `MetaTolerance LowerBound AggressionDecrease AggressionIncreasePeriod MaxAggressionIncreasePeriod
			MaxAggression`, ClassicConfig{
			MetaTolerance: 2, LowerBound: -1, AggressionDecrease: 1, AggressionIncreasePeriod: -1, MaxAggressionIncreasePeriod: -2,
			MaxAggression: 2,
		}.Check(Config{}, Border{})},
		{"profile: ", "TargetLoad MinDifference MinMove", ProfileConfig{TargetLoad: math.NaN(), MinDifference: 2, MinMove: -1}.Check(Config{}, Border{})},
	} {
		var all interface{ Unwrap() []error }
		if !errors.As(tt.err, &all) {
			t.Fatalf("%swant many faults, got: %v", tt.prefix, tt.err)
		}
		for _, field := range strings.Fields(tt.fields) {
			if !slices.ContainsFunc(all.Unwrap(), func(e error) bool { return strings.Contains(fmt.Sprint(e), tt.prefix+field) }) {
				t.Errorf("no fault names %s", field)
			}
		}
	}
}

// A policy is not made of what makes no sense, whichever of the three it is in.
func TestNoPolicyOfFaults(t *testing.T) {
	for name, p := range map[string]PolicyConfig{"classic": ClassicConfig{}, "profile": ProfileConfig{}, "its own": ProfileConfig{MinMove: -1}, "classic's own": ClassicConfig{MaxAggression: 2}} {
		bad := strings.Contains(name, "own")
		if _, err := p.New(Config{}, Border{}); (err != nil) != bad {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := p.New(Config{MinCells: -1}, Border{}); err == nil {
			t.Errorf("%s takes a bad Config", name)
		}
		if _, err := p.New(Config{}, Border{Band: -1}); err == nil {
			t.Errorf("%s takes a bad Border", name)
		}
	}
}

// The faults are told by who sees them: the shared settings alone, or a policy beside them and the
// border.
func TestConfigThatContradictsItself(t *testing.T) {
	tests := []struct {
		cfg   knobs
		field string // "" if it is sound
	}{
		{knobs{MinCells: 5, MaxCells: 4}, "balance: MaxCells"},
		{knobs{Period: 10 * time.Second, MetaPeriod: time.Second}, "balance: MetaPeriod"},
		{knobs{TargetLoad: 0.9}, "profile: TargetLoad"},
		{knobs{AggressionIncreasePeriod: time.Minute, MaxAggressionIncreasePeriod: time.Second}, "classic: MaxAggressionIncreasePeriod"},
		// An app is given back, and its group at once is over the tolerance: it is taken back, and
		// so on.
		{knobs{LowerBound: 0.3}, "classic: LowerBound"},
		{knobs{LowerBound: 0.3, MetaTolerance: 0.3}, ""},
		// No side would ever be so far under its bound that a line moves by the area to be loaded.
		{knobs{MaxSlice: 0.3, SafetyBound: 0.3, TargetLoad: 0.2}, "classic: MaxSlice"},
		{knobs{MaxSlice: 0.3, SafetyBound: 0.4, TargetLoad: 0.2}, ""},
		{knobs{MinCells: 5, MaxCells: 4, TargetLoad: 0.9, LowerBound: 0.3}, "balance: MaxCells,profile: TargetLoad,classic: LowerBound"},
	}
	for _, tt := range tests {
		k, want := tt.cfg, strings.FieldsFunc(tt.field, func(r rune) bool { return r == ',' })
		text := fmt.Sprint(errors.Join(k.shared().Validate(), k.border().Validate(), k.classic().Check(k.shared(), k.border()), k.profile().Check(k.shared(), k.border())))
		for _, field := range want {
			if !strings.Contains(text, field+" ") {
				t.Errorf("%+v: no fault names %s: %v", tt.cfg, field, text)
			}
		}
		if n := strings.Count(text, ": set "); n != len(want) {
			t.Errorf("%+v: %d faults: %v", tt.cfg, n, text)
		}
	}
}

// A cell hands over at least one real in a check, however short, and no overflow of them.
func TestBudget(t *testing.T) {
	for _, tt := range []struct {
		rate   float64
		period time.Duration
		want   int
	}{{500, 200 * time.Millisecond, 100}, {500, 500 * time.Millisecond, 250}, {3, time.Millisecond, 1}, {math.MaxInt32, time.Hour, math.MaxInt32}} {
		if got := (Border{OffloadRate: tt.rate}).Budget(tt.period); got != tt.want {
			t.Errorf("%v a second in %v: %d, want %d", tt.rate, tt.period, got, tt.want)
		}
	}
}
