package cluster_test

import (
	"context"
	"sync"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/property"
)

// What players see of each other while processes die: where bots hold others, beside where those have been.

const (
	walkSpeed = 5 // metres a second
	// strayLimit is how long a bot may hold another at a place where that one has not been: a
	// server that sets somebody back tells others first.
	strayLimit = 5 * time.Second
	// oldLimit is how old the place may be at which one holds another. It allows for a verdict by
	// silence, and a machine with other work; see healLimit.
	oldLimit = 20 * time.Second
	// onPath is how far from its path, in metres, somebody may be held: what places are rounded to,
	// and half a step.
	onPath = 0.3
)

// path is where a bot has been.
type path struct {
	mu    sync.Mutex
	steps []step // the last maxSteps, the newest at the end
}

// step is a place, and until when the bot was there.
type step struct {
	at    property.Vector3
	until time.Time
}

// maxSteps is half a minute of them: more than oldLimit.
const maxSteps = 300

// goes notes where the bot is.
func (p *path) goes(at property.Vector3) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if n := len(p.steps); n > 0 && p.steps[n-1].at == at {
		p.steps[n-1].until = now
		return
	}
	if len(p.steps) == maxSteps {
		p.steps = append(p.steps[:0], p.steps[1:]...)
	}
	p.steps = append(p.steps, step{at, now})
}

// when is how long ago the bot was at a place; false if it was not there.
func (p *path) when(place property.Vector3) (ago time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.steps) - 1; i >= 0; i-- {
		if property.Distance(p.steps[i].at, place) < onPath {
			if i == len(p.steps)-1 {
				return 0, true
			}
			return time.Since(p.steps[i].until), true
		}
	}
	return 0, len(p.steps) == 0
}

// stray is a place at which one holds another.
type stray struct {
	place property.Vector3
	since time.Time
}

// look compares what bots hold of each other, until ctx ends.
func (w *chaos) look(ctx context.Context) {
	strays := make(map[[2]entity.ID]stray)
	var told time.Time
	for ; ctx.Err() == nil; time.Sleep(500 * time.Millisecond) {
		old := 0
		by := make(map[entity.ID]*teller)
		w.each(func(p *teller, b *bots.Bot) {
			if b.Client != nil && b.Player() != nil {
				by[b.Player().ID] = p
			}
		})
		now := make(map[[2]entity.ID]stray)
		w.each(func(_ *teller, b *bots.Bot) {
			if b.Client == nil || b.Player() == nil {
				return
			}
			for r := range b.Entities() {
				if by[r.ID] == nil {
					continue // a visitor
				}
				k := [2]entity.ID{b.Player().ID, r.ID}
				ago, ok := by[r.ID].path.when(r.Position)
				if ok {
					w.oldest = max(w.oldest, ago)
					if ago > oldLimit/2 {
						if old++; old <= 3 && time.Since(told) > 2*time.Second {
							w.logf("%v, at %v, holds %v at %v where it was %v ago", k[0], b.Player().Position, k[1], r.Position, ago.Round(time.Millisecond))
						}
					}
					if ago > oldLimit {
						w.t.Errorf("%v holds %v where it was %v ago", k[0], k[1], ago)
					}
					continue
				}
				s, known := strays[k]
				if !known {
					s.since = time.Now()
				}
				s.place = r.Position
				now[k] = s
				if d := time.Since(s.since); d > strayLimit {
					w.t.Errorf("%v holds %v for %v where it has not been, last at %v", k[0], k[1], d, s.place)
				}
			}
		})
		if old > 0 && time.Since(told) > 2*time.Second {
			told = time.Now()
			w.logf("%d are held where they were %v ago; %s", old, oldLimit/2, w.describe())
		}
		strays = now
	}
}
