package witness

import "github.com/cellscape/cellscape/entity"

// The entries that an Update is about to serve lie scattered over memory. Asked for together they
// come in the time of a few; one after the other, waiting for them is most of what an Update in a
// crowd costs. So they are touched first. What is needed here and there of a small array is touched as
// a whole, in its order, which the processor foresees.

// fetchAhead is how many turns are fetched together: about as many as come in an Update.
const fetchAhead = 48

// Expect says that Enter, Leave or Gone of an entity follows soon, perhaps after those of others: what
// they look at comes meanwhile. It changes nothing.
func (w *Witness) Expect(id entity.ID) {
	n, known := w.names.get(id)
	if !known {
		return
	}
	sum := uint32(0)
	if en := w.likely(n.alias); en != nil && en.a != nil {
		sum += uint32(en.a.size)
	}
	if node := slots + int(n.alias); node < len(w.queue.turns.links) {
		sum += uint32(w.queue.turns.links[node].next)
	}
	w.fetched = sum
}

// fetchTurns touches where turns and entries stand: four and two bytes for each alias, of which an
// Update in a crowd needs a hundred.
func (w *Witness) fetchTurns() {
	const line = 64 // bytes
	sum := uint32(0)
	for links, i := w.queue.turns.links, 0; i < len(links); i += line / 4 {
		sum += uint32(links[i].next)
	}
	for i := 0; i < len(w.where); i += line / 2 {
		sum += uint32(w.where[i])
	}
	w.fetched = sum
}

// fetchOdd touches the entries that tend looks at.
func (w *Witness) fetchOdd() {
	sum := uint32(0)
	for _, n := range w.odd {
		if en := w.likely(n.alias); en != nil && en.a != nil {
			sum += uint32(en.a.size)
		}
	}
	w.fetched = sum
}

// fetchQueue touches the entries that have their turns soon.
func (w *Witness) fetchQueue() {
	q := &w.queue
	sum, left, slot := uint32(0), fetchAhead, slotOf(q.now)
	for range slots {
		at, ok := q.turns.from(slot)
		if !ok || left == 0 {
			break
		}
		for node := int(q.turns.links[at].next); node != at && left > 0; left-- {
			sum += w.touch(uint16(node - slots))
			node = int(q.turns.links[node].next)
		}
		slot = (at + 1) % slots
	}
	w.fetched = sum
}

// fetchCircle touches the entries of those whose turn the circle asks for.
func (w *Witness) fetchCircle(first []near) {
	sum := uint32(0)
	for k := range first {
		if w.lapse(first[k].last) >= promisedWait {
			sum += w.touch(first[k].alias)
		}
	}
	w.fetched = sum
}

func (w *Witness) touch(alias uint16) uint32 {
	if en := w.likely(alias); en != nil {
		return uint32(en.alias)
	}
	return 0
}

// likely is the entry where the one with an alias stood when it was looked for last. As a rule it is that
// one.
func (w *Witness) likely(alias uint16) *entry {
	if int(alias) < len(w.where) {
		if i := int(w.where[alias]); i < len(w.entries) {
			return &w.entries[i]
		}
	}
	return nil
}
