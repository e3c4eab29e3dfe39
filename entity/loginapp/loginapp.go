package loginapp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/logs"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// LoginApp logs clients in. It is a mercury.Handler with a Tick and a JobDone; see the package
// comment.
type LoginApp struct {
	cfg     Config
	log     *slog.Logger
	links   app.Links
	routes  app.Routes[sender]
	watches app.Watches

	manager    manager // the CellAppMgr
	baseAppMgr manager

	ticks   app.Ticks
	report  wire.Report
	reports app.Reports

	full    bool // the CellAppMgr lets no one in for now
	met     bool // the BaseAppMgr has once been there
	logins  logins
	queue   queue
	refused RefusedCounts
	lines   logs.Limit
	buf     []byte // scratch of answers
}

// manager is one of the two that a LoginApp joins.
type manager struct {
	app.Member
	role wire.Role
	at   mercury.Address // its start, once the channel is open
	// joined is true once it has answered the Join.
	joined bool
}

// Counts are the present numbers of a LoginApp.
type Counts struct {
	// Channels counts connected clients, and Pending logins under way. Jobs counts logins that Auth
	// is checking, including those whose clients have left.
	Channels, Pending, Jobs int
	// Waiting counts the clients in the queue. They are Pending only while the BaseAppMgr is asked for them.
	Waiting int
	// Joined is true if both managers have answered, so that clients can log in.
	Joined bool
}

// RefusedCounts are the logins that were refused since the start, by the code that the client was told.
type RefusedCounts struct {
	BadVersion, BadDigest, BadCredentials, ServerBusy, NotReady, Malformed, ServerClosing, WorldFull, Replaced, AlreadyLoggedIn, Banned uint64
	// Other counts those with any other code.
	Other uint64
}

// of is the count of a code.
func (c *RefusedCounts) of(code protocol.Code) *uint64 {
	switch code {
	case protocol.BadVersion:
		return &c.BadVersion
	case protocol.BadDigest:
		return &c.BadDigest
	case protocol.BadCredentials:
		return &c.BadCredentials
	case protocol.ServerBusy:
		return &c.ServerBusy
	case protocol.NotReady:
		return &c.NotReady
	case protocol.Malformed:
		return &c.Malformed
	case protocol.ServerClosing:
		return &c.ServerClosing
	case protocol.WorldFull:
		return &c.WorldFull
	case protocol.Replaced:
		return &c.Replaced
	case protocol.AlreadyLoggedIn:
		return &c.AlreadyLoggedIn
	case protocol.Banned:
		return &c.Banned
	}
	return &c.Other
}

// New returns a LoginApp that joins the CellAppMgr at its first Tick. Its error lists all faults of
// cfg.
func New(cfg Config) (*LoginApp, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Tick = cmp.Or(cfg.Tick, DefaultTick)
	cfg.MaxPending = cmp.Or(cfg.MaxPending, DefaultMaxPending)
	cfg.Queue = cmp.Or(cfg.Queue, DefaultQueue)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	var level logs.Level
	cfg.Log, level = logs.Leveled(cfg.Log)
	l := &LoginApp{
		cfg:    cfg,
		log:    cfg.Log.With("app", "LoginApp"),
		links:  app.Links{Transport: cfg.Transport, Log: cfg.Log},
		ticks:  app.Ticks{Period: cfg.Tick, Clock: cfg.Clock},
		logins: newLogins(),
		queue:  queue{account: make(map[string]*place)},
	}
	join := wire.Join{Role: wire.LoginApp, Digest: cfg.Schema.Digest}
	l.manager = manager{Member: app.NewMember(&l.links, cfg.Manager, join), role: wire.CellAppMgr}
	l.manager.Among(cfg.Managers...)
	l.baseAppMgr.Member = app.NewMember(&l.links, l.baseAppMgr.At, join)
	l.baseAppMgr.role = wire.BaseAppMgr
	l.route()
	return l, l.show(level)
}

// Counts returns the present numbers.
func (l *LoginApp) Counts() Counts {
	return Counts{
		Channels: len(l.logins.byChannel),
		Pending:  l.pending(),
		Jobs:     len(l.logins.jobs),
		Waiting:  len(l.queue.places),
		Joined:   l.manager.joined && l.baseAppMgr.joined,
	}
}

// Rehoused tells the app where Config.Managers are now, in the same order; one of which no address is known
// is not valid. A channel that is open stays.
func (l *LoginApp) Rehoused(places []netip.AddrPort) { l.manager.Rehoused(places) }

// Tick keeps the LoginApp joined, ends what takes too long, and sends reports. It returns when the
// next Tick is due. While nobody logs in, that is when the next report is.
func (l *LoginApp) Tick(now time.Duration) (next time.Duration) {
	if !l.ticks.Begin(now) {
		return l.ticks.Next()
	}
	l.links.Tick(now)
	l.manager.Tick(now)
	l.baseAppMgr.Tick(now)
	l.expire(now)
	l.serveQueue(now)
	l.sendReport(now)
	if next = l.ticks.End(l.ticks.Now(), &l.report); l.idle() {
		next = l.ticks.Rest(min(l.reports.Next(), l.queue.tellAt))
	}
	return next
}

// NextTick is when the next Tick is due, by what has come until now.
func (l *LoginApp) NextTick() time.Duration { return l.ticks.Next() }

// idle reports whether there is nothing that a tick could go on with.
func (l *LoginApp) idle() bool {
	return l.links.Idle() && l.manager.Open() && l.baseAppMgr.Open() && l.logins.empty() && len(l.queue.places) == 0
}

// wake ends a rest, since something has come.
func (l *LoginApp) wake(now time.Duration) {
	if last := l.ticks.Wake(now); last > 0 {
		l.links.Tick(last)
	}
}

func (l *LoginApp) sendReport(now time.Duration) {
	if !l.reports.Due(now) {
		return
	}
	app.Report(&l.report, &l.links, &l.routes, &l.cfg.Meters)
	l.report.Counts.Take("loginapp", l.Counts())
	l.report.Counts.Take("refused", l.refused)
	l.manager.Send(&l.report)
}

// Opened implements mercury.Handler.
func (l *LoginApp) Opened(now time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	l.wake(now)
	for _, m := range l.managers() {
		if m.Opened(ch) {
			m.at = peer
			m.rejoin(l.log)
			if m == &l.baseAppMgr {
				l.queue.refusals = 0 // counted anew on each channel
			}
			return
		}
	}
	switch {
	case l.from(ch) != nil:
	case l.inner(ch) && l.manager.Calls(ch): // it leads now, and the LoginApp goes there
	case l.network(ch) == "":
		l.report.Refused++
		l.log.Warn("a peer that is not a manager came in by the inner door", "from", peer)
		l.cfg.Transport.Abort(ch)
	default:
		l.logins.open(now, ch)
	}
}

// network returns the network of the outer door by which a channel came in; "" for the inner door.
func (l *LoginApp) network(ch mercury.ChannelID) string {
	if l.cfg.Network == nil {
		return protocol.UDP
	}
	return l.cfg.Network(ch)
}

// inner reports whether a channel may have come in by the inner door.
func (l *LoginApp) inner(ch mercury.ChannelID) bool {
	return l.cfg.Network == nil || l.network(ch) == ""
}

// Trouble returns the last known reason why this LoginApp is not joined to both managers; nil while
// it is.
func (l *LoginApp) Trouble() error { return errors.Join(l.manager.Trouble(), l.baseAppMgr.Trouble()) }

// Closed implements mercury.Handler.
func (l *LoginApp) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	l.wake(now)
	for _, m := range l.managers() {
		if m.Closed(now, ch, reason) {
			m.joined = false
			if !m.TurnedAway() {
				l.log.Warn("lost a manager, joining again", "manager", m.role, "reason", reason)
			}
			l.links.Closed(now, ch, reason)
			return
		}
	}
	l.drop(ch)
}

// Message implements mercury.Handler.
func (l *LoginApp) Message(now time.Duration, ch mercury.ChannelID, reliable bool, msg []byte) {
	l.wake(now)
	if m := l.from(ch); m != nil {
		if err := l.fromManager(now, ch, m, msg); err != nil {
			l.report.Errors++
			l.log.Warn("message dropped", "from", m.role, "error", err)
		}
		return
	}
	if in := l.logins.byChannel[ch]; in != nil {
		l.report.BytesUp += uint64(len(msg))
		l.fromClient(now, in, reliable, msg)
	}
}

func (l *LoginApp) managers() [2]*manager { return [2]*manager{&l.manager, &l.baseAppMgr} }

// from returns the manager at the other end of a channel, nil for a client's channel. A manager may
// also send over a channel that it dialled itself. Mercury has proved its address, and with cluster
// keys the handshake has proved that it belongs to the cluster.
func (l *LoginApp) from(ch mercury.ChannelID) *manager {
	if !l.links.Member(ch) || !l.inner(ch) {
		return nil
	}
	peer, ok := l.cfg.Transport.Peer(ch)
	for _, m := range l.managers() {
		if m.Is(ch) || ok && !m.at.IsZero() && m.at == peer {
			return m
		}
	}
	return nil
}

// sender is the manager that sent a message, and when it came.
type sender struct {
	now time.Duration
	ch  mercury.ChannelID
	*manager
}

func (l *LoginApp) fromManager(now time.Duration, ch mercury.ChannelID, m *manager, msg []byte) error {
	id, body, err := wire.Split(msg)
	if err != nil {
		return err
	}
	if !wire.May(m.role, id, wire.LoginApp) {
		return fmt.Errorf("loginapp: a %v may not come from a %v", id, m.role)
	}
	return l.routes.Handle(sender{now, ch, m}, id, body)
}

// route registers the handler of each message from managers.
func (l *LoginApp) route() {
	r := &l.routes
	app.Try(r, l.welcomed)
	app.On(r, func(from sender, m *wire.Refused) {
		l.log.Error("a manager refuses this LoginApp", "manager", from.role, "reason", m.Reason)
		from.Refused(from.now, m.Reason)
	})
	r.Ignore(wire.DismissedID) // the channel ends, and the LoginApp joins again
	app.On(r, func(_ sender, m *wire.Logins) { l.takeLogins(m) })
	app.On(r, l.takeStop)
	app.RouteWatches(r, &l.links, &l.watches, func(from sender) mercury.ChannelID { return from.ch })
	app.On(r, func(from sender, m *wire.ProxyMade) {
		l.queue.refusals = m.Refusals
		l.links.Answered(from.now, from.ch, m) // or too late: its client is gone, or was told so
	})
}

func (l *LoginApp) welcomed(from sender, w *wire.Welcome) error {
	if from.role == wire.CellAppMgr && !from.Welcomed(from.now, w) {
		return errOutdated
	}
	from.joined = true
	l.met = l.met || from.role == wire.BaseAppMgr
	from.Accepted()
	if from.role == wire.CellAppMgr {
		l.full = false // if it is full, the manager says so next
		l.moveBaseAppMgr(from.now, w.BaseAppMgr)
	}
	return nil
}

// moveBaseAppMgr follows the BaseAppMgr to where the CellAppMgr says it is.
func (l *LoginApp) moveBaseAppMgr(now time.Duration, at mercury.Address) {
	if at.IsZero() || at.At == l.baseAppMgr.At {
		return
	}
	l.baseAppMgr.joined, l.baseAppMgr.at = false, mercury.Address{}
	l.baseAppMgr.Move(at.At)
	l.baseAppMgr.Tick(now)
}

// send sends msg, a framed message of the client protocol.
func (l *LoginApp) send(ch mercury.ChannelID, msg []byte) {
	l.buf = msg
	l.report.BytesDown += uint64(len(msg))
	l.links.ToClient(ch, true, msg)
}

// note logs what became of a login that has not come in: of each kind a line now and then, since anyone
// can make a thousand a second. RefusedCounts has them all.
func (l *LoginApp) note(now time.Duration, level slog.Level, msg string, in *login, args ...any) {
	if unlogged, ok := l.lines.Allow(now, msg); ok {
		l.log.Log(context.Background(), level, msg, append(args, "user", in.user, "unlogged", unlogged)...)
	}
}

// refuse tells a client why it may not come in: the code, and why the world is being stopped.
func (l *LoginApp) refuse(now time.Duration, in *login, code protocol.Code) {
	m := protocol.Refused{Code: code}
	switch code {
	case protocol.ServerClosing:
		_, m.Reason = l.manager.Stopping()
	case protocol.NotReady:
		m.Reason = l.unready()
	}
	l.refuseAs(now, in, &m)
}

// unready says why nobody can come in. (A player who came while another manager took over heard that
// the server was still starting.)
func (l *LoginApp) unready() string {
	switch {
	case l.baseAppMgr.joined:
		return "no process takes players in at the moment"
	case l.met:
		return "the managers are away for the moment"
	}
	return "the managers have not answered yet"
}

// refuseAs tells a client in so many words, as an Auth may have it.
func (l *LoginApp) refuseAs(now time.Duration, in *login, no *protocol.Refused) {
	l.forget(in)
	l.leaveQueue(in)
	l.report.Refused++
	*l.refused.of(no.Code)++
	m := protocol.Refused{Code: no.Code, Reason: no.Reason[:min(len(no.Reason), protocol.MaxReason)]}
	l.send(in.ch, m.Append(l.buf[:0]))
	l.logins.enter(now, in, answered)
}
