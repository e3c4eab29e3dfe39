// Package entity is what a script author needs to know of entities: their ids, parts and lives, the
// base part that a script embeds, and the mailboxes by which parts call each other.
//
// # Who is who
//
// An entity has up to three parts. The cell part lives in a space and moves from CellApp to
// CellApp. Its one authoritative copy is the real; read-only copies on neighbouring CellApps are
// its ghosts. The base part stays on a BaseApp; a base with a client is a proxy. The client part is
// in a player's program.
//
// A real is named by (id, incarnation, hop). Every offload adds one to hop. Only the base starts a
// new incarnation, and only after a death verdict. Order compares the two, and an app with a newer
// order refuses an older one.
//
// # Calls
//
// Parts of entities call each other by Mailbox. A call arrives once and in order, wherever both
// ends move; package entity/flow tells how.
//
// # Scripts
//
// A game writes a Go type for each part of an entity type: one for the cell part that embeds
// *space.Real, one for its ghosts (*space.Ghost), one for the base (*Base), and for a client one
// for what it sees (*client.Replica). They all work alike:
//
//	space.Register[T](scripts, "Avatar")         made by NewScripts of the schema; each takes a
//	space.RegisterGhost[T](scripts, "Avatar")    constructor for T besides; faults are kept for
//	baseapp.Register[T](scripts, "Avatar")       Scripts.Err, all with their remedies
//	client.Register[T](scripts, "Avatar")
//	client.RegisterPlayer[T](scripts, "Avatar")
//
//	Health property.Int32                        a property; what is not is tagged `cellscape:"local"`
//	func (t *T) Say(text string)                 answers method say of the definition
//	func (t *T) OnCreated()                      a hook: the library calls it
//	func (t *T) OnSetHealth(c *property.Change)  a setter, of ghosts and clients
//	func (t *T) OnRested(c Callback)             a callback: called by the name that the script gave
//
//	id, err := t.AddTimer(after, every, "OnRested", user); t.Cancel(id)
//	err := t.Base().Call("pay", 5)               and Cell, Client, OwnClient ...: a Mailbox
//
// Callbacks are given by name, since names travel and functions do not. A method that looks like a
// hook or callback but is not one is refused at start-up.
//
// # When a CellApp dies
//
// A call to a cell part with a base affects the state of that cell part exactly once. This holds
// for calls from its base, its own client and the client of another entity, even when the CellApp
// of the target dies, or that of the caller, or both. A call may instead be refused because the
// target is not in sight or has ended; the caller's cell part is then told (space.CallRefuser). Two
// cases are not covered: calls that an entity left behind when it was destroyed, if its CellApp
// dies before they are settled; and a repeat that comes after the target has forgotten the caller,
// after more than space.PeerLease.
//
// A restored cell part repeats what it did after its backup. So effects outside its own state and
// its calls to other cell parts may happen twice: calls to its base and to clients, spawned
// entities without a base, data of the space. Nothing that it told its base and its own client
// before the backup is lost. A copy that was frozen for a handoff may have sent messages that
// nobody acknowledged. The cell part restored from it sends them first; if that dies before its own
// backup, the next one sends them again, from where the base last heard the frozen copy. What a
// cell part did by itself after the backup, for example by a timer, the restored one may do
// differently. A base recognises a repeat by the number of its Call; see Base.Call.
//
// An entity without a base dies with its CellApp, and so does everything that was sent to it.
//
// # Concurrency
//
// Nothing here locks. Each value belongs to the one app that owns it.
package entity
