package cellappmgr

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/faults"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// An allocator number has 21 bits: what a store has counted (see numbers.go) or, without one, the
// term, the number of the app in its role, and the role.
//
//	20      13 12        1   0
//	+---------+-----------+------+
//	| term    | app       | base |
//	+---------+-----------+------+
const (
	// MaxTerm is the highest term: more than a manager is started.
	MaxTerm = 1<<31 - 1

	// maxIDTerm is the highest term that ids can hold: a term has 8 bits in them. A manager of a higher one
	// without Config.Numbers goes on with the world that is there, and takes in no new apps and spaces.
	maxIDTerm = 1<<8 - 1

	// MaxStarts is how many CellApps, and how many BaseApps, can join in one term, counting each
	// start of a process. It fills the 12 bits of an allocator.
	MaxStarts = 1<<12 - 1

	termShift, appShift = 13, 1
)

const (
	// MaxMembers bounds the processes and observers that are joined at one time: as many as
	// allocators allow, and as many others.
	MaxMembers = 4 * MaxStarts

	// MaxSpaces bounds the spaces of one cluster at one time, both those of the Config and those
	// that game code creates: each is looked at once in a balance period.
	MaxSpaces = 16384

	// MaxSpaceDataBytes bounds the data of one space, so that an AddCell, which carries all of it
	// beside the tree, stays below mercury's largest message.
	MaxSpaceDataBytes = 512 << 10

	// maxMinLoad is the highest artificial load of a space, in cores: more than any space really
	// has.
	maxMinLoad = 1000

	// maxStep is how many ticks may pass between two inputs before the manager assumes that it was
	// stalled, and that silence during that time proves nothing.
	maxStep = 5

	// defaultHang is Config.HangTimeout: the verdict comes before any app gives up its channel to a
	// process that may still go on. One that has sent nothing is given up by the others after
	// mercury.DefaultInactivity from its last packet, and packets come a second apart at most
	// (mercury.DefaultKeepAlive).
	defaultHang = mercury.DefaultInactivity - mercury.DefaultKeepAlive

	// resend is how long an order stays unconfirmed before it is given again.
	resend = time.Second
)

// SpaceConfig is a space that the manager makes and keeps.
type SpaceConfig struct {
	// ID names the space: 1 to MaxSpaceID, and unique. Higher ids belong to spaces that game code
	// creates.
	ID entity.SpaceID
	// Bounds is where the space's entities can be, in metres: a viewer shows this rectangle, and
	// the first cuts are made in it. It must be finite. Entities may leave it; the cells cover the
	// whole plane.
	Bounds bsp.Rect
	// MinCells is how many cells are wanted whatever the load, as soon as there are CellApps for
	// them; MaxCells is the most that the space is given. The defaults are those of Config.Balance,
	// whose MinCells counts up to MaxCells.
	MinCells, MaxCells int
	// Geometry is what the CellApps have to load for the space, if anything. Until a cell has
	// loaded the land, nobody is let in there and the cell does not grow there. The space's scripts
	// must load it (space.Scripts.OnArea). The zero Rect is a space that loads nothing.
	Geometry bsp.Rect
	// MinLoad is a lower bound that the manager assumes for the load of the space, as a fraction of
	// a core.
	MinLoad float64
	// Keep lets a space that game code created live on when it is empty. The spaces of a Config are
	// always kept, and cannot be destroyed.
	Keep bool
	// KeepFor is how long a space that game code created is kept while nobody is in it; see
	// entity.SpaceInfo.
	KeepFor time.Duration
	// MaxEntities is how many entities the space takes at first, at most spacekey.MostMaxEntities; 0 for
	// no limit. See space.Cell.SetMaxEntities.
	MaxEntities uint32
}

// Config is what a CellAppMgr is made of. Zero fields have the defaults named.
type Config struct {
	// Transport carries the manager's channels. Required.
	Transport mercury.Transport
	// Log gets one line for each event that an operator wants to know of. Default none.
	Log *slog.Logger
	// Schema holds the entity definitions, which every process must share; only its digest is used.
	// Required.
	Schema *property.Schema
	// Spaces are made once MinCellApps CellApps have joined, and live as long as the cluster; game
	// code creates others while it runs. At least one is required.
	Spaces []SpaceConfig
	// Balance says how eagerly cells follow the load. The defaults are those of package balance.
	Balance balance.Config
	// Border is what happens along the lines between cells; the CellApps are given it.
	Border balance.Border
	// Policy makes the policy that plans the cells. Default balance.ProfileConfig{}.
	Policy balance.PolicyConfig
	// Logins says when the world is full and players are refused.
	Logins LoginConfig
	// Term is granted by the runner or a Seat, and is higher at each start: 1 to MaxTerm, default 1. A
	// manager of a term above 1 first hears what apps of an earlier term have.
	Term uint32
	// RecoveryWindow is for how long a manager of a term above 1 waits for apps of an earlier one:
	// until none has come back for so long, and at most five times as long. It must exceed the
	// second that an app lets pass between two attempts to join. A negative value means not to
	// wait, for a world of which no process is left. Default 2 s.
	RecoveryWindow time.Duration
	// MinCellApps is how many CellApps must have joined before spaces are made. Default 1.
	MinCellApps int
	// Stores says that the cluster has a DBApp: BaseApps then keep what is to be kept.
	Stores bool
	// Numbers gives the numbers in ids, so that no entity and no space has one that another has had,
	// whatever starts anew: give the store. Default none: then they are made of the Term, which must
	// not be above 255 for that, and are used again when all of the world has been stopped.
	Numbers Numbers
	// Jobs runs the calls of Numbers. Required with them.
	Jobs Jobs
	// AppTimeout is how long a CellApp or a BaseApp may be silent before it is declared dead unless looks
	// find that its port is open: longer than the second in which they report once. Default 3 s.
	AppTimeout time.Duration
	// HangTimeout is how long one whose port is open may be silent, because it is stopped, lacks a
	// processor or hangs for ever: at least AppTimeout. From mercury.DefaultInactivity (10 s) on,
	// the others give up their channels to it first: what was on its way to it is then told as
	// lost. Default 9 s, or AppTimeout if that is longer.
	HangTimeout time.Duration
	// Lookout looks at the places of processes, so that one whose port is closed, or whose machine
	// answers nobody, is declared dead long before AppTimeout. Default none: only silence tells.
	Lookout Lines
	// ForObservers reports whether a channel came in where only observers may, since the processes of
	// the cluster talk to each other over another network. Default: none did.
	ForObservers func(mercury.ChannelID) bool
	// ReportPeriod is how often observers are told the Status. Default 1 s.
	ReportPeriod time.Duration
	// Tick is the time between ticks. Default 100 ms.
	Tick time.Duration
	// Meters are its clock, and what it says of itself in the status.
	status.Meters
	// Watch adds the game's own values to what the manager shows; see package watch. Default: none.
	Watch func(*watch.Tree)
}

// Validate reports every field that makes no sense, each with its remedy.
func (c Config) Validate() error {
	all := faults.In("cellappmgr: ")
	fault := all.If
	d := c.withDefaults()
	fault(c.Transport == nil, "Transport is nil: give the endpoint that apps join at")
	fault(c.Schema == nil, "Schema is nil: give the entity definitions, from property.Load or property.NewSchema")
	fault(d.Term > MaxTerm, "Term is %d: take 1 to %d", c.Term, MaxTerm)
	fault(c.Numbers != nil && c.Jobs == nil, "Jobs is nil: give the runner's Jobs to whom Numbers is given")
	fault(d.MinCellApps < 1 || d.MinCellApps > MaxStarts, "MinCellApps is %d: take 1 to %d", c.MinCellApps, MaxStarts)
	fault(d.Tick < 0, "Tick is %v: take a positive time, for example 100ms", c.Tick)
	fault(d.AppTimeout < 2*d.Tick || d.AppTimeout <= wire.ReportPeriod, "AppTimeout is %v: take at least twice Tick (%v), and more than the %v in which apps report once", c.AppTimeout, d.Tick, wire.ReportPeriod)
	fault(d.HangTimeout < d.AppTimeout, "HangTimeout is %v: take at least AppTimeout (%v), or 0 for %v", c.HangTimeout, d.AppTimeout, max(defaultHang, d.AppTimeout))
	fault(d.RecoveryWindow > 0 && (d.RecoveryWindow < d.Tick || d.RecoveryWindow <= app.RejoinAfter), "RecoveryWindow is %v: take at least Tick (%v), and more than the %v after which apps try to join again, for example 2s, or less than 0 for none", c.RecoveryWindow, d.Tick, app.RejoinAfter)
	fault(d.ReportPeriod < 0, "ReportPeriod is %v: take a positive time, for example 1s", c.ReportPeriod)
	fault(len(c.Spaces) == 0 || len(c.Spaces) > MaxSpaces, "there are %d Spaces: give 1 to %d", len(c.Spaces), MaxSpaces)
	if err := d.Logins.Validate(); err != nil {
		all.Add(err)
	}
	seen := make(map[entity.SpaceID]bool, len(c.Spaces))
	for i, s := range c.Spaces {
		fault(s.ID == 0 || s.ID > MaxSpaceID, "Spaces[%d].ID is %d: number spaces from 1, up to %d", i, s.ID, MaxSpaceID)
		fault(seen[s.ID], "Spaces[%d].ID is %d again: give every space its own number", i, s.ID)
		if err := s.fault(d.Balance); err != nil {
			all.Add(fmt.Errorf("cellappmgr: Spaces[%d]: %w", i, err))
		}
		fault(s.KeepFor != 0, "Spaces[%d].KeepFor is %v: leave it out, since the spaces of a Config are always kept", i, s.KeepFor)
		seen[s.ID] = true
	}
	if err := errors.Join(d.Balance.Validate(), d.Border.Validate(), d.Policy.Check(d.Balance, d.Border)); err != nil {
		all.Add(fmt.Errorf("cellappmgr: Balance: %w", err))
	}
	return all.Err()
}

// fault says what is wrong with a space, apart from its id. Balance has its defaults.
func (s SpaceConfig) fault(b balance.Config) error {
	all := faults.In("")
	fault := all.If
	fault(!finite(s.Bounds) || s.Bounds.Empty(), "Bounds are %v: give a finite rectangle with minimum below maximum", s.Bounds)
	most := cmp.Or(s.MaxCells, b.MaxCells)
	least := cmp.Or(s.MinCells, min(b.MinCells, most))
	fault(least < 1 || most < least || most > bsp.MaxLeaves, "MinCells is %d and MaxCells %d: take 1 to %d, and MaxCells not below MinCells", least, most, bsp.MaxLeaves)
	fault(s.Geometry != bsp.Rect{} && (!finite(s.Geometry) || s.Geometry.Empty()), "Geometry is %v: give a finite rectangle with minimum below maximum, or leave it zero", s.Geometry)
	fault(s.MaxEntities > spacekey.MostMaxEntities, "MaxEntities is %d: take at most %d, or 0 for no limit", s.MaxEntities, spacekey.MostMaxEntities)
	fault(s.KeepFor != 0 && (s.KeepFor < limits.LeastKeepFor || s.KeepFor > limits.MostKeepFor), "KeepFor is %v: take %v to %v, or 0", s.KeepFor, limits.LeastKeepFor, limits.MostKeepFor)
	fault(s.KeepFor != 0 && s.Keep, "KeepFor is %v, and Keep is set: give one of them, since what is kept does not end by itself", s.KeepFor)
	fault(!(s.MinLoad >= 0 && s.MinLoad <= maxMinLoad), "MinLoad is %v: take 0 to %d", s.MinLoad, maxMinLoad)
	return all.Err()
}

func (c Config) withDefaults() Config {
	c.Term = cmp.Or(c.Term, 1)
	c.MinCellApps = cmp.Or(c.MinCellApps, 1)
	c.AppTimeout = cmp.Or(c.AppTimeout, 3*time.Second)
	c.HangTimeout = cmp.Or(c.HangTimeout, max(defaultHang, c.AppTimeout))
	c.RecoveryWindow = cmp.Or(c.RecoveryWindow, 2*time.Second)
	c.ReportPeriod = cmp.Or(c.ReportPeriod, time.Second)
	c.Tick = cmp.Or(c.Tick, 100*time.Millisecond)
	if c.Policy == nil {
		c.Policy = balance.ProfileConfig{}
	}
	c.Balance, c.Border = c.Policy.Fill(c.Balance), c.Border.WithDefaults()
	c.Logins = c.Logins.WithDefaults()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func finite(r bsp.Rect) bool {
	for _, v := range []float64{r.MinX, r.MinZ, r.MaxX, r.MaxZ} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
