// Package postgres is a store in a PostgreSQL database, by pgx: for a cluster whose processes all reach
// one server. It needs PostgreSQL 13 or later.
//
// # What survives
//
// Connections have synchronous_commit on, whatever the server's default is: what a call confirmed is
// there after a crash of the server, as far as its disk keeps its word. Whether it survives the loss
// of the server's machine is a matter of its replication, as synchronous_standby_names asks for it.
//
// # When it cannot
//
// The server is gone, starting, stopping, or a standby that only reads: store.ErrAway. Its disk is
// full: store.ErrFull. It has no connection left, calls wait for each other in a ring, or a lock or
// the context of a call took too long: store.ErrBusy. A connection that was lost is made again by the
// next call. The user or the password is wrong, or rights are missing: store.ErrDenied.
//
// # Rights
//
// The store is in the first schema of the connection's search_path. It makes, changes and drops
// tables there when definitions change, and needs the right to. In that schema nobody else should
// have tables that begin with entity_ or cellscape_.
package postgres
