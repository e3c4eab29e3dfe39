package overload

import (
	"cmp"
	"time"

	"github.com/cellscape/cellscape/internal/faults"
)

// Defaults of Config.
const (
	DefaultStart     = 0.9
	DefaultPatience  = 6 * time.Second
	DefaultDwell     = 2 * time.Second
	DefaultRecovery  = 6 * time.Second
	DefaultMinBudget = 0.25
	DefaultMinDetail = 0.5
	DefaultMinRate   = 0.2

	// LeastShare is the lowest floor for budget, detail and rate. Below it players would take the
	// world for dead.
	LeastShare = 0.05
	// maxStart is above any CellApp's load, so it switches saving off.
	maxStart = 1000
)

// Config sets what a CellApp does when it has too much work, because a crowd is too dense to be
// divided. See Throttle. Zero fields get the defaults.
type Config struct {
	// Start is the load from which the CellApp saves, as a fraction of a core, default 0.9. The
	// rest is for what only some ticks do. Logins should be refused before that, so it should not
	// be below their bound. A high number, at most 1000, means never.
	Start float64
	// Patience is how long the load must have been above Start before the first step, and before
	// each step that does not directly follow another, default 6 s. Logins are refused after 5 s,
	// and a peak passes.
	Patience time.Duration
	// Dwell is the time between steps, default 2 s. In its first half a step takes effect; in the
	// second half the load is measured again. A step of the rate goes through the CellAppMgr and
	// has twice as long.
	Dwell time.Duration
	// Recovery is how long the load must have been low before each step back, default 6 s. A
	// CellApp that recovers too fast meets the crowd again.
	Recovery time.Duration
	// MinBudget is the smallest part to which a client's byte budget may shrink, default 0.25.
	// MinDetail is the same for the distances of details, default 0.5. MinRate is how slow game
	// time may run, default 0.2. Each is LeastShare to 1; 1 means no change.
	MinBudget, MinDetail, MinRate float64
}

// WithDefaults returns c with its zero fields filled in.
func (c Config) WithDefaults() Config {
	c.Start = cmp.Or(c.Start, DefaultStart)
	c.Patience = cmp.Or(c.Patience, DefaultPatience)
	c.Dwell = cmp.Or(c.Dwell, DefaultDwell)
	c.Recovery = cmp.Or(c.Recovery, DefaultRecovery)
	c.MinBudget = cmp.Or(c.MinBudget, DefaultMinBudget)
	c.MinDetail = cmp.Or(c.MinDetail, DefaultMinDetail)
	c.MinRate = cmp.Or(c.MinRate, DefaultMinRate)
	return c
}

// Validate reports all faults of a configuration whose defaults are filled in.
func (c Config) Validate() error {
	all := faults.In("overload: ")
	fault := all.If
	fault(!(c.Start > 0 && c.Start <= maxStart), "Start is %v: take a fraction of a core above 0, at most %d, or 0 for %v", c.Start, maxStart, DefaultStart)
	fault(c.Patience < 0, "Patience is %v: take a time above zero, or 0 for %v", c.Patience, DefaultPatience)
	fault(c.Dwell < 0, "Dwell is %v: take some seconds, or 0 for %v", c.Dwell, DefaultDwell)
	fault(c.Recovery < c.Dwell, "Recovery is %v, Dwell %v: it must be no shorter, or the load goes up and down; leave it 0 for %v", c.Recovery, c.Dwell, DefaultRecovery)
	for _, f := range []struct {
		name  string
		floor float64
	}{{"MinBudget", c.MinBudget}, {"MinDetail", c.MinDetail}, {"MinRate", c.MinRate}} {
		fault(!(f.floor >= LeastShare && f.floor <= 1), "%s is %v: take %v to 1, or 0 for the default", f.name, f.floor, LeastShare)
	}
	return all.Err()
}
