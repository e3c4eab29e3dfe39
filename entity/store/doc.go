// Package store says what a store of entities does, and leaves doing it to an adapter: package
// memory for tests, sqlite for one machine, postgres for a cluster. The suite of package storetest
// tells whether a fourth one keeps the contract.
//
// # What it keeps
//
// A store keeps a row for each persistent entity: its type and database id ([Key]), its version, who
// has it checked out ([Holder]), its indexed properties as real columns, and all of its persistent
// properties in a form that outlives the definitions ([Type.Encode]). Besides that it has the
// cluster's [Counter]s and [Blob]s.
//
// A [Schema] says which types there are. It comes from the definitions: a type is kept if it is
// Persistent, a property if it is Persistent too, and a property that is Indexed, Unique or the
// Identifier is a column. [Schema.Notices] tells what a definition asks for in vain.
//
// # The life of a row
//
//	           Create                         Load with a Holder
//	(none) ---------------> held by H <----------------------------- free
//	   |                     | ^  |  \                                ^ ^
//	   |                Write| |  |   \ HandOver(H, G)                | |
//	   |                     +-+  |    +-----------> held by G        | |
//	   |                          |                                   | |
//	   |                          +--- Write with Release, HandOver(H, nobody),
//	   |                          |    Free(H's app), a later Begin --+ |
//	   |  Create by nobody, or with Release                             |
//	   +----------------------------------------------------------------+
//
//	held by H: Delete by H        free: Delete by nobody, Write by nobody
//
// A [Holder] is a start of the cluster, an app of that start, and the entity that the row is live
// as. [State] is this machine in Go; adapters ask it.
//
// # Contract
//
//   - Nobody is live twice. A row is held by at most one Holder. Only its Holder writes, hands over or
//     deletes it; a free row may be written or deleted by nobody (the zero Holder), which is for tools.
//   - A start that is over holds nothing. [Cluster].Begin starts a new one: from then on, every
//     row that an earlier start held is free, and whoever calls in the name of an earlier start gets
//     ErrSuperseded. So a process that survived its cluster cannot overwrite what the next one wrote.
//   - Within a start the caller says who is dead. When a BaseApp has died, the app that restores a
//     base hands the row over to itself; the dead app, if it was only silent, can write no more. What
//     nobody restored is freed by Free.
//   - Versions only go up. A Holder counts them, from the one that it loaded. An older version is
//     refused with ErrStale, and the same version may be written again. Nobody's write must carry the
//     next version exactly: two tools that read the same row cannot both write it.
//   - What a call confirmed is there, after a crash of the process or of the machine too.
//   - A call with several records does all or nothing, also across types: that is how a trade is
//     kept. A *RecordError names the record that was refused. Loads are told one by one.
//   - Errors are of two kinds. ErrRetry: the store is busy, full or away; the call may have been
//     carried out or not, and to repeat it is safe. Any other error: the call did nothing, and
//     repeating it helps only when something else has changed.
//   - To repeat is safe for Create, Write, Load, HandOver and Free of a Holder. After an ErrRetry of
//     nobody's Create or Write, of Put or Remove, read first. A repeated Delete gives ErrMissing.
//     Reserve and Begin that are repeated skip numbers.
//   - Database ids and other numbers of a [Counter] are never given twice, not after a crash either.
//   - Equal values of a Unique column, or of the Identifier, exist once in a type: ErrTaken.
//
// # Duties of the caller
//
// All calls block: make them in a job, off an app's goroutine. They may run at the same time. Have
// one call under way for a row, since two have no order. Call Apply before any call on entities. Ids
// for Create come from Reserve of [EntityIDs], except for types with ExplicitDatabaseID, whose
// creators choose them. A row that was deleted may be created again under its id: do not.
//
// # Schema changes
//
// The store keeps a description of the types that it was last used with. Plan compares them with a
// Schema and lists every [Step]; nothing changes. Apply carries the steps out, all in one
// transaction. What adds is done by itself. What forgets something that is stored is destructive,
// such as a property that has gone, and Apply refuses it with ErrDestructive unless it is allowed.
//
// # Concurrency
//
// A Schema, its Types and their Columns never change, and any number of goroutines may read them.
// The package itself does nothing but compute.
package store
