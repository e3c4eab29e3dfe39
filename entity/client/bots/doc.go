// Package bots plays many clients in one OS process: a load test, a crowd for a demonstration, a
// soak. Each bot is a client as a player's would be, with a login, replicas and its own moves; only
// sockets and goroutines are shared.
//
//	Swarm ─┬─ group: 512 bots, one goroutine, one mercury.Endpoint ─┬─ socket ── up to Config.PerSocket bots
//	       ├─ group                                                ├─ socket      each with a channel of its own
//	       └─ ...                                                  └─ ...
//
// A group looks at its sockets two hundred times a second, lets the bots act that are due, and sends; nothing
// wakes it for a datagram. So a bot costs what a client must do. examples/crowd tells what that is, in the
// processor time and the memory of the bots' process as the operating system counts them, and in bytes of
// heap that are in use:
//
//   - Of 22 µs a tick with 60 others in view, 7 are the system's for two datagrams and for looking at the
//     sockets, 5 go into the channel and its keys, 8 into what the datagram tells, and 2 into Freshness.
//   - A bot that stands still alone costs 4 to 5 µs a tick among a thousand, for a ping each second and
//     its share of the wakes. Its client alone costs 0.1 µs.
//   - A bot alone holds 9 KB: its channel 3.5, the keys 2, the client 2, and its trail for Freshness 1. Each
//     other in view takes 350 bytes more, 60 of them 21 KB.
//   - The process takes twice that with Go's default GOGC of 100, which examples/crowd has: 70 KB
//     for each bot of 2,000. With 25 it takes 48 KB, and in a dense crowd, where some come and go
//     in each tick, a third of the time of both cores.
//
// What a bot does is its Behaviour, which is called once a tick while the bot's entity is in the
// world. Ready ones are Walk, Star, Chat, Fight and Leave; All joins several.
//
// # Freshness
//
// All bots are in one OS process, so that each can look up what another has really done: the places
// that it sent, and when. Between Watch(true) and Watch(false) the swarm counts which of the moves
// in view were known in time, and samples how old the places are that the bots hold. Servers have
// no part in it. See Freshness. Steps on a vehicle do not count: where they lead, the vehicle decides.
//
// # Contract
//
//   - A login that finds no world ready, or one that is busy or full, is asked for again after a
//     second, then two, up to sixteen, and counted with its reason (Stats.Refusals). GiveUp ends
//     that. Every other end of a session that no Behaviour asked for is an error: Stats counts it,
//     and the first ones are logged.
//   - The same seed gives the same decisions of each bot; when they happen depends on the network.
//
// # Concurrency
//
// A Behaviour is called on the goroutine of its bot's group and belongs to that bot. Methods of a
// Swarm may be called from any goroutine but those.
package bots
