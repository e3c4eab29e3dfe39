// Package mercury joins apps by reliable, ordered channels over datagrams. It does no input or output itself: an Endpoint is
// a plain struct that is told what arrived and what time it is, and says what must be sent and when it wants to be
// called again. The same code runs over a socket (package udp) and in a simulation (package mercurytest).
//
// A channel joins two apps, not two entities: what thousands of entities have to say to another app shares its packets.
// The app speaks through Transport and hears through Handler; other transports may stand in for an Endpoint.
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
// Receive, Advance and Flush must not be called from inside a Handler or an emit; all else may. An Endpoint belongs to
// one goroutine.
//
// # What it keeps to
//
//   - Reliable messages of a channel are delivered exactly once, whole, in the order of sending, whatever is lost, doubled,
//     held back or reordered. Unreliable ones are delivered at most once, as they come.
//   - Opened comes first and Closed last; nothing is delivered from a channel that this side has closed.
//   - A peer is given up after Config.Inactivity of silence, counted while this process was awake: one call adds at most a second
//     and at most a quarter of Inactivity.
//   - A start of the peer with another salt never hears what was meant for the old one, and gives itself away within a round trip.
//   - Datagrams of strangers change nothing, allocate no channel, and are answered by fewer bytes than they have.
//   - Each queue has a limit: unsent messages (MaxQueued), segments in flight (Window), messages being put together (MaxMessage),
//     channels (MaxChannels), answers to strangers, memory of what has ended.
//   - The same calls give the same datagrams.
//
// Packets are neither encrypted nor signed: who can read a channel's packets can forge them. The key in each packet
// keeps out those who cannot.
//
// # Opening
//
//	dialler                                   listener
//	  │ open (salt, dial)  128 bytes ────────────> │ keeps nothing
//	  │ <──────────── challenge (cookie)  34 bytes │
//	  │ open (salt, dial, cookie) ───────────────> │ cookie is right: makes the channel, Opened
//	  │ <──────────── accept (channel, key, window)│
//	  │ Opened                                     │
//	  │ <─────────────────────── data ───────────> │
//
// A cookie is a keyed hash of the dialler's address, salt, dial number and the time to ten seconds. An open that meets another
// salt than it wants, or no room, is answered by refuse. Data for a channel that is not there is answered by reset,
// which names the salt that is there: so a peer finds out about a restart.
//
// # Packets
//
// Numbers are little endian. Every packet starts with
//
//	0      1         2             6
//	┌──────┬─────────┬─────────────┬─────
//	│ 0xCE │ version │ CRC-32C of  │ ...
//	│      │ + kind  │ all else    │
//	└──────┴─────────┴─────────────┴─────
//
// and a packet of data goes on with
//
//	6          10         18         24
//	┌──────────┬──────────┬──────────┬────────┬────────┬─────
//	│ channel  │ key      │ packet   │ frame  │ frame  │ ...
//	│ (theirs) │          │ number   │        │        │
//	└──────────┴──────────┴──────────┴────────┴────────┴─────
//
// Frames, whose numbers are varints:
//
//	ack         1 largest, delay in µs, cumulative segment, first run - 1, count byte, count × (gap - 1, run - 1)
//	segment     2 number, length, bytes
//	unreliable  3 length, bytes
//	ping        4
//	close       5
//	abort       6
//
// A packet number is used once. What a lost packet carried goes out again in a new packet, so that an ack always tells which
// sending arrived. Segments are pieces of the reliable stream, in which each message stands behind its length; a segment
// holds many short messages, a long message spans many segments.
//
// # Sending again
//
// A packet without an ack is taken for lost when one sent three numbers later was acked, or a later one at all and nine
// eighths of a round trip have passed (RFC 9002). When nothing is acked for the timeout of RFC 6298, doubled up to
// Config.MaxRTO, the oldest segments go out again. A congestion window of at least 32 packets keeps a burst from overrunning the
// peer's socket buffer.
//
// The shape of bundles, channels and their windows follows seed S2.
package mercury
