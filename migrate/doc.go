// Package migrate moves a real from one CellApp to another, and brings it back
// from its base after its CellApp died. It knows what travels only as named
// parts that append and read themselves.
//
// # The handoff machine
//
//	origin                                 destination
//	real
//	  | prepare: order h -> h+1
//	  | freeze a copy of all parts
//	  | become a ghost of the new real
//	  +------- Onload(h+1, parts) -------->  newer order known?  yes: ack, drop
//	frozen                                   no: become the real at h+1
//	  |                                      +--- Current(h+1) ---> base
//	  |<------ OnloadAck(h+1) ---------------+--- State(h+1) -----> haunts
//	  v
//	dropped
//
//	destination dies while frozen:
//	  +------- Offer(h+1, parts) -----------------------------------> base
//
// The base alone decides what lives: it compares the offer with its own backup,
// takes the fresher one and starts a new incarnation, unless it hears of a real
// at a newer hop. So however the messages of a dying CellApp interleave, at most
// one real is acknowledged (promise 1 of the design); whoever holds another one
// is told by Refuse and drops it.
//
// All messages of one handoff leave in one channel in order, so a ghost update
// never overtakes the handoff that it follows.
package migrate
