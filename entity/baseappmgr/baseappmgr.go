package baseappmgr

import (
	"cmp"
	"log/slog"
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/logs"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// BaseAppMgr is the manager of BaseApps: a mercury.Handler with a Tick. See the package comment.
type BaseAppMgr struct {
	cfg     Config
	log     *slog.Logger
	links   app.Links
	routes  app.Routes[sender]
	watches app.Watches
	manager app.Member

	lines    logs.Limit
	ticks    app.Ticks
	report   wire.Report
	reports  app.Reports
	term     uint32
	number   uint32 // of the last app that joined
	gameTime time.Duration
	at       mercury.Address // the CellAppMgr, once it has answered

	baseApps  []*knownApp // by address
	loginApps []*knownApp // by address
	accounts  map[string]*account
	turns     uint64 // of LoginApps that wait for room
	unsure    []unsureLogin
	names     names
	// members are the BaseApps that the CellAppMgr has named and not declared dead. Before it has, as
	// named says, nobody knows which there are.
	members []mercury.Address
	named   bool
	// roster tells who has which bases, as far as the CellAppMgr has told.
	roster app.Roster
	// untold are the departures with which bases went that nobody has told of; see heirs.go.
	untold map[migrate.Leave]bool
	shedAt time.Duration // when to look at the loads again
	sheds  int           // orders to shed that were given
}

// Counts is what a BaseAppMgr has now.
type Counts struct {
	BaseApps, LoginApps int
	// Accounts counts those with a proxy and those whose proxy is being made, Pending the latter.
	Accounts, Pending int
	// Names counts the names of bases.
	Names int
}

// New returns a BaseAppMgr that joins the CellAppMgr at its first Tick. The error lists all faults
// of cfg.
func New(cfg Config) (*BaseAppMgr, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Tick = cmp.Or(cfg.Tick, DefaultTick)
	cfg.Shed.setDefaults()
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	var level logs.Level
	cfg.Log, level = logs.Leveled(cfg.Log)
	m := &BaseAppMgr{
		cfg:      cfg,
		log:      cfg.Log.With("app", "BaseAppMgr"),
		links:    app.Links{Transport: cfg.Transport, Log: cfg.Log},
		ticks:    app.Ticks{Period: cfg.Tick, Clock: cfg.Clock},
		accounts: make(map[string]*account),
		names:    names{held: make(map[string]held)},
		untold:   make(map[migrate.Leave]bool),
	}
	m.manager = app.NewMember(&m.links, cfg.Manager, wire.Join{Role: wire.BaseAppMgr, Digest: cfg.Schema.Digest})
	m.route()
	return m, m.show(level)
}

// Counts returns what the manager has now.
func (m *BaseAppMgr) Counts() Counts {
	return Counts{len(m.baseApps), len(m.loginApps), len(m.accounts), m.links.Asked(), len(m.names.held)}
}

// Tick joins the CellAppMgr, ends what waits too long, and reports. It returns when it is due
// next. While nobody waits for anything, that is when the next report is, or a look at the loads.
func (m *BaseAppMgr) Tick(now time.Duration) (next time.Duration) {
	if !m.ticks.Begin(now) {
		return m.ticks.Next()
	}
	m.links.Tick(now)
	m.manager.Tick(now)
	m.tickUnsure(now)
	m.expireEarly(now)
	m.shed(now)
	m.sendReport(now)
	if next = m.ticks.End(m.ticks.Now(), &m.report); m.idle() {
		next = m.ticks.Rest(m.restUntil())
	}
	return next
}

// NextTick is when the next Tick is due, by what has come until now.
func (m *BaseAppMgr) NextTick() time.Duration { return m.ticks.Next() }

// idle reports whether there is nothing that a tick could go on with.
func (m *BaseAppMgr) idle() bool {
	early := func(a *knownApp) bool { return len(a.early) > 0 }
	return m.links.Idle() && m.manager.Open() && len(m.unsure) == 0 && !slices.ContainsFunc(m.baseApps, early)
}

// restUntil is when an idle manager has something to do.
func (m *BaseAppMgr) restUntil() time.Duration {
	if m.cfg.Shed.Off {
		return m.reports.Next()
	}
	return min(m.reports.Next(), m.shedAt)
}

// wake ends a rest, since something has come.
func (m *BaseAppMgr) wake(now time.Duration) {
	if last := m.ticks.Wake(now); last > 0 {
		m.links.Tick(last)
	}
}

func (m *BaseAppMgr) sendReport(now time.Duration) {
	if !m.reports.Due(now) {
		return
	}
	m.report.NoRoom = m.noRoom()
	app.Report(&m.report, &m.links, &m.routes, &m.cfg.Meters)
	m.report.Counts.Take("baseappmgr", m.Counts())
	m.manager.Send(&m.report)
}

// Opened implements mercury.Handler.
func (m *BaseAppMgr) Opened(now time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	m.wake(now)
	if !m.links.Member(ch) {
		m.drop(now, peer, errStranger)
		m.cfg.Transport.Abort(ch)
		return
	}
	if m.links.Dead(peer) {
		// A start that was declared dead learns so, and starts anew.
		m.links.Reply(ch, &wire.Dismissed{Term: m.term, Reason: "this BaseApp was declared dead"})
		m.cfg.Transport.Close(ch)
		return
	}
	if m.manager.Opened(ch) {
		m.at = peer
		m.rejoin()
	}
}

// Trouble says why the CellAppMgr does not have this BaseAppMgr, as far as is known; nil while it
// has.
func (m *BaseAppMgr) Trouble() error { return m.manager.Trouble() }

// Closed implements mercury.Handler.
func (m *BaseAppMgr) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	m.wake(now)
	m.links.Closed(now, ch, reason)
	if m.manager.Closed(now, ch, reason) {
		m.log.Warn("lost the CellAppMgr, joining again", "reason", reason)
		return
	}
	m.appClosed(ch, reason)
}

// Message implements mercury.Handler. What cannot be read, or is not for a BaseAppMgr, is counted
// and dropped; its sender is an app of the same cluster.
func (m *BaseAppMgr) Message(now time.Duration, ch mercury.ChannelID, _ bool, msg []byte) {
	from, ok := m.links.From(ch)
	if !ok {
		return
	}
	id, body, err := wire.Split(msg)
	if id != wire.BaseLoadID { // which waits for the next look at the loads
		m.wake(now)
	}
	if err == nil && !m.links.Member(ch) {
		err = errStranger
	}
	if err == nil {
		err = m.handle(sender{now: now, ch: ch, at: from, role: m.roleOf(ch, from)}, id, body)
	}
	if err != nil {
		m.drop(now, from, err)
	}
}

// drop counts a message, or a channel, of which nothing becomes.
func (m *BaseAppMgr) drop(now time.Duration, from mercury.Address, err error) {
	m.report.Errors++
	if unlogged, ok := m.lines.Allow(now, "dropped"); ok {
		m.log.Warn("message dropped", "from", from, "error", err, "unlogged", unlogged)
	}
}
