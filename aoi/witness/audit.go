package witness

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// Pending counts the entries with anything unsent: entering, leaving, not linked in after Read,
// with changes or calls that the watcher is entitled to where it stands, or with a move that was
// not sent reliably. It changes nothing.
func (w *Witness) Pending(watcher *presence.Entity) int {
	n := 0
	for i := range w.entries {
		if en := &w.entries[i]; en.a != nil && w.pending(en, watcher) {
			n++
		}
	}
	return n
}

func (w *Witness) pending(en *entry, watcher *presence.Entity) bool {
	if s := en.s; s != nil && (!en.rested || en.moved != s.stamp) && !newer(en.moved, s.stamp) && s.traits&riding == 0 && !en.aboard() {
		return true // most of a crowd moves, and here nothing but the entry and the sight is looked at
	}
	if en.a.s == nil || en.a.leave || !en.sent || w.owesPlace(en) {
		return true
	}
	e := en.entity()
	level := w.levelOf(e, watcher, int(en.level))
	if en.settled && e.History.Last() == en.seen && level >= int(en.a.seenLevel) && !en.a.stuck {
		return false
	}
	return en.missed() || w.owed(en, level, property.Distance(watcher.Position, e.Position))
}

// owesPlace reports whether the client has not been told reliably where an entity is.
func (w *Witness) owesPlace(en *entry) bool {
	if due, _ := w.rides(en); due {
		return true
	}
	return !en.atRest() && !en.ahead()
}

// AppendExpected appends what the client should hold of e once nothing is pending. It is made from
// e itself, at the level at which the watcher watches it, and not from what was sent. For an entity
// that the witness does not know, that is the level at which it would begin. For a type without a
// client side it appends nothing.
func (w *Witness) AppendExpected(dst []protocol.Expected, watcher, e *presence.Entity) []protocol.Expected {
	if !e.Def.HasClient {
		return dst
	}
	level := len(e.Def.Levels)
	if i, known := w.find(e.ID); known {
		level = int(w.entries[i].level)
	}
	props := appendVisible(nil, e, w.levelOf(e, watcher, level))
	return append(dst, protocol.Expected{Place: placeOf(e), Type: e.Def.ClientID, Props: props})
}

// Shows reports whether the client has an entity as it is now: it was told of it, and need not forget
// it.
func (w *Witness) Shows(id entity.ID) bool {
	i, known := w.find(id)
	return known && w.entries[i].sent && !w.entries[i].a.leave && !w.entries[i].a.gone
}
