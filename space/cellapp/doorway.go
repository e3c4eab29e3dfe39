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

// Where the cluster has keys, only its members get a channel to a CellApp; where it has none,
// anybody can reach its port. Who may say what:
//
//	the CellAppMgr, on the channel that this CellApp dialled   orders
//	CellApps that it has named                                 ghosts, handoffs, flows, removals
//	BaseApps that it has named                                 Create, Refuse, flows, moves, of their bases
//
// Whoever has not been named yet waits at the door: its messages are kept in order, and
// nothing of what a sound app says is lost while the manager's word is on its way.

var (
	errRole = errors.New("cellapp: an app of this role may not say this")
	errBase = errors.New("cellapp: not from the BaseApp that has the entity's base")
)

// sendAway ends the channel of somebody who has not proved to be of the cluster.
func (a *CellApp) sendAway(now time.Duration, ch mercury.ChannelID, from mercury.Address, msg []byte) {
	id, _, _ := wire.Split(msg) // 0 if it has said nothing yet
	a.refused(now, from, id, errStranger)
	a.cfg.Transport.Abort(ch)
}

// roleOf is what sends on a channel, 0 if it is nobody that may speak now.
func (a *CellApp) roleOf(ch mercury.ChannelID, from mercury.Address) wire.Role {
	if a.manager.Is(ch) {
		return wire.CellAppMgr
	}
	role, _ := a.roster.Role(from)
	return role
}

// unnamed takes a message of somebody whom no manager has named.
func (a *CellApp) unnamed(now time.Duration, ch mercury.ChannelID, from mercury.Address, reliable bool, msg []byte) {
	id, _, err := wire.Split(msg)
	switch {
	case err != nil || !wire.May(wire.CellApp, id, wire.CellApp) && !wire.May(wire.BaseApp, id, wire.CellApp):
		a.refused(now, from, id, errUnnamed)
		a.door.Closed(ch)
		a.cfg.Transport.Abort(ch)
	case !reliable:
		a.refused(now, from, id, errUnnamed) // it may be lost
	case !a.door.Hold(now, ch, from, msg):
		a.refused(now, from, id, errDoor)
		a.cfg.Transport.Abort(ch)
	}
}

var (
	errUnnamed  = errors.New("cellapp: the CellAppMgr has not named the sender")
	errStranger = errors.New("cellapp: the sender has not proved to be of the cluster")
	errDoor     = errors.New("cellapp: too much waits of senders whom the CellAppMgr has not named")
)

// name takes in who belongs to the cluster. What waits of them is taken when the message
// at hand is done with.
func (a *CellApp) name(m *wire.Members) {
	a.roster.Name(m)
	for _, x := range m.Apps {
		a.named = append(a.named, x.App)
	}
}

// admit takes what waits of those who have been named.
func (a *CellApp) admit(now time.Duration) {
	for len(a.named) > 0 {
		app := a.named[0]
		a.named = a.named[1:]
		a.door.Admit(app, func(ch mercury.ChannelID, msg []byte) { a.receive(now, ch, app, msg) })
	}
	a.named = nil
}

// shut ends the channels of those who have waited too long.
func (a *CellApp) shut(now time.Duration) {
	a.door.Expire(now, func(ch mercury.ChannelID, from mercury.Address, messages int) {
		a.counters.Refused += uint64(messages - 1)
		a.refused(now, from, 0, errUnnamed)
		a.cfg.Transport.Abort(ch)
	})
}

// ofBase reports whether what an app says of an entity here may be its to say: a BaseApp
// speaks for its own bases. What is not here is nobody's, and harms no one.
func (a *CellApp) ofBase(from sender, id entity.ID) error {
	if base, here := a.population.Base(id); from.role == wire.BaseApp && here && base != from.app {
		return errBase
	}
	return nil
}

// mayCreate reports whether a BaseApp may have the cell part of an entity made: it is its own
// base's, and no base of another app has it.
func (a *CellApp) mayCreate(from sender, m *migrate.Create) error {
	if m.Base != from.app || !a.roster.Issued(from.app, m.ID) {
		return errBase
	}
	return a.ofBase(from, m.ID)
}

// ackOf reports whether an ack may be an app's to give: a BaseApp acks what its bases got,
// and tells whoever called one of its entities that it has ended, which the caller's cell
// checks by where it sent its calls.
func (a *CellApp) ackOf(from sender, m *flow.Ack) error {
	switch {
	case from.role != wire.BaseApp || m.Gone && m.From != m.To:
		return nil
	case m.From != m.To || m.FromPart != entity.BasePart:
		return errRole
	}
	return a.ofBase(from, m.To)
}
