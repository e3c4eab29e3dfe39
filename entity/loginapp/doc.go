// Package loginapp is the LoginApp: the process that a player's client meets first. It checks who
// the player is and sends the client on to the BaseApp that holds its proxy. A cluster may run
// several.
//
// # One login
//
//	Opened --> fresh --Login--> checking --JobDone--------> placing --ProxyMade--> answered
//	             |                 |  |                     ^ |  |                   |
//	          10 s: closed         |  +-full-> waiting -----+ |  |               5 s: closed
//	                               |             |  ^-no room-+  |
//	                               +-- refused --+---------------+--> answered
//
// An Auth checks the name and the password, as a job. It may block on a database or an account
// service, and only its client waits for it. A channel carries one login. Malformed messages are
// refused, and their channels closed.
//
// # Facing the outside
//
// Strangers can reach this process, so it keeps little for them. Config.MaxPending bounds the
// logins under way, including jobs whose clients have left. Silent clients are dropped. No answer
// tells why an Auth refused, since that would help to guess, unless the Auth says what to tell.
//
// # The queue
//
// The world may be full in two ways. The CellAppMgr says that its apps have too much to do
// (Logins); that holds until it says otherwise. Or no BaseApp has room for a further proxy; that
// the BaseAppMgr says when it is asked for one (protocol.WorldFull), and it may be otherwise a
// moment later. Whoever logs in then, and whom Auth accepts, waits:
//
//   - The order is that in which Auth accepted them, also if several are asked for at once. Whoever
//     comes while somebody waits comes after them, even if there is room by now. Each LoginApp has
//     its own queue, and the BaseAppMgr gives the LoginApps their turns.
//   - Whose account has a proxy need not wait: its player is in the world already, and it was the client
//     that has ended. So the BaseAppMgr is asked first whether there is one (wire.CreateProxy.Back).
//   - A client is told its position (protocol.Waiting) when it begins to wait, and every TellPeriod.
//   - One is asked for in each tick, so that the world sees what they add to its load before too many are
//     in. It is closed again for the others if it is full again. If the BaseAppMgr has no room, it is asked
//     again after wire.RoomPeriod. So never more come in than there is room for, by all LoginApps together.
//   - Whoever is asked for keeps the place until the proxy is made.
//   - Config.Queue bounds the places. If none is left, logins are refused with protocol.WorldFull, before
//     Auth is asked. So it is with all of them if there is no queue.
//   - Nobody waits for longer than MaxWait, and is then refused with protocol.WorldFull.
//   - An account has one place, and so has a channel, which carries one login. A second login of an account
//     takes over the place, and its time; the first is told protocol.Replaced.
//   - Whose channel ends leaves the queue. A client that says anything while it waits is refused as
//     malformed, and leaves it, too.
//   - Without the BaseAppMgr nobody comes in, and who waits keeps waiting. If the LoginApp ends, so do all
//     channels, and its queue is gone.
//
// Each login is answered by one LoginOK or Refused at most, and by none only if its channel ends.
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
