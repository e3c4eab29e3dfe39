package witness

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/invariant"
)

// Update makes the messages of one tick; call it once a tick. watcher is the player's real, and
// tick the game tick that MovedTick counts. direct holds the framed messages that do not go through
// the queue, at most MaxDirect bytes. unlimited lifts the budget for this Update and sends places
// reliably, so that nothing is left unsent (unless MaxDirect bytes are reached, or an entity is
// above MaxEntity).
//
// bundle is one reliable message, nil when there is nothing to say. Each of packets is one
// unreliable message, as long as SetMaxPacket allows; those that could not be sent must be given
// back to Unsent before the next call. All are valid until that call.
func (w *Witness) Update(watcher *entity.Entity, tick uint64, direct []byte, unlimited bool) (bundle []byte, packets [][]byte) {
	w.begin(watcher, tick, direct)
	w.tend()
	w.collect(watcher, tick, unlimited)
	if invariant.On {
		w.assertCollected()
	}
	budget := w.spare.of(w.cfg.BytesPerTick) - w.deficit
	if !unlimited && w.size()+w.need <= budget {
		w.serveAll()
	} else {
		w.serve(budget, unlimited)
	}
	w.deficit = 0
	if !unlimited {
		w.deficit = min(max(w.size()-budget, 0), w.spare.of(w.cfg.MaxDeficit))
	}
	return w.finish()
}

func (w *Witness) begin(watcher *entity.Entity, tick uint64, direct []byte) {
	if w.updates++; w.updates == 0 {
		w.updates = 1
	}
	w.bundle = protocol.AppendBundle(w.bundle[:0], w.number+1)
	w.header = len(w.bundle)
	w.bundle = append(w.bundle, direct...)
	w.moves.begin(watcher.Position, epochOf(watcher), tick)
}

func (w *Witness) size() int { return len(w.bundle) - w.header + w.moves.size() }

// tend does what there is to do for entries without a Subject to look at: it tells of leaves, lets go
// of entries that are finished, and has the others looked at.
func (w *Witness) tend() {
	for i := 0; w.odd > 0 && i < len(w.entries); i++ {
		en := &w.entries[i]
		if en.s != nil {
			continue
		}
		w.expire(en)
		w.sayLeave(en)
		if en.a.gone && !en.a.leave {
			w.remove(i)
			i--
			continue
		}
		if !en.a.leave {
			en.s = en.a.s
			w.oddities(nil, en.s)
		}
	}
	if invariant.On {
		w.assertEntries()
	}
}

// collect queues the entries with anything unsent.
func (w *Witness) collect(watcher *entity.Entity, tick uint64, unlimited bool) {
	w.queue, w.need, w.words = w.queue[:0], 0, 0
	x, z := watcher.Position.X, watcher.Position.Z
	for i := range w.entries {
		en := &w.entries[i]
		s := en.s
		if s == nil {
			continue
		}
		if s.tick != tick || !s.shown {
			s.Show(tick)
		}
		dx, dz := s.x-x, s.z-z
		square := float32(dx*dx) + float32(dz*dz)
		if !(square >= en.nearest && square <= en.farthest) {
			w.relevel(en, watcher)
		}
		t := turn{entry: int32(i), square: square}
		if !en.settled || s.last != en.seen {
			if t.due = w.look(en, watcher); t.due != 0 {
				w.need += someBytes
				w.words++
			}
		}
		switch {
		case !en.sent: // an enter tells the place
		case (unlimited || !s.moving) && !(en.rested && en.moved == s.stamp) && !newer(en.moved, s.stamp):
			t.due |= dueRest
			w.need += restBytes
			w.words++
		case s.moving && newer(s.stamp, en.moved) && en.alias != none && (!s.bounded || s.travels(square)):
			t.due |= dueMove
			t.form = w.moves.form(en, square)
			w.need += t.form.bytes() + 1
		}
		if t.due != 0 {
			w.queue = append(w.queue, t)
		} else {
			en.since = 0
		}
	}
}

// What a turn takes is known before for places alone. For the others these are guesses: a wrong one
// makes an Update spend what the next must save, or serve turns in order for which there was room.
const (
	someBytes = 64
	restBytes = 34
)

// sayLeave makes the client forget an entity if it has to and there is room.
func (w *Witness) sayLeave(en *entry) {
	if en.a.leave && len(w.bundle) < MaxDirect {
		w.bundle = protocol.AppendLeave(w.bundle, en.a.id)
		en.a.leave = false
	}
}

// expire lets an entry leave that was not linked in time.
func (w *Witness) expire(en *entry) {
	if en.a.s != nil || en.a.gone {
		return
	}
	if en.a.grace > 0 {
		en.a.grace--
		return
	}
	en.a.gone, en.a.leave = true, en.a.leave || en.sent
	w.live--
}

// serveAll serves everyone who is due. There is room for all, so that it does not matter who comes
// first.
func (w *Witness) serveAll() {
	for i := 0; w.words > 0 && i < len(w.queue); i++ {
		t := &w.queue[i]
		if t.due&dueReliable == 0 {
			continue
		}
		if len(w.bundle) >= MaxDirect {
			break // the next Update sees who is left
		}
		en := &w.entries[t.entry]
		w.sayReliable(en, t.due, t.distance())
		if t.due&dueMove == 0 {
			en.since = 0
		}
		w.words--
	}
	w.moves.after = w.lastBundle()
	for i := range w.queue {
		if t := &w.queue[i]; t.due&dueMove != 0 {
			w.moves.say(&w.entries[t.entry], t.entry, t.form)
		}
	}
	w.calm++
}

// serve takes turns from the queue while there is budget, and advances the virtual time.
func (w *Witness) serve(budget int, unlimited bool) {
	w.assign()
	w.order()
	if invariant.On {
		w.assertOrdered()
	}
	w.picked = append(w.picked[:0], make([]form, len(w.entries))...)
	last := w.now
	for overdue := true; len(w.queue) > 0 && len(w.bundle) < MaxDirect; overdue = false {
		late := overdue && w.waited(&w.entries[w.queue[0].entry]) >= w.cfg.MaxWait
		if !unlimited && !late && w.size() >= budget {
			break
		}
		t := w.pop()
		last = max(t.key, w.now)
		en := &w.entries[t.entry]
		if t.due&dueReliable != 0 {
			w.sayReliable(en, t.due, t.distance())
		}
		if t.due&dueMove != 0 {
			w.picked[t.entry] = t.form
			w.moves.plan(en, t.form)
		} else {
			en.since = 0 // a place keeps its wait until it is written, for Unsent
		}
		en.at = last + w.step(t.distance())
	}
	if len(w.queue) > 0 {
		last = max(w.queue[0].key, w.now)
	}
	w.now = last
	w.sayPicked()
}

// sayPicked writes the places that were picked, in the order of a packet.
func (w *Witness) sayPicked() {
	w.moves.after = w.lastBundle()
	for i, f := range w.picked {
		if f != unpicked {
			w.moves.say(&w.entries[i], int32(i), f)
		}
	}
}

// lastBundle is the number of the last bundle, which may be the one that this Update makes.
func (w *Witness) lastBundle() uint64 {
	if len(w.bundle) > w.header {
		return w.number + 1
	}
	return w.number
}

// finish numbers the messages that were made.
func (w *Witness) finish() (bundle []byte, packets [][]byte) {
	w.countMoves()
	if w.number = w.lastBundle(); len(w.bundle) > w.header {
		bundle = w.bundle
	}
	return bundle, w.moves.finish()
}

// countMoves counts the places that were written. Most entities in sight are of one type.
func (w *Witness) countMoves() {
	told := w.moves.told
	for i := 0; w.stats != nil && i < len(told); {
		first, bytes := i, 0
		d := w.entries[told[i].entry].s.def
		for ; i < len(told) && w.entries[told[i].entry].s.def == d; i++ {
			bytes += int(told[i].bytes)
		}
		w.stats.AddMoves(d, i-first, bytes)
	}
}
