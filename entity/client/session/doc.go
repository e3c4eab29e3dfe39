// Package session lets a program play in a world that runs elsewhere: a bot, a test, a
// Go game. It gives a client its socket, its seal, its goroutine and its clock.
//
//	Dial: address, key, name, password
//	  |
//	  |  name looked up -> LoginApp -> BaseApp -> the player is in the world
//	  v                       |
//	Session                   +--> refused, silent, another key: Dial's error
//
// Config.LoginApp names the network: "udp://host:port", "wss://...", "quic://...", "tls://...". The
// player goes on to its BaseApp over the same one.
//
// # Contract
//
//   - Dial returns when the player's entity is in the world, so that client.Client.SetPosition
//     and calls work, or with the reason why it is not. Its context bounds the login alone.
//   - Start does not wait: Session.Ready does, when it suits the caller.
//   - Errors keep their reasons for errors.Is and errors.As: a *protocol.Refused with its code,
//     mercury.ErrKey for a key that is not the world's, mercury.ErrTimeout for silence, and what
//     the context says when that has ended.
//   - With Config.Retry a login is asked for again while there is no world that is ready.
//     Without it, that is an error like others.
//   - A session that is over is not taken up again. Session.Err says why it ended.
//
// # Concurrency
//
// Methods of a Session may be called from any goroutine but that of its client. Events are
// called on the client's goroutine; everything else reaches the client by Session.Do.
//
// # Caller's duties
//
// Close a Session when done with it, also one that is over: its socket and its goroutine
// stay until then.
package session
