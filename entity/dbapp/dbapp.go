package dbapp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/logs"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// DBApp is a mercury.Handler with a Tick and a JobDone; see the package comment.
type DBApp struct {
	cfg     Config
	log     *slog.Logger
	links   app.Links
	routes  app.Routes[sender]
	watches app.Watches
	manager app.Member
	at      mercury.Address // the CellAppMgr, once the channel is open
	roster  app.Roster
	number  uint32 // of the last app that joined

	now     time.Duration
	came    time.Duration // when the first BaseApp joined; -1 before
	ticks   app.Ticks
	lines   logs.Limit
	report  wire.Report
	reports app.Reports

	start     uint64 // of the cluster; 0 while unknown
	beginning bool   // a job begins one
	calls     calls
	ids       map[string]idBlock // by type
	dead      []departed         // whose check-outs will be freed, by time
	spaces    spaces
	bring     bringing
	world     ownWorld
	change    changing
	lease     leasing
	health    [storeUses]trouble
	over      bool // another world has begun in the store
}

// sender is who sent a message.
type sender struct {
	ch   mercury.ChannelID
	app  mercury.Address
	role wire.Role // 0 if nobody has named it
}

// Counts are the present numbers of a DBApp.
type Counts struct {
	// Start is the start of the cluster; 0 while it is unknown.
	Start uint64
	// Waiting are the calls that wait, those under way included, Bytes their size. Jobs are under way.
	Waiting, Bytes, Jobs int
}

// New returns a DBApp that joins the CellAppMgr at its first Tick. The error lists all faults of cfg.
func New(cfg Config) (*DBApp, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Tick = cmp.Or(cfg.Tick, DefaultTick)
	if cfg.Limit == nil {
		cfg.Limit = context.WithCancel
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	var level logs.Level
	cfg.Log, level = logs.Leveled(cfg.Log)
	d := &DBApp{
		cfg: cfg, log: cfg.Log.With("app", "DBApp"), came: -1,
		links: app.Links{Transport: cfg.Transport, Log: cfg.Log},
		ticks: app.Ticks{Period: cfg.Tick, Clock: cfg.Clock},
		calls: newCalls(), ids: make(map[string]idBlock),
	}
	d.manager = app.NewMember(&d.links, cfg.Manager, wire.Join{Role: wire.DBApp, Digest: cfg.Schema.Digest})
	d.bring.asks = app.NewErrands(&d.manager, maxSpacesBringing+1)
	d.route()
	return d, d.show(level)
}

// Counts returns the present numbers.
func (d *DBApp) Counts() Counts {
	return Counts{d.start, len(d.calls.byKey), d.calls.bytes, len(d.calls.jobs)}
}

// Trouble says why the CellAppMgr does not have this DBApp, as far as is known; nil while it has.
func (d *DBApp) Trouble() error { return d.manager.Trouble() }

// Tick joins the CellAppMgr, begins what is due, and reports. It returns when it is due next.
func (d *DBApp) Tick(now time.Duration) (next time.Duration) {
	d.now = now
	if !d.ticks.Begin(now) {
		return d.ticks.Next()
	}
	d.links.Tick(now)
	d.manager.Tick(now)
	d.tickWorld()
	d.tickHealth()
	d.beginStart()
	d.tickLease()
	d.freeDead()
	d.pump()
	d.tickBring()
	d.writeSpaces()
	d.sendReport()
	return d.ticks.End(d.ticks.Now(), &d.report)
}

func (d *DBApp) sendReport() {
	if !d.reports.Due(d.now) {
		return
	}
	app.Report(&d.report, &d.links, &d.routes, &d.cfg.Meters)
	d.report.Pending = uint64(len(d.calls.byKey))
	d.report.Counts.Take("dbapp", d.Counts())
	d.report.Store = d.storeState()
	d.manager.Send(&d.report)
}

// Opened implements mercury.Handler.
func (d *DBApp) Opened(now time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	if !d.links.Member(ch) {
		d.refused(peer, errStranger)
		d.cfg.Transport.Abort(ch)
		return
	}
	if d.manager.Opened(ch) {
		d.at = peer
		if d.manager.Rejoins() {
			r := d.manager.Rejoin()
			d.manager.Send(&r)
			d.manager.Send(&wire.RejoinEnd{})
		}
	}
}

// Closed implements mercury.Handler.
func (d *DBApp) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	d.links.Closed(now, ch, reason)
	if d.manager.Closed(now, ch, reason) {
		d.log.Warn("lost the CellAppMgr, joining again", "reason", reason)
	}
}

var (
	errStranger = errors.New("dbapp: the sender has not proved to be of the cluster")
	errOutdated = errors.New("dbapp: this CellAppMgr is older than the known one, or has not shown its term")
)

// Message implements mercury.Handler.
func (d *DBApp) Message(now time.Duration, ch mercury.ChannelID, _ bool, msg []byte) {
	d.now = now
	from, ok := d.links.From(ch)
	if !ok {
		return // a dead app's last words
	}
	id, body, err := wire.Split(msg)
	s := sender{ch, from, d.roleOf(ch, from)}
	switch {
	case err != nil:
	case !d.links.Member(ch):
		err = errStranger
	case id == wire.JoinID && s.role != wire.CellAppMgr: // the message says what its sender is
		err = d.routes.Handle(s, id, body)
	case !wire.May(s.role, id, wire.DBApp):
		err = fmt.Errorf("dbapp: a %v is not for a %v to say, or nobody has named it yet", id, s.role)
	default:
		err = d.routes.Handle(s, id, body)
	}
	if err != nil {
		d.refused(from, err)
	}
}

func (d *DBApp) roleOf(ch mercury.ChannelID, from mercury.Address) wire.Role {
	if d.manager.Speaks(ch, from) {
		return wire.CellAppMgr
	}
	role, _ := d.roster.Role(from)
	return role
}

// refused counts a message of which nothing becomes.
func (d *DBApp) refused(from mercury.Address, err error) {
	d.report.Refused++
	if unlogged, ok := d.lines.Allow(d.now, "refused"); ok {
		d.log.Warn("message refused", "from", from, "error", err, "unlogged", unlogged)
	}
}

// route registers the handler of each message.
func (d *DBApp) route() {
	r := &d.routes
	app.Try(r, func(_ sender, m *wire.Welcome) error {
		if !d.manager.Welcomed(d.now, m) {
			return errOutdated
		}
		return nil
	})
	app.On(r, func(_ sender, m *wire.Refused) {
		d.log.Error("the CellAppMgr refuses this DBApp", "reason", m.Reason)
		d.manager.Refused(d.now, m.Reason)
	})
	r.Ignore(wire.DismissedID) // the channel ends, and the DBApp joins again
	app.Try(r, d.heeded(func(m *wire.Members) { d.roster.Name(m) }))
	app.Try(r, d.appDead)
	app.Try(r, d.takeStop)
	app.Try(r, d.keepSpace)
	app.Try(r, d.keepOnly)
	app.On(r, func(from sender, m *wire.SpaceBrought) { d.links.Answered(d.now, from.ch, m) })
	app.On(r, func(from sender, m *wire.BroughtBack) { d.links.Answered(d.now, from.ch, m) })
	app.Try(r, d.basesMoved)
	app.RouteWatches(r, &d.links, &d.watches, func(from sender) mercury.ChannelID { return from.ch })
	app.On(r, d.join)
	app.On(r, d.take)
}

func (d *DBApp) heeded(f func(*wire.Members)) func(sender, *wire.Members) error {
	return func(_ sender, m *wire.Members) error {
		if !d.manager.Heeds() {
			return errOutdated
		}
		f(m)
		return nil
	}
}

// join answers a BaseApp that wants to call. It is heard once the CellAppMgr has named it.
func (d *DBApp) join(from sender, j *wire.Join) {
	why := j.Disagreement(d.cfg.Schema.Digest)
	if j.Role != wire.BaseApp {
		why = fmt.Sprintf("a %v does not join the DBApp", j.Role)
	}
	switch {
	case why != "":
		d.links.Reply(from.ch, &wire.Refused{Reason: why})
		d.refused(from.app, fmt.Errorf("dbapp: join refused: %s", why))
	default:
		d.number++
		if d.came < 0 {
			d.came = d.now
			if d.start == 0 && !d.cfg.Fresh {
				d.log.Info("waiting to hear from the BaseApps whether a world lives that goes on", "at most", AdoptTime)
			}
		}
		d.gather(from)
		d.links.Reply(from.ch, &wire.Welcome{Number: d.number, CellAppMgr: d.at, DBApp: d.cfg.Transport.Self()})
	}
}

// departed is a dead BaseApp.
type departed struct {
	allocator uint32
	at        time.Duration
}

// basesMoved notes that bases of a BaseApp are on others, which may take over their rows.
func (d *DBApp) basesMoved(_ sender, m *wire.BasesMoved) error {
	if !d.manager.Heeds() {
		return errOutdated
	}
	d.roster.Departed(m.Departure())
	return nil
}

// appDead takes the verdict on a BaseApp.
func (d *DBApp) appDead(_ sender, m *wire.AppDead) error {
	if !d.manager.Heeds() {
		return errOutdated
	}
	if m.Role != wire.BaseApp || d.links.Dead(m.App) {
		return nil
	}
	d.links.Bury(m.Role, m.App)
	allocator := d.roster.Allocator(m.App)
	if allocator == 0 {
		allocator = m.Allocator
	}
	d.roster.Remove(m.App)
	d.roster.Departed(m.Departure())
	d.calls.drop(m.App)
	d.freeLater(allocator)
	return nil
}
