// Package loginapp is the LoginApp: the process that a player's client meets
// first. It checks who the player is and sends the client on to the BaseApp that
// holds its proxy. A cluster may run several.
//
// # One login
//
//	Opened --> fresh --Login--> checking --JobDone--> placing --ProxyMade--> answered
//	             |                 |                     |                      |
//	          10 s: closed         +-- refused ----------+--> answered      5 s: closed
//
// Whether a name and a password are good is asked of an Auth, as a job: it may
// block, on a database or an account service, and no one waits for it but its
// client. A channel carries one login. Whatever is malformed is refused, and its
// channel closed.
//
// # Facing the outside
//
// Strangers reach this process, so it keeps little for them: logins under way are
// bounded by Config.MaxPending, jobs whose client has left included; whoever says
// nothing is dropped; and no answer tells why an Auth refused, since that helps
// who guesses.
//
// The CellAppMgr may say that the world is full. Then everyone is refused, with
// protocol.WorldFull, before Auth is asked.
//
// # Tickets
//
// Where channels are sealed, Config.Tickets adds a ticket to the answer, with which the
// client's first packet to its BaseApp opens the channel: no round trip, and nobody can
// have opened it from elsewhere. It is made for the IP that the client logs in from.
//
// # Concurrency
//
// A LoginApp starts no goroutine, reads no clock and opens no socket. It belongs
// to the goroutine that calls it; only the function handed to Jobs runs elsewhere,
// and it touches nothing of the LoginApp.
package loginapp
