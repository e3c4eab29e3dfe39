package ghost

import (
	"math"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/leases"
)

// TombstoneLease is how long a tombstone stands: longer than any message of a living channel is
// under way. That is more than the 10 s after which mercury gives a silent peer up: what has come
// also waits for the processor. (With 15 s, a ghost came back with a State that was 29 s under way
// to a CellApp with a tenth of a processor.)
const TombstoneLease = 60 * time.Second

// MaxTombstones bounds the memory of tombstones; beyond it the oldest goes. A CellApp deletes at
// most a thousand ghosts a second for long.
const MaxTombstones = 1 << 16

// Last is the highest sequence of a hop: a tombstone with it forbids the whole hop.
const Last = math.MaxUint32

// Tombstones remember, each for a lease, the reals that one CellApp had, so that a late message of an
// older hop revives neither a real nor a ghost. What other apps say of ghosts is not for them; see
// Rumours. The zero value has none.
//
// Every message that would make a ghost asks them, so they are found by entity; the newest of an
// entity forbids everything that the ones before it did.
type Tombstones struct {
	leases leases.Set[entity.ID, tombstone]
}

type tombstone struct {
	Head
	ended bool // with the entity, and not only with a hop of its real
}

// Bury adds a tombstone for a real that was at h, and has gone on.
func (t *Tombstones) Bury(h Head, now time.Duration) { t.add(h, now, false) }

// End adds a tombstone for a real that ended at h, and with it the entity, unless that has a base which
// brings it back.
func (t *Tombstones) End(h Head, now time.Duration) { t.add(h, now, true) }

func (t *Tombstones) add(h Head, now time.Duration, ended bool) {
	x := tombstone{h, ended}
	if old := t.leases.Get(h.ID); old != nil && h.before(old.Head) {
		x = *old
	}
	t.leases.Put(h.ID, x, now+TombstoneLease, MaxTombstones)
}

// Expire takes away what has stood its lease.
func (t *Tombstones) Expire(now time.Duration) { t.leases.Expire(now) }

// Forbids reports whether a message is not newer than a tombstone of its entity.
func (t *Tombstones) Forbids(h Head) bool {
	s := t.leases.Get(h.ID)
	return s != nil && !s.before(h)
}

// Ended reports whether an entity has ended here, as far as is known here. One that went on from
// here has not.
func (t *Tombstones) Ended(id entity.ID) bool {
	s := t.leases.Get(id)
	return s != nil && s.ended
}

// before reports whether h belongs earlier in the life of its real than g.
func (h *Head) before(g Head) bool {
	if c := h.Order.Compare(g.Order); c != 0 {
		return c < 0
	}
	return h.Sequence < g.Sequence
}
