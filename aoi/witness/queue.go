package witness

import (
	"cmp"
	"math"

	"github.com/cellscape/cellscape/property"
)

// queue holds the turns of all entries in range while the budget has no room for everyone. It lasts
// from one Update to the next, so that a witness touches whom it serves and not whom it sees: in a
// crowd of two thousand there is room for seventy.
//
// An entry that is served, or that is owed nothing when its turn comes, takes its next turn a step later.
type queue struct {
	on     bool
	now    virtual  // of the front
	turns  wheel    // of all entries with a Subject and an alias
	aside  []uint16 // scratch: entries whose turn came twice in an Update
	circle []near   // who comes first, by step
	patrol int      // the entry at which the search for those who have come near goes on
	rescue int      // and for those who wait too long
}

// virtual is a time in 1/256 of the step of an entity at 0 m. It counts round.
type virtual uint32

const (
	step1Bits = 8
	step1     = 1 << step1Bits
)

func (a virtual) before(b virtual) bool { return int32(a-b) < 0 }

// ahead is how much later than now it is, 0 if it is past.
func (a virtual) ahead(now virtual) virtual { return virtual(max(0, int32(a-now))) }

// least is the later of two times.
func (a virtual) least(b virtual) virtual {
	if a.before(b) {
		return b
	}
	return a
}

// put gives an entry its turn at a time. One without an alias cannot be found again: the patrol sees
// to it.
func (q *queue) put(en *entry, at virtual) {
	en.at, en.placed = at, true
	q.wait(en)
}

// wait has an entry stand where its turn belongs: before others if that is past.
func (q *queue) wait(en *entry) {
	if en.alias <= lastQueued {
		q.turns.put(en.alias, slotOf(q.now+virtual(slotsUntil(en.at, q.now))<<slotBits), !q.now.before(en.at))
	}
}

// front is whose turn is next. If that is in a later slot, it is as late as that now.
func (q *queue) front() (alias uint16, ok bool) {
	slot, ok := q.turns.from(slotOf(q.now))
	if !ok {
		return 0, false
	}
	if ahead := (slot - slotOf(q.now)) & (slots - 1); ahead > 0 {
		q.now = (q.now>>slotBits + virtual(ahead)) << slotBits
	}
	return q.turns.first(slot), true
}

// halfSteps is a step as an entry keeps it.
type halfSteps uint16

func halves(step virtual) halfSteps { return halfSteps(min(step/(step1/2), math.MaxUint16)) }

func (h halfSteps) virtual() virtual { return virtual(h) * (step1 / 2) }

// step is how far a turn at a distance, of which the square is given, pushes an entity back: by the
// scheme that a script has set for this client, or by that of its type. It needs a Subject.
func (w *Witness) step(en *entry, apart float32) virtual {
	if len(w.pairs) > 0 && en.a.scheme.Min > 0 {
		return w.schemed(&en.a.scheme, apart)
	}
	return w.stepOf(en.def(), apart)
}

// def is the type of an entry with a Subject.
func (en *entry) def() *property.Definition {
	if d := en.s.def; d != nil {
		return d
	}
	return en.entity().Def // it was not shown yet
}

// stepOf is the step of a type.
func (w *Witness) stepOf(d *property.Definition, apart float32) virtual {
	if d.UpdateScheme.Min > 0 {
		return w.schemed(&d.UpdateScheme, apart)
	}
	return w.usual(apart)
}

func (w *Witness) schemed(u *property.UpdateScheme, apart float32) virtual {
	share := min(apart/square(cmp.Or(u.Distance, w.reach[0], w.cfg.MaxRadius)), 1)
	return virtual(step1 * (u.Min + share*(u.Max-u.Min)))
}

// usual is the step of an entity without a scheme.
func (w *Witness) usual(apart float32) virtual {
	share := min(apart/square(cmp.Or(w.reach[0], w.cfg.MaxRadius)), farthest*farthest)
	return virtual(step1 * (minStep + share*(maxStep-minStep)))
}

// hasScheme reports whether an entry with a Subject has a scheme, for this client or by its type.
func (w *Witness) hasScheme(en *entry) bool {
	return len(w.pairs) > 0 && en.a.scheme.Min > 0 || en.def().UpdateScheme.Min > 0
}
