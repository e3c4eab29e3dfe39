// Package entity holds what every part of an entity shares: ids, the order of
// its lives, its cell-side record, mailboxes, methods, and the flows that carry
// messages to it wherever it goes.
//
// # Who is who
//
// An entity has up to three parts. The cell part lives in a space and moves
// from CellApp to CellApp; the one authoritative copy is the real, read-only
// copies on neighbouring CellApps are its ghosts. The base part stays on a
// BaseApp; a base with a client is a proxy. The client part is what a player's
// program holds.
//
// A real is named by (id, incarnation, hop). Every offload adds one to hop.
// Only the base starts a new incarnation, and only after a death verdict. Order
// compares the two; whoever holds a newer order refuses an older one.
//
// # Flows
//
// A flow is a numbered stream of messages from one part of an entity to
// another. The numbers and the unacknowledged tail travel with the sender, the
// receive state travels with the target, so order and exactly-once hold while
// either end moves, over any transport:
//
//	sender                                   target
//	Out: next, kept[n]   --- Message n --->  In: last, early[...]
//	     drop kept <= s  <--- Ack a, s ----      deliver last+1, last+2, ...
//
// a is what the target handled, which the sender need not send again; s is what it has
// settled, which nobody will ask for again.
//
// Invariants (promise 3 of the design):
//
//   - In delivers number n once, and only after n-1, within one stream. A stream
//     is one incarnation of the sender.
//   - Out keeps what is not settled. Towards a cell part with a base, whoever sends,
//     "settled" means contained in a backup that the base holds; everywhere else it
//     means handled, since the target dies with the app that handled it.
//   - An Ack names the incarnation of its target. A newer one was restored from a backup:
//     the sender goes back to what that one has handled, and what an older one
//     acknowledged does not count any more. Whoever is not told asks (Out.Probe).
//   - What a cell part keeps for other entities is in its backups, too: a new
//     incarnation says it again, in its own stream.
//   - A call to another entity carries the number of the base's message that caused it
//     (RemoteCall.Cause), by which the target knows the repeat of a restored caller.
//   - A message that arrives early waits in In up to a limit; beyond the limit it
//     is dropped and Out's timer brings it again.
//   - Message.Low says the lowest number that the sender can still send. A
//     target restored from an older state skips to Low instead of waiting for
//     what no one has any more.
//
// # When a CellApp dies
//
// A call to a cell part with a base has its effect on the state of that cell part exactly
// once, be it from its base, its own client, or the client of another entity, whether the
// CellApp of the target dies, that of the caller, or both. It may be refused instead, and
// the caller's cell part is told (space.CallRefuser): if the target is not in sight, or
// has ended. Two things are not covered: calls that an entity left behind when it was
// destroyed, if its CellApp dies before they are settled; and a repeat that comes when
// the target has forgotten the caller, after more than space.PeerLease.
//
// A cell part that is restored does again what it had done since its backup. So what it
// does beyond its own state and its calls to other cell parts may happen twice: calls to
// its base and to clients, entities without a base that it spawns, data of the space.
// Of what it had said to its base and its own client before the backup nothing is left
// out. What a copy frozen for a handoff had said and nobody had acknowledged, the one
// restored from it says first; if that dies before its own backup, the next one says it
// again, from where the base had heard the frozen one last. What it did after the backup by itself, by a timer say, it may do differently.
// A base tells a repeat by the number of its Call: see Base.Call.
//
// An entity without a base dies with its CellApp, with all that was sent to it.
//
// # Concurrency
//
// Nothing here locks. Each value belongs to the one app that owns it.
package entity
