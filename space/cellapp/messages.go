package cellapp

import (
	"errors"
	"time"

	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/space"
)

var errUnknown = errors.New("cellapp: no message of a CellApp")

// Opened implements mercury.Handler.
func (a *CellApp) Opened(now time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	if a.links.Dead(peer) {
		a.cfg.Transport.Abort(ch)
		return
	}
	if !a.links.Member(ch) {
		a.sendAway(now, ch, peer, nil)
		return
	}
	if a.manager.Opened(ch) {
		a.said.late()
		if a.manager.Rejoins() {
			a.rejoin(now)
		}
	}
}

// Closed implements mercury.Handler. What a lost channel means is the manager's
// to say: a CellApp acts on verdicts only.
func (a *CellApp) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	a.door.Closed(ch)
	a.channelBroke(ch)
	if !a.manager.Closed(now, ch, reason) || a.dismissed {
		return
	}
	if a.alloc == nil {
		a.log.Warn("no CellAppMgr answers; the CellApp tries again", "manager", a.cfg.Manager, "error", reason)
		return
	}
	a.log.Warn("CellAppMgr lost; cells go on without balance until one is back", "error", reason)
}

// Trouble says why the CellAppMgr does not have this CellApp, as it is known last; nil
// while it has.
func (a *CellApp) Trouble() error { return a.manager.Trouble() }

// Message implements mercury.Handler.
func (a *CellApp) Message(now time.Duration, ch mercury.ChannelID, reliable bool, msg []byte) {
	from, ok := a.links.From(ch)
	if !ok || a.dismissed {
		return
	}
	if !a.links.Member(ch) {
		a.sendAway(now, ch, from, msg)
		return
	}
	if _, named := a.roster.Role(from); !named && !a.manager.Is(ch) {
		a.unnamed(now, ch, from, reliable, msg)
		return
	}
	a.receive(now, ch, from, msg)
	a.admit(now)
}

// receive takes a message of the CellAppMgr, or of an app that it has named.
func (a *CellApp) receive(now time.Duration, ch mercury.ChannelID, from mercury.Address, msg []byte) {
	a.watch.Open(&a.own)
	defer a.watch.Leave()
	id, body, err := wire.Split(msg)
	if err == nil {
		err = a.handle(now, ch, from, id, body)
	}
	if err != nil {
		a.refused(now, from, id, err)
	}
	a.population.Settle()
}

// refused counts a message that was not taken, and logs the first in each second: of a
// peer that speaks another dialect every message would be a line.
func (a *CellApp) refused(now time.Duration, from mercury.Address, id wire.ID, err error) {
	a.counters.Refused++
	if unlogged, ok := a.lines.Allow(now, "refused"); ok {
		a.log.Warn("message refused", "from", from.String(), "message", id.String(), "error", err, "unlogged", unlogged)
	}
}

func (a *CellApp) handle(now time.Duration, ch mercury.ChannelID, from mercury.Address, id wire.ID, body []byte) error {
	role := a.roleOf(ch, from)
	switch {
	case !wire.May(role, id, wire.CellApp):
		return errRole
	case role == wire.CellAppMgr:
		return a.handleManager(now, id, body)
	}
	switch id {
	case wire.FlowID:
		var m flow.Message
		if err := m.Parse(body); err != nil {
			return err
		}
		if err := a.ofBase(role, from, m.To); err != nil {
			return err
		}
		a.population.HandleFlow(&m, from)
		return nil
	case wire.FlowAckID:
		var m flow.Ack
		if err := m.Parse(body); err != nil {
			return err
		}
		if err := a.ackOf(role, from, &m); err != nil {
			return err
		}
		a.population.HandleAck(&m, from)
		return nil
	case wire.RemovalAckID:
		var m wire.RemovalAck
		if err := m.Parse(body); err != nil {
			return err
		}
		a.removalAck(&m, from)
		return nil
	case wire.ClientMoveID:
		return a.clientMove(role, from, body)
	case wire.CreateID, wire.RefuseRealID, wire.OnloadID, wire.OnloadAckID, wire.ProbeID:
		return a.handleMigration(now, from, id, body)
	case wire.GhostStateID, wire.GhostUpdateID, wire.GhostDeleteID, wire.GhostAuditID, wire.GhostQueryID, wire.GhostRollID:
		return a.handleGhost(from, id, body)
	}
	return errUnknown
}

func (a *CellApp) clientMove(role wire.Role, from mercury.Address, body []byte) error {
	var m wire.ClientMove
	if err := m.Parse(body); err != nil {
		return err
	}
	if err := a.ofBase(role, from, m.ID); err != nil {
		return err
	}
	if on := a.population.ClientMove(m.ID, &m.ClientRest, from); !on.IsZero() {
		return a.links.SendUnreliable(on, &m)
	}
	return nil
}

func (a *CellApp) handleManager(now time.Duration, id wire.ID, body []byte) error {
	switch id {
	case wire.WelcomeID:
		var m wire.Welcome
		if err := m.Parse(body); err != nil {
			return err
		}
		return a.welcome(now, &m)
	case wire.RefusedID:
		var m wire.Refused
		if err := m.Parse(body); err != nil {
			return err
		}
		a.log.Error("the CellAppMgr refuses this CellApp", "reason", m.Reason)
		a.manager.Refused(now, m.Reason)
		return nil
	case wire.DismissedID:
		var m wire.Dismissed
		if err := m.Parse(body); err != nil {
			return err
		}
		if a.manager.Outdated(m.Term) {
			return errOutdated
		}
		a.log.Warn("declared dead while only slow: all entities are dropped, the CellApp starts anew")
		a.dismissed = true
		a.cells, a.removals, a.jobs = nil, removals{}, nil
		a.population = a.newPopulation()
		return nil
	}
	if !a.manager.Heeds() {
		return errNotWelcomed
	}
	switch id {
	case wire.AppDeadID:
		var m wire.AppDead
		if err := m.Parse(body); err != nil {
			return err
		}
		a.appDied(&m)
	case wire.MembersID:
		var m wire.Members
		if err := m.Parse(body); err != nil {
			return err
		}
		a.name(&m)
	case wire.FreezeID:
		var m wire.Freeze
		if err := m.Parse(body); err != nil {
			return err
		}
		a.freeze(m.On)
	case wire.AddCellID:
		var m wire.AddCell
		if err := m.Parse(body); err != nil {
			return err
		}
		return a.addCell(now, &m)
	case wire.GeometryID:
		return a.takeGeometry(now, body)
	case wire.RemoveCellID:
		var m wire.RemoveCell
		if err := m.Parse(body); err != nil {
			return err
		}
		a.removeCell(&m)
	case wire.CellGoingID:
		var m wire.CellGoing
		if err := m.Parse(body); err != nil {
			return err
		}
		a.cellGoing(&m)
	case wire.SpaceDestroyedID:
		var m wire.SpaceDestroyed
		if err := m.Parse(body); err != nil {
			return err
		}
		a.endings.Answered(m.Space)
		if m.Reason != "" {
			a.log.Warn("a space is not destroyed", "space", m.Space, "reason", m.Reason)
		}
	case wire.RetiredID:
		a.retired = true
		a.log.Info("CellApp has retired")
	case wire.SpaceRateID:
		return a.spaceRate(now, body)
	case wire.SpaceDataSetID:
		var m wire.SpaceDataSet
		if err := m.Parse(body); err != nil {
			return err
		}
		a.said.answered(m.Said)
	case wire.SpaceDataID:
		var m wire.SpaceData
		if err := m.Parse(body); err != nil {
			return err
		}
		if c := a.cell(m.Space); c != nil {
			c.SetData(space.DataEntry(m.Entry))
		}
	}
	return nil
}

func (a *CellApp) welcome(now time.Duration, m *wire.Welcome) error {
	if !a.manager.Welcomed(now, m) {
		return errOutdated
	}
	a.number = m.Number
	a.sayLate()
	a.sayAll()
	if a.retire {
		a.Retire(a.reason)
	}
	if a.alloc != nil {
		a.hearTime(now, m.GameTime)
		return nil // joined again, or news of the BaseAppMgr or of the time: ids stay
	}
	alloc, err := app.NewAllocator(m.Allocator)
	if err != nil {
		return err
	}
	a.alloc = alloc
	a.shift = m.GameTime - now
	a.log.Info("CellApp joined", "number", m.Number, "term", m.Term)
	return nil
}

func (a *CellApp) appDied(m *wire.AppDead) {
	if m.App == a.cfg.Transport.Self() {
		return // Dismissed says it to the one concerned
	}
	a.links.Bury(m.Role, m.App)
	a.roster.Remove(m.App)
	a.log.Info("app died", "role", m.Role.String(), "app", m.App.String())
	a.removals.mourn(m.App)
	if m.Role == wire.CellApp {
		a.population.AppDied(m.App)
	}
	for _, c := range a.cells {
		switch m.Role {
		case wire.CellApp:
			c.AppDied(m.App)
		case wire.BaseApp:
			c.BaseAppDied(m.App)
		}
	}
}

// freeze stops the world, or lets it go on. Ordered a second time it makes every
// ghost compare itself with its real.
func (a *CellApp) freeze(on bool) {
	again := on && a.frozen
	a.frozen = on
	for _, c := range a.cells {
		c.Freeze(on)
		if again {
			c.AuditGhosts()
		}
	}
}

func (a *CellApp) handleMigration(now time.Duration, from mercury.Address, id wire.ID, body []byte) error {
	switch id {
	case wire.CreateID:
		var m migrate.Create
		if err := m.Parse(body); err != nil {
			return err
		}
		if err := a.mayCreate(from, &m); err != nil {
			return err
		}
		c := a.cell(m.Space)
		if c == nil {
			a.tellLost(now, from, m.ID, m.Order, "this CellApp has no cell of the space")
			return nil
		}
		c.Create(&m, from)
	case wire.RefuseRealID:
		var m migrate.Refuse
		if err := m.Parse(body); err != nil {
			return err
		}
		a.population.Refuse(&m, from)
	case wire.OnloadID:
		var m migrate.Onload
		if err := m.Parse(body); err != nil {
			return err
		}
		c := a.cell(m.Space)
		if c == nil {
			// Nobody has the real now: the base brings it back.
			a.outbox().Send(from, &migrate.OnloadAck{ID: m.ID, Order: m.Order})
			a.tellLost(now, m.Base, m.ID, m.Order, "handed to a CellApp without a cell of the space")
			return errors.New("cellapp: onload for a space without a cell here")
		}
		c.Onload(&m, from)
	case wire.OnloadAckID:
		var m migrate.OnloadAck
		if err := m.Parse(body); err != nil {
			return err
		}
		a.population.OnloadAck(&m)
	case wire.ProbeID:
		var m migrate.Probe
		if err := m.Parse(body); err != nil {
			return err
		}
		if role, _ := a.roster.Role(from); role == wire.BaseApp && m.Base != from {
			return errBase
		}
		a.probe(now, &m)
	}
	return nil
}

func (a *CellApp) outbox() *outbox { return (*outbox)(a) }

func (a *CellApp) handleGhost(from mercury.Address, id wire.ID, body []byte) error {
	switch id {
	case wire.GhostStateID:
		var m ghost.State
		if err := m.Parse(body); err != nil {
			return err
		}
		if c := a.cell(m.Space); c != nil {
			c.GhostState(&m, from)
		}
	case wire.GhostUpdateID:
		var m ghost.Update
		if err := m.Parse(body); err != nil {
			return err
		}
		a.population.GhostUpdate(&m, from)
	case wire.GhostDeleteID:
		var m ghost.Delete
		if err := m.Parse(body); err != nil {
			return err
		}
		a.population.GhostDelete(&m)
	case wire.GhostAuditID:
		var m ghost.Audit
		if err := m.Parse(body); err != nil {
			return err
		}
		a.population.GhostAudit(&m)
	case wire.GhostQueryID:
		var m ghost.Query
		if err := m.Parse(body); err != nil {
			return err
		}
		a.population.GhostQuery(&m)
	case wire.GhostRollID:
		var m ghost.Roll
		if err := m.Parse(body); err != nil {
			return err
		}
		if c := a.cell(m.Space); c != nil {
			c.GhostRoll(&m, from)
		}
	}
	return nil
}
