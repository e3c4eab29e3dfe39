package baseapp

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
)

// A base that waits for answers seeks those who owe them when a BaseApp has died, and when it was restored
// itself, since it may have missed that. See flow.SeekTime.
//
//	at rest --- a death, its own next life ---> seeking: Inquiry to the heirs --- flow.SeekTime ---> at rest
//	                                                |
//	                                                +-- gone for ever --> the calls fail

// seek begins that.
func (b *base) seek() { b.seekUntil = b.app.now + flow.SeekTime }

// tickSeek asks the apps of those who owe answers whether they are there.
func (b *base) tickSeek() {
	a := b.app
	if b.seekUntil == 0 {
		return
	}
	if a.now >= b.seekUntil || b.requests.Len() == 0 {
		b.seekUntil = 0
		return
	}
	b.requests.EachBase(func(id flow.RequestID, target entity.ID) {
		home := a.homeOf(target)
		switch {
		case target == b.id || home.Role != wire.BaseApp:
			return
		case a.links.Dead(home.App): // one that has come from another app may have missed that
			b.fail(id, errBaseDead)
			return
		}
		if t, err := b.talk(target, entity.BasePart); err == nil && t.prospect.MayAsk(a.now, flow.SeekAgain) {
			t.home = home
			t.inquire(home.App)
		}
	})
}

// forsaken ends the calls to a base that is gone.
func (b *base) forsaken(by entity.ID) {
	b.requests.EachBase(func(id flow.RequestID, target entity.ID) {
		if target == by {
			b.fail(id, errBaseDead)
		}
	})
}
