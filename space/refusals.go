package space

import (
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/leases"
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
	leases leases.Set[entity.ID, refusedReal]
}

type refusedReal struct {
	order entity.Order
	title migrate.Title
}

// add remembers a real that was refused.
func (f *refusals) add(r *Real, now time.Duration) {
	f.leases.Put(r.e.ID, refusedReal{r.e.Order, r.title}, now+ghost.TombstoneLease, ghost.MaxTombstones)
}

// forbids reports whether a real that is handed over here was refused before.
func (f *refusals) forbids(m *migrate.Onload) bool {
	x := f.leases.Get(m.ID)
	return x != nil && x.title == m.Title && x.order.Incarnation == m.Order.Incarnation && !x.order.Before(m.Order)
}
