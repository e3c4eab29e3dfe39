package baseapp

import "github.com/cellscape/cellscape/entity/shared"

// Shared is part of entity.Base's host.
func (b *base) Shared() shared.Data { return b.app.shared }

// Shared is the app's copy of what the cluster shares, for viewers and tests; scripts have
// entity.Base.Shared.
func (a *BaseApp) Shared() shared.Data { return a.shared }

// hearShared tells the script of changes since it last heard. The number is in the copies of the base, so
// that it hears each change once, on whatever BaseApp.
func (b *base) hearShared() {
	s, heard := b.app.shared, b.sharedHeard
	b.sharedHeard = s.Last()
	if b.failed {
		return
	}
	if _, hears := b.value.Interface().(shared.Watcher); !hears {
		return
	}
	for change := range s.News(heard) {
		callHook(b, "OnSharedData", func(h shared.Watcher) { h.OnSharedData(change) })
	}
}
