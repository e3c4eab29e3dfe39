// Package ghost mirrors reals on the CellApps that their neighbourhood touches.
//
// A real keeps a list of haunts: the CellApps that hold a ghost of it. A ghost is read-only there
// and says where its real is, so that messages find the real.
//
//	real at A                      ghost at D
//	 create / new hop  -- State --->  made, or brought up to the hop
//	 tick, or sooner -- Update --->  place, changes and events, in number order
//	 out of range      -- Delete -->  gone; a tombstone stays for a lease
//	                  <-- Query ----  nothing heard for a lease, or a message missed
//	 now and then    --- Roll ----->  missed a message of one named in it: Query
//
// # Order
//
// Every message carries (incarnation, hop, sequence). A channel orders what one CellApp sends, but
// as the real hops A, B, C, a ghost at D may hear C before the last of B. BigWorld queues per
// sender and replays subsequences (seed S3). Here the first message of a hop is a State that
// contains all of the old hop's effects and its kept events: it supersedes at once, and what still
// comes from the old hop is refused. So:
//
//   - a ghost never goes back to an older (order, sequence);
//   - history numbers at a ghost never go back. An Update whose numbers do not continue the ghost's
//     is a fault, which is counted and makes the ghost ask for a State;
//   - a ghost that has heard nothing for GhostLease asks where its real is. In this way a ghost
//     whose real was lost in a handoff ends, even if its last messages died with the CellApps that
//     sent them;
//   - an Update changes values as they were after the Update before it. A change of a part that is
//     made twice, or not at all, would make the ghost differ for ever, and properties that no
//     client sees have no numbers. So each Update names the one before it, and a ghost that has
//     missed that one waits for a State. Whoever makes a State first tells the haunts what they do
//     not know yet, so that no Update repeats what a State contained;
//   - a real does not trust that its haunts have heard. If the real does nothing, no Update would
//     show that a State was lost with its channel. So each real is named in a Roll, at once after a
//     channel broke and slowly all the time, and a ghost that lacks something asks;
//   - a late State of an older hop does not revive a deleted ghost: tombstones remember the reals
//     that were here, and Rumours what others have said of ghosts.
package ghost
