package witness

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// Pending counts the entries with anything unsent: entering, leaving, not linked in after Read,
// with changes or calls that the watcher is entitled to where it stands, or with a move that was
// not sent reliably. It changes nothing.
func (w *Witness) Pending(watcher *entity.Entity) int {
	n := 0
	for _, en := range w.entries {
		if w.pending(en, watcher) {
			n++
		}
	}
	return n
}

func (w *Witness) pending(en *entry, watcher *entity.Entity) bool {
	if en.e == nil || en.leave || !en.sent || newer(en.e.MoveStamp, en.rested) && !en.ahead() {
		return true
	}
	dist := entity.Distance(watcher.Position, en.e.Position)
	level := property.LevelOf(en.e.Def, w.detail(dist), en.level)
	if int64(en.e.History.Last()) == en.seen && level >= en.seenLevel && !en.stuck {
		return false
	}
	return en.missed() || w.owed(en, level, dist)
}

// ahead reports whether the client was told, by another cell, of later moves than this copy knows of:
// it has to catch up first.
func (en *entry) ahead() bool { return newer(en.moved, en.e.MoveStamp) }

// AppendExpected appends what the client should hold of e once nothing is pending. It is made from
// e itself, at the level at which the watcher watches it, and not from what was sent. For an entity
// that the witness does not know, that is the level at which it would begin. For a type without a
// client side it appends nothing.
func (w *Witness) AppendExpected(dst []protocol.Expected, watcher, e *entity.Entity) []protocol.Expected {
	if !e.Def.HasClient {
		return dst
	}
	level := len(e.Def.Levels)
	if i, known := w.find(e.ID); known {
		level = w.entries[i].level
	}
	it := entry{id: e.ID, e: e, level: property.LevelOf(e.Def, w.detail(entity.Distance(watcher.Position, e.Position)), level)}
	return append(dst, protocol.Expected{Place: it.place(), Type: e.Def.ClientID, Props: it.appendVisible(nil)})
}
