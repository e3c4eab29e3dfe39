package witness

// turn is an entity that waits to be served in this Update.
type turn struct {
	key  float64 // virtual time; lowest first
	en   *entry
	due  due
	dist float32
}

func (t *turn) before(u *turn) bool {
	if t.key != u.key {
		return t.key < u.key
	}
	return t.en.id < u.en.id
}

// order makes the queue a heap.
func (w *Witness) order() {
	for i := len(w.queue)/2 - 1; i >= 0; i-- {
		w.sink(i)
	}
}

// pop takes the front of the heap.
func (w *Witness) pop() turn {
	front, last := w.queue[0], len(w.queue)-1
	w.queue[0] = w.queue[last]
	w.queue[last] = turn{}
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
	share := float64(dist) / float64(w.cfg.MaxRadius)
	return minStep + float64(share*(maxStep-minStep))
}

// enqueue gives a due entry its place. An entry that was idle starts at the present virtual time.
// Entries that have waited too long go before everyone, the longest wait first.
func (w *Witness) enqueue(en *entry, d due, dist float32) {
	if en.fresh {
		en.fresh, en.at = false, w.now+w.step(dist) // when a crowd enters at once, the nearest come first
	}
	en.at = max(en.at, w.now)
	key := en.at
	if en.waited >= w.cfg.MaxWait {
		key = w.now - 1 - float64(en.waited-w.cfg.MaxWait)
	}
	w.queue = append(w.queue, turn{key, en, d, dist})
}
