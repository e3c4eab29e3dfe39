package witness

import (
	"math"
	"math/bits"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
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
func (w *Witness) Update(watcher *presence.Entity, tick uint64, direct []byte, unlimited bool) (bundle []byte, packets [][]byte) {
	w.begin(watcher, tick, direct, unlimited)
	if w.queue.on {
		w.fetchTurns()
	}
	w.tend()
	budget := w.Budget() - w.deficit
	if !w.queue.on {
		w.collect()
		if invariant.On {
			w.assertCollected()
		}
	}
	switch {
	case w.queue.on:
		w.contend(budget)
	case !unlimited && w.size()+w.need <= budget:
		w.serveAll()
	default:
		w.compete()
		w.contend(budget)
	}
	w.deficit = 0
	if !unlimited {
		w.deficit = min(max(w.size()-budget, 0), w.mostDeficit())
	}
	bundle, packets = w.finish()
	w.countUpdate(len(direct), packets)
	return bundle, packets
}

// view is what an Update looks from.
type view struct {
	watcher   *presence.Entity
	x, z      float32
	tick      uint64
	now       moment // the same
	unlimited bool
}

// apart is the square of the distance of who was shown in this tick.
func (v *view) apart(s *sight) float32 {
	dx, dz := s.x-v.x, s.z-v.z
	return float32(dx*dx) + float32(dz*dz)
}

func (w *Witness) begin(watcher *presence.Entity, tick uint64, direct []byte, unlimited bool) {
	if w.updates++; w.updates == 0 {
		w.updates = 1
	}
	if w.desk == nil {
		w.WorkWith(new(Scratch))
	}
	w.bundle = protocol.AppendBundle(w.bundle[:0], w.number+1)
	w.header = len(w.bundle)
	w.bundle = append(w.bundle, direct...)
	w.view = view{watcher, watcher.Position.X, watcher.Position.Z, tick, momentOf(tick), unlimited}
	w.moves.begin(watcher.Position, epochOf(watcher), tick)
	w.moves.update = w.updates
}

func (w *Witness) size() int { return len(w.bundle) - w.header + w.moves.size() }

// tend does what there is to do for entries without a Subject to look at: it tells of leaves, lets go
// of entries that are finished, and has the others looked at.
func (w *Witness) tend() {
	w.closeGaps()
	w.fetchOdd()
	odd := w.odd
	w.odd = w.odd[:0]
	for _, n := range odd {
		if i, known := w.locate(n); known && w.entries[i].listed {
			w.entries[i].listed = false
			w.tendOne(i)
		}
	}
	if invariant.On {
		w.assertEntries()
	}
}

// tendOne lists an entry again that is still not to be looked at.
func (w *Witness) tendOne(i int) {
	en := &w.entries[i]
	if en.s != nil {
		return
	}
	w.expire(en)
	w.sayLeave(en)
	if en.a.gone && !en.a.leave {
		w.remove(i)
		return
	}
	if !en.a.leave {
		en.s = en.a.s.hot()
	}
	w.reseat(en, nil)
}

// turn is what an entry is owed in this Update.
type turn struct {
	entry  int32   // which of Witness.entries
	square float32 // of the distance
	due    due
	form   form // of its place, if that is due
}

func (t *turn) distance() float32 { return float32(math.Sqrt(float64(t.square))) }

// collect looks at all, and lists those with anything unsent.
func (w *Witness) collect() {
	w.due, w.need, w.words = w.due[:0], 0, 0
	for i := range w.entries {
		en := &w.entries[i]
		if en.s == nil {
			continue
		}
		if square, plain := w.walks(en); plain {
			w.due = append(w.due, turn{int32(i), square, dueMove, nearForm})
			w.need += nearBytes + 1
			continue
		}
		t := w.assess(en)
		if t.due == 0 {
			en.since = w.updates
			continue
		}
		t.entry = int32(i)
		w.due = append(w.due, t)
		if t.due&dueMove != 0 {
			w.need += t.form.bytes() + 1
		}
		if t.due&dueWords != 0 {
			w.words++
		}
		if t.due&dueReliable != 0 {
			w.need += wordBytes
		}
		if t.due&dueNews != 0 {
			w.need += newsBytes
		}
	}
}

// walks reports whether all that an entry is owed is a place in the shortest form. In a crowd nearly
// all are, so it is found out without a look at anything but the entry and the sight.
func (w *Witness) walks(en *entry) (square float32, ok bool) {
	s, v := en.s, &w.view
	square = v.apart(s)
	return square, s.walking && s.now == v.now && en.sent && en.settled && en.seen == s.last && newer(s.stamp, en.moved) &&
		square >= en.nearest && square <= en.farthest && en.holds(s.plainFrom) && en.alias != none && !v.unlimited
}

// assess finds what an entry with a Subject is owed.
func (w *Witness) assess(en *entry) turn {
	s, v := en.s, &w.view
	if s.now != v.now {
		en.a.s.Show(v.tick)
	}
	t := turn{square: v.apart(s)}
	if !(t.square >= en.nearest && t.square <= en.farthest) {
		w.relevel(en, v.watcher)
	}
	if !en.settled || s.last != en.seen {
		t.due = w.look(en, v.watcher)
	}
	rest := dueRest
	if s.traits&riding != 0 || en.aboard() {
		due, aboard := w.rides(en)
		if due {
			t.due |= dueRide
			return t
		}
		if aboard {
			s, rest = en.course(), dueRide
		}
	}
	switch {
	case !en.sent: // an enter tells the place
	case (v.unlimited || !s.moving) && !(en.rested && en.moved == s.stamp) && !newer(en.moved, s.stamp):
		t.due |= rest
	case s.moving && newer(s.stamp, en.moved) && en.alias != none && (en.s.traits&bounded == 0 || en.a.s.travels(t.square)):
		t.due |= dueMove
		t.form = w.moves.form(en, t.square)
	}
	return t
}

// wordBytes is a guess at what is due reliably, newsBytes at news; what places take is known. A
// wrong one makes an Update spend what the next must save, or serve turns in order for which there
// was room.
const (
	wordBytes = 64
	newsBytes = 16
)

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
	for i := 0; w.words > 0 && i < len(w.due); i++ {
		t := &w.due[i]
		if t.due&dueWords == 0 {
			continue
		}
		if len(w.bundle) >= MaxDirect {
			break // the next Update sees who is left
		}
		w.sayWords(&w.entries[t.entry], t)
		w.words--
	}
	w.sayMoves()
}

// sayMoves writes the places that are due.
func (w *Witness) sayMoves() {
	m := &w.moves
	m.after = w.lastBundle()
	for i := range w.due {
		t := &w.due[i]
		switch {
		case t.due&dueMove == 0:
		case t.form == nearForm:
			en, list := &w.entries[t.entry], &m.lists[protocol.NearBy]
			list.Entries = en.s.near.Append(list.Entries, false)
			m.wrote(en, t.entry, protocol.NearBy, nearBytes)
		default:
			m.say(&w.entries[t.entry], t.entry, t.form)
		}
	}
}

// sayPicked writes the places that were picked, in the order of a packet.
func (w *Witness) sayPicked() {
	w.moves.after = w.lastBundle()
	for k, word := range w.picked {
		for ; word != 0; word &= word - 1 {
			i := k*wordBits + bits.TrailingZeros64(word)
			w.moves.say(&w.entries[i], int32(i), w.forms[i])
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
	if w.number = w.lastBundle(); len(w.bundle) > w.header {
		bundle = w.bundle
	}
	return bundle, w.moves.finish()
}
