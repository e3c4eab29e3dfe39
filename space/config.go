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
	DefaultCheckBudget   = 4000
	DefaultBackupPeriod  = 10 * time.Second
	DefaultOrphanGrace   = 10 * time.Second
	DefaultTopSpeed      = 30
	DefaultLoadAhead     = 250
)

// Config sets how the cells of a CellApp behave. Zero fields get the defaults.
type Config struct {
	// AoIRadius is how far a player sees, in metres, default 500 (the seed's). The area of interest
	// is a square in x and z; an entity enters it when it comes nearer than this.
	AoIRadius float32
	// AoIHysteresis is how much farther than AoIRadius an entity must go to leave, in metres,
	// default 5. Without it, entities on the edge would flicker.
	AoIHysteresis float32
	// Border sets what happens along the lines between cells. Give the manager's policy the same
	// one. GhostDistance must be as far as players must see beyond a line: AoIRadius +
	// AoIHysteresis + Band + TopSpeed × CheckPeriod. That is its default, but at least
	// balance.DefaultGhostDistance. Validate refuses a shorter one, with which players near a line
	// would miss what they should see.
	Border balance.Border
	// GhostSlack is how much farther than Border.GhostDistance a ghost is kept, in metres, default
	// 20.
	GhostSlack float32
	// GhostLife is the least life of a ghost, default 2 s. Without it, ghosts of an entity that
	// runs along a corner would be made and dropped all the time.
	GhostLife time.Duration
	// Dwell is how long a real may stay beyond its cell, within Border.Band, before it is
	// offloaded. The default 0 means as long as it likes. To hand over reals that have settled
	// there makes loads jump, and lines move in answer.
	Dwell time.Duration
	// CheckPeriod is the time between two offload and ghost checks, default 200 ms.
	CheckPeriod time.Duration
	// GhostBudget is the most ghosts that a cell makes in one check, default 200.
	GhostBudget int
	// CheckBudget is the most reals that one check looks at, default 4000, which takes about a
	// millisecond. Only reals near a line and those with ghosts count. If there are more, the next
	// check goes on with them, and their ghosts and handovers come that much later.
	CheckBudget int
	// BackupPeriod is how often each real is backed up to its base, default 10 s: the most that the
	// death of a CellApp sets an entity back. Reals are also backed up when they are created.
	BackupPeriod time.Duration
	// MaxReals is how many reals a cell may have and still take one that is teleported to it; 0,
	// the default, is no limit. Entities that are made there or walk in over a border are always
	// taken.
	MaxReals int
	// OrphanGrace is how long a ghost whose real's CellApp died waits for the restored real,
	// default 10 s, so that players do not see it vanish and come back. That of an entity without a
	// base, which nobody restores, goes at once.
	OrphanGrace time.Duration
	// LoadAhead is how far beyond Border.GhostDistance around a cell its geometry should be loaded,
	// in metres, default 250. Lines can move so far at once. A smaller value loads less, but lines
	// then follow a crowd in shorter steps. See Cell.ToLoad.
	LoadAhead float32
	// TopSpeed is the highest speed of an entity in m/s, default 30. It sets how far ghosts must
	// reach; see Border.
	TopSpeed float32
	// ClientTopSpeed is how fast a client may move its entity, in m/s, at most TopSpeed; default 0:
	// clients are not checked. Real.SetTopSpeed sets it for one entity. See "Who moves a player" in
	// the package documentation.
	ClientTopSpeed float32
	// ArtificialLoad, in nanoseconds of work per real and second, replaces measured work in the
	// load of cells if it is not zero, so that cuts do not depend on the machine. A ghost counts a
	// tenth, and a real at least what SetArtificialLoad gave it.
	ArtificialLoad int64
	// LoadWeight is the weight of a tick's load in the smoothed load of each real and of the cell,
	// in thousandths; default load.DefaultWeight, a twentieth. A larger weight shows a crowd
	// earlier; a smaller one lets lines rest.
	LoadWeight load.Weight
	// Overload sets what a CellApp saves when it has too much to do; its zero fields have defaults
	// of their own.
	Overload overload.Config
	// Witness sets how players are told what they see; its zero fields have defaults of their own,
	// but for MaxRadius, which is AoIRadius by default: the turns of those in sight are spread over
	// what can be seen.
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
	c.CheckBudget = cmp.Or(c.CheckBudget, DefaultCheckBudget)
	c.BackupPeriod = cmp.Or(c.BackupPeriod, DefaultBackupPeriod)
	c.OrphanGrace = cmp.Or(c.OrphanGrace, DefaultOrphanGrace)
	c.TopSpeed = cmp.Or(c.TopSpeed, DefaultTopSpeed)
	c.LoadAhead = cmp.Or(c.LoadAhead, DefaultLoadAhead)
	c.LoadWeight = cmp.Or(c.LoadWeight, load.DefaultWeight)
	c.Overload = c.Overload.WithDefaults()
	c.Witness.MaxRadius = cmp.Or(c.Witness.MaxRadius, max(c.AoIRadius, 0)) // a fault is told once
	ghosts := c.Border.GhostDistance
	if c.Border = c.Border.WithDefaults(); ghosts == 0 {
		c.Border.GhostDistance = max(c.Border.GhostDistance, c.leastGhostDistance())
	}
	return c
}

// leastGhostDistance is the farthest that players may see beyond a line before ghosts are checked
// again.
func (c *Config) leastGhostDistance() float64 {
	return float64(c.AoIRadius) + float64(c.AoIHysteresis) + c.Border.Band + float64(float64(c.TopSpeed)*c.CheckPeriod.Seconds())
}

// farthestAoI is how far an area of interest may reach, with its hysteresis: beyond that ghosts may
// be missing.
func (c *Config) farthestAoI() float32 {
	return c.AoIRadius + c.AoIHysteresis + float32(c.Border.GhostDistance-c.leastGhostDistance())
}

// Validate reports all faults of a configuration whose defaults are filled in.
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
	positive("CheckBudget", c.CheckBudget > 0)
	positive("BackupPeriod", c.BackupPeriod > 0)
	positive("OrphanGrace", c.OrphanGrace > 0)
	positive("TopSpeed", c.TopSpeed > 0)
	positive("LoadAhead", c.LoadAhead > 0)
	if !(c.ClientTopSpeed >= 0 && c.ClientTopSpeed <= c.TopSpeed) {
		faults = append(faults, fmt.Errorf("space: ClientTopSpeed %g m/s must be from 0 to TopSpeed, %g m/s; leave it zero for no check", c.ClientTopSpeed, c.TopSpeed))
	}
	if c.MaxReals < 0 {
		faults = append(faults, errors.New("space: MaxReals must not be negative; zero means no limit"))
	}
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
