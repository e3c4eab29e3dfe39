// Package baseapp is the process that holds the base parts of entities. For players these are
// proxies, to which a client talks as long as it plays, wherever its entity's cell part goes.
//
//	LoginApp ──▶ BaseAppMgr ──MakeProxy──▶ ┌─────────┐ ◀──CellAppMgr (Welcome, Located, AppDead, AppLeft)
//	                                       │ BaseApp │
//	client ◀────protocol bundles─────────▶ │  bases  │ ◀──flows, Current, Offer──▶ CellApps
//	                                       └─────────┘
//
// # What a base does
//
// A base runs the script of the base part and holds its properties. It alone decides over the life
// of its cell part; cellLink draws that state machine. It keeps the freshest copy of the cell part,
// and every message to it that the copy does not contain. When a CellApp dies, the base has the
// real made again on another, under a new incarnation, and replays those messages. It refuses what
// older incarnations still send.
//
// A proxy relays the reliable bundles of the cell part to the client, each as one message, and
// sends its own messages apart from them. Before the first bundle of a new incarnation it tells the
// client to forget the old one (Reset). It drops bundles that were made for another client session.
//
// A client has a seat at its proxy, which outlives its channel; seat draws that state machine. When the
// channel is lost, the seat is kept for Config.ResumeTime: what the client is told waits in a tail, the
// cell part tells it less, and scripts notice nothing. The client comes back by a token over another
// channel and is sent what it lacks. Package protocol says what both sides count.
//
// For scripts a base asks the CellAppMgr to create and destroy spaces, and repeats the request
// until it is answered. The method that the script named is told the new id. A cell part whose
// space has ended is not made again.
//
// Each time the app joins the BaseAppMgr it lists the accounts that have a proxy here, since a
// restarted manager knows of none.
//
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
// Anyone else may send protocol.AttachID or protocol.ResumeID first. That makes the channel a client's, and
// from then on it speaks the client protocol and nothing else. A peer that sends messages of a CellApp waits at
// the door for a while, within bounds, because a new CellApp's first message may overtake the
// manager's message that names it. After that its channel is ended. A sound CellApp that is turned
// away like this finds its channel broken, and says again what was lost. Any other first message
// ends the channel.
//
// With cluster keys the CellAppMgr names only apps that have proved their membership. Without keys,
// whoever reaches its port and knows the definitions can join.
//
// # Contract
//
//   - A [BaseApp] is a state machine without goroutine, socket or clock. One goroutine owns it and
//     all scripts in it.
//   - Bases are always visited in order of their ids.
//   - No base believes for ever in a real that nobody has. An app that lost it says so until it is
//     answered. The manager announces CellApps that died, and tells a base that hears nothing, and
//     asks, of those that left.
//   - Scripts' timers run on game time, which stands still while the world is frozen.
//   - A script's panic is contained: it is logged with its stack and counted, its base is
//     destroyed, and its client is dropped. No other base notices.
//   - Nothing that a client sends can do more than lose that client its session.
//   - A client that comes back in time has lost nothing and hears nothing twice, and neither does its
//     entity. Its messages are counted once handled.
//
// # The caller's duties
//
// Register all scripts before [New], which reports every fault of the configuration and of the
// scripts at once. Deliver the transport's callbacks, and call Tick when it is due. When
// [BaseApp.Dismissed] is true, replace the app by a new one under another salt.
//
// Sources: seed S4 (base and proxy, backup, restore); package entity/flow for the flows.
package baseapp
