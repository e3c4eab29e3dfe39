package balance

import (
	"testing"
	"time"
)

// The names of the policies that tests are run with.
const (
	profileName = "profile"
	classicName = "classic"
)

// knobs are all settings that tests turn, of either policy.
type knobs struct {
	Policy string

	Period, MetaPeriod         time.Duration
	NoBalance, NoMeta          bool
	MinCells, MaxCells         int
	Smoothing, InitialCellLoad float64
	SafetyBound, SafetyRatio   float64
	IgnoreGeometry             bool
	MaxLoadingCells            int
	MinLoadingArea             float64
	Scheme                     Scheme
	Scorers                    []Scorer

	GhostDistance, Band, OffloadRate, MaxSlice float64

	MetaTolerance, LowerBound                             float64
	AggressionDecrease, MaxAggression                     float64
	AggressionIncreasePeriod, MaxAggressionIncreasePeriod time.Duration

	TargetLoad, MinDifference, MinMove float64
}

func (k knobs) shared() Config {
	return k.policy().Fill(Config{
		Period: k.Period, MetaPeriod: k.MetaPeriod, NoBalance: k.NoBalance, NoMeta: k.NoMeta, MinCells: k.MinCells, MaxCells: k.MaxCells,
		Smoothing: k.Smoothing, InitialCellLoad: k.InitialCellLoad, SafetyBound: k.SafetyBound, SafetyRatio: k.SafetyRatio,
		IgnoreGeometry: k.IgnoreGeometry, MaxLoadingCells: k.MaxLoadingCells, MinLoadingArea: k.MinLoadingArea, Scheme: k.Scheme, Scorers: k.Scorers,
	})
}

// border has a ghost distance of 500 m unless another is set: the figures of many tests are by
// that.
func (k knobs) border() Border {
	def(&k.GhostDistance, 500)
	return Border{GhostDistance: k.GhostDistance, Band: k.Band, OffloadRate: k.OffloadRate, MaxSlice: k.MaxSlice}.WithDefaults()
}

func (k knobs) classic() ClassicConfig {
	return ClassicConfig{
		MetaTolerance: k.MetaTolerance, LowerBound: k.LowerBound, AggressionDecrease: k.AggressionDecrease, MaxAggression: k.MaxAggression,
		AggressionIncreasePeriod: k.AggressionIncreasePeriod, MaxAggressionIncreasePeriod: k.MaxAggressionIncreasePeriod,
	}
}

func (k knobs) profile() ProfileConfig {
	return ProfileConfig{TargetLoad: k.TargetLoad, MinDifference: k.MinDifference, MinMove: k.MinMove}
}

func (k knobs) policy() PolicyConfig {
	if k.Policy == classicName {
		return k.classic()
	}
	return k.profile()
}

func made(k knobs) (Policy, error) { return k.policy().New(k.shared(), k.border()) }

// newPolicy returns the policy of a name.
func newPolicy(t testing.TB, name string, k knobs) Policy {
	t.Helper()
	k.Policy = name
	p, err := made(k)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
