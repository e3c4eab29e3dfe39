// Package shared is the data that the whole cluster shares: one dictionary, of which every CellApp
// and BaseApp has a copy. Scripts of cell parts (space.Real.Shared) and bases (entity.Base.Shared)
// read and change it:
//
//	b.Shared().Set("event/harvest", int64(2)) // twice the experience, for everyone
//	rate, ok := r.Shared().Get("event/harvest")
//
// It is for what all need to read without asking, changes seldom, and is small: what is going on in
// the world, prices, who is banned. What one entity owns belongs to a base that has a name
// (baseapp.Starter.Ensure), and what the players of a space see to the space's data
// (entity.Base.SetSpaceData).
//
// # How it changes
//
// The CellAppMgr numbers all changes. So every app sees the same changes in the same order, the one
// that made a change, too: what was set can be read when the manager has answered, some milliseconds
// later. A change is repeated until the manager has it. Two Sets that come at the same time leave the one
// that the manager heard last. Two Updates both count, one after the other:
//
//	b.Shared().Update("dragons/slain", func(was any, _ bool) (any, bool) {
//		n, _ := was.(int64)
//		return n + 1, true
//	})
//
//	Set  --SetSpaceData-->  CellAppMgr: number  --SpaceData-->  every CellApp and BaseApp
//	                                                              | the next tick
//	                                                              v
//	                                                       OnSharedData of its scripts
//
// A script that is a Watcher hears each change once, wherever it is by then; of several changes of
// one key within a tick, the last. What was there when it was made it can read. After a restore it
// hears again what its copy had not heard. Of removed keys the apps remember the newest 1024.
//
// If the manager dies, the next one takes the data from the apps, and hears again what it had not
// answered. The data ends with the world; a base that the store keeps may set it anew (Config.Start).
package shared

import "iter"

// Data is an app's copy. Use it on the goroutine of the app.
type Data interface {
	// Get returns the value of a key, as this app knows it. It is a copy: nil, bool, int64 (uint64
	// above its range), float64, string, []byte, []any, map[string]any or map[int64]any.
	Get(key string) (value any, ok bool)
	// All yields the keys that begin with a prefix, in ascending order, and their values; with "" all.
	All(prefix string) iter.Seq2[string, any]
	// Set gives a key a value: what property.AnyValue takes. It returns at once. Errors are
	// ErrKey, those of property.AnyValue, ErrTooLong for one that takes more than MaxValue bytes,
	// and entity.ErrTooMany while too many changes wait for the manager. The manager refuses what
	// is beyond MaxKeys keys or MaxBytes bytes of all keys and values, logs and counts it.
	Set(key string, value any) error
	// Remove removes a key. Errors are those of Set.
	Remove(key string) error
	// Update changes the value of a key to what change makes of it, although others may change it at the
	// same time: a count to which each adds, an office that the first who comes has. change is called at
	// once with the value as this app knows it, and may leave it by returning false. If the manager has
	// heard another change meanwhile, it is called again, on the goroutine of this app, with what that has
	// left, until it is in time: each Update counts once, also if a manager dies. So let it compute,
	// and touch nothing: the entity that has called may be elsewhere by then.
	//
	// An app has one under way at a time, and the others wait in their order; one takes the way to the
	// manager and back. They are lost with the app. Errors are those of Set, and entity.ErrTooMany
	// while MaxUpdates wait.
	Update(key string, change func(was any, ok bool) (is any, set bool)) error
}

// Watcher is a hook of cell and base scripts. It is told of each change while the entity lives, in order, at
// the beginning of the next tick.
type Watcher interface{ OnSharedData(change Change) }

// Change is a change of one key.
type Change struct {
	Key string
	// Removed says that there is no such key any more.
	Removed bool
	Value   any // as of Data.Get
}
