package cellapp

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// Config is what a CellApp is made from.
type Config struct {
	// Transport carries its messages; required.
	Transport mercury.Transport
	// Manager is where the CellAppMgr listens; required.
	Manager netip.AddrPort
	// Scripts are the cell scripts, with the definitions; required.
	Scripts *space.Scripts
	// Space is how its cells behave.
	Space space.Config
	// Jobs performs what blocks for the game (space.Cell.Do). nil performs none.
	Jobs Jobs
	// Tick is the tick period, default 100 ms.
	Tick time.Duration
	// ReportPeriod is how often the CellAppMgr hears of the cells' loads, default
	// 250 ms. It must be well under the manager's death verdict.
	ReportPeriod time.Duration
	// Chance is the source of chance of scripts; required.
	Chance *rand.Rand
	// Clock measures work; only differences of it count, and it must not run backwards. nil measures none,
	// so that loads are artificial alone.
	Clock func() time.Duration
	// CPU is the processor time of the app's thread; nil reports zero.
	CPU func() time.Duration
	// ProcessCPU is what the OS process has used of the processors, on all its threads,
	// and which process that is; nil means unknown.
	ProcessCPU func() (pid int, used time.Duration)
	// Carriers tells how the carriers of the process fare; nil means unknown.
	Carriers func() []status.Carrier
	// Log is for what an operator wants to know; nil discards it.
	Log *slog.Logger
}

// Defaults of Config.
const (
	DefaultTick         = 100 * time.Millisecond
	DefaultReportPeriod = 250 * time.Millisecond
)

// Validate reports every fault of c.
func (c *Config) Validate() error {
	var faults []error
	if c.Transport == nil {
		faults = append(faults, errors.New("cellapp: Transport is nil; give it what a runner provides"))
	}
	if !c.Manager.IsValid() || c.Manager.Port() == 0 {
		faults = append(faults, errors.New("cellapp: Manager is not an address; give it where the CellAppMgr listens"))
	}
	if c.Chance == nil {
		faults = append(faults, errors.New("cellapp: Chance is nil; give it a seeded *rand.Rand"))
	}
	if c.Scripts == nil {
		faults = append(faults, errors.New("cellapp: Scripts is nil; make one with space.NewScripts"))
	} else if err := c.Scripts.Err(); err != nil {
		faults = append(faults, err)
	}
	if c.Tick < 0 || c.ReportPeriod < 0 {
		faults = append(faults, fmt.Errorf("cellapp: Tick %v and ReportPeriod %v must not be negative; zero means the default", c.Tick, c.ReportPeriod))
	}
	if err := c.Space.WithDefaults().Validate(); err != nil {
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}
