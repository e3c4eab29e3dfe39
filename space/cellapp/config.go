package cellapp

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/cellscape/cellscape/space/cluster/watch"
	"github.com/cellscape/cellscape/space/recording"
)

// Config configures a CellApp.
type Config struct {
	// Transport carries its messages; required. Over a transport whose MaxMessage is below
	// mercury.DefaultMaxMessage entities with a large state neither cross borders nor are teleported:
	// they stay, and teleports fail (placement.TooLarge).
	Transport mercury.Transport
	// Manager is where the CellAppMgr listens; required.
	Manager netip.AddrPort
	// Managers are all places where the CellAppMgr may lead, if there are several: one leads, and
	// the others stand by. Default: Manager alone.
	Managers []netip.AddrPort
	// Scripts are the cell scripts, with the definitions; required.
	Scripts *space.Scripts
	// Space sets how its cells behave.
	Space space.Config
	// Jobs runs the game's blocking work (space.Cell.Do). nil runs none.
	Jobs Jobs
	// Lookout looks at other processes when the CellAppMgr asks whether one is dead. With nil the
	// CellApp gives no opinion.
	Lookout mercury.Lookout
	// Tick is the tick period, default 100 ms.
	Tick time.Duration
	// ReportPeriod is how often the CellAppMgr hears of the cells' loads, default 250 ms. It must
	// be well below the time after which the manager declares a CellApp dead.
	ReportPeriod time.Duration
	// Recorder takes recordings of spaces; see package recording. With nil none can be made here: a
	// space that is to be recorded is counted (status.Counters.Unrecorded).
	Recorder recording.Sink
	// Chance is the scripts' source of random numbers; required.
	Chance *rand.Rand
	// Parallel, if not nil, makes the updates of clients on Workers cores: it calls f for each i below
	// n on Workers goroutines at once, each with a number below Workers of its own, and returns when all
	// have returned (host.Parallel). The bytes are the same as without. What updates take then counts
	// as the cell's load and is shared over its entities.
	Parallel func(n int, f func(worker, i int))
	Workers  int
	// Meters are its clock, and what it says of itself in the status.
	status.Meters
	// Work measures loads, as Clock measures ticks. It should stand while the app has no processor
	// (host.Env.Work): what others do on its machine is no load of its entities, and lines would run
	// after it. With nil it is Clock; with neither, loads are only artificial.
	Work func() time.Duration
	// Log takes what an operator wants to know; nil discards it.
	Log *slog.Logger
	// Watch adds the game's own values to what the process shows; see package watch. It is called once, and
	// what it adds is asked for on the goroutine of the process. Default: none.
	Watch func(*watch.Tree)
}

// Defaults of Config.
const (
	DefaultTick         = 100 * time.Millisecond
	DefaultReportPeriod = wire.AlivePeriod
	// MaxWorkers bounds Config.Workers: no host has more cores to spare for one process.
	MaxWorkers = 256
)

// Validate reports all faults of c at once.
func (c *Config) Validate() error {
	var faults []error
	if c.Transport == nil {
		faults = append(faults, errors.New("cellapp: Transport is nil; set it to the runner's transport"))
	}
	if !c.Manager.IsValid() || c.Manager.Port() == 0 {
		faults = append(faults, errors.New("cellapp: Manager is not an address; set it to the address where the CellAppMgr listens"))
	}
	if c.Chance == nil {
		faults = append(faults, errors.New("cellapp: Chance is nil; set it to a seeded *rand.Rand"))
	}
	if c.Scripts == nil {
		faults = append(faults, errors.New("cellapp: Scripts is nil; make one with space.NewScripts"))
	} else if err := c.Scripts.Err(); err != nil {
		faults = append(faults, err)
	}
	if c.Workers < 0 || c.Workers > MaxWorkers || c.Workers > 1 && c.Parallel == nil {
		faults = append(faults, fmt.Errorf("cellapp: Workers is %d: take 1 to %d, and set Parallel for more than one", c.Workers, MaxWorkers))
	}
	if c.Tick < 0 || c.ReportPeriod < 0 {
		faults = append(faults, fmt.Errorf("cellapp: Tick %v and ReportPeriod %v must not be negative; zero means the default", c.Tick, c.ReportPeriod))
	}
	if err := c.Space.WithDefaults().Validate(); err != nil {
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}
