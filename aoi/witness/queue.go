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
// It is a heap by virtual time. An entry that is served, or that is owed nothing when its turn comes,
// takes its next turn a step later. What stands in the heap with another time than its entry is out of
// date: it is dropped when it comes to the front.
type queue struct {
	on     bool
	now    virtual // of the front
	heap   []place
	aside  []place // scratch: entries whose turn came twice in an Update
	circle []near  // who comes first, by step
	patrol int     // the entry at which the search for those who have come near goes on
	rescue int     // and for those who wait too long
}

// place is that of an entry in the queue.
type place struct {
	at    virtual
	alias uint16
}

// virtual is a time in 1/256 of the step of an entity at 0 m. It counts round.
type virtual uint32

const step1 = 256

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

func (p place) before(q place) bool {
	if p.at != q.at {
		return p.at.before(q.at)
	}
	return p.alias < q.alias
}

// put gives an entry its turn at a time. One without an alias cannot be found again: the patrol sees
// to it.
func (q *queue) put(en *entry, at virtual) {
	en.at, en.placed = at, true
	if en.alias == none {
		return
	}
	q.heap = append(q.heap, place{at, en.alias})
	q.rise(len(q.heap) - 1)
}

// halfSteps is a step as an entry keeps it.
type halfSteps uint16

func halves(step virtual) halfSteps { return halfSteps(min(step/(step1/2), math.MaxUint16)) }

func (h halfSteps) virtual() virtual { return virtual(h) * (step1 / 2) }

// children is how many places of the heap stand below each: four lie in a line of memory or two, and the way down is
// half as long as with two.
const children = 4

func (q *queue) rise(i int) {
	for p := q.heap[i]; i > 0; {
		up := (i - 1) / children
		if !p.before(q.heap[up]) {
			return
		}
		q.heap[i], q.heap[up] = q.heap[up], p
		i = up
	}
}

// drop takes the front away.
func (q *queue) drop() {
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap = q.heap[:last]
	q.sink(0)
}

// sink moves the element at i down to where it belongs. What comes before it moves up into its
// place, with one write a level.
func (q *queue) sink(i int) {
	h := q.heap
	if i >= len(h) {
		return
	}
	p := h[i]
	for {
		child := children*i + 1
		if child >= len(h) {
			break
		}
		for next := child + 1; next < min(children*i+1+children, len(h)); next++ {
			if h[next].before(h[child]) {
				child = next
			}
		}
		if !h[child].before(p) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = p
}

// order makes a heap of what stands in any order.
func (q *queue) order() {
	for i := (len(q.heap)+children-2)/children - 1; i >= 0; i-- {
		q.sink(i)
	}
}

// step is how far a turn at a distance pushes an entity back: by the scheme that a script has set for
// this client, or by that of its type. It needs a Subject.
func (w *Witness) step(en *entry, dist float32) virtual {
	if len(w.pairs) > 0 && en.a.scheme.Min > 0 {
		return w.schemed(&en.a.scheme, dist)
	}
	return w.stepOf(en.def(), dist)
}

// def is the type of an entry with a Subject.
func (en *entry) def() *property.Definition {
	if d := en.s.def; d != nil {
		return d
	}
	return en.entity().Def // it was not shown yet
}

// stepOf is the step of a type.
func (w *Witness) stepOf(d *property.Definition, dist float32) virtual {
	if d.UpdateScheme.Min > 0 {
		return w.schemed(&d.UpdateScheme, dist)
	}
	return w.usual(dist)
}

func (w *Witness) schemed(u *property.UpdateScheme, dist float32) virtual {
	share := min(dist/cmp.Or(u.Distance, w.reach[0], w.cfg.MaxRadius), 1)
	return virtual(step1 * (u.Min + share*share*(u.Max-u.Min)))
}

// usual is the step of an entity without a scheme.
func (w *Witness) usual(dist float32) virtual {
	share := min(dist/cmp.Or(w.reach[0], w.cfg.MaxRadius), farthest)
	return virtual(step1 * (minStep + share*share*(maxStep-minStep)))
}

// hasScheme reports whether an entry with a Subject has a scheme, for this client or by its type.
func (w *Witness) hasScheme(en *entry) bool {
	return len(w.pairs) > 0 && en.a.scheme.Min > 0 || en.def().UpdateScheme.Min > 0
}
