package bots

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

const (
	// kept is how many of its last moves a bot remembers: what is older than 6 s at 10 Hz has been
	// counted long before.
	kept = 64
	// keptEvery is how many moves lie between those of which the time is remembered longer, to tell
	// ages up to a minute.
	keptEvery = 8
	// trailUnit is what the times of a trail count in.
	trailUnit = 100 * time.Microsecond
)

// trail is what one bot has really done: the one history of its entity, which all who see it look up.
// One goroutine adds, any may read. A reader that is overtaken by 64 moves while it looks may see a
// newer one in the place of an old one, which is told as late.
//
// What is mostly asked for is 64 bytes, a line of the processor's cache, and lies apart from the rest:
// thousands look up the last moves of thousands, and the pages of memory that they touch cost more than
// the looking.
type trail struct {
	n     atomic.Int32  // moves made so far; the last is number n-1. At 10 Hz it counts for seven years
	apart atomic.Uint32 // until when moves are set apart, in trailUnit
	last  [lastMoves]move
	rest  *history
}

// history is what a trail remembers beside its last moves: 1024 bytes, a size class of Go's allocator.
type history struct {
	made  [kept]place
	times [kept]moment        // of made
	older [kept]atomic.Uint32 // time of each keptEvery-th move
}

func newTrail() *trail { return &trail{rest: new(history)} }

// lastMoves is as many as fill a line of the processor's cache.
const lastMoves = 3

type move struct {
	place place
	at    moment
}

// place is X and Z.
type place struct{ atomic.Uint64 }

// moment is in trailUnit; the highest bit says that the move is set apart.
type moment struct{ atomic.Uint32 }

// setApart marks a time as that of a move which is set apart. What is left counts two days.
const setApart = 1 << 31

// isApart reports whether the bot's moves at a time are set apart.
func (t *trail) isApart(at time.Duration) bool { return uint32(at/trailUnit) < t.apart.Load() }

func (t *trail) add(at time.Duration, place property.Vector3) {
	n, when := t.n.Load(), uint32(at/trailUnit)
	if t.isApart(at) {
		when |= setApart
	}
	where := uint64(math.Float32bits(place.X))<<32 | uint64(math.Float32bits(place.Z))
	t.last[n%lastMoves].place.Store(where)
	t.last[n%lastMoves].at.Store(when)
	t.rest.made[n%kept].Store(where)
	t.rest.times[n%kept].Store(when)
	if n%keptEvery == 0 {
		t.rest.older[n/keptEvery%kept].Store(uint32(at / trailUnit))
	}
	t.n.Store(n + 1)
}

// move is where and when the one of a number was made, of n that were.
func (t *trail) move(number, n int32) (*place, *moment) {
	if number >= n-lastMoves {
		m := &t.last[number%lastMoves]
		return &m.place, &m.at
	}
	return &t.rest.made[number%kept], &t.rest.times[number%kept]
}

func (m *moment) time() time.Duration { return time.Duration(m.Load()&^setApart) * trailUnit }

func (m *moment) apart() bool { return m.Load()&setApart != 0 }

// place is where the bot is, at the height of a place that is held of it; that place if it has not moved yet.
func (t *trail) place(held property.Vector3) property.Vector3 {
	n := t.n.Load()
	if n == 0 {
		return held
	}
	at, _ := t.move(n-1, n)
	p := at.Load()
	held.X, held.Z = math.Float32frombits(uint32(p>>32)), math.Float32frombits(uint32(p))
	return held
}

// find is the number of the newest move to a place, of those after a number.
func (t *trail) find(place property.Vector3, after int32, rounding float32) (number int32, ok bool) {
	n := t.n.Load()
	for i := n - 1; i > max(-1, after, n-1-kept); i-- {
		at, _ := t.move(i, n)
		p := at.Load()
		dx, dz := math.Float32frombits(uint32(p>>32))-place.X, math.Float32frombits(uint32(p))-place.Z
		if dx <= rounding && dx >= -rounding && dz <= rounding && dz >= -rounding {
			return i, true
		}
	}
	return 0, false
}

// count counts the moves from one number up to before another that were known in time at a moment,
// or not; of those that are not known at all only what is late already. It returns how far it came.
func (t *trail) count(from, to int32, now, inTime time.Duration, known bool, f *Freshness) (next int32) {
	n := t.n.Load()
	if gone := n - kept - from; gone > 0 { // forgotten, hence late
		gone = min(gone, max(0, to-from))
		f.Moves += uint64(gone)
		from += gone
	}
	for ; from < min(to, n); from++ {
		_, m := t.move(from, n)
		late := now-m.time() > inTime
		if !known && !late {
			break
		}
		f.Moves++
		if !late {
			f.InTime++
		}
		if m.apart() {
			f.Apart.Moves++
			if !late {
				f.Apart.InTime++
			}
		}
	}
	return from
}

// age is how long ago the move after a number was made; 0 if there is none, or if it was made after
// now, since groups run at the same time. What is older than a minute is a minute old or more.
func (t *trail) age(number int32, now time.Duration) time.Duration {
	n, next := t.n.Load(), number+1
	if next >= n {
		return 0
	}
	if next >= n-kept {
		_, m := t.move(next, n)
		return max(0, now-m.time())
	}
	i := max((next+keptEvery-1)/keptEvery, (n-1)/keptEvery-kept+1)
	return max(0, now-time.Duration(t.rest.older[i%kept].Load())*trailUnit)
}

// trails finds the trail of a bot by its entity.
type trails struct {
	mu sync.RWMutex // guards by
	by map[entity.ID]*trail
}

// of is the trail of a bot's entity, which is made if there is none.
func (t *trails) of(id entity.ID) *trail {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by = make(map[entity.ID]*trail)
	}
	if t.by[id] == nil {
		t.by[id] = newTrail()
	}
	return t.by[id]
}

// find is the trail of a bot's entity, nil for anything else.
func (t *trails) find(id entity.ID) *trail {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.by[id]
}

// forget drops the trail of an entity that is no more. Whoever sees it still holds it.
func (t *trails) forget(id entity.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.by, id)
}
