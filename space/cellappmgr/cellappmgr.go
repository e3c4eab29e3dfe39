package cellappmgr

import (
	"log/slog"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/logs"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// CellAppMgr is the manager as a state machine. See the package comment.
type CellAppMgr struct {
	cfg   Config
	log   *slog.Logger
	lines logs.Limit

	members   []*member                     // in the order of joining
	byChannel map[mercury.ChannelID]*member // the channels that members joined on
	numbers   [wire.Observer + 1]uint32     // the highest number, by role
	starts    [wire.Observer + 1]uint32     // starts that were given a number in this term, by role
	graves    []wire.AppRef                 // starts that were declared dead, oldest first
	deaths    int
	backups   backups
	baseMgr   mercury.Address
	dbApp     mercury.Address
	spaces    []*space // in the order of making
	byID      map[entity.SpaceID]*space
	shared    *space                  // its data is what the cluster shares; see shared.go
	byRequest map[spaceRequest]*space // the spaces that game code created
	lastSpace uint32                  // the number in the id of the last of those

	// appSupply and spaceSupply are numbers that Config.Numbers has given; unnumbered are new
	// starts that wait for one.
	appSupply, spaceSupply reserve
	unnumbered             []waiting

	// Spaces for which there is something to do, so that the others, of which there may be
	// thousands, cost nothing. The homeless have no cell, the expecting have orders out, the
	// unpublished changed during this input, the emptying end soon, and the paced run more slowly
	// than normal or are about to.
	homeless, expecting, unpublished, emptying, paced []*space

	started  bool // MinCellApps have joined
	lastCell uint32
	frozen   bool
	gate     gate
	stopping stopping
	bringing bringing

	gameShift time.Duration // game time minus the manager's clock
	recovery  recovery
	keeping   keeping
	storing   storing
	// superseded: an app was welcomed by a manager of a higher term.
	superseded bool
	fault      error // why this manager must not lead, and does nothing
	// seatCounts is what the Seat that runs this manager has counted; nil without one. A Seat asks
	// for a higher term than that of an app which outranks the manager.
	seatCounts  *SeatCounts
	outrankedBy uint32

	cellsAdded, cellsRemoved, linesMoved int
	spacesCreated, spacesEnded           int

	crowded, blocked, wanting []balance.Ref // as last logged
	unloaded                  []waitsFor

	placer   *balance.Placer // nil if CellApps have come, gone or retired since the last one was made
	placerAt time.Duration   // when placer was made
	refused  bool            // a log line has said that spaces wait for a CellApp

	lastLook uint64 // the last token of Config.Lookout

	sole      bool // no other may lead, and no lease is claimed in ticks
	ticks     app.Ticks
	awake     awake
	policy    balance.Policy
	balanceAt time.Duration
	metaAt    time.Duration
	statusAt  time.Duration

	own    wire.Report // about the manager itself
	gone   wire.Report // the sums of former members
	counts Counts

	links   app.Links
	routes  app.Routes[sender]
	watches app.Watches
	tracing tracing

	buf      []byte   // scratch of encode
	observed observed // scratch of observe
}

// Counts are what a manager counts about its own inputs, since its start.
type Counts struct {
	// Malformed messages could not be parsed, or are not for a manager.
	Malformed uint64
	// Unjoined messages came from a process that has not joined.
	Unjoined uint64
	// Misplaced messages came from a role that may not send them.
	Misplaced uint64
	// Unproved messages came over a channel whose peer has not proved that it may send them.
	Unproved uint64
	// Dismissed messages came from a process that was declared dead.
	Dismissed uint64
	// UnknownCells were reported or confirmed, or their geometry was asked for, although they are
	// not cells of the sender now.
	UnknownCells uint64
	// Implausible figures were left out by the balance.
	Implausible uint64
	// RefusedData are changes of space data that exceed a limit or belong to no space.
	RefusedData uint64
	// OvertakenData are changes of space data that came late, after another CellApp had set a newer
	// value.
	OvertakenData uint64
	// UnplacedSpaces had no cell at a time when the scorers refused every CellApp for them; each
	// counts once.
	UnplacedSpaces uint64
	// RefusedSpaces were asked for and could not be made.
	RefusedSpaces uint64
	// Superseded messages came after a manager of a higher term had shown itself.
	Superseded uint64
	// Unsent messages found no channel; whoever comes back is told everything again.
	Unsent uint64
	// Stalls counts how often the manager itself was asleep for several ticks.
	Stalls uint64
	// Spared counts how often a process was silent for AppTimeout and not declared dead, since its port was
	// open.
	Spared uint64
}

// New returns a manager, or what Config.Validate finds.
func New(cfg Config) (*CellAppMgr, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	var level logs.Level
	cfg.Log, level = logs.Leveled(cfg.Log)
	m := &CellAppMgr{
		cfg:       cfg,
		log:       cfg.Log,
		links:     app.Links{Transport: cfg.Transport, Log: cfg.Log},
		byChannel: make(map[mercury.ChannelID]*member),
		byID:      make(map[entity.SpaceID]*space),
		shared:    newSpace(SpaceConfig{}, cfg.Term),
		byRequest: make(map[spaceRequest]*space),
		ticks:     app.Ticks{Period: cfg.Tick, Clock: cfg.Clock},
		awake:     awake{step: maxStep * cfg.Tick},
		recovery:  recovery{on: cfg.Term > 1 && cfg.RecoveryWindow > 0},
		keeping:   keeping{round: 1, pending: true},
	}
	policy, err := cfg.Policy.New(cfg.Balance, cfg.Border)
	if err != nil {
		return nil, err
	}
	m.policy = policy
	m.route()
	if err := m.show(level); err != nil {
		return nil, err
	}
	for _, sc := range cfg.Spaces {
		m.enter(sc, nil)
	}
	return m, nil
}

// Counts returns what has been counted so far.
func (m *CellAppMgr) Counts() Counts { return m.counts }

// Opened implements mercury.Handler. A process is nobody until it joins.
func (m *CellAppMgr) Opened(now time.Duration, _ mercury.ChannelID, _ mercury.Address) { m.wake(now) }

// Message implements mercury.Handler.
func (m *CellAppMgr) Message(now time.Duration, ch mercury.ChannelID, _ bool, msg []byte) {
	m.wake(now)
	m.dispatch(now, ch, msg)
	m.publish(now)
}

// Closed implements mercury.Handler.
func (m *CellAppMgr) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	m.wake(now)
	if m.superseded {
		return // whoever leaves goes to the other manager; the remaining members are not to hear of it
	}
	m.links.Closed(now, ch, reason)
	m.lostChannel(now, ch, reason)
	m.publish(now)
}

// Tick does what is due, and returns when it wants to be called again.
func (m *CellAppMgr) Tick(now time.Duration) (next time.Duration) {
	m.wake(now)
	m.rouse(now)
	if !m.ticks.Begin(now) {
		return m.ticks.Next()
	}
	m.links.Tick(now)
	m.tickNumbers(now)
	m.recover(now)
	if m.runs() {
		m.judgeSilence(now)
		m.watchMembers()
		m.endEmpty(now)
		m.makeSpaces(now)
		m.keepSpaces()
		m.storeSpaces(now)
		m.repeatOrders(now)
		m.releaseApps()
		m.balance(now)
		m.publish(now)
		m.setRates(now)
		m.judgeLogins()
		m.tickStop(now)
	}
	if now >= m.statusAt {
		m.statusAt = now + m.cfg.ReportPeriod
		m.tellObservers()
		m.tellOperators()
	}
	m.ticks.End(m.ticks.Now(), &m.own)
	return m.rest()
}

// awake measures the time during which the manager was awake: the time between inputs, but no more
// than one step at a time.
type awake struct {
	step    time.Duration
	at      time.Duration // time of the last input
	total   time.Duration
	stalled time.Duration // value of total at the end of the last stall
	started bool
}

// advance takes the time of an input, and returns how long a stall it ended, or 0.
func (a *awake) advance(now time.Duration) (stall time.Duration) {
	if !a.started {
		a.started, a.at, a.stalled = true, now, -1<<62
		return 0
	}
	gap := max(0, now-a.at)
	a.at = max(a.at, now)
	a.total += min(gap, a.step)
	if gap <= a.step {
		return 0
	}
	a.stalled = a.total
	return gap
}

// since is how long the manager has been awake after the last stall.
func (a *awake) since() time.Duration { return a.total - a.stalled }

func (m *CellAppMgr) wake(now time.Duration) {
	if stall := m.awake.advance(now); stall > 0 {
		m.counts.Stalls++
		m.log.Warn("the manager was stalled; nobody is judged by that time", "stall", stall)
	}
}

// encode returns a message in a buffer that the next encode overwrites.
func (m *CellAppMgr) encode(msg wire.Message) []byte {
	m.buf = wire.Encode(m.buf[:0], msg)
	return m.buf
}

func (m *CellAppMgr) sendOn(ch mercury.ChannelID, encoded []byte) {
	if ch == 0 || m.links.SendOn(ch, encoded) != nil {
		// The channel is gone or about to go; Closed tells of it, or has done so.
		m.counts.Unsent++
	}
}

func (m *CellAppMgr) send(to *member, msg wire.Message) { m.sendOn(to.channel, m.encode(msg)) }

// tell sends a message to all members of the roles, in the order of joining.
func (m *CellAppMgr) tell(msg wire.Message, roles ...wire.Role) {
	encoded := m.encode(msg)
	for _, a := range m.members {
		for _, r := range roles {
			if a.role == r {
				m.sendOn(a.channel, encoded)
			}
		}
	}
}
