package bots

import (
	"math"
	"sync"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// kept is how many of its last moves a bot remembers: what is older than 25 s at 10 Hz has been
// counted long before.
const kept = 256

// trail is what one bot has really done.
type trail struct {
	mu   sync.Mutex // guards all
	made [kept]move
	n    int // moves made so far; the last is number n-1
}

type move struct {
	at    time.Duration
	place property.Vector3
}

func (t *trail) add(at time.Duration, place property.Vector3) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made[t.n%kept] = move{at, place}
	t.n++
}

// find is the number of the newest move to a place, of those after a number.
func (t *trail) find(place property.Vector3, after int, rounding float32) (number int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := t.n - 1; i > max(after, t.n-1-kept); i-- {
		m := t.made[i%kept].place
		if math.Abs(float64(m.X-place.X)) <= float64(rounding) && math.Abs(float64(m.Z-place.Z)) <= float64(rounding) {
			return i, true
		}
	}
	return 0, false
}

// count counts the moves from one number up to before another that were known in time at a moment,
// or not; of those that are not known at all only what is late already. It returns how far it came.
func (t *trail) count(from, to int, now, inTime time.Duration, known bool, f *Freshness) (next int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for from = max(from, t.n-kept); from < min(to, t.n); from++ {
		late := now-t.made[from%kept].at > inTime
		if !known && !late {
			break
		}
		f.Moves++
		if !late {
			f.InTime++
		}
	}
	return from
}

// age is how long ago the move after a number was made; 0 if there is none, or if it was made after
// now, since groups run at the same time.
func (t *trail) age(number int, now time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if number+1 >= t.n {
		return 0
	}
	return max(0, now-t.made[max(number+1, t.n-kept)%kept].at)
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
		t.by[id] = new(trail)
	}
	return t.by[id]
}

// find is the trail of a bot's entity, nil for anything else.
func (t *trails) find(id entity.ID) *trail {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.by[id]
}
