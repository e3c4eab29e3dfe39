package baseapp

import "github.com/cellscape/cellscape/internal/codec"

// What is done for a base by itself, unless its script says otherwise.

// SetAutoBackup is part of entity.Base's host. Without copies a base is as on an app that is alone:
// nobody waits for one, and every pending rule may do without it. The holders of former copies
// forget them with the cycles.
func (b *base) SetAutoBackup(on bool) {
	c := &b.copied
	if c.manual == !on || b.removed {
		return
	}
	c.manual = !on
	if b.uncopied() {
		b.foundRoom()
		c.large, c.failed, c.again = false, false, false
		c.held, c.heldCycle = 0, 0
		c.sent, c.waiting, c.holders = c.sent[:0], c.waiting[:0], c.holders[:0]
		b.exposed()
	} else if on {
		c.confirmed = 0 // so far nobody had to have it
	}
	b.backupSoon() // what waits for a copy goes on
}

// copyAll has those copied, too, that want no copies, since this app leaves.
func (a *BaseApp) copyAll() {
	for _, b := range a.list {
		if b.copied.manual && !b.removed {
			b.copied.confirmed = 0
			b.backupSoon()
		}
	}
}

// uncopied reports whether nobody is to hold copies of the base. An app that leaves copies it all the same:
// so it goes with the others.
func (b *base) uncopied() bool {
	return b.fragment || b.copied.manual && b.app.leave.state == leaveNone
}

// SetAutoArchive is part of entity.Base's host.
func (b *base) SetAutoArchive(on bool) { b.keep.manual = !on }

func (b *base) codeAuto(c *codec.Coder) {
	c.Bool(&b.copied.manual)
	c.Bool(&b.keep.manual)
}
