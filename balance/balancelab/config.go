package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
)

// Limits of a run. They keep a slip on the keyboard from taking the machine's memory: 30,000
// entities take about 6 MB.
const (
	mostEntities = 1_000_000
	mostCellApps = bsp.MaxLeaves
	mostSeconds  = 24 * 3600
	leastSize    = 2_000 // metres: a few areas of interest
	mostSize     = 200_000
)

// config is one run of the lab. Zero does not mean a default here: parseFlags fills in everything,
// except where a field says what its zero means.
type config struct {
	scenario string
	entities int
	cellApps int
	seconds  int
	seed     uint64
	size     float64 // side of the world in metres; 0 means the scenario's own
	noise    float64 // standard deviation of reported loads, as a share of them
	jitter   float64 // of the entities of scenario uniform, in metres to each side
	join     int     // seconds in which the crowd comes in; 0 is all at once
	warmUp   int     // seconds; 0 is found by the lab
	frames   int     // cuts kept for the film strip

	policyName string // profile or classic; "" is profile
	balance    balance.Config
	border     balance.Border
	profile    balance.ProfileConfig
	classic    balance.ClassicConfig
}

// The policies by name.
const (
	profileName = "profile"
	classicName = "classic"
)

// policy returns the settings of the named policy; for an unknown name, those of profile.
func (c *config) policy() balance.PolicyConfig {
	if c.policyName == classicName {
		return c.classic
	}
	return c.profile
}

// validate reports every fault of a configuration, each with its remedy.
func (c *config) validate() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	fault(!slices.Contains(scenarioNames(), c.scenario), "-scenario %q: take one of %s", c.scenario, strings.Join(scenarioNames(), ", "))
	fault(c.entities < 1 || c.entities > mostEntities, "-entities %d: take 1 to %d", c.entities, mostEntities)
	fault(c.cellApps < 1 || c.cellApps > mostCellApps, "-cellapps %d: take 1 to %d", c.cellApps, mostCellApps)
	fault(c.seconds < 1 || c.seconds > mostSeconds, "-seconds %d: take 1 to %d", c.seconds, mostSeconds)
	fault(c.size != 0 && !(c.size >= leastSize && c.size <= mostSize), "-size %v: take %d to %d metres, or 0 for the scenario's own", c.size, leastSize, mostSize)
	fault(!(c.noise >= 0 && c.noise <= 0.5), "-noise %v: take 0 to 0.5", c.noise)
	fault(!(c.jitter >= 0 && c.jitter <= 1000), "-jitter %v: take 0 to 1000 metres", c.jitter)
	fault(c.join < 0 || c.join > mostSeconds, "-join %d: take 0 to %d seconds", c.join, mostSeconds)
	fault(c.warmUp < 0 || c.warmUp >= max(1, c.seconds), "-warmup %d: take less than -seconds (%d), or 0 to let the lab find it", c.warmUp, c.seconds)
	fault(!slices.Contains([]string{"", profileName, classicName}, c.policyName), "-policy %q: take %s or %s", c.policyName, profileName, classicName)
	p := c.policy().Fill(c.balance)
	fault(p.Period <= figureAge || p.Period%reportPeriod != 0, "-period %v: take a multiple of %v of at least %v", c.balance.Period, reportPeriod, figureAge+reportPeriod)
	fault(p.Period > 0 && p.MetaPeriod%p.Period != 0, "-metaperiod %v: take a multiple of -period (%v)", c.balance.MetaPeriod, p.Period)
	faults = append(faults, p.Validate(), c.border.Validate(), c.policy().Check(p, c.border))
	return errors.Join(faults...)
}

// withDefaults fills in the zero settings of the balance.
func (c config) withDefaults() config {
	c.policyName = c.policy().Name()
	c.balance, c.border = c.policy().Fill(c.balance), c.border.WithDefaults()
	c.profile, c.classic = c.profile.WithDefaults(), c.classic.WithDefaults()
	return c
}

// length is the time of the whole run.
func (c *config) length() time.Duration { return time.Duration(c.seconds) * time.Second }
