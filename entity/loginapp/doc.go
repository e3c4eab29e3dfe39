// Package loginapp is the LoginApp: the process that a player's client meets first. It checks who
// the player is and sends the client on to the BaseApp that holds its proxy. A cluster may run
// several.
//
// # One login
//
//	Opened --> fresh --Login--> checking --JobDone--> placing --ProxyMade--> answered
//	             |                 |                     |                      |
//	          10 s: closed         +-- refused ----------+--> answered      5 s: closed
//
// An Auth checks the name and the password, as a job. It may block on a database or an account
// service, and only its client waits for it. A channel carries one login. Malformed messages are
// refused, and their channels closed.
//
// # Facing the outside
//
// Strangers can reach this process, so it keeps little for them. Config.MaxPending bounds the
// logins under way, including jobs whose clients have left. Silent clients are dropped. No answer
// tells why an Auth refused, since that would help to guess.
//
// The CellAppMgr may say that the world is full. Everyone is then refused with protocol.WorldFull,
// before Auth is asked.
//
// # Tickets
//
// If channels are sealed, Config.Tickets adds a ticket to the answer. With it, the client's first
// packet to its BaseApp opens the channel, without a round trip, and nobody can open it from
// elsewhere. It is made for the IP that the client logs in from.
//
// # Concurrency
//
// A LoginApp starts no goroutine, reads no clock and opens no socket. Call it on one goroutine.
// Only the functions given to Jobs run elsewhere, and they touch nothing of the LoginApp.
package loginapp
