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
	w.begin(watcher, direct)
	w.collect(watcher, tick, unlimited)
	if invariant.On {
		w.assertCollected()
	}
	w.order()
	if invariant.On {
		w.assertOrdered()
	}
	budget := w.spare.of(w.cfg.BytesPerTick) - w.deficit
	w.serve(budget, unlimited)
	w.deficit = 0
	if !unlimited {
		w.deficit = min(max(w.size()-budget, 0), w.spare.of(w.cfg.MaxDeficit))
	}
	return w.finish()
}

func (w *Witness) begin(watcher *entity.Entity, direct []byte) {
	w.bundle = protocol.AppendBundle(w.bundle[:0], w.number+1)
	w.header = len(w.bundle)
	w.bundle = append(w.bundle, direct...)
	w.moves.begin(watcher.Position, epochOf(watcher))
}

func (w *Witness) size() int { return len(w.bundle) - w.header + w.moves.size() }

// collect tells of the leaves, lets go of entries that are finished, and queues those with anything
// unsent.
func (w *Witness) collect(watcher *entity.Entity, tick uint64, unlimited bool) {
	w.queue = w.queue[:0]
	kept := w.entries[:0]
	for _, en := range w.entries {
		w.expire(en)
		w.sayLeave(en)
		if en.gone && !en.leave {
			w.giveUp(en)
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
	if invariant.On {
		w.assertEntries()
	}
}

// sayLeave makes the client forget an entity if it has to and there is room.
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

// serve takes turns from the queue while there is budget, and advances the virtual time.
func (w *Witness) serve(budget int, unlimited bool) {
	last := w.now
	for overdue := true; len(w.queue) > 0 && len(w.bundle) < MaxDirect; overdue = false {
		late := overdue && w.queue[0].en.waited >= w.cfg.MaxWait
		if !unlimited && !late && w.size() >= budget {
			break
		}
		t := w.pop()
		last = max(t.key, w.now)
		w.say(&t)
		t.en.waited = 0
		t.en.at = last + w.step(t.dist)
	}
	if len(w.queue) > 0 {
		last = max(w.queue[0].key, w.now)
	}
	w.now = last
	for i := range w.queue {
		w.queue[i].en.waited++
		w.queue[i].en = nil // last tick's queue must not hold on to entries
	}
}

// finish numbers the messages that were made.
func (w *Witness) finish() (bundle []byte, packets [][]byte) {
	if len(w.bundle) > w.header {
		w.number++
		bundle = w.bundle
	}
	return bundle, w.moves.finish(w.number)
}
