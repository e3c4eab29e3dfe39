// Package peer is mercury for a program that uses nothing else of the library. Listen and Dial give
// it reliable, ordered channels, with unreliable messages beside them, sealed and over UDP.
//
//	server, err := peer.Listen(ctx, ":7777", key, peer.Config{Message: answer})
//	conn, err := peer.Dial(ctx, "example.com:7777", key.Public(), peer.Config{Message: show})
//	err = conn.Send([]byte("hello"))
//
// key is made once by secure.GenerateKey and stays with the server; its public half ships with the
// client. Package host runs both ends, as it runs the apps of a world. A program that outgrows this
// package can go on there with the same channels.
//
// # Contract
//
//   - A Channel promises what mercury.Transport promises.
//   - Events of a Server or a Conn come one after the other, on a goroutine of its own, so they
//     need no locks.
//   - Listen returns when the port is open, Dial when the channel is, or with the reason why not:
//     mercury.ErrKey for another key, mercury.ErrTimeout for silence, or the context's error.
//   - Close delivers what was sent, within Config.StopTimeout, and tells the peers. No event comes
//     after it.
//   - Ask ends exactly once: by the peer's answer or its refusal, by the end of the channel, or by
//     the context.
//   - Send fails with mercury.ErrFull when the peer does not keep up, and changes nothing; the Room
//     event says when there is room.
//
// Both ends must use this package: requests and replies begin with a byte of their own, and a
// message that begins with the same byte gets one byte more.
//
// # Concurrency
//
// Call methods of a Server and a Conn on any goroutine except that of their events. Use a Channel
// only on the goroutine of the events: inside them, or inside Do.
//
// # Caller's duties
//
// Close each Server and Conn in the end, even one that has already ended.
package peer
