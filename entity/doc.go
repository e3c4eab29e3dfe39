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
//	     drop kept <= a  <--- Ack a -------      deliver last+1, last+2, ...
//
// Invariants (promise 3 of the design):
//
//   - In delivers number n once, and only after n-1, within one stream. A stream
//     is one incarnation of the sender.
//   - Out keeps what is not settled. Towards a cell "settled" means contained in
//     a backup that reached the base; everywhere else it means acknowledged.
//   - A message that arrives early waits in In up to a limit; beyond the limit it
//     is dropped and Out's timer brings it again.
//   - Message.Low says the lowest number that the sender can still send. A
//     target restored from an older state skips to Low instead of waiting for
//     what no one has any more.
//
// # Concurrency
//
// Nothing here locks. Each value belongs to the one app that owns it.
package entity
