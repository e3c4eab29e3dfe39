package witness

import (
	"cmp"
	"math"
)

// turn is an entity that waits to be served in this Update.
type turn struct {
	key    float64 // virtual time; lowest first
	entry  int32   // which of Witness.entries
	square float32 // of the distance
	due    due
	form   form // of its place, if that is due
}

func (t *turn) distance() float32 { return float32(math.Sqrt(float64(t.square))) }

func (t *turn) before(u *turn) bool {
	if t.key != u.key {
		return t.key < u.key
	}
	return t.entry < u.entry
}

// assign gives all in the queue their turns.
func (w *Witness) assign() {
	for i := range w.queue {
		t := &w.queue[i]
		t.key = w.place(&w.entries[t.entry], t)
	}
}

// order makes the queue a heap.
func (w *Witness) order() {
	for i := len(w.queue)/2 - 1; i >= 0; i-- {
		w.sink(i)
	}
}

// place gives a due entry its place. One that was idle starts at the present virtual time. Entries
// that have waited too long go before everyone, the longest wait first.
func (w *Witness) place(en *entry, t *turn) float64 {
	if en.calm != w.calm {
		en.calm, en.at = w.calm, w.now+w.step(t.distance()) // when a crowd enters at once, the nearest come first
	}
	en.at = max(en.at, w.now)
	if en.since == 0 {
		en.since = w.updates
	}
	if late := w.waited(en) - w.cfg.MaxWait; late >= 0 {
		return w.now - 1 - float64(late)
	}
	return en.at
}

// waited is for how many Updates an entry was due and not served.
func (w *Witness) waited(en *entry) int {
	if en.since == 0 {
		return 0
	}
	return int(w.updates - en.since)
}

// pop takes the front of the heap.
func (w *Witness) pop() turn {
	front, last := w.queue[0], len(w.queue)-1
	w.queue[0] = w.queue[last]
	w.queue = w.queue[:last]
	w.sink(0)
	return front
}

// sink moves the element at i down to where it belongs. What comes before it moves up into its
// place, with one write a level: in a crowd this is most of a tick.
func (w *Witness) sink(i int) {
	q := w.queue
	if i >= len(q) {
		return
	}
	t := q[i]
	for {
		child := 2*i + 1
		if child >= len(q) {
			break
		}
		if child+1 < len(q) && q[child+1].before(&q[child]) {
			child++
		}
		if !q[child].before(&t) {
			break
		}
		q[i] = q[child]
		i = child
	}
	q[i] = t
}

// step is how far a turn at a distance pushes an entity back.
func (w *Witness) step(dist float32) float64 {
	share := float64(dist) / float64(cmp.Or(w.reach[0], w.cfg.MaxRadius))
	return minStep + float64(share*(maxStep-minStep))
}
