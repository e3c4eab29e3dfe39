// Package mercury connects apps by channels over datagrams: reliable and ordered messages,
// unreliable ones beside them, and a stream for bulk behind both. It does no input or output
// itself. An Endpoint is a plain struct that is told what arrived and what time it is, and says
// what to send and when to call it again. The same code runs over a socket (package udp) and in a
// simulation (package mercurytest).
//
// A channel connects two apps, not two entities, so thousands of entities share packets to another
// app. The app sends through Transport and receives through Handler; other transports can take the
// place of an Endpoint.
//
// # What the caller does
//
//  1. Make an Endpoint with a salt drawn at random for this start, then the app with the Endpoint
//     as its Transport, then set the app as its Handler.
//  2. Pass every datagram that arrives to Receive.
//  3. Call Advance at NextDeadline, or earlier.
//  4. Call Flush at the end of each tick and after Advance, and send what it emits. Messages sent
//     between two calls of Flush travel together. While something waits for a Flush, NextDeadline
//     is now.
//  5. Give the same clock to all calls: a time.Duration since some start, which never runs back.
//  6. Before exit, go on until Stats().Channels is 0 if everything that was sent must still arrive.
//
// Do not call Receive, Advance and Flush from inside a Handler or an emit; all other methods are
// allowed there. Use an Endpoint on one goroutine. A Carrier does all this over a socket, and
// package host runs carriers for an app.
//
// # What it guarantees
//
//   - Reliable messages of a channel are delivered exactly once, whole and in order, whatever is
//     lost, duplicated, delayed, reordered or damaged; bulk messages likewise, in an order of their
//     own. Unreliable ones are delivered at most once, as they come.
//   - Opened comes first and Closed last; nothing is delivered from a channel that this side has
//     closed.
//   - An unreliable message leaves with the next Flush, whatever the window, or never if there are
//     too many. A tick's reliable messages do not wait behind bulk. However many unreliable ones
//     there are, half of the pace is left to those that wait for it.
//   - On a path without loss nothing is sent twice. Config.Copies bounds what is sent twice on a
//     path that loses packets.
//   - Copies cause no loss: they yield to a queue, whoever filled it, and end when they do not help
//     (see copyPolicy).
//   - A peer is given up after Config.Inactivity of silence. Only time in which this process was
//     awake counts: one call adds at most a second and at most a quarter of Inactivity.
//   - A start of the peer with another salt never receives what was meant for the old one, and is
//     recognised within a round trip.
//   - Datagrams of strangers change nothing, allocate no channel, and are answered by fewer bytes
//     than they have. Damaged, forged or repeated packets have no effect.
//   - Each queue has a limit: unsent messages (MaxQueued), segments in flight (Window), messages
//     being put together (MaxMessage), channels (MaxChannels), answers to strangers, memory of what
//     has ended. A peer that exceeds one is closed with an Err that says which.
//   - A live peer that does not keep up loses nothing: its full queue refuses new messages with
//     ErrFull, and the channel stays. Queued says how full it is, so that senders can hold back
//     before that.
//   - A receiver can pause one channel: it holds what comes, at most Window segments of each
//     stream, and the sender waits.
//   - A channel without unacked messages or owed acks costs only its keep-alive: no goroutine, no
//     system timer, no place in a queue that others pay for.
//   - The same calls give the same datagrams.
//
// Without a Guard packets are neither encrypted nor signed. Anyone who can read a channel's packets
// can forge them; the key in the checksum keeps out everyone else. Package secure has the Guard for
// everything that players can reach.
//
// # Opening
//
//	dialler                                        acceptor
//	  │ open (salt, dial, hello)  280 bytes ─────────> │ keeps nothing
//	  │ <────────── accept (reply with a pass) ≤ 263   │
//	  │ Opened                                         │
//	  │ first (pass, messages) ──────────────────────> │ the pass is right: makes the channel, Opened
//	  │ <────────────── data (its channel, messages) ─ │
//	  │ data ────────────────────────────────────────> │
//
// A pass proves the dialler's address, since it was sent there. Without a Guard it is a cookie, a
// keyed hash of address, salt, dial number and the time to ten seconds, and half of it is the key
// of the checksum. With a Guard it is what Guard.Answer made of the hello. A dialler with a ticket
// from an earlier channel begins with first, so its messages arrive after half a round trip. If
// hellos come too fast, an open is first answered by a challenge, whose cookie the next open must
// repeat.
//
// A refuse answers a hello for another key, a hello that finds no Guard, and an open without a
// hello that finds one. It repeats the end of the hello, and the dial ends with ErrKey; after a
// pass has come, no refusal of a hello ends anything. A refuse also answers a first whose pass is
// not good, and the dialler begins again with its messages. A reset answers data for an unknown
// channel, or for one that somebody else has. It names the present salt, which is how a peer finds
// out about a restart.
//
// # Packets
//
// Numbers are little endian; varints have seven bits a byte. Packets of the handshake begin with
// kind, version and a checksum of the rest (for first: of its header). A packet of data is
//
//	0      1            2..6         3..10                      end-16 or -4
//	┌──────┬────────────┬────────────┬───────┬───────┬─────┬──────────────────┐
//	│ 0x40 │ channel    │ packet     │ frame │ frame │ ... │ seal, or CRC-32C │
//	│ +n-1 │ (theirs)   │ number (n) │       │       │     │ with number, key │
//	└──────┴────────────┴────────────┴───────┴───────┴─────┴──────────────────┘
//
// with the lower n bytes of the number, as many as make it unambiguous (RFC 9000, A.3). Frames,
// whose numbers are varints:
//
//	pad        00
//	ping       01
//	close      02
//	abort      03
//	channel    04     the acceptor's channel, salt and window; in each of its packets until one is acked
//	ticket     05     length, bytes
//	challenge  06     8 bytes to be sent back from a new address
//	response   07     the 8 bytes
//	ack        08     largest, delay in 131 µs since the newest packet that asked for an ack, run - 1
//	ack        09     the same, next segments of both streams, count, count × (gap - 1, run - 1)
//	pause      0a     number, next segments of both streams to be delivered; before each ack while it lasts
//	resume     0b     number
//	segment    10+f   number, [part and parts, offset,] [length,] bytes
//	unreliable 20+f   [length,] bytes
//
// Flags f: 1 has a length (without one, to the end of the packet), 2 bulk, 4 part. A packet number
// is used once. The content of a lost packet is sent again in a new packet, so an ack always tells
// which sending arrived. Segments are pieces of a reliable stream, in which each message follows
// its length. A segment holds all short messages of a tick; a long message spans many segments.
//
// # Before a loss is known, and after
//
// While more than 0.3 % of a channel's packets are lost by chance, segments of up to 400 bytes are
// copied into the next packet that goes anyway, above 4 % into the next two, unless they have been
// acked or the path is short of room. So a copy follows the original by one interval between messages.
// Where that is more than 24 ms, the first copy goes in a packet of its own after 16 ms. Many losses in
// a row, and losses while a queue stands, are not reasons for copies. Copies end when the round trip
// or the loss rises above what it was without them, and are then tried less and less often. Now and
// then they rest until a loss without them has shown that they are still needed.
//
// On a path that has lost something, and has no standing queue, a short segment is also sent again when the
// peer speaks a round trip after it without having got it: a burst of losses would have it wait longest. It
// then rides twice more, since what goes again may fall into the same burst.
//
// An unacked packet counts as lost once a packet that was not sent earlier has been acked and
// enough time has passed, as much as packets on this path have been seen to overtake each other by;
// that begins at zero (RFC 8985). If nothing is acked for the timeout of RFC 6298 plus the longest
// time that the peer has lately held acks back, the oldest segments are sent again, with waits
// doubled up to Config.MaxRTO. An ack waits for a packet to ride on, for Config.AckDelay or the
// rhythm of this side's own messages, but not at all if a stream has a gap. Where hundreds of
// packets have come without a loss, it also waits for an unreliable message, up to 120 ms.
//
// Anything beyond ten packets is paced, at the rate that a model of the path has measured
// (internal/congestion). The model ignores a single loss, but reacts to a growing queue.
//
// # Beside channels
//
// Package call has requests with replies, time-outs and failures. Package download brings megabytes
// to a client beside its game, and resumes after a broken channel. Both use only the public API of
// this package. SetMonitor, SetFilter, Stats and ChannelStats are for diagnosis and tests.
//
// The shape of bundles, channels and their windows follows seed S2.
package mercury
