package cellapp

import (
	"time"

	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// Opened implements mercury.Handler.
func (a *CellApp) Opened(now time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	a.wake(now)
	if a.links.Dead(peer) {
		a.cfg.Transport.Abort(ch)
		return
	}
	if !a.links.Member(ch) {
		a.sendAway(now, ch, peer, nil)
		return
	}
	if a.manager.Opened(ch) {
		a.said.Late()
		if a.manager.Rejoins() {
			a.rejoin(now)
		}
	}
}

// Closed implements mercury.Handler. The manager decides what a lost channel means; a CellApp acts
// only on its verdicts.
func (a *CellApp) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	a.wake(now)
	a.door.Closed(ch)
	a.channelBroke(now, ch, reason)
	if !a.manager.Closed(now, ch, reason) || a.dismissed || a.retired || a.manager.TurnedAway() {
		return // one that has retired is let go
	}
	if a.alloc == nil {
		a.log.Warn("no CellAppMgr answers; trying again", "manager", a.cfg.Manager, "error", reason)
		return
	}
	a.log.Warn("CellAppMgr lost; cells go on without balance until it is back", "error", reason)
}

// Trouble returns the last known reason why this CellApp is not joined to a CellAppMgr; nil while
// it is, and once it has retired.
func (a *CellApp) Trouble() error {
	if a.retired {
		return nil
	}
	return a.manager.Trouble()
}

// Message implements mercury.Handler.
func (a *CellApp) Message(now time.Duration, ch mercury.ChannelID, reliable bool, msg []byte) {
	a.wake(now)
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
	a.population.Arrive(now)
	a.receive(now, ch, from, msg)
	a.admit(now)
}

// receive takes a message from the CellAppMgr or from an app that it has named.
func (a *CellApp) receive(now time.Duration, ch mercury.ChannelID, from mercury.Address, msg []byte) {
	a.watch.Open(&a.own)
	defer a.watch.Leave()
	id, body, err := wire.Split(msg)
	if err == nil {
		err = a.handle(sender{now, ch, from, a.roleOf(ch, from)}, id, body)
	}
	if err != nil {
		a.refused(now, from, id, err)
	}
	a.population.Settle()
}

// refused counts a refused message, and logs the first in each second. A peer with another protocol
// would otherwise fill the log.
func (a *CellApp) refused(now time.Duration, from mercury.Address, id wire.ID, err error) {
	a.counters.Refused++
	if unlogged, ok := a.lines.Allow(now, "refused"); ok {
		a.log.Warn("message refused", "from", from.String(), "message", id.String(), "error", err, "unlogged", unlogged)
	}
}

// sender says who sent a message, and when it arrived.
type sender struct {
	now  time.Duration
	ch   mercury.ChannelID
	app  mercury.Address
	role wire.Role
}

// handle acts on a message if its sender may send it.
func (a *CellApp) handle(from sender, id wire.ID, body []byte) error {
	switch {
	case !wire.May(from.role, id, wire.CellApp):
		return errRole
	case from.role == wire.CellAppMgr && !a.heeds(id):
		return errNotWelcomed
	}
	if a.unheardInStop(id) {
		return nil
	}
	return a.routes.Handle(from, id, body)
}

// route registers the handler of each message.
func (a *CellApp) route() {
	a.routeOrders()
	a.routeEntities()
	app.On(&a.routes, func(from sender, m *wire.RemovalAck) { a.removalAck(m, from.app) })
}

// routeEntities registers the handlers of messages about entities.
func (a *CellApp) routeEntities() {
	r := &a.routes
	app.Try(r, func(from sender, m *flow.Message) error {
		if err := a.flowOf(from, m); err != nil {
			return err
		}
		a.population.HandleFlow(m, from.app)
		return nil
	})
	app.Try(r, func(from sender, m *flow.Ack) error {
		if err := a.ackOf(from, m); err != nil {
			return err
		}
		a.population.HandleAck(m, from.app)
		return nil
	})
	app.Try(r, func(from sender, m *flow.Inquiry) error {
		if err := a.inquiryOf(from, m); err != nil {
			return err
		}
		a.population.HandleInquiry(m)
		return nil
	})
	app.Try(r, func(from sender, m *flow.Remainder) error {
		if from.role == wire.BaseApp && a.homeOf(from, m.From) != nil {
			return errBase
		}
		a.population.HandleRemainder(m)
		return nil
	})
	app.Try(r, a.onward)
	app.Try(r, a.clientMove)
	app.Try(r, a.steer)
	a.routeMigration()
	a.routeGhosts()
}

// routeMigration registers what makes entities, asks for them, and hands them over.
func (a *CellApp) routeMigration() {
	r := &a.routes
	app.Try(r, func(from sender, m *migrate.Create) error {
		if err := a.mayCreate(from, m); err != nil {
			return err
		}
		a.population.Create(m, from.app)
		return nil
	})
	app.Try(r, func(from sender, m *migrate.Probe) error {
		switch {
		case from.role == wire.BaseApp && m.Base != from.app:
			return errBase
		case from.role == wire.CellApp && m.Hops == 0: // it can only have passed the question on
			return errRole
		}
		a.population.Probe(m)
		return nil
	})
	app.On(r, func(from sender, m *migrate.Refuse) { a.population.Refuse(m, from.app) })
	app.Try(r, func(from sender, m *migrate.Onload) error {
		if err := a.mayHave(m.Base, m.ID); err != nil {
			return err
		}
		return a.population.Onload(m, from.app)
	})
	app.Try(r, func(from sender, m *migrate.OnloadAck) error { return a.population.OnloadAck(m, from.app) })
	app.Try(r, func(from sender, m *migrate.OnloadParty) error {
		for i := range m.List {
			if err := a.mayHave(m.List[i].Base, m.List[i].ID); err != nil {
				return err
			}
		}
		return a.population.OnloadParty(m, from.app)
	})
	app.Try(r, func(from sender, m *migrate.OnloadRefused) error { return a.population.OnloadRefused(m, from.app) })
	app.Try(r, func(from sender, m *wire.Whereabouts) error {
		if !a.roster.Issued(from.app, m.ID) {
			return errBase
		}
		a.population.Whereabouts(m.ID, m.Asker, m.App, m.Gone)
		return nil
	})
}

// routeGhosts registers what a real's app and those that have its ghosts say to each other.
func (a *CellApp) routeGhosts() {
	r := &a.routes
	app.Try(r, func(from sender, m *ghost.State) error {
		if err := a.mayHave(m.Base, m.ID); err != nil {
			return err
		}
		return a.population.GhostState(m, from.app)
	})
	app.Try(r, func(from sender, m *ghost.Update) error { return a.population.GhostUpdate(m, from.app) })
	app.On(r, func(from sender, m *ghost.Delete) { a.population.GhostDelete(m, from.app) })
	app.Try(r, func(from sender, m *ghost.Audit) error { return a.population.GhostAudit(m, from.app) })
	app.Try(r, func(from sender, m *ghost.Query) error { return a.population.GhostQuery(m, from.app) })
	app.On(r, func(from sender, m *ghost.Watched) { a.population.GhostWatched(m, from.app) })
	app.On(r, func(from sender, m *ghost.Roll) { a.population.GhostRoll(m, from.app) })
}

func (a *CellApp) clientMove(from sender, m *wire.ClientMove) error {
	if err := a.ofBase(from, m.ID); err != nil {
		return err
	}
	return a.hurryOn(a.population.ClientMove(m.ID, &m.ClientRest), m)
}

// steer takes a move of an entity by another entity's client. A BaseApp speaks for that client alone:
// whether it has the control, its cell part says.
func (a *CellApp) steer(from sender, m *wire.Steer) error {
	if from.role == wire.BaseApp && m.Passed {
		return errRole
	}
	if err := a.ofBase(from, m.By); err != nil {
		return err
	}
	return a.hurryOn(a.population.Steer(&m.Steer), m)
}

// onward takes a message that another CellApp has passed on.
func (a *CellApp) onward(from sender, m *wire.Onward) error {
	id, body, err := wire.Split(m.Message)
	if err != nil {
		return err
	}
	return a.population.Follow(m.Past, func() error { return a.handle(from, id, body) })
}

// hurryOn passes on a message that may be lost, if there is a way.
func (a *CellApp) hurryOn(way hosting.Way, m wire.Message) error {
	if way.To.IsZero() {
		return nil
	}
	return a.links.SendUnreliable(way.To, a.passed(way, m))
}

// passed is a message as it is passed on.
func (a *CellApp) passed(way hosting.Way, m wire.Message) *wire.Onward {
	a.inner = wire.Encode(a.inner[:0], m)
	return &wire.Onward{Past: way.Order, Message: a.inner}
}

func (a *CellApp) outbox() *outbox { return (*outbox)(a) }
