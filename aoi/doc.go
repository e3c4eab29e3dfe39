// Package aoi answers who is near whom: it holds points of a plane, with range triggers that ride on
// them and range queries. A witness learns its surroundings from it, and a proximity trap is another
// trigger.
//
// # Purpose
//
// An [Index] holds the points of one space in one process. A point (a [Node]) carries a key: the id
// of what stands there. A [Trigger] rides on a node and reports which other nodes come near it and
// go away again, as events that [Index.Update] finds and hands out once a tick. The queries
// [Index.InRange] and [Index.InCircle] answer at once and change nothing.
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
// Edges belong to the square. An edge lies at the 64-bit sum of the owner's position and the range;
// for a node with an appeal ([Index.InsertBig]) the range is longer by that. This holds everywhere
// in triggers but those of [Index.AddProximity]; queries know no appeal. A trigger never reports the
// node that it rides on.
//
// # Invariants
//
//   - Membership: after every Update a node is inside a trigger if it is in the core, or if it is in
//     the band and was inside before. Only where two Updates find it counts: a node that passes a
//     trigger in between is not reported.
//   - Alternation: for one trigger and one node, the delivered events are enter, leave, enter,
//     leave ...; an enter comes first.
//   - Order: the events of an Update are ordered by the key of the trigger's owner, then by the
//     trigger, then leaves before enters, then by the node's key.
//
// # How it works
//
// Nobody asks between two ticks, so moving a node only notes where it is. The Update sorts the nodes
// into a grid, twice: by rows of cells and by columns. What can have crossed an edge of a trigger
// since the last Update lies within one walk of that edge, and so in a few runs of adjacent memory:
// one for each row or column along the edge. Each node in them is tested exactly, with where it was
// and where it is. A trigger that met few nodes also learns how far the next one is from its edges,
// and need not look again until it and anybody else can have walked that far. So whoever stands well
// inside or well outside costs nothing, however dense the crowd.
//
// Nodes that jump, come or go look for the triggers instead, around where they were and where they
// are. The same do those that walk when there are few of them: triggers at rest then cost nothing.
//
// Only pairs in the band are stored: members of the core are known from where they stand. A crowd
// of two thousand that all see each other costs four million events once, and no memory after that.
//
// Queries read the same grid as it was filled last, and those who have moved farther than a cell since. The
// size of its cells follows from what triggers and queries have lately asked, so a query costs as much as
// there is near it, in a world without any trigger, too.
//
// An Update costs as much as there is to be seen near the edges, and a little for each node if
// anything has moved at all. BenchmarkTick shows it beside comparing all pairs.
//
// # Concurrency and the caller's duties
//
// An Index is not safe for concurrent use. It starts no goroutine and reads no clock, and its
// outcome depends on the calls alone.
//
// Positions must be finite ([Finite]), ranges valid ([ValidRange]) and handles alive ([Index.Has],
// [Index.HasTrigger]); the methods panic otherwise. Whoever takes positions from outside checks them
// where they come in, since what to do about a bad one depends on who sent it.
package aoi
