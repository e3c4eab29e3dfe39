// Package mercury joins apps by channels over datagrams: reliable and ordered, unreliable beside
// it, and a stream for bulk behind both. It does no input or output itself: an Endpoint is a plain
// struct that is told what arrived and what time it is, and says what must be sent and when it
// wants to be called again. The same code runs over a socket (package udp) and in a simulation
// (package mercurytest).
//
// A channel joins two apps, not two entities: what thousands of entities have to say to another app
// shares its packets. The app speaks through Transport and hears through Handler; other transports
// may stand in for an Endpoint.
//
// # What the caller does
//
//  1. Make an Endpoint with a salt drawn at random for this start, then the app with the Endpoint as its Transport,
//     then set the app as its Handler.
//  2. Hand every datagram that arrives to Receive.
//  3. Call Advance at NextDeadline, or earlier.
//  4. Call Flush at the end of each tick and after Advance; hand on what it emits. Messages sent between two calls of Flush
//     travel together. While something waits for a Flush, NextDeadline is at once.
//  5. Give the same clock to all calls: a time.Duration since some start, which never runs back.
//  6. Before exit, go on until Stats().Channels is 0 if what was sent must still arrive.
//
// Receive, Advance and Flush must not be called from inside a Handler or an emit; all else may. An
// Endpoint belongs to one goroutine. A Carrier does all this over a socket, and package host turns
// carriers for an app.
//
// # What it keeps to
//
//   - Reliable messages of a channel are delivered exactly once, whole, in the order of sending, whatever is lost, doubled,
//     held back, reordered or damaged; bulk messages likewise, in an order of their own. Unreliable ones are delivered at most
//     once, as they come.
//   - Opened comes first and Closed last; nothing is delivered from a channel that this side has closed.
//   - An unreliable message leaves with the next Flush or, when there are too many, never: it waits for no window. A tick's
//     reliable messages do not wait behind bulk.
//   - A clean path sees nothing twice. What a path that loses packets sees twice is bounded by Config.Copies.
//   - Copies make no loss: they yield to a queue, whoever filled it, and end when they do not help (see copyPolicy).
//   - A peer is given up after Config.Inactivity of silence, counted while this process was awake: one call adds at most a second
//     and at most a quarter of Inactivity.
//   - A start of the peer with another salt never hears what was meant for the old one, and gives itself away within a round trip.
//   - Datagrams of strangers change nothing, allocate no channel, and are answered by fewer bytes than they have. A damaged, forged
//     or repeated packet costs nothing but itself.
//   - Each queue has a limit: unsent messages (MaxQueued), segments in flight (Window), messages being put together (MaxMessage),
//     channels (MaxChannels), answers to strangers, memory of what has ended. A peer that breaks one is closed with an Err that says which.
//   - A peer that lives but does not keep up loses nothing: its full queue refuses what is new with ErrFull, the channel stays, and
//     Queued says how full it is, so that who fills it can hold back before.
//   - A receiver can pause one channel: what comes is held, at most Window segments of each stream, and the sender waits.
//   - A channel in which nothing is unacked and no ack is owed costs its keep-alive and nothing else: no goroutine, no timer of the
//     system, no place in a queue that others pay for.
//   - The same calls give the same datagrams.
//
// Without a Guard packets are neither encrypted nor signed: who can read a channel's packets can
// forge them. The key in the checksum keeps out those who cannot. Package secure has the Guard for
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
// of the checksum. With one it is what Guard.Answer made of the hello. A dialler that has a ticket
// of an earlier channel begins with first: its messages are there after half a round trip. When
// hellos come faster than is good, an open is answered by a challenge first, whose cookie the next
// open must repeat. A hello that is for another key, one that finds no Guard, and an open without
// one that finds a Guard are answered by refuse, which repeats the end of the hello, and the dial
// ends with ErrKey; once a pass is there, no refusal of a hello ends anything. A first whose pass
// is not good is answered by refuse, and the dialler begins anew with what it had to say. Data for
// a channel that is not there is answered by reset, which names the salt that is there: so a peer
// finds out about a restart.
//
// # Packets
//
// Numbers are little endian; varints are seven bits a byte. Packets of the handshake begin with
// kind, version and a checksum of all else (for first: of its header). A packet of data is
//
//	0      1            2..6         3..10                      end-16 or -4
//	┌──────┬────────────┬────────────┬───────┬───────┬─────┬──────────────────┐
//	│ 0x40 │ channel    │ packet     │ frame │ frame │ ... │ seal, or CRC-32C │
//	│ +n-1 │ (theirs)   │ number (n) │       │       │     │ with number, key │
//	└──────┴────────────┴────────────┴───────┴───────┴─────┴──────────────────┘
//
// with the lower n bytes of the number, as many as leave no doubt (RFC 9000, A.3). Frames, whose
// numbers are varints:
//
//	pad        00
//	ping       01
//	close      02
//	abort      03
//	channel    04     the acceptor's channel, salt and window; in each of its packets until one is acked
//	ticket     05     length, bytes
//	challenge  06     8 bytes to be sent back from a new address
//	response   07     the 8 bytes
//	ack        08     largest, delay in 131 µs, run - 1
//	ack        09     the same, next segments of both streams, count, count × (gap - 1, run - 1)
//	pause      0a     number, next segments of both streams to be delivered; before each ack while it lasts
//	resume     0b     number
//	segment    10+f   number, [part and parts, offset,] [length,] bytes
//	unreliable 20+f   [length,] bytes
//
// Flags f: 1 has a length (without one, to the end of the packet), 2 bulk, 4 part. A packet number
// is used once. What a lost packet carried goes out again in a new packet, so that an ack always
// tells which sending arrived. Segments are pieces of a reliable stream, in which each message
// stands behind its length; a segment holds all short messages of a tick, a long message spans many
// segments.
//
// # Before a loss is known, and after
//
// While more than 0.3 % of a channel's packets are lost by chance, segments of up to 400 bytes ride
// again in the next packet that goes anyway, above 4 % in the next two, unless they have been acked
// or the path is short of room. No packet is added, so that a copy comes one interval between
// messages after the original. Many losses in a row, and losses while a queue stands, are no reason
// for copies. They end when the round trip or the loss rises above what it was without them, and
// are then tried again less and less often; now and then they rest until a loss without them has
// shown that they are still needed.
//
// A packet without an ack is taken for lost once one sent no earlier has been acked and as much
// time has passed as packets on this path have been seen to overtake each other, which begins at
// nothing (RFC 8985). When nothing is acked for the timeout of RFC 6298 and the most that the peer
// has held acks back of late, the oldest segments go out again, with waits doubled up to
// Config.MaxRTO. An ack waits for a packet to ride on, for Config.AckDelay or the rhythm of this
// side's own messages, and for nothing when a stream has a gap.
//
// What is more than ten packets is paced, at the rate that a model of the path has measured
// (internal/congestion): a single loss means nothing to it, a queue that grows does.
//
// # Beside channels
//
// Package call has requests with replies, time-outs and failures. Package download brings megabytes
// to a client beside its game, and goes on where a broken channel left off. Both stand on what is
// public here. SetMonitor, SetFilter, Stats and ChannelStats are for looking and testing.
//
// The shape of bundles, channels and their windows follows seed S2.
package mercury
