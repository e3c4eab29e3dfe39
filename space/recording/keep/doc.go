// Package keep has sinks for recordings of spaces (package recording), and finds what they have kept:
// Files keeps each log in a file, Memory in memory.
//
// # Files
//
// All CellApps of a process share one Files, and several processes may share a directory. Each log is a
// file of its own, named after its space, recording, label and CellApp:
//
//	7-12-final-10.0.0.4_40001-1.cellrec
//
// Each has a goroutine that writes what waits in its queue. So no tick waits for a disk: a queue that is
// full, or a disk that fails, refuses (FilesConfig), and the cell tells, counts, and begins anew later
// with a key frame. Files are compressed (zstd), in blocks of at most 256 KiB with a checksum each: reading
// holds one block of each file, and no block unpacks to more, whatever it says. Blocks are written when they
// are full, and after a second, so that a file of a process that was killed lacks its last second at most.
// Files that are not compressed, as older libraries wrote them, are read, too.
//
// Find reads a directory. It tells recordings apart by their space, number and label. Numbers begin
// again with each new world, so give each world a directory of its own, or each recording a label of
// its own.
package keep
