package baseapp

import (
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/argument"
	"github.com/cellscape/cellscape/internal/logs"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/internal/trace"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// BaseApp is the state machine of a BaseApp process. It is a mercury.Handler.
type BaseApp struct {
	cfg     Config
	log     *slog.Logger
	lines   logs.Limit
	net     *dialler
	links   app.Links
	routes  app.Routes[sender]
	watches app.Watches
	trace   *trace.Trace
	cellMgr app.Member
	baseMgr app.Member
	dbApp   app.Member

	number    uint32
	allocator uint32
	ids       *app.Allocator
	started   bool // Config.Start was called
	// dismissed is true once this start of the app was declared dead.
	dismissed bool
	probes    int // sent in this tick
	// doubted is the CellApp that this tick last asked the CellAppMgr about.
	doubted mercury.Address
	// mournings are the deaths of CellApps of which others may still know something.
	mournings []mourning

	looks app.Looks

	now    time.Duration
	ticks  app.Ticks
	shift  time.Duration // from the app's clock to the time of the cluster
	frozen bool
	paused bool // the world is being stopped; see stop.go
	held   bool // and no script is called any more
	// game is the time of scripts' timers, which stands still while the world is frozen.
	game, gameAt time.Duration

	// list has every base in id order; removed ones stay until sweep.
	list      []*base
	swept     bool    // list has no removed base
	broken    []*base // their scripts have panicked, and they are to go on from their copies
	sealing   sealing
	byID      map[entity.ID]*base
	byToken   map[protocol.Token]*base // by the token of a login
	seats     map[protocol.Token]*seat // by the tokens that resume them
	awaited   []awaited                // clients that came before their bases
	accounts  map[string]*base
	sendings  sendings        // seats that went to other apps
	ended     ended           // sessions, for clients that come back too late
	loggingIn map[string]bool // accounts whose entity is being loaded

	talking talking
	failed  script.Failures[*base]
	early   script.Early[*base]
	passed  flow.Message // scratch for flows of bases

	downloads downloads

	spaceCopies []*spaceCopy // in the order of spaces

	spaces  app.Errands // for new ones
	endings app.Errands // of spaces
	said    app.Said    // space data that the manager has not answered
	shared  *app.Shared
	space   uint64      // number of the last that was asked for
	asks    app.Errands // for bases elsewhere, and names
	asked   uint64      // number of the last of them
	made    made        // bases made for other BaseApps
	ensures []*ensuring // in the order in which they were ensured
	// services are those that run here, in the order of the definitions.
	services []serving
	// baseLoad is scratch, as move is.
	baseLoad wire.BaseLoad

	clients map[mercury.ChannelID]*client
	// silent are channels from outside without a message so far, oldest first.
	silent []silentChannel
	roster app.Roster
	door   app.Door
	// speaking is the CellApp that sent the last message, if nothing has come since that could change who it
	// is. A tick's bundle of a CellApp has a few messages for each player, and to find out each time who may
	// say them would cost as much as to pass them on.
	speaking sender

	stats   *property.Stats
	report  wire.Report
	reports app.Reports
	aliveAt time.Duration
	buf     []byte // scratch for messages to clients
	payload []byte // scratch for flow payloads
	seen    []byte // scratch for clients' Sights
	// Scratch for a client's move and a flow's ack, which else were made on the heap for each player in
	// each tick.
	move  wire.ClientMove
	steer wire.Steer
	ack   flow.Ack

	// Scratch of all calls that scripts make and take.
	arguments  argument.Buffer
	parameters script.Parameters

	compressor property.Compressor

	stores     bool // the cluster has a store
	storing    storing
	storeAsks  app.Errands
	copying    copying
	holding    holding
	leave      leaving
	moving     moving
	stubs      stubs             // of bases that have ended
	goers      []mercury.Address // other BaseApps that will leave
	neighbours []neighbour       // at most one for each app that was ever named
}

// New returns an app that joins the cluster in its first ticks. Errors are those of
// Config.Validate.
func New(cfg Config) (*BaseApp, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.setDefaults()
	var level logs.Level
	cfg.Log, level = logs.Leveled(cfg.Log)
	a := &BaseApp{
		cfg:       cfg,
		log:       cfg.Log,
		net:       &dialler{Transport: cfg.Transport, dialled: make(map[mercury.ChannelID]struct{})},
		ticks:     app.Ticks{Period: cfg.Tick, Clock: cfg.Clock},
		byID:      make(map[entity.ID]*base),
		byToken:   make(map[protocol.Token]*base),
		seats:     make(map[protocol.Token]*seat),
		accounts:  make(map[string]*base),
		loggingIn: make(map[string]bool),
		clients:   make(map[mercury.ChannelID]*client),
		swept:     true,
		buf:       make([]byte, 0, 4<<10),
		payload:   make([]byte, 0, 4<<10),
		sealing:   newSealing(cfg.Secrets),
		stats:     property.NewLoggedStats(cfg.Schema, cfg.Log),
		copying:   newCopying(&cfg),
		holding:   holding{mostCopies: MaxCopies, mostBytes: MaxCopyBytes},
	}
	a.arguments.Large = func(d *property.Definition, m *property.Method, bytes int) {
		a.report.OversizeCalls++
		a.stats.AddOversizeCall(d, m, bytes)
	}
	a.looks.Lookout = cfg.Lookout
	a.links.Transport, a.links.Log = a.net, a.log
	join := wire.Join{Role: wire.BaseApp, Digest: cfg.Schema.Digest}
	a.cellMgr = app.NewMember(&a.links, cfg.Manager, join)
	a.cellMgr.Among(cfg.Managers...)
	a.baseMgr = app.NewMember(&a.links, netip.AddrPort{}, join)
	a.spaces, a.endings = app.NewErrands(&a.cellMgr, MaxSpaceRequests), app.NewErrands(&a.cellMgr, app.MaxEndings)
	a.asks = app.NewErrands(&a.baseMgr, MaxAsks)
	a.dbApp = app.NewMember(&a.links, netip.AddrPort{}, join)
	a.storeAsks = app.NewErrands(&a.dbApp, maxStoreCalls+maxLoads)
	a.said = app.NewSaid(&a.cellMgr)
	a.shared = app.NewShared(&a.said)
	a.moving.asks = app.NewErrands(&a.cellMgr, 1)
	a.route()
	a.findServices()
	a.trace = trace.New(a.log)
	return a, errors.Join(a.newDownloads(), a.show(level))
}

// Dismissed reports whether this start of the app was declared dead. It has dropped everything by
// then, and the runner must start a new app under another salt.
func (a *BaseApp) Dismissed() bool { return a.dismissed && a.leave.state != leaveGone && !a.Ended() }

// Joined reports whether the app has ever had a place in the cluster.
func (a *BaseApp) Joined() bool { return a.ids != nil }

// Number is the app's number in the cluster; 0 before it was welcomed.
func (a *BaseApp) Number() uint32 { return a.number }

// Rehoused tells the app where Config.Managers are now, in the same order; one of which no address is known
// is not valid. A channel that is open stays.
func (a *BaseApp) Rehoused(places []netip.AddrPort) { a.cellMgr.Rehoused(places) }

// Tick does what is due at now, and returns when to call it again.
func (a *BaseApp) Tick(now time.Duration) (next time.Duration) {
	if a.disturbed() {
		a.rouse(now)
	}
	a.now, a.speaking = now, sender{}
	if !a.ticks.Begin(now) {
		return a.ticks.Next()
	}
	if !a.dismissed {
		a.links.Tick(now)
		a.shared.Tick(now)
		a.cellMgr.Tick(now)
		a.baseMgr.Tick(now)
		if !a.frozen && !a.still() {
			a.game += now - a.gameAt
		}
		a.closeSilent()
		a.shut()
		switch {
		case a.held:
			a.tickHeld()
		case a.still():
			a.tickStill()
		default:
			a.tickLife()
		}
		a.sendReport()
	}
	a.gameAt = now
	a.ticks.End(a.ticks.Now(), &a.report)
	return a.rest()
}

// tickLife is what bases do in a tick, and what is done for them.
func (a *BaseApp) tickLife() {
	a.endMourning()
	a.tickEarly()
	a.tickBases()
	a.sendFlows()
	a.tickTalks()
	a.spaces.Tick()
	a.endings.Tick()
	a.tickEnsures()
	a.tickServices()
	a.asks.Tick()
	a.made.expire(a.now)
	a.downloads.tick()
	a.tickKeeping()
	a.tickCopies()
	a.tickStubs()
	a.tickSentOn()
	a.admitAwaited()
	a.tickMove()
	a.tickLeaving()
	a.reviveBroken()
}

func (a *BaseApp) tickBases() {
	a.probes, a.doubted = 0, mercury.Address{}
	a.sweep()
	for i := 0; i < len(a.list); i++ { // scripts may add bases in this loop
		b := a.list[i]
		if !b.removed {
			b.tick()
		}
	}
	a.sweep()
	a.reviveBroken()
}

// sweep takes removed bases out of the list. It must not run while something walks the list.
func (a *BaseApp) sweep() {
	if a.swept {
		return
	}
	kept := a.list[:0]
	for _, b := range a.list {
		if !b.removed {
			kept = append(kept, b)
		}
	}
	clear(a.list[len(kept):])
	a.list, a.swept = kept, true
}

// sendReport sends the CellAppMgr the app's figures once a second, and in between that it is there.
func (a *BaseApp) sendReport() {
	due := a.reports.Due(a.now)
	if !due && a.now < a.aliveAt {
		return
	}
	a.aliveAt = a.now + wire.AlivePeriod
	if !due {
		a.cellMgr.Whisper(&wire.Alive{})
		return
	}
	r := &a.report
	app.Report(r, &a.links, &a.routes, &a.cfg.Meters)
	r.Counts.Take("download", a.downloads.Stats())
	r.Clients, r.Bases, r.Pending = 0, uint32(len(a.list)), 0
	r.Proxies, r.NoRoom = uint32(len(a.accounts)), a.leave.state != leaveNone
	r.Unprotected, r.Copies = a.unprotected(), uint32(a.holding.copies)
	r.Traffic = app.AppendTraffic(r.Traffic[:0], a.stats)
	for _, b := range a.list {
		if b.seat != nil {
			r.Clients++
		}
		if b.link.State() != linkNone {
			r.Pending += uint64(b.link.out.Unreceived())
		}
	}
	for _, t := range a.talking.active {
		r.Pending += uint64(t.out.Unreceived())
	}
	a.cellMgr.Send(r)
	a.baseLoad.Bases, a.baseLoad.CPU = r.Bases, r.CPU
	a.baseMgr.Send(&a.baseLoad)
}

// Counters counts what the app has done since it started.
func (a *BaseApp) Counters() status.Counters { return a.report.Counters }

// Backlog describes the channel to another app that was fullest when the last tick began.
func (a *BaseApp) Backlog() wire.Backlog { return a.links.Worst() }

// PropertyStats counts the changes of base properties sent to clients since the app started, by
// type and property. Read it on the goroutine of the app only.
func (a *BaseApp) PropertyStats() *property.Stats { return a.stats }

// dismiss drops everything after a verdict of death. A process that was only slow must not go on
// beside those that replaced it. Scripts hear nothing of it, since for the cluster their bases are
// long gone.
func (a *BaseApp) dismiss(reason string) {
	if a.dismissed {
		return
	}
	if a.leave.state == leaveAsking { // the answer was lost
		a.depart()
		return
	}
	a.log.Error("declared dead while only slow: dropping all bases", "reason", reason)
	for _, b := range a.list {
		if b.seat != nil {
			b.seat.refuse(protocol.ServerClosing)
		}
	}
	a.dropAll()
}

// dropAll ends what the app has and does, without a word.
func (a *BaseApp) dropAll() {
	a.dismissed = true
	a.dropMove()
	for _, b := range a.list {
		b.removed = true
	}
	a.swept = false
	a.sweep()
	clear(a.byID)
	clear(a.byToken)
	clear(a.seats)
	a.ended = ended{}
	clear(a.accounts)
	a.stubs, a.broken = stubs{}, nil
	a.talking, a.failed = talking{}, script.Failures[*base]{}
	a.spaces.Drop()
	a.endings.Drop()
	a.asks.Drop()
	a.ensures = nil
	a.storeAsks.Drop()
	a.storing = storing{closing: true}
}

func (a *BaseApp) refused(what string, args ...any) {
	a.report.Refused++
	a.log.Debug("refused: "+what, args...)
}

func (a *BaseApp) fault(what string, args ...any) {
	a.report.Errors++
	a.log.Error(what, args...)
}
