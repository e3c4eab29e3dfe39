package ghost

import (
	"time"

	"github.com/cellscape/cellscape/entity"
)

// Rumours are Deletes for entities of which the CellApp has no ghost. Such a Delete may have
// overtaken States of older hops, which come from other apps, and may come seconds later. Or its
// sender lies: nobody here knows who has the real. So a rumour does less than a tombstone. It holds
// up States that are not newer, and the sender of each is asked whether the real still exists. A
// State that answers is believed, unless the question was asked before a ghost here ended: then the
// answer is only another late State. The zero value has none.
//
// A rumour once held up a single State. Two of older hops, late in one channel, brought back a ghost
// that had gone.
//
// A rumour stands for TombstoneLease, and there are at most MaxTombstones; beyond that the oldest
// goes. News of a newer order or sequence begin the lease anew. Once they did not, and a ghost whose end
// was told at the end of the lease of an older rumour came back with a State that was twelve seconds late.
type Rumours struct {
	byID  map[entity.ID]*rumour
	queue []entity.ID // in the order of rumour.queued
}

type rumour struct {
	Head
	// until is the end of the lease; queued is what that was when its place in the queue was given.
	until, queued time.Duration
	// ended is when a ghost ended here, or when the rumour was heard first.
	ended uint64
	// denied is the newest order of a real that was not made because of it; see Deny.
	denied entity.Order
}

// End adds a rumour at the end of a ghost that was here. Answers to questions that were asked before
// count for nothing.
func (r *Rumours) End(h Head, now time.Duration) {
	r.Hear(h, now)
	r.byID[h.ID].ended = Moment(now)
}

// Hear adds a rumour that the ghost of a real at h has ended. The same one again does not last longer.
func (r *Rumours) Hear(h Head, now time.Duration) {
	if old := r.byID[h.ID]; old != nil {
		if old.before(h) {
			old.Head, old.until = h, now+TombstoneLease
		}
		return
	}
	if r.byID == nil {
		r.byID = make(map[entity.ID]*rumour)
	}
	if len(r.queue) >= MaxTombstones {
		r.pop()
	}
	r.byID[h.ID] = &rumour{Head: h, until: now + TombstoneLease, queued: now + TombstoneLease, ended: Moment(now)}
	r.queue = append(r.queue, h.ID)
}

// Expire takes away what has stood its lease.
func (r *Rumours) Expire(now time.Duration) {
	for len(r.queue) > 0 {
		id := r.queue[0]
		switch x := r.byID[id]; {
		case x.queued > now:
			return
		case x.until > now: // it was renewed
			x.queued = x.until
			r.queue = append(r.queue[1:], id)
		default:
			r.pop()
		}
	}
}

func (r *Rumours) pop() {
	delete(r.byID, r.queue[0])
	if r.queue = r.queue[1:]; len(r.queue) == 0 {
		r.queue = nil // append would go on after what was taken
	}
}

// Deny reports whether a real of an order that is not newer than a rumour of its entity is not made for
// now: its base is asked first. An order above one that was denied is the base's answer, and passes.
func (r *Rumours) Deny(id entity.ID, order entity.Order) bool {
	x := r.byID[id]
	if x == nil || x.Order.Before(order) || x.Order == order || x.denied.Before(order) && x.denied != (entity.Order{}) {
		return false
	}
	x.denied = order
	return true
}

// Forbid reports whether a message is not newer than a rumour of its entity, and answers no question
// that was asked since. answers is State.Answers.
func (r *Rumours) Forbid(h Head, answers uint64) bool {
	x := r.byID[h.ID]
	return x != nil && !x.before(h) && answers <= x.ended
}
