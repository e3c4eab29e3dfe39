package baseapp

import (
	"math"
	"net/netip"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// appMessage takes a message on a channel between apps.
func (a *BaseApp) appMessage(ch mercury.ChannelID, msg []byte) {
	from, ok := a.links.From(ch)
	if !ok {
		return // a dead app's last words
	}
	id, body, err := wire.Split(msg)
	if err == nil {
		switch id {
		case wire.FlowID, wire.FlowAckID, wire.CurrentID, wire.ClientPacketID, wire.OfferID, wire.CellLostID:
			if role, _ := a.roster.Role(from); role != wire.CellApp {
				a.refused("not a CellApp", "from", from, "id", id)
				return
			}
			err = a.cellAppMessage(from, id, body)
		default:
			err = a.managerMessage(ch, from, id, body)
		}
	}
	if err != nil {
		a.fault("malformed message", "from", from, "id", id, "error", err)
	}
}

func (a *BaseApp) cellAppMessage(from mercury.Address, id wire.ID, body []byte) error {
	switch id {
	case wire.FlowID:
		var m flow.Message
		if err := m.Parse(body); err != nil {
			return err
		}
		a.takeFlow(from, &m)
	case wire.FlowAckID:
		var m flow.Ack
		if err := m.Parse(body); err != nil {
			return err
		}
		a.takeAck(from, &m)
	case wire.CurrentID:
		var m migrate.Current
		if err := m.Parse(body); err != nil {
			return err
		}
		a.takeCurrent(from, &m)
	case wire.ClientPacketID:
		var m wire.ClientPacket
		if err := m.Parse(body); err != nil {
			return err
		}
		a.takePacket(from, &m)
	case wire.OfferID:
		var m migrate.Offer
		if err := m.Parse(body); err != nil {
			return err
		}
		a.takeOffer(from, &m)
	case wire.CellLostID:
		var m migrate.Lost
		if err := m.Parse(body); err != nil {
			return err
		}
		a.takeLost(from, &m)
	}
	return nil
}

// managerMessage takes what only a manager may say.
func (a *BaseApp) managerMessage(ch mercury.ChannelID, from mercury.Address, id wire.ID, body []byte) error {
	cell, base := a.cellMgr.Speaks(ch, from), a.baseMgr.Speaks(ch, from)
	if !cell && !base {
		a.refused("not a manager", "from", from, "id", id)
		return nil
	}
	if cell && !a.heeds(id) {
		a.refused("an order of a manager that has not shown its term", "from", from, "id", id)
		return nil
	}
	switch id {
	case wire.WelcomeID:
		var m wire.Welcome
		if err := m.Parse(body); err != nil {
			return err
		}
		if cell {
			a.welcomed(&m)
		} else {
			a.baseMgr.Accepted()
		}
	case wire.RefusedID:
		var m wire.Refused
		if err := m.Parse(body); err != nil {
			return err
		}
		a.log.Error("a manager refuses this BaseApp", "manager", from, "reason", m.Reason)
		if cell {
			a.cellMgr.Refused(a.now, m.Reason)
		} else {
			a.baseMgr.Refused(a.now, m.Reason)
		}
	case wire.DismissedID:
		var m wire.Dismissed
		if err := m.Parse(body); err != nil {
			return err
		}
		if a.cellMgr.Outdated(m.Term) {
			a.refused("a verdict of a manager older than the one that is known", "from", from)
			return nil
		}
		a.dismiss(m.Reason)
	case wire.AppDeadID:
		var m wire.AppDead
		if err := m.Parse(body); err != nil {
			return err
		}
		if cell && m.Role == wire.CellApp {
			a.cellAppDead(m.App)
		}
	case wire.AppLeftID:
		var m wire.AppLeft
		if err := m.Parse(body); err != nil {
			return err
		}
		if cell {
			a.cellAppLeft(m.App)
		}
	case wire.MembersID:
		var m wire.Members
		if err := m.Parse(body); err != nil {
			return err
		}
		if cell {
			a.name(m.Apps)
		}
	case wire.FreezeID:
		var m wire.Freeze
		if err := m.Parse(body); err != nil {
			return err
		}
		if cell {
			a.frozen = m.On
		}
	case wire.LocatedID:
		var m wire.Located
		if err := m.Parse(body); err != nil {
			return err
		}
		if cell {
			a.takeLocated(&m)
		}
	case wire.SpaceCreatedID:
		var m wire.SpaceCreated
		if err := m.Parse(body); err != nil {
			return err
		}
		if cell {
			a.spaceCreated(&m)
		}
	case wire.SpaceDestroyedID:
		var m wire.SpaceDestroyed
		if err := m.Parse(body); err != nil {
			return err
		}
		if cell {
			a.spaceDestroyed(&m)
		}
	case wire.MakeProxyID:
		var m wire.MakeProxy
		if err := m.Parse(body); err != nil {
			return err
		}
		if base {
			a.baseMgr.Send(a.makeProxy(&m))
		}
	default:
		a.refused("not for a BaseApp", "from", from, "id", id)
	}
	return nil
}

// welcomed takes the place in the cluster. A later Welcome, after the manager was
// away or because it has news, changes nothing for the bases: ids go on from the
// allocator that this start of the app has.
func (a *BaseApp) welcomed(m *wire.Welcome) {
	if !a.cellMgr.Welcomed(a.now, m) {
		a.refused("the welcome of a manager older than the one that is known", "term", m.Term)
		return
	}
	a.number = m.Number
	a.baseMgr.Move(addressIfValid(m.BaseAppMgr.At, a.baseMgr.At))
	if a.ids == nil {
		ids, err := app.NewAllocator(m.Allocator)
		if err != nil {
			a.fault("the CellAppMgr gave no allocator", "error", err)
			return
		}
		a.ids = ids
		a.log.Info("joined the cluster", "number", m.Number, "allocator", m.Allocator)
	}
	if !a.started {
		a.started = true
		a.runStart()
	}
}

func addressIfValid(at, old netip.AddrPort) netip.AddrPort {
	if at.IsValid() {
		return at
	}
	return old
}

func (a *BaseApp) cellAppDead(app mercury.Address) {
	a.links.Bury(wire.CellApp, app)
	a.roster.Remove(app)
	lost := 0
	for _, b := range a.list {
		if !b.removed && b.link.AppDead(a.now, app) {
			lost++
		}
	}
	a.log.Warn("a CellApp died", "app", app, "reals", lost)
	a.afterLoss()
}

// afterLoss removes the cell parts that were to be destroyed and died instead.
func (a *BaseApp) afterLoss() {
	for _, b := range a.list {
		b.settleLink()
	}
}

// refuse tells an app to drop every real of an entity up to an order.
func (a *BaseApp) refuse(to mercury.Address, id entity.ID, order entity.Order) {
	a.log.Debug("refused a real", "entity", id, "order", order, "app", to)
	a.send(to, &migrate.Refuse{ID: id, Order: order})
}

// refuseStream is refuse for a message of a flow, which names an incarnation only.
func (a *BaseApp) refuseStream(to mercury.Address, id entity.ID, stream uint32) {
	a.refuse(to, id, entity.Order{Incarnation: stream, Hop: math.MaxUint32})
}

// send sends to an app; what goes wrong is counted by the links.
func (a *BaseApp) send(to mercury.Address, m wire.Message) { a.links.Send(to, m) }
