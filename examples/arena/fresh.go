package main

import (
	"math"
	"sync"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/property"
)

// How fresh is what players see of each other while everyone moves? All bots are in one OS process,
// so each can look up what another one has really done: the places it sent, and when. The servers
// have no part in it. A place arrives rounded to some centimetres; since bots go metres in a tick,
// it still tells which move it is.
const (
	// inTime is when a move should be known to everyone who has the mover in view.
	inTime = 2 * tick
	// kept is how many of its last moves a bot remembers.
	kept = 256
	// rounding is how far off the place of a move may be.
	rounding = 1.0 / 64
	// ageStep and ageSteps describe the histogram of ages.
	ageStep, ageSteps = 10 * time.Millisecond, 1000
	// bands is the number of bands of distance in which ages are told apart, bandWidth their width
	// in metres.
	bands, bandWidth = 4, aoiRadius / 4
)

// trail is what one bot has really done.
type trail struct {
	mu   sync.Mutex // guards everything
	made [kept]made
	n    int // moves made so far; the last is number n-1
}

type made struct {
	at    time.Duration
	place property.Vector3
}

func (t *trail) add(at time.Duration, place property.Vector3) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made[t.n%kept] = made{at, place}
	t.n++
}

// find returns the number of the newest move to a place among those after a number.
func (t *trail) find(place property.Vector3, after int) (number int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := t.n - 1; i > max(after, t.n-1-kept); i-- {
		m := t.made[i%kept].place
		if math.Abs(float64(m.X-place.X)) <= rounding && math.Abs(float64(m.Z-place.Z)) <= rounding {
			return i, true
		}
	}
	return 0, false
}

// count counts which moves, from one number up to before another, were known in time at a moment. A
// move that is not known at all counts only once it is late. It returns how far it came.
func (t *trail) count(from, to int, now time.Duration, known bool, f *freshness) (next int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for from = max(from, t.n-kept); from < min(to, t.n); from++ {
		late := now-t.made[from%kept].at > inTime
		if !known && !late {
			break
		}
		f.moves++
		if !late {
			f.inTime++
		}
	}
	return from
}

// age is how long ago the move after a number was made; 0 if there is none, or if it was made after
// now, since bots run at the same time.
func (t *trail) age(number int, now time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if number+1 >= t.n {
		return 0
	}
	return max(0, now-t.made[max(number+1, t.n-kept)%kept].at)
}

// sight is another bot as one bot sees it.
type sight struct {
	trail *trail
	known int // number of the newest move that is known, -1 before any
	next  int // number of the first move that is not counted
}

// freshness is what one bot, or all of them, found.
type freshness struct {
	moves, inTime int
	ages          [bands][ageSteps]uint32
	worst         [bands]time.Duration
}

func (f *freshness) add(g *freshness) {
	f.moves += g.moves
	f.inTime += g.inTime
	for i := range f.ages {
		for j, n := range g.ages[i] {
			f.ages[i][j] += n
		}
		f.worst[i] = max(f.worst[i], g.worst[i])
	}
}

func (f *freshness) note(distance float32, age time.Duration) {
	band := min(int(distance/bandWidth), bands-1)
	f.ages[band][min(int(age/ageStep), ageSteps-1)]++
	f.worst[band] = max(f.worst[band], age)
}

// quantile is the age below which a share of the places in some bands lies.
func (f *freshness) quantile(q float64, from, to int) time.Duration {
	all := 0
	for i := from; i < to; i++ {
		for _, n := range f.ages[i] {
			all += int(n)
		}
	}
	left := int(math.Ceil(q * float64(all)))
	for j := range ageSteps {
		for i := from; i < to; i++ {
			left -= int(f.ages[i][j])
		}
		if left <= 0 {
			return time.Duration(j) * ageStep
		}
	}
	return ageStep * ageSteps
}

// enters, leaves and moves hear what the client tells of others.
func (b *bot) enters(r *client.Replica) {
	if t := b.crowd.trailOf(r.ID); t != nil {
		s := &sight{trail: t, known: -1}
		b.sees[r.ID] = s
		b.learn(s, r.Position)
		s.next = s.known + 1
	}
}

func (b *bot) leaves(r *client.Replica) { delete(b.sees, r.ID) }

func (b *bot) moves(r *client.Replica) {
	s := b.sees[r.ID]
	if s == nil {
		return
	}
	if s.known < 0 { // the bot no longer knows where that was
		b.learn(s, r.Position)
		s.next = s.known + 1
		return
	}
	if b.learn(s, r.Position) && b.crowd.watching.Load() {
		s.next = s.trail.count(s.next, s.known+1, b.env.Clock(), true, &b.fresh)
	}
	s.next = max(s.next, s.known+1)
}

func (b *bot) learn(s *sight, place property.Vector3) bool {
	number, ok := s.trail.find(place, s.known)
	if ok {
		s.known = number
	}
	return ok
}

// watch samples the ages of the places that the bot holds.
func (b *bot) watch() {
	if !b.crowd.watching.Load() {
		return
	}
	own, now := b.client.Player().Position, b.env.Clock()
	for r := range b.client.Entities() {
		s := b.sees[r.ID]
		if s == nil || s.known < 0 {
			continue
		}
		s.next = s.trail.count(s.next, math.MaxInt, now, false, &b.fresh)
		if d := entity.Distance(own, r.Position); d <= aoiRadius {
			b.fresh.note(d, s.trail.age(s.known, now))
		}
	}
}

// trailOf is the trail of the bot to which that entity belongs, nil for other entities.
func (c *crowd) trailOf(id entity.ID) *trail {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trails[id]
}

func (c *crowd) follow(id entity.ID, t *trail) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trails[id] = t
}

// freshness is what all bots together found.
func (c *crowd) freshness() *freshness {
	all := new(freshness)
	for i, p := range c.processes {
		b := c.bots[i]
		_ = p.Do(func(host.App) { all.add(&b.fresh) })
	}
	return all
}
