package space

import (
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/migrate"
)

// refusals remember the reals that were here and that their bases refused, each for the lease of a
// tombstone. A handoff of such a real that was long on its way brought it to life once more: for a
// moment, but its ghosts went back to what it had been.
//
// A tombstone would forbid too much, since a real may be refused that never was (an app made it
// up), and the true one may come here yet. So a refusal is for the title: it forbids the same
// incarnation, up to the hop that was refused. At most ghost.MaxTombstones are remembered, and
// beyond that the oldest is forgotten. The zero value has none.
type refusals struct {
	byID  map[entity.ID]refusedReal
	queue []refusedReal // the oldest first
}

type refusedReal struct {
	id    entity.ID
	order entity.Order
	title migrate.Title
	until time.Duration
}

// add remembers a real that was refused.
func (f *refusals) add(r *Real, now time.Duration) {
	if f.byID == nil {
		f.byID = make(map[entity.ID]refusedReal)
	}
	if len(f.queue) >= ghost.MaxTombstones {
		f.pop()
	}
	x := refusedReal{r.e.ID, r.e.Order, r.title, now + ghost.TombstoneLease}
	f.byID[x.id] = x
	f.queue = append(f.queue, x)
}

// forbids reports whether a real that is handed over here was refused before.
func (f *refusals) forbids(m *migrate.Onload) bool {
	x, ok := f.byID[m.ID]
	return ok && x.title == m.Title && x.order.Incarnation == m.Order.Incarnation && !x.order.Before(m.Order)
}

// expire forgets what has stood its lease.
func (f *refusals) expire(now time.Duration) {
	for len(f.queue) > 0 && f.queue[0].until <= now {
		f.pop()
	}
}

// pop forgets the oldest, unless the same entity was refused again.
func (f *refusals) pop() {
	if x := f.queue[0]; f.byID[x.id] == x {
		delete(f.byID, x.id)
	}
	if f.queue = f.queue[1:]; len(f.queue) == 0 {
		f.queue = nil // append would go on after what was taken
	}
}
