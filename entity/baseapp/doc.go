// Package baseapp is the process that holds the base parts of entities, and for
// players their proxies: what a client talks to as long as it plays, wherever its
// entity's cell part goes.
//
//	LoginApp ──▶ BaseAppMgr ──MakeProxy──▶ ┌─────────┐ ◀──CellAppMgr (Welcome, Located, AppDead, AppLeft)
//	                                       │ BaseApp │
//	client ◀────protocol bundles─────────▶ │  bases  │ ◀──flows, Current, Offer──▶ CellApps
//	                                       └─────────┘
//
// # What a base does
//
// It runs the script of the base side, holds the properties of the base side, and
// is the one place that decides over the life of its cell part: cellLink
// draws that state machine. It keeps the freshest copy of the cell part and every
// message to it that the copy does not contain; when a CellApp dies it has the real
// made again elsewhere, under a new incarnation, and replays those messages. It
// refuses what older incarnations still say.
//
// A proxy relays the reliable bundles of the cell part to the client one to one,
// each as one message, and sends its own messages as messages of their own. Before
// the first bundle of a new incarnation it tells the client to forget (Reset).
// Bundles made for another client session are dropped.
//
// For scripts it asks the CellAppMgr for new spaces, and for the end of them, until
// that answers; the script's method that it named is told the id. A cell part whose
// space has ended is not made again.
//
// Each time that the app joins the BaseAppMgr it says which accounts have a proxy
// here: a manager that started again knows of none.
//
// # Channels
//
// The port is open to everyone, and who speaks is decided by who it is, not by what it
// says. Mercury proves the address of a peer, with the salt of its start. A manager is
// whom this app has joined. A CellApp is who the CellAppMgr has named (wire.Members); the
// list outlives the manager, since the next one knows apps only when they come back, and
// what dies is told by AppDead. What has retired is told by AppLeft to who asks: a base that
// does not hear of its real for long, and believes it there. Of the CellApps, those alone speak for an entity that
// hold it, held it lately, or are told to make it; another one is asked (migrate.Probe),
// since its word that it has the real may have been lost.
//
// Anyone else may say protocol.AttachID first, which makes the channel a client's: from
// then on it is parsed as the client protocol and nothing else. If it says what CellApps
// say, it waits at the door for a while, within bounds, because the manager's word may
// come later than the first message of a new CellApp; then its channel is ended. A sound
// CellApp that is turned away so finds its channel broken, and says again what was lost.
// Anything else drops the channel.
//
// That the CellAppMgr names those alone who belong to the cluster is not proved yet:
// whoever reaches its port and knows the definitions can join.
//
// # Contract
//
//   - A [BaseApp] is a state machine without goroutine, socket or clock. One
//     goroutine owns it and all scripts in it.
//   - Bases are always visited in the order of their ids.
//   - No base believes for ever in a real that nobody has: whoever lost it says so until it
//     is answered, the manager tells of CellApps that died, and of those that left if a base
//     that hears nothing asks.
//   - Times of scripts' timers are game time, which stands while the world is frozen.
//   - A script's panic is contained: it is logged with its stack and counted, its
//     base is destroyed, its client dropped. No other base notices.
//   - Nothing that a client sends can do more than lose that client its session.
//
// # The caller's duties
//
// Register all scripts before [New], which reports every fault of the configuration
// and of the scripts at once. Deliver the transport's callbacks and call Tick when
// it is due. When [BaseApp.Dismissed] is true the app has nothing more to do and is
// to be made anew, under another salt.
//
// Sources: seed S4 (base and proxy, backup, restore), architecture of the flows in
// package entity.
package baseapp
