package witness

// The entries that an Update is about to serve lie scattered over memory. Asked for together they
// come in the time of a few; one after the other, waiting for them is most of what an Update in a
// crowd costs. So they are touched first.

// fetchAhead is how many turns are fetched together: about as many as come in an Update.
const fetchAhead = 48

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
	if int(alias) < len(w.where) {
		if i := int(w.where[alias]); i < len(w.entries) {
			return uint32(w.entries[i].alias)
		}
	}
	return 0
}
