// Package dbapp is the DBApp: the process of a cluster that has the store of entities. BaseApps ask it to
// keep and to load their bases, and hear what became of that.
//
//	BaseApp ──CallStore──▶ ┌───────┐ ──job──▶ store.Store
//	        ◀─StoreAnswer─ │ DBApp │ ◀─result─
//	                       └───────┘ ◀──CellAppMgr (Welcome, Members, AppDead)
//
// # One call
//
//	CallStore --> waiting --a job is free, and the row--> under way --result--> answered
//	                 ^                                        |
//	                 +-- the store fails: after a pause ------+
//
// A row has one call under way at a time, the one that came first. Writes of several rows, and new
// rows, go together, and so do loads. At most MaxJobs jobs run at the same time. When the store
// says ErrRetry, or fails for another reason that is not the call's own, such as a file that may
// not be written, the call is tried again, after a pause that doubles from FirstPause to LastPause,
// for Patience; then the caller hears that the store is busy. What waits is bounded by MaxCalls and
// MaxBytes. Beyond that a call is told so at once.
//
// A call that is repeated, by the same app under the same number, is the same call: its answer goes
// to the newest question. An answer that is lost is asked for again, and the call is made again,
// which is safe: every call means the same a second time (package store).
//
// # The start of the cluster
//
// Check-outs name the start of the cluster, so that a row which a dead cluster had is free. With
// Config.Fresh the first thing that a DBApp does is to begin one. Otherwise it takes the place of
// another under a world that lives: then BaseApps know the start, and it goes on with what the
// first of them says. If nobody says one within AdoptTime after the first has come, it begins one,
// unless another world lives in the store: that shows it by a lease (lease.go). Definitions that
// change the store are applied right before, or before it goes on with a start (change.go). Nothing
// is called earlier.
//
// It may have been started with another store than the one that the world began with. So a store knows
// which world it is of, and BaseApps say which theirs is. Those of another world, or of a later start
// than the store has had, are told that the store is busy, and nothing of theirs is read or written;
// with the right store they go on. world.go draws that. The log says it once, and the status as long as
// it is so, as it says when the store fails, for how long and why (status.App.Store; health.go).
//
// The holder of a row is an entity on an app of a start. The app is told by its allocator number,
// which the CellAppMgr has said, so an app can call in no other's name; only the heir of a base may
// move a check-out, to itself, and only from an app that is dead: an heir that has heard the
// verdict first is told to ask again. If another heir had the row meanwhile, and is dead as well,
// it is taken from that one.
//
// When the CellAppMgr declares a BaseApp dead, its heirs have FreeAfter to take over. Then what is
// still checked out by it is freed. A DBApp that has taken the place of another learns of the dead
// when somebody wants a row that one of them has.
//
// # What comes back
//
// When a start of the cluster has begun, the DBApp tells the CellAppMgr which spaces the store has,
// and has the BaseApps load the entities whose rows are marked: those of the types of
// Config.BringBack that lived at their last write. bringing draws that. It loads maxBringing at a
// time, each on the BaseApp that was given fewest, and logs each that cannot be loaded; it stays in
// the store. While the store itself fails, it goes on trying. The spaces are blobs, written a few
// seconds after a change, and in the last step of a stop (package cellappmgr).
//
// # Contract
//
//   - A StoreDone is sent after the store has confirmed, never before.
//   - Each call is answered, or its app is gone. A question for the start is not answered to a BaseApp
//     of another world than the store's.
//   - Nothing is called in the store of another world, and no start begins where another one lives.
//   - A DBApp starts no goroutine, reads no clock and opens no socket. Only the functions given to Jobs
//     run elsewhere, and they touch nothing of it.
package dbapp
