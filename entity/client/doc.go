// Package client is the client side of Cellscape: it logs in, holds what the
// server shows of the world, and says what the player does. Bots and Go clients
// are built on it. Package session gives it a socket, a goroutine and a clock.
//
// # One session
//
//	Idle --Tick--> LoggingIn --LoginOK--> Attaching --Attached--> Playing
//	  |                |                      |                      |
//	  +----------------+---- Refused, timeout, malformed, end -------+--> Closed
//
// A Client lives for one session and is thrown away at Closed; to play on, make
// another. Its first Tick dials the LoginApp, which names the BaseApp that holds
// the proxy and gives a token for it, and perhaps a ticket that saves dialling it a
// round trip (Config.Tickets); there the client attaches.
//
// # Replicas
//
// A Replica is the client's copy of an entity: the player's own, and those in
// its area of interest. Only the server's messages change a replica; the one
// exception is the place of the player's own entity, which the client controls
// from CellPlayer on (SetPosition).
//
// A game may write a Go type for what it sees of an entity type, with handles for the
// properties, methods that answer client methods, and setters that hear of changes; see
// Register. Each change, of a whole property or of a part of one, is told with its path
// and the old value, after it is in place.
//
// # The order of places
//
// Reliable messages come in order; Positions packets come as they like. The
// bundles of the player's cell part are numbered, and a packet says which bundle
// it was sent after, so that everything has its place in the order in which the
// cell sent it:
//
//   - An entry of a packet is used only if it was sent after the last reliable
//     word on the place of its entity (Enter or Rest) and no later packet has been used.
//   - A Rest is used unless a packet that was sent after it has been used.
//
// So a late packet never moves an entity back, and once the world is quiet the
// last Rest decides. The client says which packets have come: with its own moves, and
// by themselves while it stands still.
//
// # Concurrency
//
// A Client starts no goroutine, reads no clock and takes no lock: it belongs to
// the goroutine that calls it. Events are called inside Tick, Opened, Message and
// Closed, and may call any method of the Client.
//
// # Trust
//
// What a server sends is checked as if it were hostile: a malformed message ends
// the session, and limits bound what a client can be made to hold.
package client
