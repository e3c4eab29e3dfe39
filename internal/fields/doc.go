// Package fields is how what messages between processes have in common stands in them: ids, orders,
// parts, places, rectangles and descriptions of spaces.
//
// Append functions append to the caller's buffer. Read functions take the next bytes of a reader and
// set its error for what no sender writes, so that a parser asks for the error once.
package fields
