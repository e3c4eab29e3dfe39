package witness

import "github.com/cellscape/cellscape/internal/invariant"

// assertEntries checks the area of interest: each entity once, and those in range counted.
func (w *Witness) assertEntries() {
	live := 0
	for i, en := range w.entries {
		if i > 0 && w.entries[i-1].id >= en.id {
			invariant.Broken("witness: %v stands before %v", w.entries[i-1].id, en.id)
		}
		if en.gone && en.e != nil || en.e != nil && en.e.ID != en.id {
			invariant.Broken("witness: %v is gone, or another", en.id)
		}
		if !en.gone {
			live++
		}
	}
	if live != w.live {
		invariant.Broken("witness: %d in range, %d are counted", live, w.live)
	}
}

// assertCollected checks that the queue, not yet a heap, has each entity that is due once, and nobody
// else: what is queued must be known, in range and linked.
func (w *Witness) assertCollected() {
	for i := range w.queue {
		en := w.queue[i].en
		at, known := w.find(en.id)
		if !known || w.entries[at] != en || en.gone || en.leave || en.e == nil {
			invariant.Broken("witness: %v waits for its turn and is not in range", en.id)
		}
		if i > 0 && w.queue[i-1].en.id >= en.id {
			invariant.Broken("witness: %v waits for two turns", en.id)
		}
	}
}

// assertOrdered checks that the queue is a heap.
func (w *Witness) assertOrdered() {
	for i := 1; i < len(w.queue); i++ {
		if w.queue[i].before(&w.queue[(i-1)/2]) {
			invariant.Broken("witness: %v comes after who should follow it", w.queue[i].en.id)
		}
	}
}
