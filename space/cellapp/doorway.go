package cellapp

import (
	"errors"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// Only members of the cluster get a channel to a CellApp if the cluster has keys; without keys
// anybody can reach its port. Who may say what:
//
//	the CellAppMgr, on the channel that this CellApp dialled   orders
//	CellApps that it has named                                 ghosts, handoffs, flows, removals
//	BaseApps that it has named                                 Create, Refuse, flows and moves, for
//	                                                           their own bases
//
// An app that has not been named yet waits at the door. Its messages are kept in order, so a sound
// app loses nothing while the message that names it is on its way.

var (
	errRole = errors.New("cellapp: an app of this role may not send this")
	errBase = errors.New("cellapp: not from the BaseApp that has the entity's base")
)

// sendAway ends the channel of a sender that has not proved its membership.
func (a *CellApp) sendAway(now time.Duration, ch mercury.ChannelID, from mercury.Address, msg []byte) {
	id, _, _ := wire.Split(msg) // 0 before its first message
	a.refused(now, from, id, errStranger)
	a.cfg.Transport.Abort(ch)
}

// roleOf returns the role of the sender on a channel, or 0 if it may not speak now.
func (a *CellApp) roleOf(ch mercury.ChannelID, from mercury.Address) wire.Role {
	if a.manager.Is(ch) {
		return wire.CellAppMgr
	}
	role, _ := a.roster.Role(from)
	return role
}

// unnamed takes a message from a sender that no manager has named.
func (a *CellApp) unnamed(now time.Duration, ch mercury.ChannelID, from mercury.Address, reliable bool, msg []byte) {
	id, _, err := wire.Split(msg)
	switch {
	case err != nil || !wire.May(wire.CellApp, id, wire.CellApp) && !wire.May(wire.BaseApp, id, wire.CellApp):
		a.refused(now, from, id, errUnnamed)
		a.door.Closed(ch)
		a.cfg.Transport.Abort(ch)
	case !reliable:
		a.refused(now, from, id, errUnnamed) // unreliable, so it may be lost
	case !a.door.Hold(now, ch, from, msg):
		a.refused(now, from, id, errDoor)
		a.cfg.Transport.Abort(ch)
	}
}

var (
	errUnnamed  = errors.New("cellapp: the CellAppMgr has not named the sender")
	errStranger = errors.New("cellapp: the sender has not proved to be of the cluster")
	errDoor     = errors.New("cellapp: too many messages wait of senders that the CellAppMgr has not named")
)

// name learns who belongs to the cluster. Their waiting messages are handled after the message at
// hand.
func (a *CellApp) name(m *wire.Members) {
	known := a.roster.Changes()
	a.roster.Name(m)
	if a.roster.Changes() != known {
		a.shared.Expect()
	}
	for _, x := range m.Apps {
		a.named = append(a.named, x.App)
	}
}

// admit handles the waiting messages of senders that have just been named.
func (a *CellApp) admit(now time.Duration) {
	for len(a.named) > 0 {
		app := a.named[0]
		a.named = a.named[1:]
		a.door.Admit(app, func(ch mercury.ChannelID, msg []byte) { a.receive(now, ch, app, msg) })
	}
	a.named = nil
}

// shut ends the channels of senders that have waited too long.
func (a *CellApp) shut(now time.Duration) {
	a.door.Expire(now, func(ch mercury.ChannelID, from mercury.Address, messages int) {
		a.counters.Refused += uint64(messages - 1)
		a.refused(now, from, 0, errUnnamed)
		a.cfg.Transport.Abort(ch)
	})
}

// ofBase refuses what a BaseApp says of an entity here whose base is on another app. A message
// about an entity that is not here does no harm.
func (a *CellApp) ofBase(from sender, id entity.ID) error {
	if base, here := a.population.Base(id); from.role == wire.BaseApp && here && base != from.app {
		return errBase
	}
	return nil
}

// mayHave checks who is said to have the base of an entity: only the app that issued the entity's id
// may have it.
func (a *CellApp) mayHave(base mercury.Address, id entity.ID) error {
	if base.IsZero() && a.roster.IssuedBy(wire.BaseApp, id) || !base.IsZero() && !a.roster.Issued(base, id) {
		return errBase
	}
	return nil
}

// mayCreate checks that a BaseApp may create the cell part of an entity: its own base must have
// asked, and no base on another app may have the entity. One that has moved since asks from there.
func (a *CellApp) mayCreate(from sender, m *migrate.Create) error {
	if m.Base != from.app || !a.roster.Issued(from.app, m.ID) || a.roster.Away(from.app, m.ID) {
		return errBase
	}
	return a.ofBase(from, m.ID)
}

// ackOf checks that an app may give this ack. A BaseApp acks what its bases received, and passes on
// what a cell part says to one whose base it has. It also tells the callers of an entity that the
// entity has ended; the caller's cell checks that against where it sent its calls.
func (a *CellApp) ackOf(from sender, m *flow.Ack) error {
	switch {
	case from.role != wire.BaseApp || m.Gone && m.From != m.To:
		return nil
	case m.From != m.To && m.FromPart == entity.CellPart: // passed on to where the base knows it
		return a.ofBase(from, m.To)
	case m.FromPart != entity.BasePart:
		return errRole
	case m.From != m.To:
		return a.homeOf(from, m.From)
	}
	return a.ofBase(from, m.To)
}

// flowOf checks that a BaseApp may bring a message to a cell part: from its own base, from anyone to a
// cell part whose base is there, which passes it on, or from one of its bases to a cell part without a
// base.
func (a *CellApp) flowOf(from sender, m *flow.Message) error {
	if from.role == wire.BaseApp && m.From != m.To && a.homeOf(from, m.From) == nil {
		return nil
	}
	return a.ofBase(from, m.To)
}

// inquiryOf checks that a BaseApp may ask about a flow of a cell part: for one of its bases, or as the app of
// that part's base, which passes the question on.
func (a *CellApp) inquiryOf(from sender, m *flow.Inquiry) error {
	if from.role == wire.BaseApp && m.ByPart == entity.BasePart && a.homeOf(from, m.By) == nil {
		return nil
	}
	return a.ofBase(from, m.Of)
}

// homeOf checks that a BaseApp may speak for a base.
func (a *CellApp) homeOf(from sender, id entity.ID) error {
	if h := a.roster.Home(id); h.App != from.app || h.Role != wire.BaseApp {
		return errBase
	}
	return nil
}
