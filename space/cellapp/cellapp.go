package cellapp

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// maxUnsaid bounds the space data that waits for a manager that is away: far more
// keys than a game sets in the seconds until another one has taken over.
const maxUnsaid = 1024

// CellApp runs cells. Its methods are for its runner, on one goroutine.
type CellApp struct {
	cfg     Config
	log     *slog.Logger
	links   wire.Links
	manager wire.Member

	number    uint32
	alloc     *entity.Allocator
	gameShift time.Duration // game time minus the app's clock
	frozen    bool
	dismissed bool

	cells       []*space.Cell // by space id
	registry    *space.Registry
	stats       *property.Stats
	compressor  property.Compressor
	unsaid      []wire.SetSpaceData // set while the manager was away
	counters    space.Counters
	ticks       wire.Ticks
	report      wire.Report
	cellsReport wire.CellsReport
	reportAt    time.Duration
	statsAt     time.Duration
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
	a := &CellApp{cfg: cfg, log: cfg.Log, registry: space.NewRegistry()}
	a.stats = entity.NewPropertyStats(cfg.Scripts.Schema(), cfg.Log)
	a.links.Transport = cfg.Transport
	a.ticks = wire.Ticks{Period: cfg.Tick, Clock: cfg.Clock}
	a.manager = wire.NewMember(&a.links, cfg.Manager, wire.Join{Role: wire.CellApp, Digest: cfg.Scripts.Schema().Digest})
	return a, nil
}

// Dismissed reports whether the CellApp was declared dead and must be started
// anew, under a new salt.
func (a *CellApp) Dismissed() bool { return a.dismissed }

// Joined reports whether the manager has welcomed it.
func (a *CellApp) Joined() bool { return a.alloc != nil }

// Number is the CellApp's number in the cluster, from 1; 0 until it has joined.
func (a *CellApp) Number() uint32 { return a.number }

// Cells yields the cells in order of space.
func (a *CellApp) Cells() iter.Seq[*space.Cell] { return slices.Values(a.cells) }

// Tick runs a tick if one is due and returns when the next one is.
func (a *CellApp) Tick(now time.Duration) (next time.Duration) {
	if a.dismissed {
		return now + a.cfg.Tick
	}
	if !a.ticks.Begin(now) {
		return a.ticks.Next()
	}
	a.manager.Tick(now)
	game := now + a.gameShift
	for _, c := range a.cells {
		c.Tick(now, game, a.cfg.Tick)
	}
	a.reports(now)
	return a.ticks.End(a.ticks.Now(), &a.report)
}

func (a *CellApp) reports(now time.Duration) {
	if a.alloc == nil {
		return
	}
	if now >= a.reportAt {
		a.reportAt = now + a.cfg.ReportPeriod
		a.reportCells()
	}
	if now >= a.statsAt {
		a.statsAt = now + wire.ReportPeriod
		a.reportStats()
	}
}

func (a *CellApp) reportCells() {
	m := &a.cellsReport
	m.Load, m.Cells = 0, m.Cells[:0]
	for _, c := range a.cells {
		total, profile := c.Load()
		m.Load += total
		m.Cells = append(m.Cells, wire.CellReport{
			Space: c.Space(), Cell: c.ID(), Version: c.Version(), Load: total,
			Reals: uint32(c.Reals()), Ghosts: uint32(c.Ghosts()), Profile: profile,
		})
	}
	a.manager.Send(m)
}

func (a *CellApp) reportStats() {
	m := &a.report
	if a.cfg.CPU != nil {
		m.CPU = a.cfg.CPU()
	}
	m.Pending = 0
	for _, c := range a.cells {
		m.Pending += c.Pending()
	}
	n := &a.counters
	m.ClientCallsHandled = n.ClientCallsHandled
	m.FlowSent, m.FlowHandled = n.FlowSent, n.FlowHandled
	m.Migrations, m.GhostsDiffer = n.Migrations, n.GhostsDiffer
	m.Refused, m.Errors = n.Refused, n.Errors
	a.manager.Send(m)
}

// Counters are what the cells of this CellApp did since it started.
func (a *CellApp) Counters() space.Counters { return a.counters }

// PropertyStats counts the property traffic of the cells since the CellApp started, by
// type and property. It belongs to the goroutine of the CellApp.
func (a *CellApp) PropertyStats() *property.Stats { return a.stats }

func (a *CellApp) cell(id entity.SpaceID) *space.Cell {
	i, found := slices.BinarySearchFunc(a.cells, id, func(c *space.Cell, id entity.SpaceID) int { return cmp.Compare(c.Space(), id) })
	if !found {
		return nil
	}
	return a.cells[i]
}

// addCell makes a cell, or confirms one that is there.
func (a *CellApp) addCell(m *wire.AddCell) error {
	tree, err := bsp.Parse(m.Tree)
	if err != nil {
		return err
	}
	data := make([]space.DataEntry, len(m.Data))
	for i, e := range m.Data {
		data[i] = space.DataEntry(e)
	}
	if c := a.cell(m.Space); c != nil {
		if !c.Become(m.Cell, tree) {
			return fmt.Errorf("cellapp: cell %s of space %d, where cell %s is", m.Cell, m.Space, c.ID())
		}
		c.LoadData(data)
	} else {
		c := space.NewCell(space.Env{
			Self: a.cfg.Transport.Self(), Config: a.cfg.Space, Scripts: a.cfg.Scripts, Registry: a.registry,
			Out: (*outbox)(a), Counters: &a.counters, Chance: a.cfg.Chance, Log: a.log, Clock: a.cfg.Clock, Stats: a.stats,
			Compressor: &a.compressor,
		}, m.Space, m.Cell, tree, data)
		c.Freeze(a.frozen)
		a.cells = append(a.cells, c)
		slices.SortFunc(a.cells, func(x, y *space.Cell) int { return cmp.Compare(x.Space(), y.Space()) })
		a.log.Info("cell added", "space", m.Space, "cell", m.Cell.String(), "version", tree.Version().String())
	}
	a.manager.Send(&wire.CellCreated{Space: m.Space, Cell: m.Cell})
	return nil
}

// outbox is the CellApp as its cells see it.
type outbox CellApp

func (o *outbox) Send(to mercury.Address, m space.Message) {
	if err := o.links.Send(to, m); err != nil {
		o.counters.Errors++
		o.log.Error("message not sent", "to", to.String(), "kind", int(wire.IDOf(m)), "err", err)
	}
}

func (o *outbox) ClientPacket(base mercury.Address, id entity.ID, order entity.Order, session uint32, packet []byte) {
	// An unreliable message that cannot go now is one that was lost.
	_ = o.links.SendUnreliable(base, &wire.ClientPacket{ID: id, Order: order, Session: session, Packet: packet})
}

func (o *outbox) SetSpaceData(id entity.SpaceID, key uint16, value []byte) {
	m := wire.SetSpaceData{Space: id, Key: key, Value: value}
	if o.manager.Open() {
		o.manager.Send(&m)
		return
	}
	// Only the newest value of a key matters.
	o.unsaid = slices.DeleteFunc(o.unsaid, func(x wire.SetSpaceData) bool { return x.Space == id && x.Key == key })
	if len(o.unsaid) >= maxUnsaid {
		o.counters.Errors++
		o.log.Error("space data dropped: too much is waiting for the CellAppMgr", "space", id, "key", key)
		return
	}
	m.Value = slices.Clone(value)
	o.unsaid = append(o.unsaid, m)
}

// sayUnsaid sends the space data that was set while the manager was away.
func (a *CellApp) sayUnsaid() {
	for i := range a.unsaid {
		a.manager.Send(&a.unsaid[i])
	}
	a.unsaid = nil
}

func (o *outbox) NewID() (entity.ID, error) {
	if o.alloc == nil {
		return 0, errNotJoined
	}
	return o.alloc.Next()
}

var errNotJoined = errors.New("cellapp: no entity ids before the manager's welcome")

func (o *outbox) Dead(app mercury.Address) bool { return o.links.Dead(app) }
