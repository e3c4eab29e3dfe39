package witness

// Told counts what witnesses make for their clients, in bytes by kind; see Scratch.
type Told struct {
	Direct  uint64 // direct messages, which do not go through the queue
	Enters  uint64 // entities that were met, with their properties
	Changes uint64 // of properties of others
	Calls   uint64 // broadcast calls of others
	Places  uint64 // packets of places, and places at rest

	// PlacesSent is how many places there were in packets that were sent. Updates counts Updates, and
	// Crowded those of them that had no room for all that was due.
	PlacesSent, Updates, Crowded uint64
	// PlacesSkipped is in how many Updates a place was due and was not told, since there was no room. They
	// are counted when the entity has its turn: who only waits costs nothing.
	PlacesSkipped uint64
	// Waited is the longest wait, in Updates, of an entity that was told of. The reader sets it to 0
	// to begin anew.
	Waited int
}

// Merge adds what x has counted and begins x anew. A place of x that is given back to Unsent after
// that is taken off by the next Merge.
func (t *Told) Merge(x *Told) {
	t.Direct, t.Enters, t.Changes, t.Calls, t.Places = t.Direct+x.Direct, t.Enters+x.Enters, t.Changes+x.Changes, t.Calls+x.Calls, t.Places+x.Places
	t.PlacesSent, t.Updates, t.Crowded = t.PlacesSent+x.PlacesSent, t.Updates+x.Updates, t.Crowded+x.Crowded
	t.PlacesSkipped += x.PlacesSkipped
	t.Waited = max(t.Waited, x.Waited)
	*x = Told{}
}

// countUpdate counts what an Update has made.
func (w *Witness) countUpdate(direct int, packets [][]byte) {
	t := w.with.Told
	if t == nil {
		return
	}
	t.Updates++
	if w.queue.on {
		t.Crowded++
	}
	t.Direct += uint64(direct)
	for _, p := range packets {
		t.Places += uint64(len(p))
	}
	t.Places -= uint64(len(w.moves.news)) // see sayNews
	t.PlacesSent += uint64(len(w.moves.told))
}

// countReliable counts what an entity was told since the bundle had start bytes, of which calls are
// calls; w.calls begins anew.
func (w *Witness) countReliable(d due, start int) {
	calls := w.calls
	w.calls = 0
	t := w.with.Told
	if t == nil {
		return
	}
	switch n := uint64(len(w.bundle) - start); {
	case n == 0: // above MaxEntity
	case d&dueEnter != 0:
		t.Enters += n
	default:
		t.Calls += uint64(calls)
		t.Changes += n - uint64(calls)
	}
}

// countWait counts how long an entity has waited that has its turn now.
func (w *Witness) countWait(en *entry, d due) {
	t := w.with.Told
	if t == nil {
		return
	}
	waited := w.waited(en)
	t.Waited = max(t.Waited, waited)
	if d&dueMove != 0 {
		t.PlacesSkipped += uint64(max(0, waited-1))
	}
}
