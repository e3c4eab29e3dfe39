// Package aoi answers who is near whom: it keeps points sorted along X and along Z, with range
// triggers that ride on them and range queries. A witness learns its surroundings from it, and a
// proximity trap is sprung by it.
//
// # Purpose
//
// A [List] holds the points of one space in one process. A point (a [Node]) carries a key: the id
// of what stands there. A [Trigger] rides on a node and reports which other nodes come near it and
// go away again, as events that [List.Drain] hands out. The queries [List.InRange] and
// [List.InCircle] answer at once and change nothing.
//
// # Shape
//
// A trigger is a square along the axes around its node, as in BigWorld, and it has two sizes:
//
//	+---------------------------+   enter: half the side of the inner square, metres
//	| band                      |   leave: half the side of the outer square, never less than enter
//	|     +---------------+     |
//	|     | core          |     |   A node that comes into the core is reported as entering.
//	|     |       o       |     |   A node that goes out of the outer square is reported as leaving.
//	|     |               |     |   In the band between them a node stays what it was, so
//	|     +---------------+     |   one that walks to and fro across an edge is not
//	|                           |   reported over and over.
//	+---------------------------+
//
// Edges belong to the square. An edge lies at the 64-bit sum of the owner's position and the range.
// This holds everywhere: in triggers, in queries and in the order of the lists. A trigger never
// reports the node that it rides on.
//
// # Invariants
//
//   - Membership: after every call a node is inside a trigger if it is in the core, or if it is in
//     the band and was inside before the call. Only where a call starts and ends counts: a node
//     that jumps across a trigger is not reported, one that jumps into it is.
//   - Alternation: for one trigger and one node, the delivered events are enter, leave, enter,
//     leave ...; an enter comes first.
//   - Order: events come in the order of the calls that caused them. Those of one call are ordered
//     with leaves first, then by the key of the trigger's owner, then by the trigger, then by the
//     node's key.
//
// # How it works
//
// Each axis has two sorted lines: one of the points and one of the four edges of every trigger.
// When a node moves, what can change are the triggers whose edges it passes on either axis and, for
// the triggers that it carries, the points that their edges pass. Each such pair is tested once,
// with where it was and where it is, so the outcome does not depend on the order in which edges are
// passed (seed S4 §6.1.14 describes the lists and the test of the other axis). A step costs what it
// passes on one axis, whether or not that is near on the other; a jump costs two queries instead.
//
// Only pairs in the band are stored: members of the core are known from where they stand. A crowd
// of two thousand that all see each other costs four million events once, and no memory after that.
//
// # Concurrency and the caller's duties
//
// A List is not safe for concurrent use. It starts no goroutine and reads no clock, and its outcome
// depends on the calls alone.
//
// Positions must be finite ([Finite]), ranges valid ([ValidRange]) and handles alive ([List.Has],
// [List.HasTrigger]); the methods panic otherwise. Whoever takes positions from outside checks them
// where they come in, since what to do about a bad one depends on who sent it.
package aoi
