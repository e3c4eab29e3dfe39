package balance

import (
	"errors"
	"fmt"
)

// ProfileConfig has the settings of policy Profile, beside those that all policies share. The zero
// ProfileConfig is valid; every zero field means its default. Loads are fractions of one core.
type ProfileConfig struct {
	// TargetLoad is the average load that the cells of a space should have, default 0.25. A cell is
	// added when the average is above it, and one retires when the others would stay below. A lower
	// target takes more CellApps; a higher one leaves less room for a sudden crowd.
	TargetLoad float64
	// MinDifference is the dead band of a line between two cells: the least load, as a share of the
	// average, that has to pass for the line to move, above 0 to 1, default 0.004. Between sides of
	// n cells it is the root of n times that. It widens while a line swings, and in crowds so dense
	// that ghosts make much of the load. It is never less than a real costs. The bands of all lines
	// above a cell add up to how far its load may be off.
	MinDifference float64
	// MinMove is the least load worth moving a line for. Default 0.0003, less than what a client
	// costs.
	MinMove float64
}

// WithDefaults returns c with its zero fields filled in.
func (c ProfileConfig) WithDefaults() ProfileConfig {
	def(&c.TargetLoad, 0.25)
	def(&c.MinDifference, 0.004)
	def(&c.MinMove, 0.0003)
	return c
}

// Name implements PolicyConfig.
func (ProfileConfig) Name() string { return "profile" }

// Fill implements PolicyConfig.
func (ProfileConfig) Fill(shared Config) Config { return shared.WithDefaults() }

// Check implements PolicyConfig.
func (c ProfileConfig) Check(shared Config, _ Border) error {
	var errs []error
	above0 := func(v float64, name string) {
		if !(v > 0 && v <= 1) {
			errs = append(errs, fmt.Errorf("profile: %s %v: set more than 0, at most 1", name, v))
		}
	}
	d, s := c.WithDefaults(), c.Fill(shared)
	above0(d.TargetLoad, "TargetLoad")
	above0(d.MinDifference, "MinDifference")
	above0(d.MinMove, "MinMove")
	if !(d.TargetLoad <= s.SafetyBound) {
		errs = append(errs, fmt.Errorf("profile: TargetLoad %v: set at most SafetyBound (%v), or cells are full before one is added", c.TargetLoad, s.SafetyBound))
	}
	return errors.Join(errs...)
}

// New implements PolicyConfig.
func (c ProfileConfig) New(shared Config, border Border) (Policy, error) {
	p, err := c.make(shared, border)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (c ProfileConfig) make(shared Config, border Border) (*Profile, error) {
	if err := errors.Join(c.Fill(shared).Validate(), border.Validate(), c.Check(shared, border)); err != nil {
		return nil, err
	}
	p := &Profile{cfg: profileSettings{c.Fill(shared), c.WithDefaults(), border.WithDefaults()}}
	p.budget = float64(p.cfg.Border.Budget(p.cfg.Period))
	return p, nil
}

// profileSettings is all that a policy goes by.
type profileSettings struct {
	Config
	ProfileConfig
	Border
}
