package space

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/space/overload"
)

// Defaults of Config.
const (
	DefaultAoIRadius     = 500
	DefaultAoIHysteresis = 5
	DefaultGhostSlack    = 20
	DefaultCheckPeriod   = 200 * time.Millisecond
	DefaultGhostLife     = 2 * time.Second
	DefaultGhostBudget   = 200
	DefaultBackupPeriod  = 10 * time.Second
	DefaultOrphanGrace   = 10 * time.Second
	DefaultTopSpeed      = 30
	DefaultLoadAhead     = 250
)

// Config is how the cells of a CellApp behave. Zero fields get the defaults.
type Config struct {
	// AoIRadius is how far a player sees, in metres, default 500 (the seed's); the
	// shape is a square in x and z. What has come nearer than it enters.
	AoIRadius float32
	// AoIHysteresis is how much farther than AoIRadius something must go to leave,
	// in metres, default 5: without it what stands on the edge flickers.
	AoIHysteresis float32
	// Border is what happens along the lines between cells. The manager's policy must be given the same one. Its
	// GhostDistance is, by default, as far as players must see ghosts beyond a line, AoIRadius + AoIHysteresis + Band +
	// TopSpeed × CheckPeriod, and at least balance.DefaultGhostDistance. Validate refuses a shorter one: players near a
	// line would miss what they should see.
	Border balance.Border
	// GhostSlack is how much farther than Border.GhostDistance a ghost is kept, in metres, default 20.
	GhostSlack float32
	// GhostLife is the least life of a ghost, default 2 s: what runs along a
	// corner would be made and dropped all the time.
	GhostLife time.Duration
	// Dwell is how long a real stays beyond its cell, within Border.Band, before it
	// is offloaded all the same. Default 0: as long as it likes. Handing over those who
	// have settled there makes loads jump, which lines then answer.
	Dwell time.Duration
	// CheckPeriod is the pace of the offload and ghost check, default 200 ms.
	CheckPeriod time.Duration
	// GhostBudget is how many ghosts a cell makes in one check, default 200.
	GhostBudget int
	// BackupPeriod is how often each real is backed up to its base, default 10 s:
	// what a killed CellApp takes back at most. It is backed up when created, too.
	BackupPeriod time.Duration
	// OrphanGrace is how long the ghost of a real whose CellApp died waits for
	// the restored real, default 10 s, so that players do not see it go and come.
	OrphanGrace time.Duration
	// LoadAhead is how far beyond Border.GhostDistance around a cell the geometry of its space is to be loaded, in metres,
	// default 250: as far lines move at once. See Cell.ToLoad. A shorter one loads less and lets lines follow a crowd
	// in shorter steps.
	LoadAhead float32
	// TopSpeed is the highest speed of an entity in m/s, default 30. Ghosts reach far enough for it: see Border.
	TopSpeed float32
	// ArtificialLoad, in nanoseconds of work per real and second, replaces
	// measured work in the load of cells if not zero: cuts then do not depend on
	// the machine. A ghost counts a tenth; a real not less than what it was given by
	// SetArtificialLoad.
	ArtificialLoad int64
	// LoadWeight is how much of a tick's load goes into the smoothed one, of each real
	// and of the cell, in thousandths; default load.DefaultWeight, a twentieth. More
	// shows a crowd earlier, less lets lines rest.
	LoadWeight load.Weight
	// Overload is what a CellApp saves at when it has more to do than it can; its zero
	// fields have defaults of their own.
	Overload overload.Config
	// Witness is how players are told what they see; its zero fields have defaults
	// of their own.
	Witness witness.Config
}

// WithDefaults returns c with its zero fields filled in.
func (c Config) WithDefaults() Config {
	c.AoIRadius = cmp.Or(c.AoIRadius, DefaultAoIRadius)
	c.AoIHysteresis = cmp.Or(c.AoIHysteresis, DefaultAoIHysteresis)
	c.GhostSlack = cmp.Or(c.GhostSlack, DefaultGhostSlack)
	c.GhostLife = cmp.Or(c.GhostLife, DefaultGhostLife)
	c.CheckPeriod = cmp.Or(c.CheckPeriod, DefaultCheckPeriod)
	c.GhostBudget = cmp.Or(c.GhostBudget, DefaultGhostBudget)
	c.BackupPeriod = cmp.Or(c.BackupPeriod, DefaultBackupPeriod)
	c.OrphanGrace = cmp.Or(c.OrphanGrace, DefaultOrphanGrace)
	c.TopSpeed = cmp.Or(c.TopSpeed, DefaultTopSpeed)
	c.LoadAhead = cmp.Or(c.LoadAhead, DefaultLoadAhead)
	c.LoadWeight = cmp.Or(c.LoadWeight, load.DefaultWeight)
	c.Overload = c.Overload.WithDefaults()
	ghosts := c.Border.GhostDistance
	if c.Border = c.Border.WithDefaults(); ghosts == 0 {
		c.Border.GhostDistance = max(c.Border.GhostDistance, c.leastGhostDistance())
	}
	return c
}

// leastGhostDistance is how far beyond a line players see at the most before ghosts are checked again.
func (c *Config) leastGhostDistance() float64 {
	return float64(c.AoIRadius) + float64(c.AoIHysteresis) + c.Border.Band + float64(float64(c.TopSpeed)*c.CheckPeriod.Seconds())
}

// Validate reports every fault of a configuration whose defaults are filled in.
func (c Config) Validate() error {
	var faults []error
	positive := func(name string, ok bool) {
		if !ok {
			faults = append(faults, fmt.Errorf("space: %s must be above zero; leave it zero for the default", name))
		}
	}
	positive("AoIRadius", c.AoIRadius > 0)
	positive("AoIHysteresis", c.AoIHysteresis > 0)
	positive("GhostSlack", c.GhostSlack > 0)
	positive("GhostLife", c.GhostLife > 0)
	positive("CheckPeriod", c.CheckPeriod > 0)
	positive("GhostBudget", c.GhostBudget > 0)
	positive("BackupPeriod", c.BackupPeriod > 0)
	positive("OrphanGrace", c.OrphanGrace > 0)
	positive("TopSpeed", c.TopSpeed > 0)
	positive("LoadAhead", c.LoadAhead > 0)
	if c.ArtificialLoad < 0 {
		faults = append(faults, errors.New("space: ArtificialLoad must not be negative; zero means measured load"))
	}
	if c.LoadWeight < 1 || c.LoadWeight > 1000 {
		faults = append(faults, fmt.Errorf("space: LoadWeight %d must be 1 to 1000 thousandths; leave it zero for the default", c.LoadWeight))
	}
	if err := c.Overload.Validate(); err != nil {
		faults = append(faults, fmt.Errorf("space: Overload: %w", err))
	}
	if err := c.Witness.Validate(); err != nil {
		faults = append(faults, fmt.Errorf("space: Witness: %w", err))
	}
	if c.Dwell < 0 {
		faults = append(faults, errors.New("space: Dwell must not be negative; zero means none"))
	}
	if err := c.Border.Validate(); err != nil {
		faults = append(faults, fmt.Errorf("space: Border: %w", err))
	}
	if need := c.leastGhostDistance(); c.Border.GhostDistance < need {
		faults = append(faults, fmt.Errorf("space: Border.GhostDistance %g m is too short: AoIRadius + AoIHysteresis + Border.Band + TopSpeed × CheckPeriod = %g m; leave it zero, raise it or lower AoIRadius", c.Border.GhostDistance, need))
	}
	return errors.Join(faults...)
}
