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
// An account that has a proxy may log in again. Config.Relogin and OnLogOnAttempt say what becomes of that;
// relogin draws it.
//
// A proxy may give its client, and the account with it, to another base on any BaseApp; give draws
// that, and says which of two bases that claim an account has it.
//
// For scripts a base asks the CellAppMgr to create and destroy spaces, and repeats the request
// until it is answered. The method that the script named is told the new id. A cell part whose
// space has ended is not made again.
//
// Each time the app joins the BaseAppMgr it lists the accounts that have a proxy here, since a
// restarted manager knows of none.
//
// # Inside
//
// What the app does with other apps is described where its code is, each with its states and invariants:
//
//	doorway.go   who may say what, on which channel
//	ruling.go    the copies of bases on other BaseApps
//	stub.go      the end of a base, whose name and account are free when nobody can bring it back
//	heir.go      the death of a BaseApp: what its bases go on with elsewhere
//	restart.go   a panic of a script: what its base goes on with here
//	leave.go     how an app leaves without loss; move.go, how a part of its bases does
//	ensure.go    an entity of which the cluster has one; sole.go, the row of such an entity
//	service.go   what runs on each BaseApp, and has no entities
//	keeping.go   the rows of bases in the store; stop.go and bring.go, the world's end and start
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
//   - A script's panic is contained: it is logged with its stack and counted, and its base goes on from
//     its newest copy, or ends if it has none (restart.go). No other base notices. What it has said since
//     the copy is not taken back, as after a death: see package entity, "When a base goes back to a copy".
//   - Nothing that a client sends can do more than lose that client its session.
//   - A client that comes back in time has lost nothing and hears nothing twice, and neither does its
//     entity. Its messages are counted once handled.
//
// # The caller's duties
//
// Register all scripts before [New], which reports every fault of the configuration and of the
// scripts at once. Deliver the transport's callbacks, and call Tick when it is due. When
// [BaseApp.Dismissed] is true, replace the app by a new one under another salt. When [BaseApp.Retired] is
// true, end the process.
//
// Sources: seed S4 (base and proxy, backup, restore); package entity/flow for the flows.
package baseapp
