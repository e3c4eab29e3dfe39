package witness

import "github.com/cellscape/cellscape/internal/invariant"

// assertEntries checks the area of interest: each entity once, those in range counted, and each entry
// with the Subject of its entity.
func (w *Witness) assertEntries() {
	live, gaps := 0, 0
	for i := range w.entries {
		en := &w.entries[i]
		if i > 0 && w.entries[i-1].alias >= en.alias && en.alias != none {
			invariant.Broken("witness: alias %d stands before %d", w.entries[i-1].alias, en.alias)
		}
		if en.a == nil {
			gaps++
			continue
		}
		w.assertEntry(i)
		if !en.a.gone {
			live++
		}
	}
	if live != w.live || gaps != w.gaps || w.names.n != len(w.entries)-gaps {
		invariant.Broken("witness: %d in range, %d are counted; %d gaps, %d are counted", live, w.live, gaps, w.gaps)
	}
}

func (w *Witness) assertEntry(i int) {
	en := &w.entries[i]
	a := en.a
	if i > 0 && en.alias == none && w.entries[i-1].alias == none && w.entries[i-1].a.id >= a.id {
		invariant.Broken("witness: %v stands before %v", w.entries[i-1].a.id, a.id)
	}
	if at, known := w.find(a.id); !known || at != i {
		invariant.Broken("witness: %v is not found", a.id)
	}
	if a.gone && a.s != nil || a.s != nil && a.s.Entity.ID != a.id || en.s != nil && (a.s == nil || en.s != a.s.sight) {
		invariant.Broken("witness: %v is gone, or another", a.id)
	}
	if en.s == nil && !en.listed {
		invariant.Broken("witness: %v has no subject and is not listed", a.id)
	}
}

// assertCollected checks that each entity that is due has one turn, and nobody else: who has one must
// be in range and linked.
func (w *Witness) assertCollected() {
	for i := range w.due {
		at := w.due[i].entry
		if int(at) >= len(w.entries) || w.entries[at].s == nil {
			invariant.Broken("witness: entry %d waits for its turn and is not in range", at)
		}
		if i > 0 && w.due[i-1].entry >= at {
			invariant.Broken("witness: entry %d waits for two turns", at)
		}
	}
}

// assertQueue checks that everyone waits in the queue who has a Subject to look at, where the turn
// belongs, and that nobody else does.
func (w *Witness) assertQueue() {
	q := &w.queue
	w.clearPicked() // scratch: who waits
	n := 0
	for slot := range slots {
		for node := int(q.turns.links[slot].next); node != slot; node = int(q.turns.links[node].next) {
			alias := uint16(node - slots)
			at, known := w.slot(alias)
			if !known || w.entries[at].s == nil || q.turns.filled[slot/slotsInWord]>>(slot%slotsInWord)&1 == 0 {
				invariant.Broken("witness: alias %d waits, and has no entry or no turn", alias)
				return
			}
			if late := (slot - slotOf(q.now)) & (slots - 1); late > slotsUntil(w.entries[at].at, q.now) {
				invariant.Broken("witness: alias %d waits for %d slots, and its turn is in %d", alias, late, slotsUntil(w.entries[at].at, q.now))
			}
			w.pick(at, nearForm)
			n++
		}
	}
	for i := range w.entries {
		if en := &w.entries[i]; en.s != nil && en.alias <= lastQueued && !w.isPicked(i) {
			invariant.Broken("witness: %v waits for no turn", en.a.id)
		}
	}
	if n != q.turns.n {
		invariant.Broken("witness: %d wait for a turn, %d are counted", n, q.turns.n)
	}
	w.assertCircle()
}

// assertCircle checks that who stands in the circle has an entry, which looks at the same.
func (w *Witness) assertCircle() {
	for k, m := range w.queue.circle {
		if i, known := w.slot(m.alias); !known || w.entries[i].s != m.s || m.s == nil {
			invariant.Broken("witness: alias %d in the circle has no entry, or that of another", m.alias)
		}
		for _, other := range w.queue.circle[:k] {
			if other.alias == m.alias {
				invariant.Broken("witness: alias %d is in the circle twice", m.alias)
			}
		}
	}
}
