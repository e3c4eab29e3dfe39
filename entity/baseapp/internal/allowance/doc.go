// Package allowance decides how many bytes a second one client may be sent, from how its path fares.
//
// # What shows that a path is full
//
// A client is told unreliably what moves near it, and nothing slows that down below: a game's
// packets are few enough that a channel sends them at once. So a narrow path shows in one of three
// ways, each looked for in the mercury.Survey of the channel each Period:
//
//   - Data waits here, more than a quarter of a second's worth, or a round trip takes QueueDelay
//     longer than the path alone, at two looks in a row, or at one if the queue is deep. A queue that
//     is on its way out does not count.
//   - Unreliable messages found no room here and were dropped.
//   - A quarter of the packets was lost, of at least lossPackets. A radio path that loses one in ten
//     whatever is sent is not full.
//
// # States
//
//	         full                    settled            back at Most
//	free ------------> settling ---------------> rising ------------> free
//	                      ^                        |
//	                      +------------------------+
//	                                 full
//
// A full path cuts the allowance to three quarters of what the path has carried, and further if the
// queue would not be gone in Drain. While it settles nothing is judged: what was sent before still
// arrives, or does not, for a round trip. Then the allowance rises, first in line to what the path
// carried, over Return, then to half as much again over Feel, and beyond that it doubles in each
// Doubling:
//
//	bytes/s                           _/
//	 mark  ----\           __...---''      beyond: unknown, so faster and faster
//	            \    __.--'
//	   cut       ----                      up to mark: known to be too much, so slowly
//	            |    | Return |  Feel |
//
// So a path that stays narrow is tried once in Return and some of Feel, by a little, and one that has
// become wide is found out after both and a Doubling for each factor of two: FullAgain says how long.
//
// A round trip may also be long for good, since the path has changed. Cuts do not help then: after
// futileCuts without effect the present round trip counts as the path's own.
//
// # Invariants
//
//   - Rate is 0, which is no limit, or from Least to Most.
//   - It falls only at a look that finds the path full, and then no lower than a quarter of what
//     was carried.
//   - Two cuts are at least Settle apart, and between a cut and the end of Settle the rate stands.
//   - It rises in line, and beyond what the path carried to the double in a Doubling.
//
// # Concurrency
//
// An Allowance belongs to its client's BaseApp. It has no clock: the caller says what time it is.
package allowance
