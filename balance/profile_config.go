package balance

import (
	"errors"
	"fmt"
)

// ProfileConfig are the settings of policy Profile, beside those that all policies share. The zero Config is valid; every
// zero field stands for its default. Loads are fractions of one core.
type ProfileConfig struct {
	// TargetLoad is the average load that the cells of a space are meant to have. A cell is added when the average is
	// above, and one retires when the others would stay under. Default 0.25. Lower spends more CellApps, higher leaves
	// less room for a crowd that comes suddenly.
	TargetLoad float64
	// MinDifference is the dead band of a line between two cells: how much load, as a share of the average, must have to
	// pass for the line to move, above 0 to 1. Between sides of n cells it is the root of n times that; it widens while a
	// line swings, and in crowds so dense that ghosts make much of the load. It is never less than a real costs. Default
	// 0.004: the bands of the lines above a cell add up to what it may be off.
	MinDifference float64
	// MinMove is the least load worth moving a line for. Default 0.0003, less than what a client costs.
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
