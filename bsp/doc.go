// Package bsp divides a space, seen from above as the x/z plane, into the rectangles of its cells.
//
// # Purpose
//
// A [Tree] is a binary partition of the whole plane. An inner node has a line, a value of x or of z; a leaf is a
// cell, and the leaf's rectangle is the area whose real entities that cell owns.
//
//	                               z
//	   x < 100                     ^   cell 1.2   |
//	  /       \                    |              |
//	z < 0    cell 1.3            0 +--------------+  cell 1.3
//	/    \                         |   cell 1.1   |
//	1.1   1.2                      +--------------+------------> x
//	                                             100
//
// The left child holds what is lower than the line, the right child the line itself and what is higher.
//
// # Contract
//
// These hold for every Tree that this package hands out:
//
//   - The leaves tile the plane: rectangles are half-open, [Min, Max), so that a point on a line belongs to exactly
//     one leaf. The root reaches to infinity on all four sides; nothing can walk out of a space.
//   - Every line is finite and at most [MaxCoord] from the origin.
//   - No leaf is narrower than [MinSize] along either axis.
//   - Every cell occurs once; there are 1 to [MaxLeaves] leaves, none deeper than [MaxDepth].
//
// A change that would break one of these is refused with an error and leaves the tree as it was. [Parse] refuses
// bytes that describe such a tree.
//
// A tree carries a [Version]: the manager that owns the tree raises it with every change that it sends out. The
// package itself never changes it. The tree has no retiring state and no delta form.
//
// Cells as the leaves of a tree of lines are the scheme of BigWorld, as seed S0 describes it. The first cut of a leaf
// differs: there the new cell starts with no area at the far edge, here the caller says where the line is.
//
// # Concurrency
//
// A Tree has no lock. Any number of goroutines may read one while none changes it; [Tree.Clone] gives a private copy.
//
// # Caller's duties
//
// Positions that are not finite must be refused before they get here: [Tree.At] answers with some leaf for them, but
// no rectangle contains them. A [Leaf] may be changed in place, except for its Cell.
package bsp
