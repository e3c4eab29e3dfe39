// Package storetest checks whether a store keeps the contract of package store. A studio that writes
// a store of its own calls Run from a test:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) *storetest.Rig {
//			path := filepath.Join(t.TempDir(), "world")
//			return &storetest.Rig{Open: func(ctx context.Context) (store.Store, error) { return mine.Open(ctx, path) }}
//		})
//	}
//
// It compares the store with package memory, too, in runs of random calls. What it cannot know are a
// database's own faults: that a confirmed write survives a crash, and which error tells of a full
// disk. Those need tests of their own.
package storetest
