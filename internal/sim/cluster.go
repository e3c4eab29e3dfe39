package sim

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/netip"
	"runtime/debug"
	"time"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/baseappmgr"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/loginapp"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/internal/invariant"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellapp"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/cellscape/cellscape/space/overload"
)

const never = time.Duration(math.MaxInt64)

// Options say what a run is. Everything else follows from them.
type Options struct {
	Seed uint64
	// Processes and crowd. Defaults: 4 CellApps, 2 BaseApps, 10 players, 8 rovers; a negative
	// number means none.
	CellApps, BaseApps, Players, Rovers int
	// Lodgers is how many entities live in rooms of their own, which come and go. Default none.
	Lodgers int
	// Churn says that now and then, in the bad time, players log out or vanish.
	Churn bool
	// Rogues is how many of the players misbehave in the bad time. Default none.
	Rogues int
	// Faults is how long the bad time lasts, default 20 s. Crash and Pause say whether CellApps
	// crash and any process pauses in it, CrashBase whether BaseApps crash, CrashLogin whether
	// LoginApp and BaseAppMgr do, CrashManager whether the CellAppMgr does and comes back with a
	// higher term, Cut whether pairs of processes are parted, Noise whether strangers send rubbish
	// and replays.
	Faults                                                        time.Duration
	Crash, CrashBase, CrashLogin, CrashManager, Pause, Cut, Noise bool
	// Sever says that now and then, in the bad time, a player loses its channel, and comes back by itself.
	Sever bool
	// Replicas is how many BaseApps hold a copy of each base; 0 for none, and then a BaseApp's death ends
	// its bases.
	Replicas int
	// MoveBatch is how many bases go to other BaseApps at a time; 0 for the default.
	MoveBatch int
	// Shed says when bases move from a BaseApp that has more than others; the zero value never.
	Shed baseappmgr.ShedConfig
	// Retire says that cells retire every few seconds and that now and then, in the bad time, a
	// whole CellApp does, which starts anew once it has retired. It has no effect on a Policy.
	Retire bool
	// Geometry says that the space has land, which cells load; see theLand. StripTime is the
	// longest time that it takes to load a strip of it, default 600 ms.
	Geometry  bool
	StripTime time.Duration
	// Gateway opens gateways; see inward and eastward.
	Gateway bool
	// Balance replaces the balance of the space if it is not zero.
	Balance Balancing
	// Load is the work of a real in nanoseconds per second, default 30e6. Overload is what CellApps
	// do that have too much to do, Logins when the world is full; the defaults never act.
	Load     int64
	Overload overload.Config
	Logins   cellappmgr.LoginConfig
	// Wild makes the world wilder; see its fields.
	Wild Wild
	// Lossy says that clients are told of some properties of others, and of the calls of others, in
	// packets that may be lost.
	Lossy bool
	// Budget is how many bytes a player is told in a tick, and MaxWait the number of ticks after
	// which a place goes to the front if that does not suffice. 0 is the witness's default.
	Budget, MaxWait int
	// LeastBudget is how far the budget falls for a player whose path carries less; 0 is the
	// witness's default.
	LeastBudget int
	// Recorded says that the players' space is recorded, and that the recording is played back at the
	// end; see tapes.go.
	Recorded bool
	// Gift is how many bytes a player downloads when it has come. Default none.
	Gift int
	// MTU is the longest datagram; 0 is mercury's default.
	MTU int
	// Lookout says that processes can look at each other, so that most deaths are known at once. Of
	// the crashes, one in four takes its machine with it.
	Lookout bool
	// HangTimeout is that of the CellAppMgr; 0 is its default. With Lookout, a short one has slow processes
	// declared dead that live.
	HangTimeout time.Duration
	// Link is the network in the bad time; the zero value draws one.
	Link mercurytest.Link
	// Seats is at how many places a CellAppMgr may lead, with a BaseAppMgr beside each: one leads, and the
	// others stand by. 0 is a CellAppMgr without a Seat, whose term the simulator counts.
	Seats int
	// Tamper, if not nil, sees every message before its app, and may change it or drop it by
	// returning nil: that is how bugs are planted.
	Tamper func(p *Process, ch mercury.ChannelID, reliable bool, msg []byte) []byte
	// Sealed says that the cluster has keys: its processes prove to each other that they are of it.
	Sealed bool
	// Slow says that now and then, in the bad time, an app has only a tenth of its processor.
	Slow bool
	// Starved says that CellApps share their machine with others that want all of it, until the network
	// has healed. Loads are then measured.
	Starved bool
	// MaxQueued is the limit of queues, and of messages if it is smaller than theirs; 0 means
	// mercury's.
	MaxQueued int
	// TraceTo gets the trace as text; Log gets the processes' logs.
	TraceTo io.Writer
	// Kept is the store of an earlier run, from which the world starts; nil for an empty one.
	Kept *memory.Store
	Log  *slog.Logger
}

func (o Options) withDefaults() Options {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&o.CellApps, 4)
	def(&o.BaseApps, 2)
	def(&o.Players, 10)
	def(&o.Rovers, 8)
	switch {
	case o.Starved:
		o.Load = 0
	case o.Load == 0:
		o.Load = 30e6
	}
	if o.Overload == (overload.Config{}) {
		o.Overload.Start = 1000
	}
	if o.Logins == (cellappmgr.LoginConfig{}) {
		o.Logins.Always = true
	}
	if o.Balance.Policy == nil {
		o.Balance.Policy = balance.ProfileConfig{TargetLoad: 0.1}
		o.Balance.MetaPeriod = time.Second // more happens in a run
	}
	if o.Balance.Border.GhostDistance == 0 {
		o.Balance.Border.GhostDistance = ghostDistance
	}
	if o.StripTime == 0 {
		o.StripTime = 600 * time.Millisecond
	}
	if o.Wild.Tight && o.Budget == 0 {
		o.Budget = tightBytes
	}
	if o.Faults == 0 {
		o.Faults = 20 * time.Second
	}
	return o
}

// Cluster is a run in progress.
type Cluster struct {
	opts   Options
	now    time.Duration
	chance *rand.Rand
	// fate is the chance of the CellAppMgr alone: runs in which it lives are the same with and
	// without it.
	fate *rand.Rand
	// leaving is the chance of CellApps to retire alone, for the same reason.
	leaving *rand.Rand
	// digging is the chance of how long land takes to load, for the same reason.
	digging *rand.Rand
	// seeing is the chance of looks alone, for the same reason.
	seeing   *rand.Rand
	severing *rand.Rand // of players' channels
	terms    uint32     // starts of a CellAppMgr
	net      *mercurytest.Network
	trace    *Trace
	world    *world

	procs    []*Process
	byPlace  map[netip.AddrPort]*Process
	manager  *Process
	seats    []*seat
	dbApp    *Process // nil without a store
	cellApps []*Process
	baseApps []*Process
	logins   []*Process // BaseAppMgr and LoginApp
	players  []*player
	twins    []*twin
	observer *observer
	noise    noise
	cuts     []cut
	deaf     bool          // nobody checks what clients hear, which would show a planted bug before its own checker does
	slowJobs time.Duration // how long each job takes, besides some milliseconds
	parted   bool          // two living processes could not reach each other for a while
	orders   spaceOrders

	wild   streams
	bad    bool // the bad time
	held   []heldMessage
	holdAt time.Duration // when the held messages are next looked at

	breaking, dooming strikes
	doomed            []doom

	sluggish sluggish
	checkers []checker
	// seenThrough counts the figures that clients had in sight at rest, throughFresh the places of them
	// that were judged while they walked.
	seenThrough, throughFresh int
	fresh                     *placesFresh
	tapes                     *tapes // nil if nothing is recorded
	checkAt                   time.Duration
	calm                      bool // no more faults
	still                     bool // the world is frozen, or about to be
	stillAt                   time.Duration
	panics                    uint64 // of brittle scripts
	losses                    int    // processes that crashed or started anew, and sessions that ended
}

const (
	portManager = 1 + iota
	portBaseAppMgr
	portLogin
	portObserver
	portSeats // two for each but the first
	portDBApp
	portLogin2   // of tests with two LoginApps
	portBaseApps = 10
	portCellApps = 30
	portSeatDBs  = 90 // the DBApps of seats
	portPlayers  = 100
	portTwins    = 200
)

// New makes a cluster that has not started.
func New(o Options) (*Cluster, error) {
	o = o.withDefaults()
	w, err := newWorld(o)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		opts: o, chance: rand.New(rand.NewPCG(o.Seed, 0xce11)), fate: rand.New(rand.NewPCG(o.Seed, 0xfa7e)), leaving: rand.New(rand.NewPCG(o.Seed, 0x1ea7)),
		digging: rand.New(rand.NewPCG(o.Seed, 0xd166)), seeing: rand.New(rand.NewPCG(o.Seed, 0x5ee1)), severing: rand.New(rand.NewPCG(o.Seed, 0x5e7e1)),
		net:   mercurytest.New(o.Seed),
		trace: newTrace(o.TraceTo), world: w, wild: w.chance, byPlace: make(map[netip.AddrPort]*Process),
	}
	c.breaking = strikes{chance: c.wild.breaks, kinds: breakKinds()}
	c.dooming = strikes{chance: c.wild.dooms, kinds: doomKinds()}
	c.fresh = newPlacesFresh(c)
	c.checkers = newCheckers(c)
	c.record()
	w.rough = func() bool { return c.bad }
	w.now, w.onKick, w.around = func() time.Duration { return c.now }, c.kicked, c.around
	w.incarnation, w.audience, w.lossy = c.incarnation, c.audience, c.lossy
	if o.Geometry {
		w.cells.OnArea(loadLand)
	}
	c.sluggish = newSluggish(o.Seed)
	c.net.SetLink(cleanLink())
	if o.Seats > 0 {
		c.addSeats(o.Seats)
	} else {
		c.manager = c.add("cellappmgr", portManager, c.makeCellAppMgr)
		c.logins = append(c.logins, c.add("baseappmgr", portBaseAppMgr, c.makeBaseAppMgr))
	}
	c.logins = append(c.logins, c.add("loginapp", portLogin, c.makeLoginApp))
	if o.Wild.stores() && len(c.seats) < 2 {
		c.dbApp = c.add("dbapp", portDBApp, c.makeDBApp)
	}
	c.observer = &observer{c: c}
	c.add("observer", portObserver, c.observer.make)
	for i := range o.BaseApps {
		c.baseApps = append(c.baseApps, c.add(fmt.Sprintf("baseapp%d", i+1), portBaseApps+i, c.makeBaseApp))
	}
	for i := range o.CellApps {
		c.cellApps = append(c.cellApps, c.add(fmt.Sprintf("cellapp%d", i+1), portCellApps+i, c.makeCellApp))
	}
	for i := range o.Players {
		pl := newPlayer(c, i)
		pl.rogue = i < o.Rogues
		pl.p = c.add(pl.name, portPlayers+i, pl.make)
		c.players = append(c.players, pl)
	}
	for i := range o.Wild.Twins {
		t := &twin{c: c, last: i == 0, ends: map[protocol.Code]int{}}
		t.p = c.add(fmt.Sprintf("twin%d", i+1), portTwins+i, t.make)
		c.twins = append(c.twins, t)
	}
	for _, p := range c.procs {
		// Nothing is doubled on this way: answers are compared with what was said.
		c.net.SetLinkBetween(mercurytest.Place(portStranger), p.at, cleanLink())
	}
	return c, nil
}

// cleanLink is the network when nothing is wrong.
func cleanLink() mercurytest.Link {
	return mercurytest.Link{Delay: 2 * time.Millisecond, Jitter: time.Millisecond}
}

func (c *Cluster) add(name string, port int, make func(*Process) (App, error)) *Process {
	p := &Process{Name: name, at: mercurytest.Place(port), port: uint16(port), c: c, make: make}
	c.procs = append(c.procs, p)
	c.byPlace[p.at] = p
	return p
}

func (c *Cluster) portOf(at netip.AddrPort) uint16 {
	if p := c.byPlace[at]; p != nil {
		return p.port
	}
	return 0
}

func (c *Cluster) managerAt() netip.AddrPort { return mercurytest.Place(portManager) }

func (c *Cluster) makeCellAppMgr(p *Process) (App, error) {
	c.terms++
	cfg := c.managerConfig(p)
	cfg.Term = c.terms
	return cellappmgr.New(cfg)
}

func (c *Cluster) managerConfig(p *Process) cellappmgr.Config {
	policy := c.opts.Balance.Policy
	var land bsp.Rect
	if c.opts.Geometry {
		land = theLand()
	}
	if c.opts.Retire && !c.opts.Balance.Calm {
		policy = restlessConfig{policy, c}
	}
	var lookout cellappmgr.Lines
	if c.opts.Lookout {
		lookout = p
	}
	area := bsp.Rect{MinX: -half, MinZ: -half, MaxX: half, MaxZ: half}
	spaces := []cellappmgr.SpaceConfig{{ID: theSpace, Bounds: area, Geometry: land}}
	if c.opts.Gateway {
		spaces = append(spaces, cellappmgr.SpaceConfig{ID: theOther, Bounds: area})
	}
	cfg := cellappmgr.Config{
		Policy:  policy,
		Lookout: lookout, HangTimeout: c.opts.HangTimeout,
		Transport: p.ep, Log: p.log(), Schema: c.world.schema,
		Spaces:  spaces,
		Balance: c.opts.Balance.Config, Border: c.opts.Balance.Border,
		Logins:      c.opts.Logins,
		MinCellApps: c.opts.CellApps,
		Stores:      c.world.books != nil,
	}
	if c.world.books != nil {
		cfg.Numbers, cfg.Jobs = troubled{c.world.books.kept, c.world.books}, p
	}
	return cfg
}

func (c *Cluster) makeBaseAppMgr(p *Process) (App, error) {
	return baseappmgr.New(c.baseAppMgrConfig(p, c.managerAt()))
}

func (c *Cluster) baseAppMgrConfig(p *Process, manager netip.AddrPort) baseappmgr.Config {
	shed := c.opts.Shed
	if shed == (baseappmgr.ShedConfig{}) {
		shed.Off = true
	}
	return baseappmgr.Config{Transport: p.ep, Manager: manager, Schema: c.world.schema, MaxProxies: c.maxProxies(), Log: p.log(), Shed: shed}
}

// maxProxies is how many proxies logins may make a BaseApp have; 0 for no bound.
func (c *Cluster) maxProxies() int {
	if c.opts.Logins.Always {
		return 0
	}
	return c.opts.Logins.WithDefaults().MaxProxies
}

func (c *Cluster) makeLoginApp(p *Process) (App, error) {
	return loginapp.New(loginapp.Config{
		Transport: p.ep, Manager: c.managerAt(), Managers: c.places(), Schema: c.world.schema, Auth: loginapp.AcceptAll{}, Jobs: p, Log: p.log(),
		Queue: c.opts.Logins.Queue,
	})
}

// resumeTime is how long the place is kept of a player whose channel is lost. Those who vanish in the
// bad time are gone soon after it.
const resumeTime = 8 * time.Second

// backups is the time between two backups of a base.
func (c *Cluster) backups() time.Duration {
	if c.opts.Replicas == 0 {
		return -1
	}
	return backupPeriod
}

func (c *Cluster) makeBaseApp(p *Process) (App, error) {
	return baseapp.New(baseapp.Config{
		Transport: p.ep, Manager: c.managerAt(), Managers: c.places(), Schema: c.world.schema, Scripts: c.world.scripts(p), Lookout: p,
		PlayerType: "Walker", Secrets: p.secrets, Log: p.log(), ResumeTime: resumeTime, BackupPeriod: c.backups(), BackupReplicas: c.opts.Replicas, MoveBatch: c.opts.MoveBatch,
		Stored: c.world.stored(), ArchivePeriod: 5 * time.Second, BringBack: c.world.returning(), Meters: status.Meters{CPU: func() time.Duration { return p.toil }},
		Start: func(s *baseapp.Starter) {
			c.lightBeacons(s)
			for _, k := range c.population() {
				for range c.share(p, k.n) {
					if _, err := s.CreateBase(k.typeName, nil); err != nil {
						c.fail(fmt.Errorf("%s: %w", k.typeName, err))
					}
				}
			}
		},
	})
}

// share is how many of n entities a BaseApp makes at its first start.
func (c *Cluster) share(p *Process, n int) int {
	share := 0
	for i := range n {
		if c.baseApps[i%len(c.baseApps)] == p && p.starts == 1 {
			share++
		}
	}
	return share
}

func (c *Cluster) makeCellApp(p *Process) (App, error) {
	cells := space.Config{
		AoIRadius: aoiRadius, AoIHysteresis: aoiHysteresis, Border: c.opts.Balance.Border, LoadAhead: loadAhead, TopSpeed: 60, ClientTopSpeed: float32(walkSpeed / tick.Seconds()),
		// Under odd seeds, reals that rest within the band are handed over, too; under even ones
		// they stay beyond their cells for as long as they like, as by default.
		Dwell:        time.Duration(c.opts.Seed%2) * time.Second,
		BackupPeriod: 4 * time.Second, ArtificialLoad: c.opts.Load, Overload: c.opts.Overload,
		Witness: witness.Config{BytesPerTick: c.opts.Budget, LeastBytesPerTick: c.opts.LeastBudget, MaxWait: c.opts.MaxWait},
	}
	c.tighten(&cells)
	var clock, work func() time.Duration
	if c.opts.Starved {
		p.starved = newStarved(p)
		clock, work = p.wall, p.labour
	}
	return cellapp.New(cellapp.Config{
		Meters: status.Meters{Clock: clock}, Work: work,
		Transport: p.ep, Manager: c.managerAt(), Managers: c.places(), Scripts: c.world.cells, Chance: p.random(), Jobs: landJobs{p, c.digging}, Lookout: p, Log: p.log(), Space: cells,
		Recorder: c.recorder(p),
	})
}

// ErrStuck is returned when simulated time cannot go on.
var ErrStuck = errors.New("sim: nothing is due any more")

type failure struct{ err error }

// fail ends the run with an error, from within a callback.
func (c *Cluster) fail(err error) { panic(failure{err}) }

// step goes to the next event and does it. Events at the same time come in the order of the
// processes' list, so that the order never depends on a map.
func (c *Cluster) step(until time.Duration) error {
	c.now = max(c.now, c.nextEvent(until))
	c.net.Deliver(c.now, func(from, to netip.AddrPort, data []byte) {
		if p := c.byPlace[to]; p != nil {
			p.receive(from, data)
		}
	})
	for _, p := range c.procs {
		if err := c.turn(p); err != nil {
			return err
		}
	}
	c.fulfil()
	if len(c.held) > 0 && c.now >= c.holdAt {
		c.release()
	}
	return c.checkSafe()
}

// nextEvent is when something is due next, at the latest until.
func (c *Cluster) nextEvent(until time.Duration) time.Duration {
	next := until
	if t, ok := c.net.NextArrival(); ok {
		next = min(next, t)
	}
	for _, p := range c.procs {
		next = min(next, p.due())
		if !p.alive && p.restartAt > 0 {
			next = min(next, p.restartAt)
		}
	}
	next = min(next, c.checkAt, c.nextDoom())
	if len(c.held) > 0 {
		next = min(next, c.holdAt)
	}
	return next
}

// turn gives a process its turn: it dies, comes back, runs, or starts anew, as far as that is due.
func (c *Cluster) turn(p *Process) error {
	if p.dying {
		p.crash()
	}
	if !p.alive && p.restartAt > 0 && p.restartAt <= c.now {
		if err := p.start(); err != nil {
			return err
		}
	}
	if p.due() <= c.now {
		p.run()
	}
	if a, ok := p.app.(interface{ Ended() bool }); ok && a.Ended() {
		c.trace.Event(c.now, "ended", "%s", p.Name)
		p.crash()
		return nil
	}
	if d, ok := p.app.(interface{ Dismissed() bool }); ok && d.Dismissed() {
		p.anew = true
	}
	if a, ok := p.app.(interface{ Retired() bool }); ok && c.opts.Retire && a.Retired() {
		p.anew = true
	}
	if !p.alive || !p.anew {
		return nil
	}
	p.anew = false
	c.trace.Event(c.now, "anew", "%s", p.Name)
	p.crash()
	return p.start()
}

// checkSafe asks every checker, when that is due, whether its promise has held so far.
func (c *Cluster) checkSafe() error {
	if c.now < c.checkAt {
		return nil
	}
	c.checkAt = c.now + 50*time.Millisecond
	for _, k := range c.checkers {
		if err := k.safe(); err != nil {
			return fmt.Errorf("at %v: %w", c.now, err)
		}
	}
	return nil
}

// maxSteps bounds a phase: a live-lock at one instant of simulated time must not hang the test.
const maxSteps = 5_000_000

// runFor lets simulated time pass.
func (c *Cluster) runFor(d time.Duration) error { return c.runUntil(d, nil) }

// runUntil lets time pass until done returns true or d is over.
func (c *Cluster) runUntil(d time.Duration, done func() bool) error {
	until := c.now + d
	for range maxSteps {
		if c.now >= until || done != nil && done() {
			return nil
		}
		if err := c.step(until); err != nil {
			return err
		}
	}
	return ErrStuck
}

// begin starts everyone on a clean network, and waits until all players play.
func (c *Cluster) begin() error {
	for _, p := range c.procs {
		if c.unled(p) {
			continue
		}
		if err := p.start(); err != nil {
			return err
		}
	}
	if err := c.runUntil(20*time.Second, c.allPlaying); err != nil {
		return err
	}
	if !c.allPlaying() {
		return fmt.Errorf("not everyone is playing after 20 s on a clean network: %s", c.notPlaying())
	}
	c.losses = 0 // those who were too early have tried again
	return nil
}

// Run runs all phases; the error says which promise was broken, and when.
func (c *Cluster) Run() error { return c.run((*Cluster).faults) }

// run runs all phases, with a script in place of the bad time.
func (c *Cluster) run(script func(*Cluster) error) (err error) {
	defer func() {
		switch f := recover().(type) {
		case nil:
		case failure:
			err = f.err
		case invariant.Fault:
			err = fmt.Errorf("%w\n%s", f, debug.Stack())
		default:
			panic(f)
		}
		if err != nil {
			err = fmt.Errorf("seed %d: %w", c.opts.Seed, err)
		}
	}()
	if err := c.begin(); err != nil {
		return err
	}
	if err := script(c); err != nil {
		return err
	}
	if err := c.heal(); err != nil {
		return err
	}
	return c.rest()
}

// Result is what came of a run.
type Result struct {
	Trace                     uint64
	Lines                     int
	Cells, Migrations, Deaths int
	Added, LinesMoved         int
	Elapsed                   time.Duration
}

// Result tells what has happened so far.
func (c *Cluster) Result() Result {
	r := Result{Trace: c.trace.Sum(), Lines: c.trace.Lines(), Elapsed: c.now}
	st := c.observer.last
	r.Cells, r.Deaths, r.Added, r.LinesMoved = st.Cells, st.Deaths, st.CellsAdded, st.LinesMoved
	r.Migrations = int(st.Counters.Migrations)
	return r
}
