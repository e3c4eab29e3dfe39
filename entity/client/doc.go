// Package client is the client side of Cellscape. It logs in, holds what the server shows of the
// world, and sends what the player does. Bots and Go clients are built on it. Package session gives
// it a socket, a goroutine and a clock.
//
// # One session
//
//	Idle --Tick--> LoggingIn --LoginOK--> Attaching --Attached--> Playing <--+ channel lost:
//	  |                |                      |                      |  |----+ dials, Resume
//	  +----------------+---- Refused, timeout, malformed, end -------+--> Closed
//
// A Client lives for one session. After Closed, make another to play on. Its first Tick dials the
// LoginApp. The answer names the BaseApp that holds the proxy, and has a token for it and perhaps a
// ticket, which saves a round trip (Config.Tickets). The client then attaches at the BaseApp.
//
// # A lost connection
//
// When the channel of a player is lost, the client dials again by itself: the BaseApp, over each of its
// networks that it can dial (Config.Networks), and where the server has told it to go if that is gone.
// The login says so already, and a BaseApp that is gone before its first word is no loss either. The
// first try comes soon and the later ones more rarely, as long as the server keeps the player's place.
// The client stays Playing: what it shows stays as it is, the player may move, and calls are kept, up to
// MaxUnsettled, and sent later. Events.Interrupted and Events.Resumed tell the game, which may show a
// sign. In between nothing is lost or comes twice, in either direction; only positions of that time are
// missing, and downloads end. If the time is over, or the server knows of no such session any more,
// Events.Closed has the reason.
//
// # Replicas
//
// A Replica is the client's copy of an entity: the player's own, or one in its area of interest.
// Only the server's messages change a replica, with one exception: from CellPlayer on, the client
// controls the place of the player's own entity (SetPosition), and that of any other of which the
// server has given it the control.
//
// The server has the last word on that place, too. It may put the entity elsewhere: because a script
// says so, because the client was too fast, or because the game found a wall. The client is there at
// once, tells the script (ForcedWatcher) and the game (Events.Forced), and its next moves say that
// they were made after it; what it has sent before is void. The server may also take the control,
// for a walk or for longer. SetPosition then fails with ErrNoControl, and Events.Forced tells a few
// times a second where the entity is; see Client.Controls.
//
// The server may also give the client the control of another entity in its area of interest, a pet or a
// vehicle: Events.Controlled, Replica.Controls, Replica.SetPosition. Its replica is then where the
// client says; what the server tells everybody of its place is kept, and counts when the control has
// gone. A forced place comes as another Events.Controlled. The control ends without being told with the
// view of the entity.
//
// An entity may ride on another one: Replica.Vehicle and Replica.Seat, Events.RideChanged. The server then
// tells the seat, and not the place, which follows from that of the vehicle here: riders move with it, and
// are drawn on it, where their own filters show their seats. So does the player's own entity.
// Client.SetPosition and Replica.SetSeat move it about on the vehicle. A client that is not shown the
// vehicle is told places, as of anybody.
//
// A game may write a Go type for what it sees of an entity type, with handles for the properties,
// Go methods for the client methods, setters that are told of changes, and hooks (EnterWatcher,
// LeaveWatcher, MoveWatcher, RideWatcher, ForcedWatcher); see Register. Each change, of a whole property
// or of a part of one, is told with its path and the old value, after it was made.
//
// Of its own entity a player is told each change and each call that a part makes, in the order in
// which it makes them. Of another entity it is told the newest value of a property, at the place of
// its last change: if that came after a call, the client method sees the value from before the
// changes. What a method is to go by belongs in its arguments.
//
// Of an entity that leaves, the client keeps the values if the server says so, and the place, in one of
// protocol.MaxKept slots. When it comes back, the server tells what has changed; the game sees a Left
// and an Entered with a new Replica, as when nothing was kept. A Reset forgets all that is kept.
//
// # The order of places
//
// Reliable messages come in order; Positions packets may be late or lost. The bundles of the
// player's cell part are numbered, and a packet says which bundle it was sent after. So the client
// knows the order in which the cell sent them:
//
//   - An entry of a packet is used only if it was sent after the last reliable message about the
//     entity's place (Enter or Rest), and if no later packet has been used.
//   - A Rest is used unless a packet that was sent after it has been used.
//
// So a late packet never moves an entity back, and once the world is quiet the last Rest decides.
// The client tells the server which packets have come, with its own moves or, while it stands
// still, in messages of their own.
//
// # Where to draw an entity
//
// Position is what the server said last: right, and jerky. A Filter turns what arrives into a walk:
// Hermite shows an entity a few tenths of a second late on a smooth curve, whatever jitter and loss
// do; Raw is to compare with. The game chooses by entity (Config.Filter, Replica.SetFilter), and
// asks Replica.Shown for each frame, with the time by the clock of Tick (session.Session.Now).
// Stats counts the places, their bytes and how old those were that they replaced.
//
// # Concurrency
//
// A Client starts no goroutine, reads no clock and takes no lock: use it on one goroutine. Events
// are called inside Tick, Opened, Message and Closed, and may call any method of the Client.
//
// # Trust
//
// The client checks messages as if the server were hostile: a malformed one ends the session, and
// limits bound what a client can be made to hold.
package client
