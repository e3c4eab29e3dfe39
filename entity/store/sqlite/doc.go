// Package sqlite is a store in one file, by SQLite without cgo: for a game on one machine, and for the
// process that hosts the managers of a small cluster. Many processes reach it through that one.
//
// # What survives
//
// The file is in WAL mode with synchronous FULL. What a call confirmed is there after a kill -9, and
// after a power failure as far as the disk keeps its word. A crash in the middle of a write loses
// that write alone, and the file opens again. Beside the file are its -wal and -shm: move and copy
// all three, or close the store first.
//
// # When it cannot
//
//   - Another program has the file locked (sqlite3 in a transaction, a backup): store.ErrBusy after
//     Config.Patience.
//   - The disk is full, or the file has grown to Config.MaxBytes: store.ErrFull. Reading goes on.
//   - The file has been taken away, or the disk fails: store.ErrAway. A file that comes back is
//     opened again. A new one is made only by Open, never in place of one that has gone.
//   - It is no store, or damaged: store.ErrCorrupt. The process may not write: store.ErrDenied,
//     until it may.
//
// # Concurrency
//
// One writer works at a time, and others wait for it: to put many records into one call is what makes
// writing fast, since each call waits for the disk once. Readers wait for nobody.
package sqlite
