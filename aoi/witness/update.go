package witness

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
)

// packetRoom is left before the entries of a packet for its first number, which
// is not known before the bundle is done.
const packetRoom = binary.MaxVarintLen64

// Update makes the messages of one tick; call it once a tick. watcher is the
// player's real, tick the game tick that MovedTick counts, direct the framed
// messages that do not go through the queue, MaxDirect bytes at most. unlimited
// lifts the budget for this Update and sends places reliably, so that nothing is
// left unsent (unless MaxDirect bytes are reached, or an entity is above
// MaxEntity).
//
// bundle is one reliable message, packet one unreliable message; each is nil when
// there is nothing to say. Both are valid until the next call.
func (w *Witness) Update(watcher *entity.Entity, tick uint64, direct []byte, unlimited bool) (bundle, packet []byte) {
	w.begin(direct)
	w.collect(watcher, tick, unlimited)
	w.order()
	budget := w.spare.of(w.cfg.BytesPerTick) - w.deficit
	w.serve(budget, unlimited)
	w.deficit = 0
	if !unlimited {
		w.deficit = min(max(w.size()-budget, 0), w.spare.of(w.cfg.MaxDeficit))
	}
	return w.finish()
}

func (w *Witness) begin(direct []byte) {
	w.bundle = protocol.AppendBundle(w.bundle[:0], w.number+1)
	w.header = len(w.bundle)
	w.bundle = append(w.bundle, direct...)
	if w.packet == nil {
		w.packet = make([]byte, packetRoom, packetRoom+MaxPacket)
	}
	w.packet = w.packet[:packetRoom]
}

func (w *Witness) size() int { return len(w.bundle) - w.header + len(w.packet) - packetRoom }

// collect says the leaves, lets go of entries that are done with, and queues
// those with anything unsent.
func (w *Witness) collect(watcher *entity.Entity, tick uint64, unlimited bool) {
	w.queue = w.queue[:0]
	kept := w.entries[:0]
	for _, en := range w.entries {
		w.expire(en)
		w.sayLeave(en)
		if en.gone && !en.leave {
			w.release(en)
			continue
		}
		kept = append(kept, en)
		if en.e == nil || en.leave {
			continue
		}
		d, dist := w.look(en, watcher, tick, unlimited)
		if d == dueRefresh {
			en.refresh()
			if w.sayLeave(en); en.leave {
				continue
			}
			d, dist = w.look(en, watcher, tick, unlimited)
		}
		if d != 0 {
			w.enqueue(en, d, dist)
		}
	}
	clear(w.entries[len(kept):])
	w.entries = kept
}

// sayLeave makes the client forget an entity if it has to, and if there is room.
func (w *Witness) sayLeave(en *entry) {
	if en.leave && len(w.bundle) < MaxDirect {
		w.bundle = protocol.AppendLeave(w.bundle, en.id)
		en.leave = false
	}
}

// expire lets an entry leave that was not linked in time.
func (w *Witness) expire(en *entry) {
	if en.e != nil || en.gone {
		return
	}
	if en.grace > 0 {
		en.grace--
		return
	}
	en.gone, en.leave = true, en.leave || en.sent
	w.live--
}

// serve takes turns from the queue while there is budget, and sets what now is.
func (w *Witness) serve(budget int, unlimited bool) {
	last, aside := w.now, false
	for overdue := true; len(w.queue) > 0 && len(w.bundle) < MaxDirect; overdue = false {
		late := overdue && w.queue[0].en.waited >= w.cfg.MaxWait
		if !unlimited && !late && w.size() >= budget {
			break
		}
		t := w.pop()
		if !w.say(&t) {
			t.en.waited++
			if !aside {
				aside, last = true, max(t.key, w.now)
				w.setAside()
			}
			continue
		}
		t.en.waited = 0
		from := max(t.key, w.now)
		t.en.at = from + w.step(t.dist)
		if !aside {
			last = from
		}
	}
	if len(w.queue) > 0 && !aside {
		last = max(w.queue[0].key, w.now)
	}
	w.now = last
	for i := range w.queue {
		w.queue[i].en.waited++
		w.queue[i].en = nil // a queue of the last tick must not hold on to entries
	}
}

// setAside takes out of the queue who is owed nothing but a place, when the packet
// is full: in a crowd these are nearly all, and none of their turns can come now.
func (w *Witness) setAside() {
	kept := w.queue[:0]
	for _, t := range w.queue {
		if t.due&dueReliable == 0 {
			t.en.waited++
			continue
		}
		kept = append(kept, t)
	}
	clear(w.queue[len(kept):])
	w.queue = kept
	w.order()
}

// finish numbers what was made.
func (w *Witness) finish() (bundle, packet []byte) {
	if len(w.bundle) > w.header {
		w.number++
		bundle = w.bundle
	}
	if len(w.packet) > packetRoom {
		var head [packetRoom]byte
		n := len(protocol.BeginPositions(head[:0], w.number))
		start := packetRoom - n
		copy(w.packet[start:], head[:n])
		packet = w.packet[start:]
	}
	return bundle, packet
}
