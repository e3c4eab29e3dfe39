package cellapp

import (
	"cmp"
	"errors"
	"iter"
	"log/slog"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/shared"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/logs"
	"github.com/cellscape/cellscape/internal/trace"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/cellscape/cellscape/space/internal/hosting"
	"github.com/cellscape/cellscape/space/overload"
)

// CellApp runs cells. Only its runner calls its methods, on one goroutine.
type CellApp struct {
	cfg     Config
	log     *slog.Logger
	links   app.Links
	manager app.Member

	number    uint32
	alloc     *app.Allocator
	shift     time.Duration // time of the cluster minus the app's clock
	dismissed bool
	retire    bool   // the game has asked for it
	reason    string // of retiring
	retired   bool
	leaveBy   time.Duration // see LastWords; 0 while it has not retired
	left      bool
	shelved   []shelved         // results of jobs that came while no script may be called
	broken    []mercury.Address // apps to which a channel has ended

	routes  app.Routes[sender]
	watches app.Watches
	trace   *trace.Trace
	roster  app.Roster
	door    app.Door
	named   []mercury.Address // by the message at hand; see admit

	cells       []*hostedCell // by space id
	removals    removals
	endings     app.Errands
	population  *space.Population
	stats       *property.Stats
	compressor  property.Compressor
	jobs        map[uint64]func(result any) // under way, by token
	lastJob     uint64                      // token
	looks       app.Looks
	said        app.Said // space data that the manager has not answered
	shared      *app.Shared
	counters    status.Counters
	lines       logs.Limit
	watch       *load.Stopwatch
	own         load.Meter // work done for no cell
	measuredAt  time.Duration
	throttle    *overload.Throttle
	packet      wire.ClientPacket // scratch of ClientPacket
	inner       []byte            // scratch of passed
	pressure    int64             // see feelBacklog
	strain      int64             // smoothed; see feelStrain
	ticks       app.Ticks
	next        time.Duration // when Tick is due
	report      wire.Report
	cellsReport wire.CellsReport
	reportAt    time.Duration
	statReports app.Reports
}

// New returns a CellApp that joins its manager at its first tick.
func New(cfg Config) (*CellApp, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Tick = cmp.Or(cfg.Tick, DefaultTick)
	cfg.ReportPeriod = cmp.Or(cfg.ReportPeriod, DefaultReportPeriod)
	cfg.Space = cfg.Space.WithDefaults()
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	var level logs.Level
	cfg.Log, level = logs.Leveled(cfg.Log)
	a := &CellApp{cfg: cfg, log: cfg.Log}
	a.trace = trace.New(cfg.Log)
	a.throttle = overload.New(cfg.Space.Overload)
	a.stats = property.NewLoggedStats(cfg.Scripts.Schema(), cfg.Log)
	if cfg.Work == nil {
		cfg.Work = cfg.Clock
	}
	if cfg.Work != nil {
		a.watch = load.NewStopwatch(cfg.Work)
	}
	a.links.Transport, a.links.Log = cfg.Transport, cfg.Log
	a.route()
	a.shared = app.NewShared(&a.said)
	a.population = a.newPopulation()
	a.ticks = app.Ticks{Period: cfg.Tick, Clock: cfg.Clock}
	a.manager = app.NewMember(&a.links, cfg.Manager, wire.Join{Role: wire.CellApp, Digest: cfg.Scripts.Schema().Digest})
	a.manager.Among(cfg.Managers...)
	a.looks.Lookout = cfg.Lookout
	a.endings = app.NewErrands(&a.manager, app.MaxEndings)
	a.said = app.NewSaid(&a.manager)
	return a, a.show(level)
}

func (a *CellApp) newPopulation() *space.Population {
	env := hosting.Env{
		Self: a.cfg.Transport.Self(), Out: a.outbox(), Shared: a.shared, Counters: &a.counters,
		Chance: a.cfg.Chance, Log: a.log, Watch: a.watch, Stats: a.stats, Compressor: &a.compressor,
		Parallel: a.cfg.Parallel, Workers: a.cfg.Workers, Trace: a.trace, Recorder: a.cfg.Recorder,
	}
	if a.cfg.Jobs != nil {
		env.Do = a.doJob
	}
	return space.NewPopulation(a.cfg.Space, a.cfg.Scripts, env)
}

// Dismissed reports whether the CellApp was declared dead and must be started anew, under a new
// salt.
func (a *CellApp) Dismissed() bool { return a.dismissed && !a.Ended() }

// Joined reports whether the manager has welcomed the CellApp.
func (a *CellApp) Joined() bool { return a.alloc != nil }

// Number is the CellApp's number in the cluster, from 1; 0 until it has joined.
func (a *CellApp) Number() uint32 { return a.number }

// Shared is the CellApp's copy of what the cluster shares, for viewers and tests; scripts have
// space.Real.Shared.
func (a *CellApp) Shared() shared.Data { return a.shared }

// Cells yields the cells, ordered by space.
func (a *CellApp) Cells() iter.Seq[space.Hosted] {
	return func(yield func(space.Hosted) bool) {
		for _, c := range a.cells {
			if !yield(c.Hosted) {
				return
			}
		}
	}
}

// Rehoused tells the app where Config.Managers are now, in the same order; one of which no address is known
// is not valid. A channel that is open stays.
func (a *CellApp) Rehoused(places []netip.AddrPort) { a.manager.Rehoused(places) }

// Tick runs a tick if one is due and returns when the next one is.
func (a *CellApp) Tick(now time.Duration) (next time.Duration) {
	a.next = a.tick(now)
	return a.next
}

func (a *CellApp) tick(now time.Duration) (next time.Duration) {
	if a.dismissed {
		return now + a.cfg.Tick
	}
	if a.retired {
		a.lastWords(now)
		return now + a.cfg.Tick
	}
	if a.disturbed() {
		a.wake(now)
	}
	if !a.ticks.Begin(now) {
		if a.ticks.Resting() {
			return a.ticks.Next()
		}
		a.population.TellEarly(now)
		return a.nextTurn(now)
	}
	a.watch.Enter(&a.own)
	a.links.Tick(now)
	a.shared.Tick(now)
	a.pressure = a.feelBacklog()
	a.manager.Tick(now)
	a.endings.Tick()
	a.tickCells(now)
	for _, c := range a.cells {
		a.askGeometry(now, c)
	}
	a.shut(now)
	a.goOn()
	a.save(now)
	a.reports(now)
	a.watch.Leave()
	a.measure(now)
	a.ticks.End(a.ticks.Now(), &a.report)
	return a.rest(now)
}

// Turns is how often in a tick the CellApp sends neighbours the moves that clients have made. A
// move then reaches a player on another CellApp a quarter of a tick later than a player on this
// one. More turns would gain little, and each costs a packet to each neighbour. A CellApp to which
// much comes need not be woken more often: what clients are told waits for the tick, and what
// neighbours are told for the turn.
const Turns = 4

// nextTurn is when the next tick is due, or with neighbours the next turn.
func (a *CellApp) nextTurn(now time.Duration) time.Duration {
	due := a.ticks.Next()
	for _, c := range a.cells {
		if c.Tree().Len() > 1 {
			turn := a.cfg.Tick / Turns
			return due - (due-now-1)/turn*turn
		}
	}
	return due
}

func (a *CellApp) reports(now time.Duration) {
	if !a.manager.Heeds() {
		return
	}
	if now >= a.reportAt {
		a.reportAt = now + a.cfg.ReportPeriod
		a.reportCells(now)
	}
	if a.statReports.Due(now) {
		a.reportStats()
	}
}

func (a *CellApp) reportStats() {
	m := &a.report
	app.Report(m, &a.links, &a.routes, &a.cfg.Meters)
	m.Pending = a.population.ReportedPending()
	m.Counters, m.Told = a.counters, a.population.Told(a.cfg.Tick)
	m.Types = a.dearest(m.Types[:0])
	m.Traffic = app.AppendTraffic(m.Traffic[:0], a.stats)
	a.manager.Send(m)
}

// Pending counts what the CellApp still has to tell others of its entities; see space.Population.
func (a *CellApp) Pending() uint64 { return a.population.Pending() }

// Counters counts what the cells of this CellApp have done since it started.
func (a *CellApp) Counters() status.Counters { return a.counters }

// Backlog describes the channel to another app that was fullest when the last tick began.
func (a *CellApp) Backlog() wire.Backlog { return a.links.Worst() }

// PropertyStats counts the property traffic of the cells since the CellApp started, by type and
// property. Read it on the goroutine of the CellApp only.
func (a *CellApp) PropertyStats() *property.Stats { return a.stats }

// outbox is the CellApp as its cells see it.
type outbox CellApp

func (o *outbox) Send(to mercury.Address, m hosting.Message) {
	o.links.Send(to, m) // which counts what goes wrong
}

func (o *outbox) SendWhole(to mercury.Address, m hosting.Message) error {
	return o.links.SendWhole(to, m)
}

func (o *outbox) PassOn(way hosting.Way, m hosting.Message) {
	o.links.Send(way.To, (*CellApp)(o).passed(way, m))
}

func (o *outbox) Level(to mercury.Address) mercury.Level { return o.links.Level(to) }

// ClientRoom is how many bytes the channel to a BaseApp can take now, less the header of a
// ClientPacket.
func (o *outbox) ClientRoom(base mercury.Address) int {
	return o.links.UnreliableRoom(base) - wire.ClientPacketHead
}

var errNoRoom = errors.New("cellapp: the channel to the BaseApp takes no more now")

func (o *outbox) ClientPacket(base mercury.Address, id entity.ID, order entity.Order, session uint32, packet []byte) error {
	if len(packet) > o.ClientRoom(base) {
		return errNoRoom
	}
	o.packet = wire.ClientPacket{ID: id, Order: order, Session: session, Packet: packet}
	return o.links.SendUnreliable(base, &o.packet)
}

func (o *outbox) DestroySpace(id entity.SpaceID) {
	if !o.endings.DestroySpace(id, o.log) {
		o.counters.Errors++
		o.log.Error("space not destroyed: too many requests wait for the CellAppMgr", "space", id, "waiting", app.MaxEndings)
	}
}

func (o *outbox) Locate(id entity.ID, in entity.SpaceID, position property.Vector3) {
	o.manager.Send(&wire.Locate{ID: id, Space: in, Position: position})
}

func (o *outbox) LocateArea(gateway uint64, in entity.SpaceID, area bsp.Rect) {
	o.manager.Send(&wire.LocateArea{Gateway: gateway, Space: in, Area: area})
}

func (o *outbox) Whereis(near, asker entity.ID) bool {
	home, ok := o.roster.Issuer(wire.BaseApp, near)
	if ok {
		o.links.Send(home, &wire.Whereis{ID: near, Asker: asker})
	}
	return ok
}

func (o *outbox) NewID() (entity.ID, error) {
	if o.alloc == nil {
		return 0, errNotJoined
	}
	return o.alloc.Next()
}

var errNotJoined = errors.New("cellapp: there are no entity ids before the manager's Welcome")

func (o *outbox) Home(id entity.ID) (app mercury.Address, base bool) {
	if o.alloc != nil && o.alloc.Issues(id) {
		return o.cfg.Transport.Self(), false
	}
	h := o.roster.Home(id)
	return h.App, h.Role == wire.BaseApp
}

func (o *outbox) Dead(app mercury.Address) bool { return o.links.Dead(app) }
