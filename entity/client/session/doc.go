// Package session lets a program play in a world that runs elsewhere: a bot, a test, a Go game. It
// gives a client its socket, its seal, its goroutine and its clock.
//
//	Dial: address, key, name, password
//	  |
//	  |  name looked up -> LoginApp -> BaseApp -> the player is in the world
//	  v                       |
//	Session                   +--> refused, silent, another key: Dial's error
//
// Config.LoginApp names the network: "udp://host:port", "wss://...", "quic://...", "tls://...". The
// player goes on to its BaseApp over the same one. With Config.AnyNetwork it may come back over others.
//
// # In a web page
//
// A program that is built for a page (GOOS=js GOARCH=wasm) has a session like any other, over "wss://..."
// or, in the clear, "ws://...". A page dials by name. So BaseApps are dialled by the name that their door
// has (cluster.Door.Name), and by their address if it has none. The browser decides whom to trust, and the
// door decides which pages may come in (cluster.Door.Origins).
//
// # Contract
//
//   - Dial returns when the player's entity is in the world, so that client.Client.SetPosition and
//     calls work, or with the reason why it is not. Its context bounds only the login.
//   - Start does not wait. Session.Ready does, when it suits the caller.
//   - Errors wrap their reasons for errors.Is and errors.As: a *protocol.Refused with its code,
//     mercury.ErrKey for a key that is not the world's or a certificate that is not trusted,
//     mercury.ErrTimeout for silence, and the context's error when that has ended.
//   - With Config.Retry the session tries to log in again while the world is not ready. Without it,
//     that is an error like others.
//   - A session whose connection is lost goes on by itself over another one, if that comes soon enough:
//     see package client. Events.Interrupted and Events.Resumed tell.
//   - A session that has ended does not begin again. Session.Done tells that it has ended, and
//     Session.Err why.
//
// # Concurrency
//
// Call methods of a Session from any goroutine except its client's. Events are called on the
// client's goroutine; all other code reaches the client by Session.Do.
//
// # Caller's duties
//
// Close each Session in the end, even one that is over. Its socket and its goroutine stay until
// then.
package session
