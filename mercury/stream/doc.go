// Package stream is what the adapters of mercury.Transport over connections have in common: tcp,
// websocket and quic. Whoever wants a transport takes one of those; who writes an adapter for another
// protocol gives New a Network, and Accept each connection that comes.
//
// # What the owner does
//
// A Transport is a mercury.Carrier: it belongs to one goroutine, its owner's, and calls the Handler
// on it alone, inside Receive. Package host is such an owner. Goroutines of its own read and write
// the connections; what they bring waits until the owner comes round.
//
// Wake, Now, Accept, Fail and Pending may be called from any goroutine, all else on the owner's,
// and Begin, Receive, CloseAll and Release not from inside a callback. Flush may be: what must not
// wait for the end of the turn leaves at once. Release must come last, or goroutines and sockets
// stay behind.
//
// # What it keeps to
//
//   - All that mercury.Transport and mercury.Handler promise; package streamtest checks it for each
//     adapter.
//   - Messages between two calls of Flush leave in one write, except that 64 KiB never wait for a
//     Flush.
//   - In the steady state nothing is allocated for a message (tcp has the test).
//   - A dial is tried again until Inactivity has passed: like an Endpoint's it may come before its
//     peer listens. A refusal that another try would meet again ends it at once. So does a closed port
//     for a Transport that does not listen, with mercury.ErrPeerAborted: a client has other doors to try.
//   - Unreliable messages overtake reliable ones that wait for a slow peer, and unreliable ones
//     that left together with those, so that their order is not kept. What lies in the system's
//     buffers they cannot overtake.
//   - Silence is counted in time during which the owner was awake: one turn adds at most a second,
//     a quarter of Inactivity, and a quarter of KeepAlive.
//   - A connection costs one goroutine and a few kilobytes of buffers at rest. A writing goroutine
//     runs only while the system does not take what there is, or where the protocol cannot write
//     without waiting.
//
// # What a hostile peer meets
//
//	it                                   meets
//	────────────────────────────────────────────────────────────────────────────────────
//	connects and says nothing, or slowly  HelloTimeout, for the whole hello
//	does so a thousand times              MaxPending: the oldest must go
//	says something else                   is hung up on, unheard by the owner
//	opens many channels                   MaxChannels, said in the answer
//	announces a long message              MaxMessage; buffers grow with what has come, not with what is announced
//	sends faster than the owner delivers  256 KiB read ahead, then its own connection's flow control
//	does not read                         MaxQueued, then ErrFull; unreliable messages are dropped
//	breaks the protocol                   ErrProtocol, after what it sent before
//
// It harms its own channel and no other. Nobody has proved who the peer is, unless the protocol
// below did: the IP of an accepted peer is the one that was seen, its port and salt are what it says.
//
// # On the connection
//
// Frames, one behind the other, in both directions. Numbers are little endian.
//
//	0                         4
//	┌────────────────┬────────┬──────────
//	│ length, 28 bit │ kind 4 │ body ...     the kind is in the low bits
//	└────────────────┴────────┴──────────
//
//	hello       1 dialler's first: magic 53CE110D, version 1, salt 4, wanted salt 4 (0 any), port to dial 2 (0 none)
//	accept      2 the answer: magic, version, salt
//	refuse      3 the answer: magic, version, salt, reason 1 (1 another start is here, 2 full, 3 version)
//	reliable    4 a message
//	unreliable  5 a message
//	ping        6 nothing: sent when KeepAlive has passed without anything else
//	close       7 nothing: the last frame
//
// Whoever sends a close reads on until its peer hangs up, or CloseWait has passed: to hang up itself
// could take from the peer what is still under way. A connection that ends without a close is an
// aborted channel.
package stream
