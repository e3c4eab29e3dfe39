package baseapp

import (
	"slices"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// A BaseApp has doors: outer ones, for clients, and an inner one, for apps. By an outer door
// nobody but clients comes in, whatever their address. In the simulation one door
// leads to both, and the first message tells who came. What apps say is taken only over channels
// whose peers have proved to be of the cluster, where it has keys. Who may say what:
//
//	a client, after its Attach                          the client protocol, for its own proxy
//	the CellAppMgr and the BaseAppMgr, on the channels  orders
//	that this app dialled, or by the same start
//	CellApps that the CellAppMgr has named              where reals are, what was lost, flows between cells
//	of those, who holds an entity, held it lately, or   its flow to the base, packets to its client
//	is told to make it
//
// An app that has not been named yet waits at the door: its messages are kept in order, and
// nothing of what a sound app says is lost while the manager's word is on its way.

// outside reports whether a channel came in by an outer door.
func (a *BaseApp) outside(ch mercury.ChannelID) bool {
	return a.cfg.Outside != nil && a.cfg.Outside(ch)
}

// mayAttach reports whether a channel may become a client's: by an outer door, or, where there
// is one door only, from somebody who has not spoken as an app.
func (a *BaseApp) mayAttach(ch mercury.ChannelID) bool {
	if a.cfg.Outside != nil {
		return a.cfg.Outside(ch)
	}
	return !a.net.has(ch) && !a.door.Waits(ch)
}

// isApp reports whether a message on a channel comes from a process of the cluster that
// may speak now, as far as this app knows.
func (a *BaseApp) isApp(ch mercury.ChannelID, from mercury.Address) bool {
	return a.roleOf(ch, from) != 0
}

// unnamed takes a message of somebody who is no client, and whom no manager has named.
func (a *BaseApp) unnamed(ch mercury.ChannelID, from mercury.Address, reliable bool, msg []byte) {
	id := wire.ID(msg[0])
	switch {
	case !a.links.Member(ch):
		a.turnAway(ch, "a message of somebody who has not proved to be of the cluster", from, id)
	case !wire.May(wire.CellApp, id, wire.BaseApp):
		a.turnAway(ch, "first message of a channel", from, id)
	case !reliable:
		a.refused("a message of an app that is not named", "from", from, "id", id) // it may be lost
	case !a.door.Hold(a.now, ch, from, msg):
		a.turnAway(ch, "too much waits of apps that are not named", from, id)
	}
}

func (a *BaseApp) turnAway(ch mercury.ChannelID, what string, from mercury.Address, id wire.ID) {
	a.refused(what, "from", from, "id", id)
	a.door.Closed(ch)
	delete(a.net.dialled, ch)
	a.net.Abort(ch)
}

// name takes in who belongs to the cluster, and what has waited of them. No call of
// another message is under way but that of the manager's word.
func (a *BaseApp) name(apps []wire.AppRef) {
	a.roster.Add(apps)
	a.silent = slices.DeleteFunc(a.silent, func(s silentChannel) bool {
		peer, ok := a.net.Peer(s.ch)
		return ok && !a.outside(s.ch) && a.isApp(s.ch, peer)
	})
	for _, x := range apps {
		if x.Role == wire.CellApp {
			a.door.Admit(x.App, a.appMessage)
		}
	}
}

// shut ends the channels of those who have waited too long for a manager to name them.
func (a *BaseApp) shut() {
	a.door.Expire(a.now, func(ch mercury.ChannelID, from mercury.Address, messages int) {
		a.report.Refused += uint64(messages - 1)
		a.turnAway(ch, "an app that no manager has named", from, 0)
	})
}
