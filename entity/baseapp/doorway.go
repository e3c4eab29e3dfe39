package baseapp

import (
	"slices"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// # Channels
//
// The port is open to everyone. What a peer may say depends on who it is, and Mercury proves its
// address with the salt of its start. A manager is a peer that this app has joined. A CellApp is a
// peer that the CellAppMgr has named (wire.Members). The list outlives the manager, since the next
// manager knows apps only when they come back. AppDead takes the dead ones off; AppLeft, about a
// CellApp that has retired, answers a base that has long heard nothing of a real it believes there.
//
// Only those CellApps speak for an entity that hold it, held it lately, or have been told to make
// it. The base asks any other one (migrate.Probe), since its message that it has the real may have
// been lost.
//
// A named BaseApp speaks for the bases whose ids it has issued (app.Roster.Home), and for no other. A
// base sends to a cell part of another entity by way of that one's base, which passes it on; so a
// CellApp takes what bases say to an entity from the app of its base alone. A base has a flow with
// each part that it talks to (talk.go): of ten thousand that are at rest a tick looks at none.
//
// Anyone else may send protocol.AttachID or protocol.ResumeID first. That makes the channel a
// client's, and from then on it speaks the client protocol and nothing else. A peer that sends
// messages of a CellApp waits at the door for a while, within bounds, because a new CellApp's first
// message may overtake the manager's message that names it. After that its channel is ended. A
// sound CellApp that is turned away like this finds its channel broken, and says again what was
// lost. Any other first message ends the channel.
//
// With cluster keys the CellAppMgr names only apps that have proved their membership. Without keys,
// whoever reaches its port and knows the definitions can join.

// A BaseApp has outer doors, for clients, and an inner one, for apps. Only clients come in by an
// outer door, whatever their address. In the simulation one door serves both, and the first message
// tells them apart. If the cluster has keys, messages of apps are taken only from peers that have
// proved their membership. Who may say what:
//
//	a client, after its Attach                          the client protocol, for its own proxy
//	the CellAppMgr and the BaseAppMgr, on the channels  orders
//	that this app dialled, or by the same start
//	CellApps that the CellAppMgr has named              where reals are, what was lost, flows of cells
//	of those, who holds an entity, held it lately, or   its flow to the base, packets to its client
//	is told to make it
//	BaseApps that the CellAppMgr has named              flows of their own bases, and what becomes of
//	                                                    those to them
//
// An app that has not been named yet waits at the door. Its messages are kept in order, so a sound
// app loses nothing while the message that names it is on its way.

// outside reports whether a channel came in by an outer door.
func (a *BaseApp) outside(ch mercury.ChannelID) bool {
	return a.cfg.Outside != nil && a.cfg.Outside(ch)
}

// mayAttach reports whether a channel may become a client's: one from an outer door or, where there
// is only one door, one whose peer has not spoken as an app.
func (a *BaseApp) mayAttach(ch mercury.ChannelID) bool {
	if a.cfg.Outside != nil {
		return a.cfg.Outside(ch)
	}
	return !a.net.has(ch) && !a.door.Waits(ch)
}

// isApp reports whether a channel's peer is a process of the cluster that may speak now, as far as
// this app knows.
func (a *BaseApp) isApp(ch mercury.ChannelID, from mercury.Address) bool {
	return a.roleOf(ch, from) != 0
}

// unnamed takes a message from a peer that is not a client, and that no manager has named.
func (a *BaseApp) unnamed(ch mercury.ChannelID, from mercury.Address, reliable bool, msg []byte) {
	id := wire.ID(msg[0])
	switch {
	case !a.links.Member(ch):
		a.turnAway(ch, "the sender has not proved to be of the cluster", from, id)
	case !wire.May(wire.CellApp, id, wire.BaseApp) && !wire.May(wire.BaseApp, id, wire.BaseApp):
		a.turnAway(ch, "first message of a channel", from, id)
	case !reliable:
		a.refused("a message of an app that is not named", "from", from, "id", id) // unreliable, so it may be lost
	case !a.door.Hold(a.now, ch, from, msg):
		a.turnAway(ch, "too many messages wait of apps that are not named", from, id)
	}
}

func (a *BaseApp) turnAway(ch mercury.ChannelID, what string, from mercury.Address, id wire.ID) {
	a.refused(what, "from", from, "id", id)
	a.door.Closed(ch)
	delete(a.net.dialled, ch)
	a.net.Abort(ch)
}

// name learns who belongs to the cluster, and handles their waiting messages. It is called only
// from the handler of the manager's message.
func (a *BaseApp) name(m *wire.Members) {
	known := a.roster.Changes()
	a.roster.Name(m)
	if a.roster.Changes() != known {
		a.shared.Expect()
	}
	a.silent = slices.DeleteFunc(a.silent, func(s silentChannel) bool {
		peer, ok := a.net.Peer(s.ch)
		return ok && !a.outside(s.ch) && a.isApp(s.ch, peer)
	})
	for _, x := range m.Apps {
		if x.Role == wire.CellApp || x.Role == wire.BaseApp {
			a.door.Admit(x.App, a.admitted)
		}
	}
}

// shut ends the channels of peers that have waited too long for a manager to name them.
func (a *BaseApp) shut() {
	a.door.Expire(a.now, func(ch mercury.ChannelID, from mercury.Address, messages int) {
		a.report.Refused += uint64(messages - 1)
		a.turnAway(ch, "an app that no manager has named", from, 0)
	})
}
