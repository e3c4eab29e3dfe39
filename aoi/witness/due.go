package witness

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// due is what an entry is owed now.
type due uint8

const (
	dueEnter   due = 1 << iota
	dueHistory     // changes or calls
	dueMove        // a place, unreliably
	dueRest        // a place, reliably
	dueRefresh     // the client missed a call: it must forget the entity first

	dueReliable = dueEnter | dueHistory | dueRest
)

// look finds the watcher's detail level and what the entry is owed. It marks an entry that is owed
// nothing of its history, which makes the next look short.
func (w *Witness) look(en *entry, watcher *entity.Entity, tick uint64, unlimited bool) (due, float32) {
	dist := entity.Distance(watcher.Position, en.e.Position)
	en.level = property.LevelOf(en.e.Def, w.detail(dist), en.level)
	var d due
	switch {
	case !en.sent:
		if !en.stuck || en.news() {
			return dueEnter, dist
		}
		return 0, dist
	case en.news():
		if en.missed() {
			return dueRefresh, dist
		}
		if w.owed(en, en.level, dist) {
			d |= dueHistory
		} else {
			en.told()
		}
	}
	switch moving := en.e.MovedTick+RestTicks >= tick && en.e.MovedTick <= tick; {
	case en.ahead():
	case (unlimited || !moving) && newer(en.e.MoveStamp, en.rested):
		d |= dueRest
	case moving && newer(en.e.MoveStamp, en.moved) && en.alias != none:
		d |= dueMove
	}
	return d, dist
}

// news reports whether anything may be owed that was not owed at the last look. Going to an outer
// level brings nothing new.
func (en *entry) news() bool {
	return int64(en.e.History.Last()) != en.seen || en.level < en.seenLevel
}

// missed reports whether the history has dropped a reliable call that the client was not told of. A
// client that was far away may not have been owed it, but nobody can tell any more.
func (en *entry) missed() bool {
	return en.e.History.Lost(en.heard)
}

// owed reports whether the client lacks a property that it may see at level, or a call that it may
// hear at a distance.
func (w *Witness) owed(en *entry, level int, dist float32) bool {
	def, h := en.e.Def, en.e.History
	for l := level; l < len(en.have); l++ {
		for _, i := range def.AtLevel(l) {
			if en.lacks(l, h.Stamp(i)) {
				return true
			}
		}
	}
	for ev := range h.Since(en.heard) {
		if w.audible(def, ev.Method, dist) {
			return true
		}
	}
	return false
}

// lacks reports whether the client does not know a property of level l that last changed at stamp.
func (en *entry) lacks(l int, stamp property.EventNumber) bool {
	return uint64(stamp) >= en.have[l]
}

// told notes that nothing of the history is owed at the present level. Numbers never go back: the
// record may be behind what another cell has sent.
func (en *entry) told() {
	last := en.e.History.Last()
	for l := en.level; l < len(en.have); l++ {
		en.have[l] = max(en.have[l], uint64(last)+1)
	}
	en.heard = max(en.heard, last)
	en.seen, en.seenLevel, en.stuck = int64(last), en.level, false
}

// newer compares move stamps, which wrap around.
func newer(a, b uint32) bool { return int32(a-b) > 0 }
