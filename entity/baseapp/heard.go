package baseapp

import (
	"time"

	"github.com/cellscape/cellscape/internal/wire"
)

// A cell part that is made again from a copy does not say again what the base has handled of the
// former one. If the base itself is then restored from a copy that does not have it, nobody says it
// any more. So what the base has handled is in a confirmed copy before the next incarnation begins:
//
//	Lost --at once--> backed up --confirmed, while who mourns is waited for--> Locating: the next incarnation
//	                                |
//	                                +-- heardPatience: logged, and begun all the same

// heardPatience bounds the wait, as players wait for their cell parts: longer than it takes to
// declare a holder dead that is silent.
const heardPatience = 5 * time.Second

// heardIsKept reports whether the next incarnation may begin, and has the base backed up if it may not.
func (b *base) heardIsKept() bool {
	a := b.app
	if !b.protected() || b.link.in.Settled() >= b.link.in.Last() {
		b.heardBy = 0
		return true
	}
	if b.heardBy == 0 {
		b.heardBy = a.now + heardPatience
	}
	if len(b.copied.waiting) == 0 {
		b.backupSoon()
	}
	if a.now < b.heardBy {
		return false
	}
	b.heardBy, b.hastyAt = 0, a.now
	b.log.Warn("the cell part is made again before others have a copy of what it has said: if this BaseApp dies now, that is lost", "messages", b.link.in.Last()-b.link.in.Settled())
	return true
}

// stepLink takes the next step of the link, if that is due and may be taken, and asks the
// CellAppMgr for a CellApp if one is needed. It calls no script.
func (b *base) stepLink() {
	l, now := &b.link, b.app.now
	if kept := l.state != linkLost || b.heardIsKept(); !kept && l.succeeds(now) {
		return
	}
	if l.Step(now) {
		c := l.Copy()
		b.app.cellMgr.Send(&wire.Locate{ID: b.id, Space: c.Space, Position: c.Position})
	}
}
