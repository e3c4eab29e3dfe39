// Package bots plays many clients in one OS process: a load test, a crowd for a demonstration, a
// soak. Each bot is a client as a player's would be, with a login, replicas and its own moves; only
// sockets and goroutines are shared.
//
//	Swarm ─┬─ group: 256 bots, one goroutine, one mercury.Endpoint ─┬─ socket ── up to Config.PerSocket bots
//	       ├─ group                                                ├─ socket      each with a channel of its own
//	       └─ ...                                                  └─ ...
//
// A group looks at its sockets two hundred times a second, lets the bots act that are due, and sends; nothing
// wakes it for a datagram. So a bot costs what a client must do: of some 45 µs a tick with 60 others in
// view, 13 are the system's for its datagrams, 15 to take in the places, and 3 to measure; and of some
// 30 KB two thirds are what it holds of the others.
//
// What a bot does is its Behaviour, which is called once a tick while the bot's entity is in the
// world. Ready ones are Walk, Star, Chat, Fight and Leave; All joins several.
//
// # Freshness
//
// All bots are in one OS process, so that each can look up what another has really done: the places
// that it sent, and when. Between Watch(true) and Watch(false) the swarm counts which of the moves
// in view were known in time, and samples how old the places are that the bots hold. Servers have
// no part in it. See Freshness.
//
// # Contract
//
//   - A login that finds no world ready, or one that is busy or full, is asked for again after a second, then
//     two, up to sixteen, and counted with its reason (Stats.Refusals). GiveUp ends that. Every other end of a session
//     that no Behaviour asked for is an error: Stats counts it, and the first ones are logged.
//   - The same seed gives the same decisions of each bot; when they happen depends on the network.
//
// # Concurrency
//
// A Behaviour is called on the goroutine of its bot's group and belongs to that bot. Methods of a
// Swarm may be called from any goroutine but those.
package bots
