package baseapp

import (
	"time"

	"github.com/cellscape/cellscape/entity/flow"
)

// What others sent to a base stays with them until a copy of the base that contains it is where the
// death of this app does not reach it. Only then it is settled.

// life is the base's incarnation: 0, and a later one each time that it is restored.
func (b *base) life() uint32 { return b.link.life }

// settled is the number up to which the messages of a flow to the base stay handled whatever dies. If
// nothing protects the base, it dies with its app, and nothing is sent again.
func (b *base) settled(in *flow.Receiver) uint64 {
	if !b.protected() {
		return in.Last()
	}
	return in.Settled()
}

// partEnded reports whether a base without a cell part has none whatever dies. (A caller was told that the
// cell part had ended, and gave its call up. The BaseApp died before a copy knew of the end, and the heir
// brought the cell part back, which never heard of the call.) One that leaves has not ended: it may be on
// its CellApp, and handle what comes next from the same caller.
func (b *base) partEnded() bool {
	return b.link.State() == linkNone && (b.link.closed == 0 || b.copiedSince(b.link.closed))
}

// copiedSince reports whether a copy that was made after then is where the death of this app does not reach
// it, or nothing protects the base.
func (b *base) copiedSince(then time.Duration) bool { return !b.protected() || b.copiedAt > then }

// saved notes that a copy of the base was made, by its number. While a copy is on its way, a later one
// does not replace it, or slow holders would never confirm the last one.
func (b *base) saved(number uint64) {
	if b.saving != 0 {
		return
	}
	b.saving, b.unsaved, b.unsavedBytes = number, 0, 0
	b.savingAt = b.app.now
	b.commitsSent(number)
	b.giving.copySent(number)
	b.keep.copySent(number)
	if b.seat != nil {
		b.seat.saved = b.seat.uploads
	}
	b.link.in.Save()
	for _, t := range b.talks {
		t.in.Save()
	}
}

// confirmed notes that all who shall hold the copy of a number have it, and what it contains is settled.
func (b *base) confirmed(number uint64) {
	if b.saving == 0 || number < b.saving {
		return
	}
	b.saving, b.copiedAt = 0, b.savingAt
	b.commitsKept(number)
	b.giving.copyHeld(number)
	b.keep.copyHeld(number)
	if b.seat != nil {
		b.seat.settled = max(b.seat.settled, b.seat.saved)
	}
	b.link.in.Confirm()
	if b.heardBy != 0 && b.link.succeeds(b.app.now) && !b.app.still() && !b.app.held {
		b.stepLink() // players wait, so not at the next tick
	}
	for _, t := range b.talks {
		if t.in.Confirm(); t.in.Owed() {
			b.app.wake(t)
		}
	}
}

// These bound what others keep for a base between two copies: beyond them the next copy comes early.
const (
	unsavedMessages = 256
	unsavedBytes    = 64 << 10
)

// note counts a message that no copy contains.
func (b *base) note(bytes int) {
	b.unsaved++
	if b.unsavedBytes += bytes; b.unsaved >= unsavedMessages || b.unsavedBytes >= unsavedBytes {
		b.backupSoon()
	}
}
