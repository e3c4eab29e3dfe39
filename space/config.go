package space

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// Defaults of Config.
const (
	DefaultAoIRadius     = 500
	DefaultAoIHysteresis = 5
	DefaultGhostDistance = 550
	DefaultGhostSlack    = 20
	DefaultBorderBand    = 10
	DefaultCheckPeriod   = 200 * time.Millisecond
	DefaultGhostLife     = 2 * time.Second
	DefaultOffloadBudget = 100
	DefaultGhostBudget   = 200
	DefaultBackupPeriod  = 10 * time.Second
	DefaultOrphanGrace   = 10 * time.Second
	DefaultTopSpeed      = 30
	DefaultOffloadLevel  = 0.02
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
	// GhostDistance is how far beyond a cell's line its neighbour's entities are
	// mirrored, in metres, default 550. A shorter one costs less but players near
	// a line miss what they should see: Validate demands AoIRadius + AoIHysteresis
	// + BorderBand + TopSpeed × CheckPeriod.
	GhostDistance float32
	// GhostSlack is how much farther than GhostDistance a ghost is kept, in
	// metres, default 20.
	GhostSlack float32
	// GhostLife is the least life of a ghost, default 2 s: what runs along a
	// corner would be made and dropped all the time.
	GhostLife time.Duration
	// BorderBand is how far beyond its cell a real goes before it is offloaded, in
	// metres, default 10; along an axis on which the cell is narrower than four of
	// them a quarter of its width. Who steps about a line, or stands near one that
	// moves to and fro, is not handed over again and again so.
	BorderBand float32
	// Dwell is how long a real stays beyond its cell, within BorderBand, before it
	// is offloaded all the same. Default 0: as long as it likes. Handing over those who
	// have settled there makes loads jump, which lines then answer.
	Dwell time.Duration
	// CheckPeriod is the pace of the offload and ghost check, default 200 ms.
	CheckPeriod time.Duration
	// OffloadBudget is how many reals a cell offloads in one check, default 100 in
	// each CheckPeriod, so that a moved line does not stop a tick.
	OffloadBudget int
	// GhostBudget is how many ghosts a cell makes in one check, default 200.
	GhostBudget int
	// BackupPeriod is how often each real is backed up to its base, default 10 s:
	// what a killed CellApp takes back at most. It is backed up when created, too.
	BackupPeriod time.Duration
	// OrphanGrace is how long the ghost of a real whose CellApp died waits for
	// the restored real, default 10 s, so that players do not see it go and come.
	OrphanGrace time.Duration
	// LoadAhead is how far beyond GhostDistance around a cell the geometry of its space is to be loaded, in metres,
	// default 250: as far lines move at once. See Cell.ToLoad. A shorter one loads less and lets lines follow a crowd
	// in shorter steps.
	LoadAhead float32
	// TopSpeed is the speed in m/s that GhostDistance has to allow for, default 30.
	TopSpeed float32
	// ArtificialLoad, in nanoseconds of work per real and second, replaces
	// measured work in the load of cells if not zero: cuts then do not depend on
	// the machine. A ghost counts a tenth; a real not less than what it was given by
	// SetArtificialLoad.
	ArtificialLoad int64
	// OffloadLevel is the load of the largest slice that a cell reports for each of its
	// edges, as a fraction of a core above 0 and at most 1, default 0.02: the most that
	// one move of a line is to carry over. See load.Edges.
	OffloadLevel float64
	// LoadWeight is how much of a tick's load goes into the smoothed one, of each real
	// and of the cell, in thousandths; default load.DefaultWeight, a twentieth. More
	// shows a crowd earlier, less lets lines rest.
	LoadWeight load.Weight
	// Overload is what a CellApp saves at when it has more to do than it can; its zero
	// fields have defaults of their own.
	Overload OverloadConfig
	// Witness is how players are told what they see; its zero fields have defaults
	// of their own.
	Witness witness.Config
}

// WithDefaults returns c with its zero fields filled in.
func (c Config) WithDefaults() Config {
	c.AoIRadius = cmp.Or(c.AoIRadius, DefaultAoIRadius)
	c.AoIHysteresis = cmp.Or(c.AoIHysteresis, DefaultAoIHysteresis)
	c.GhostDistance = cmp.Or(c.GhostDistance, DefaultGhostDistance)
	c.GhostSlack = cmp.Or(c.GhostSlack, DefaultGhostSlack)
	c.GhostLife = cmp.Or(c.GhostLife, DefaultGhostLife)
	c.BorderBand = cmp.Or(c.BorderBand, DefaultBorderBand)
	c.CheckPeriod = cmp.Or(c.CheckPeriod, DefaultCheckPeriod)
	c.OffloadBudget = cmp.Or(c.OffloadBudget, DefaultOffloadBudget)
	c.GhostBudget = cmp.Or(c.GhostBudget, DefaultGhostBudget)
	c.BackupPeriod = cmp.Or(c.BackupPeriod, DefaultBackupPeriod)
	c.OrphanGrace = cmp.Or(c.OrphanGrace, DefaultOrphanGrace)
	c.TopSpeed = cmp.Or(c.TopSpeed, DefaultTopSpeed)
	c.OffloadLevel = cmp.Or(c.OffloadLevel, DefaultOffloadLevel)
	c.LoadAhead = cmp.Or(c.LoadAhead, DefaultLoadAhead)
	c.LoadWeight = cmp.Or(c.LoadWeight, load.DefaultWeight)
	c.Overload = c.Overload.WithDefaults()
	return c
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
	positive("GhostDistance", c.GhostDistance > 0)
	positive("GhostSlack", c.GhostSlack > 0)
	positive("GhostLife", c.GhostLife > 0)
	positive("BorderBand", c.BorderBand > 0)
	positive("CheckPeriod", c.CheckPeriod > 0)
	positive("OffloadBudget", c.OffloadBudget > 0)
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
	if !(c.OffloadLevel > 0 && c.OffloadLevel <= 1) {
		faults = append(faults, fmt.Errorf("space: OffloadLevel %g must be above zero and at most 1, a whole core; leave it zero for the default", c.OffloadLevel))
	}
	if err := c.Overload.Validate(); err != nil {
		faults = append(faults, err)
	}
	if err := c.Witness.Validate(); err != nil {
		faults = append(faults, fmt.Errorf("space: Witness: %w", err))
	}
	if 2*c.BorderBand > bsp.MinSize {
		faults = append(faults, fmt.Errorf("space: BorderBand is %g m; take at most %g m, half of the narrowest cell", c.BorderBand, bsp.MinSize/2))
	}
	if c.Dwell < 0 {
		faults = append(faults, errors.New("space: Dwell must not be negative; zero means none"))
	}
	need := float64(c.AoIRadius) + float64(c.AoIHysteresis) + float64(c.BorderBand) + float64(float64(c.TopSpeed)*c.CheckPeriod.Seconds())
	if float64(c.GhostDistance) < need {
		faults = append(faults, fmt.Errorf("space: GhostDistance %g m is too short: AoIRadius + AoIHysteresis + BorderBand + TopSpeed × CheckPeriod = %g m; raise GhostDistance or lower AoIRadius", c.GhostDistance, need))
	}
	return errors.Join(faults...)
}
