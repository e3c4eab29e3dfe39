package witness

import (
	"math"

	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// due is what an entry is owed now.
type due uint8

const (
	dueEnter   due = 1 << iota
	dueHistory     // changes or calls
	dueMove        // a place, unreliably
	dueRest        // a place, reliably
	dueNews        // changes or calls, unreliably
	dueRide        // what it rides on, or that it does not any more

	dueReliable = dueEnter | dueHistory | dueRest | dueRide
	dueWords    = dueReliable | dueNews // all but places on the way
)

// relevel finds the watcher's detail level, and between which distances it stays.
func (w *Witness) relevel(en *entry, watcher *presence.Entity) {
	e := en.entity()
	level := w.levelOf(e, watcher, int(en.level))
	en.level = uint8(level)
	if en.level < en.a.seenLevel { // going to an outer level brings nothing new
		en.settled = false
	}
	en.nearest, en.farthest = -1, float32(math.Inf(1))
	if level > 0 {
		en.nearest = square(e.Def.Levels[level-1].Radius*w.scale) * (1 + edge)
	}
	if level < len(e.Def.Levels) && e.Aspect&presence.AlwaysDetailed == 0 {
		l := e.Def.Levels[level]
		en.farthest = square((l.Radius+l.Hysteresis)*w.scale) * (1 - edge)
	}
}

// edge is what the squares of distances are kept away from where a level ends: what is nearer to it
// than rounding is worked out each time.
const edge = 1e-3

func square(x float32) float32 { return x * x }

func (w *Witness) levelOf(e, watcher *presence.Entity, present int) int {
	if e.Aspect&presence.AlwaysDetailed != 0 {
		return 0
	}
	return property.LevelOf(e.Def, w.detail(property.Distance(watcher.Position, e.Position)), present)
}

// look finds what an entry is owed of its history, and marks it as settled if that is nothing.
func (w *Witness) look(en *entry, watcher *presence.Entity) due {
	if !en.sent {
		return dueEnter
	}
	e := en.entity()
	if en.missed() {
		s := en.s
		en.a.leave = true // it is met anew
		if w.sayLeave(en); en.a.leave {
			en.s = nil
			w.reseat(en, s)
			return 0
		}
		w.relevel(en, watcher)
		return dueEnter
	}
	d := w.owes(en, property.Distance(watcher.Position, e.Position))
	if d == 0 {
		en.settle()
	}
	return d
}

// owes is what the client is to be told of the history now.
func (w *Witness) owes(en *entry, dist float32) (d due) {
	if w.owedLevels(en, int(en.level)) {
		d = dueHistory
	}
	for k := range en.a.lossy {
		d |= w.claim(en, k)
	}
	e := en.entity()
	for ev := range e.History.Since(en.a.heard) {
		switch {
		case !w.hears(en, &ev, dist):
		case w.whispered(en, &ev):
			d |= dueNews
		default:
			d |= dueHistory
		}
	}
	return d
}

// missed reports whether the history has dropped a reliable call that the client was not told of. A
// client that was far away may not have been owed it, but nobody can tell any more.
func (en *entry) missed() bool { return en.entity().History.Lost(en.a.heard) }

// owed reports whether the client lacks a property that it may see at level, or a call that it may
// hear at a distance.
func (w *Witness) owed(en *entry, level int, dist float32) bool {
	if w.owedLevels(en, level) || en.awaits(level) {
		return true
	}
	for ev := range en.entity().History.Since(en.a.heard) {
		if w.hears(en, &ev, dist) {
			return true
		}
	}
	return false
}

// owedLevels reports whether the client lacks a property of a level from a given one on.
func (w *Witness) owedLevels(en *entry, level int) bool {
	def, h := en.entity().Def, en.entity().History
	for l := level; l < len(en.a.have); l++ {
		for _, i := range def.AtLevel(l) {
			if en.a.lacks(l, h.Stamp(i)) {
				return true
			}
		}
	}
	return false
}

// lacks reports whether the client does not know a property of level l that last changed at stamp.
func (a *account) lacks(l int, stamp property.EventNumber) bool { return uint64(stamp) >= a.have[l] }

// settle notes that nothing of the history is owed at the present level, but for Lossy properties that
// have not rested yet. Numbers never go back: the record may be behind what another cell has sent.
func (en *entry) settle() {
	a, last := en.a, en.entity().History.Last()
	for l := int(en.level); l < len(a.have); l++ {
		a.have[l] = max(a.have[l], uint64(last)+1)
	}
	a.heard = max(a.heard, last)
	en.rest(last)
	en.settled = !en.awaits(int(en.level))
	a.stuck = false
}

// rest lets an entry be until its history goes on, or the watcher comes nearer.
func (en *entry) rest(last property.EventNumber) {
	en.seen, en.a.seenLevel, en.settled = last, en.level, true
}
