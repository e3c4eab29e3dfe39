// Package bsp divides a space, seen from above as the x/z plane, into the rectangles of its cells.
//
// # Purpose
//
// A [Tree] is a binary partition of the whole plane. An inner node has a line, which is a value of
// x or of z; a leaf is a cell, and the leaf's rectangle is the area whose real entities that cell
// owns.
//
//	                               z
//	   x < 100                     ^   cell 1.2   |
//	  /       \                    |              |
//	z < 0    cell 1.3            0 +--------------+  cell 1.3
//	/    \                         |   cell 1.1   |
//	1.1   1.2                      +--------------+------------> x
//	                                             100
//
// The left child holds what is lower than the line; the right child holds the line itself and what
// is higher.
//
// # Contract
//
// These hold for every Tree that this package hands out:
//
//   - Tiling: the leaves tile the plane. Rectangles are half-open, [Min, Max), so a point on a line
//     belongs to exactly one leaf. The root reaches to infinity on all four sides; nothing can walk
//     out of a space.
//   - Reach: every line is finite and at most [MaxCoord] from the origin.
//   - Width: no leaf is narrower than [MinSize] along either axis, unless it retires; a retiring
//     leaf may have no width at all, and so no point.
//   - Heir: a retiring leaf is not the only leaf, and what is on the other side of its line is not
//     a retiring leaf.
//   - Size: every cell occurs once; there are 1 to [MaxLeaves] leaves, none deeper than [MaxDepth].
//
// A change that would break one of these is refused with an error and leaves the tree as it was.
// [Parse], [ParseText] and [Tree.Apply] refuse descriptions of such a tree.
//
// # Coming and going of cells
//
// [Tree.Split] adds a cell to a chosen leaf, never to a retiring one; [Tree.Place] chooses a leaf
// where there are no loads to go by. [Tree.Replace] lets a cell take over the place of another.
// [Tree.Retire] marks a leaf, and lines are then moved over it; once it is [Tree.Swept] and its
// entities are gone, [Tree.Remove] takes it out. [Tree.Unretire] cancels. Of two siblings only one
// can retire: the second is refused, and when a death makes two retiring leaves siblings, Remove
// cancels the retirement of the one that has just been given room.
//
// # Versions and deltas
//
// A [Version] is a manager's term and its counter. A tree carries one. Only a [Publisher] gives
// versions out, so two trees of one version never exist. Loads are told in steps and within a band,
// see [LoadBand]: every receiver has the published tree, to the bit.
//
// A message is a whole tree or a delta from one version to another, whichever is shorter. Its
// receiver is a [Follower]:
//
//	                  whole tree
//	+-----------+ ---------------------> +--------------+ <-------+ next delta, newer tree
//	|  no tree  |                        |   current    | --------+ (older or equal: ignored)
//	+-----------+                        +--------------+
//	 Lacks: 0.0                            |  ^      |  ^
//	                   delta from another  |  |      |  | whole tree,
//	                   version: held       |  |      |  | or a delta that fits
//	                                       v  |      v  |
//	                            +--------------+  +--------------+
//	                            |    behind    |  |   in doubt   |  a delta from this
//	                            +--------------+  +--------------+  version did not fit
//	                        Lacks: its version     Lacks: 0.0
//
// A follower leaves "behind" when what was missing comes, or a delta from its own version, or a
// whole tree, or when what it held has waited too long. The states without an arrow between them
// combine: a follower that is behind can come into doubt. A manager of a newer term supersedes: its
// versions are newer than all of older terms, and its first message is a whole tree or a delta from
// a tree that it adopted. The loss of the last message shows only in the receiver's reports, which
// must carry its version; [Publisher.Message] answers them.
//
// # Sources
//
// Cells as the leaves of a tree of lines are the scheme of BigWorld, as seed S0 describes it. The
// first cut of a leaf differs: there the new cell starts with no area at the far edge; here the
// caller says where the line is. Place follows the section of S0 on adding cells; the marks of a
// leaf and the rules of retiring follow its sections on removal of cells; the wire form of whole
// trees follows its section on telling the cells' state. There the whole tree goes to every cell
// each second.
//
// # Concurrency
//
// A Tree has no lock. Any number of goroutines may read one while none changes it; [Tree.Clone]
// gives a private copy.
//
// # Caller's duties
//
// Positions that are not finite must be refused before they get here: [Tree.At] answers with some
// leaf for them, but no rectangle contains them. A [Leaf] of an unpublished tree may be changed in
// place, except for its Cell and Retiring.
package bsp
