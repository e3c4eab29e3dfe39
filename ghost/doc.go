// Package ghost mirrors reals on the CellApps that their neighbourhood touches.
//
// A real keeps a list of haunts: the CellApps that hold a ghost of it. A ghost is
// read-only there and says where its real is, so that messages find the real.
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
// Every message carries (incarnation, hop, sequence). A channel orders what one
// CellApp sends, but as the real hops A, B, C a ghost at D may hear C before the
// last of B. BigWorld queues per sender and replays subsequences (seed S3). Here
// the first message of a hop is a State that contains all of the old hop's
// effects and its kept events: it supersedes at once, and what still comes of
// the old hop is refused. So:
//
//   - a ghost never goes back to an older (order, sequence);
//   - history numbers at a ghost never go back, and an Update whose numbers do
//     not continue the ghost's is a fault that is counted, and asks for a State;
//   - a ghost that has heard nothing for GhostLease asks where its real is: one
//     whose real was lost in a handoff is so ended, however its last messages
//     died with the CellApps that sent them;
//   - an Update changes values as they were when the Update before it had been taken.
//     A change of a part, made twice or not at all, would make the ghost differ for
//     ever, and what no client sees has no numbers. So each Update names the one
//     before it; a ghost that has missed that waits for a State. Who makes a State
//     tells the haunts first what they do not know yet, so that no Update repeats
//     what a State contained;
//   - a real does not trust that its haunts have heard: of one that does nothing, no
//     Update would show that a State was lost with its channel. So each is named in a
//     Roll, at once after a channel broke and slowly all the time, and who lacks it asks;
//   - a late State of an older hop cannot revive a deleted ghost while its
//     tombstone stands.
package ghost
