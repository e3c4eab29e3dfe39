// Package peer is mercury for a program that takes nothing else of the library: Listen and Dial give it channels that are reliable
// and ordered, with unreliable messages beside them, over UDP and sealed.
//
//	server, err := peer.Listen(ctx, ":7777", key, peer.Config{Message: answer})
//	conn, err := peer.Dial(ctx, "example.com:7777", key.Public(), peer.Config{Message: show})
//	err = conn.Send([]byte("hello"))
//
// key is made once by secure.GenerateKey and stays with the server; its public half ships with the client. Package host runs both
// ends, as it runs the apps of a world: who outgrows this package goes on there, with the same channels.
//
// # Contract
//
//   - What a Channel promises is what mercury.Transport promises.
//   - Events of a Server or a Conn come one after the other, on one goroutine of its own, so that they need no locks.
//   - Listen returns when the port is open, Dial when the channel is, or with the reason why not: mercury.ErrKey for another key,
//     mercury.ErrTimeout for silence, or what the context says.
//   - Close brings over what was sent, for Config.StopTimeout at most, and tells the peers. No event comes after it.
//   - Ask ends exactly once: by the peer's answer or its refusal, by the end of the channel, or by the context.
//   - Send fails with mercury.ErrFull when the peer does not keep up, and changes nothing; the Room event says when there is room.
//
// Both ends are of this package: requests and replies begin with a byte of their own, and a message that begins alike goes with one
// byte more.
//
// # Concurrency
//
// Methods of a Server and a Conn may be called from any goroutine but that of their events. A Channel belongs to the goroutine of
// the events: use it inside them, or inside Do.
//
// # Caller's duties
//
// Close a Server or Conn when done with it, also one that is over.
package peer
