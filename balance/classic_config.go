package balance

import (
	"errors"
	"time"

	"github.com/cellscape/cellscape/internal/faults"
)

// ClassicConfig has the settings of policy Classic, beside those that all policies share. The zero
// ClassicConfig is valid; every zero field means its default. For no tolerance set a very small
// one. Loads are fractions of one core.
type ClassicConfig struct {
	// MetaTolerance is by how much a group's average must exceed the average of all CellApps before
	// the group gets help, default 0.05. LowerBound is the average below which, with one app fewer,
	// the group gives an app back; it is at most MetaTolerance, default 0.02.
	MetaTolerance, LowerBound float64
	// AggressionDecrease is what a line's aggression is multiplied by when it turns round. Above 0,
	// below 1. Default 0.5.
	AggressionDecrease float64
	// AggressionIncreasePeriod is how long a line takes to regain one such decrease, default 10 s.
	// MaxAggressionIncreasePeriod is how long it takes at most to regain all, which bounds
	// aggression from below, default 40 s.
	AggressionIncreasePeriod, MaxAggressionIncreasePeriod time.Duration
	// MaxAggression is the largest share of the wanted step that a line takes. Default 1.
	MaxAggression float64
}

// WithDefaults returns c with its zero fields filled in.
func (c ClassicConfig) WithDefaults() ClassicConfig {
	def(&c.MetaTolerance, 0.05)
	def(&c.LowerBound, 0.02)
	def(&c.AggressionDecrease, 0.5)
	def(&c.AggressionIncreasePeriod, 10*time.Second)
	def(&c.MaxAggressionIncreasePeriod, max(40*time.Second, c.AggressionIncreasePeriod))
	def(&c.MaxAggression, 1)
	return c
}

// Name implements PolicyConfig.
func (ClassicConfig) Name() string { return "classic" }

// Fill implements PolicyConfig: the default Period is a second.
func (ClassicConfig) Fill(shared Config) Config {
	def(&shared.Period, time.Second)
	return shared.WithDefaults()
}

// Check implements PolicyConfig.
func (c ClassicConfig) Check(shared Config, border Border) error {
	all := faults.In("classic: ")
	fault := all.If
	within01 := func(v float64, name string) { fault(!(v >= 0 && v <= 1), "%s %v: set 0 to 1", name, v) }
	d, s, b := c.WithDefaults(), c.Fill(shared), border.WithDefaults()
	within01(d.MetaTolerance, "MetaTolerance")
	within01(d.LowerBound, "LowerBound")
	fault(!(d.LowerBound < s.SafetyBound), "LowerBound %v: set less than SafetyBound (%v), or needed apps are given back", c.LowerBound, s.SafetyBound)
	fault(!(d.LowerBound <= d.MetaTolerance), "LowerBound %v: set at most MetaTolerance (%v), or a group takes back the app that it has just given up, again and again", d.LowerBound, d.MetaTolerance)
	fault(!(b.MaxSlice < s.SafetyBound), "MaxSlice %v of the border: set less than SafetyBound (%v), or no side has room for a step", b.MaxSlice, s.SafetyBound)
	fault(!(d.AggressionDecrease > 0 && d.AggressionDecrease < 1), "AggressionDecrease %v: set a factor above 0 and below 1", c.AggressionDecrease)
	fault(d.AggressionIncreasePeriod < 0, "AggressionIncreasePeriod %v: set a time, for example 10s", c.AggressionIncreasePeriod)
	fault(d.MaxAggressionIncreasePeriod < d.AggressionIncreasePeriod, "MaxAggressionIncreasePeriod %v: set at least AggressionIncreasePeriod (%v)", c.MaxAggressionIncreasePeriod, d.AggressionIncreasePeriod)
	fault(!(d.MaxAggression > 0 && d.MaxAggression <= 1), "MaxAggression %v: set more than 0, at most 1", d.MaxAggression)
	return all.Err()
}

// New implements PolicyConfig.
func (c ClassicConfig) New(shared Config, border Border) (Policy, error) {
	p, err := c.make(shared, border)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (c ClassicConfig) make(shared Config, border Border) (*Classic, error) {
	if err := errors.Join(c.Fill(shared).Validate(), border.Validate(), c.Check(shared, border)); err != nil {
		return nil, err
	}
	p := &Classic{cfg: classicSettings{c.Fill(shared), c.WithDefaults(), border.WithDefaults()}}
	p.regain, p.least = p.cfg.aggressionRange()
	return p, nil
}

// classicSettings has all settings of the policy.
type classicSettings struct {
	Config
	ClassicConfig
	Border
}
