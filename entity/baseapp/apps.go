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

// sender is who sent a message on a channel between apps.
type sender struct {
	ch   mercury.ChannelID
	app  mercury.Address
	role wire.Role
}

// roleOf returns the role of the sender on a channel, or 0 if it may not speak now as far as this
// app knows.
func (a *BaseApp) roleOf(ch mercury.ChannelID, from mercury.Address) wire.Role {
	switch {
	case !a.links.Member(ch):
		return 0
	case a.cellMgr.Speaks(ch, from):
		return wire.CellAppMgr
	case a.baseMgr.Speaks(ch, from):
		return wire.BaseAppMgr
	case a.dbApp.Speaks(ch, from):
		return wire.DBApp
	}
	if role, _ := a.roster.Role(from); role == wire.CellApp || role == wire.BaseApp {
		return role
	}
	return 0
}

// admitted takes a message that has waited until its sender was named.
func (a *BaseApp) admitted(ch mercury.ChannelID, msg []byte) {
	if from, ok := a.links.From(ch); ok { // else a dead app's last words
		a.appMessage(sender{ch, from, a.roleOf(ch, from)}, msg)
	}
}

// appMessage takes a message on a channel between apps.
func (a *BaseApp) appMessage(by sender, msg []byte) {
	id, body, err := wire.Split(msg)
	if err != nil {
		a.fault("malformed message", "from", by.app, "error", err)
		return
	}
	switch {
	case !wire.May(by.role, id, wire.BaseApp):
		a.refused("its sender may not send this message", "from", by.app, "role", by.role, "id", id)
	case by.role == wire.CellAppMgr && !a.heeds(id):
		a.refused("the manager has not shown its term yet", "from", by.app, "id", id)
	case a.still() && !heardStill(id):
		a.missed(by, id)
	case a.held && unheardHeld(id):
		a.log.Debug("not heard, since the world is being stopped", "from", by.app, "id", id)
	default:
		if err := a.routes.Handle(by, id, body); err != nil {
			a.fault("malformed message", "from", by.app, "id", id, "error", err)
		}
	}
	if by.role == wire.CellApp && (id == wire.FlowID || id == wire.ClientPacketID || id == wire.FlowAckID) {
		a.speaking = by
	}
}

// route registers the handler of each message from other apps.
func (a *BaseApp) route() {
	r := &a.routes
	app.On(r, func(from sender, m *flow.Message) { a.takeFlow(from, m) })
	app.On(r, func(from sender, m *flow.Ack) { a.takeAck(from, m) })
	app.On(r, func(_ sender, m *flow.Inquiry) { a.takeInquiry(m) })
	app.On(r, func(from sender, m *flow.Remainder) { a.takeRemainder(from, m) })
	app.On(r, func(from sender, m *migrate.Current) { a.takeCurrent(from.app, m) })
	app.On(r, func(from sender, m *wire.ClientPacket) { a.takePacket(from.app, m) })
	app.On(r, func(from sender, m *migrate.Offer) { a.takeOffer(from.app, m) })
	app.On(r, func(from sender, m *migrate.Lost) { a.takeLost(from.app, m) })
	app.On(r, a.managerWelcomes)
	app.On(r, a.managerRefuses)
	app.On(r, a.managerDismisses)
	app.On(r, func(_ sender, m *wire.AppDead) {
		if a.still() {
			a.deathWhileStill(m)
			return
		}
		a.appDead(m)
	})
	app.On(r, a.takeStop)
	app.On(r, a.takeLeaving)
	app.On(r, a.basesMoved)
	app.On(r, a.takeShed)
	app.On(r, a.takeOutdone)
	app.On(r, a.takeNameLost)
	app.On(r, func(from sender, m *wire.Departed) { a.links.Answered(a.now, from.ch, m) })
	app.On(r, a.mourned)
	app.On(r, func(_ sender, m *wire.Look) { a.looks.Take(m) })
	a.routeCopies()
	a.routeSpaces()
	app.On(r, func(_ sender, m *wire.AppLeft) { a.cellAppLeft(m.App) })
	app.RouteWatches(r, &a.links, &a.watches, func(from sender) mercury.ChannelID { return from.ch })
	app.On(r, func(_ sender, m *wire.Members) { a.name(m) })
	app.On(r, func(_ sender, m *wire.Freeze) { a.frozen = m.On })
	app.On(r, func(from sender, m *wire.Whereis) { a.whereis(m, from.app) })
	app.On(r, func(_ sender, m *wire.Located) { a.takeLocated(m) })
	// An answer that comes a second time changes nothing.
	app.On(r, func(from sender, m *wire.SpaceCreated) { a.links.Answered(a.now, from.ch, m) })
	app.On(r, func(_ sender, m *wire.SpaceDataSet) { a.shared.Answered(m) })
	app.On(r, func(from sender, m *wire.SpaceDestroyed) { a.links.Answered(a.now, from.ch, m) })
	app.On(r, func(from sender, m *wire.BasePlaced) { a.links.Answered(a.now, from.ch, m) })
	app.On(r, func(from sender, m *wire.BaseMade) { a.links.Answered(a.now, from.ch, m) })
	app.On(r, func(from sender, m *wire.NameHeld) { a.links.Answered(a.now, from.ch, m) })
	app.On(r, func(from sender, m *wire.MakeBase) { a.links.Reply(from.ch, a.makeBase(m)) })
	app.On(r, func(from sender, m *wire.MakeProxy) { a.takeMakeProxy(from.ch, m) })
	app.On(r, func(from sender, m *wire.StoreAnswer) { a.links.Answered(a.now, from.ch, m) })
	app.On(r, a.takeBringBack)
	app.On(r, func(from sender, m *wire.Relogin) { a.relogin(from.ch, m) })
}

// appDead takes a verdict.
func (a *BaseApp) appDead(m *wire.AppDead) {
	a.held = false // the world goes back to settle
	switch m.Role {
	case wire.CellApp:
		a.mourn(m.App, m.Mourners)
		a.cellAppDead(m.App)
		a.endMourning()
		return
	case wire.BaseApp:
		a.baseAppDead(m)
		return
	}
	a.links.Bury(m.Role, m.App)
	a.roster.Remove(m.App)
}

func (a *BaseApp) managerWelcomes(from sender, m *wire.Welcome) {
	switch from.role {
	case wire.CellAppMgr:
		a.welcomed(m)
	case wire.DBApp:
		a.dbApp.Accepted()
		a.askStart()
	default:
		a.baseMgr.Accepted()
	}
}

func (a *BaseApp) managerRefuses(from sender, m *wire.Refused) {
	a.log.Error("a manager refuses this BaseApp", "manager", from.app, "reason", m.Reason)
	switch from.role {
	case wire.CellAppMgr:
		a.cellMgr.Refused(a.now, m.Reason)
	case wire.DBApp:
		a.dbApp.Refused(a.now, m.Reason)
	default:
		a.baseMgr.Refused(a.now, m.Reason)
	}
}

func (a *BaseApp) managerDismisses(from sender, m *wire.Dismissed) {
	if a.cellMgr.Outdated(m.Term) {
		a.refused("a verdict of an older manager than the known one", "from", from.app)
		return
	}
	a.dismiss(m.Reason)
}

// welcomed takes the app's place in the cluster. A later Welcome, after the manager was away or
// because it has news, changes nothing for the bases: their ids still come from the first
// allocator.
func (a *BaseApp) welcomed(m *wire.Welcome) {
	if !a.cellMgr.Welcomed(a.now, m) {
		a.refused("the Welcome of an older manager than the known one", "term", m.Term)
		return
	}
	a.number = m.Number
	a.shift = max(a.shift, m.GameTime-a.now)
	a.doubtSpaces()
	a.said.SayLate()
	a.baseMgr.Move(addressIfValid(m.BaseAppMgr.At, a.baseMgr.At))
	a.stores = m.Stores && a.cfg.Stored != nil
	if a.stores {
		a.dbApp.Move(addressIfValid(m.DBApp.At, a.dbApp.At))
	}
	if a.ids == nil {
		ids, err := app.NewAllocator(m.Allocator)
		if err != nil {
			a.fault("the CellAppMgr gave no allocator", "error", err)
			return
		}
		a.ids, a.allocator = ids, m.Allocator
		a.shared.Expect()
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
		if !b.removed && b.link.LostWith(a.now, app) {
			lost++
			if b.traced() {
				b.step("cell lost", "app", app, "reason", "its CellApp died")
			}
			b.heardIsKept()
		}
	}
	a.log.Warn("a CellApp died", "app", app, "reals", lost)
	a.afterLoss()
	if !a.still() && a.copying.period > 0 {
		a.copySoon() // players wait, so not at the next tick
	}
}

// afterLoss removes the cell parts that were about to be destroyed when their CellApp died.
func (a *BaseApp) afterLoss() {
	for _, b := range a.list {
		b.settleLink()
	}
}

// refuse tells an app to drop every real of an entity up to the given order.
func (a *BaseApp) refuse(to mercury.Address, id entity.ID, order entity.Order) {
	a.log.Debug("refused a real", "entity", id, "order", order, "app", to)
	a.send(to, &migrate.Refuse{ID: id, Order: order})
}

// refuseUnknown is refuse for an entity that has no base here: it never had one, or has none any more.
func (a *BaseApp) refuseUnknown(to mercury.Address, id entity.ID, order entity.Order) {
	if a.elsewhere(id) {
		a.tooEarly("word of a real", id, to)
		return
	}
	a.refuse(to, id, order)
}

// refuseStream is refuse for a message of a flow, which names only an incarnation.
func (a *BaseApp) refuseStream(to mercury.Address, id entity.ID, stream uint32) {
	a.refuse(to, id, wholeStream(stream))
}

// wholeStream is the last order of an incarnation.
func wholeStream(stream uint32) entity.Order {
	return entity.Order{Incarnation: stream, Hop: math.MaxUint32}
}

// send sends to an app. The links count failures.
func (a *BaseApp) send(to mercury.Address, m wire.Message) { a.links.Send(to, m) }
