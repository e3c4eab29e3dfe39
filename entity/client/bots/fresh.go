package bots

import (
	"math"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
)

const (
	// ageStep and ageSteps are the histogram of ages.
	ageStep, ageSteps = 10 * time.Millisecond, 1000
	// lookEvery is how often a bot samples the ages of what it holds.
	lookEvery = 500 * time.Millisecond
)

// Bands is into how many bands of distance Freshness divides the view, each as wide.
const Bands = 4

// Freshness tells how well bots know of each other's moves.
type Freshness struct {
	// Moves counts the moves of others that were made in the view of some bot, once for each who
	// had the mover in view; InTime those that it knew of within Config.InTime.
	Moves, InTime uint64
	// Places is how often another's place in view became a newer one: places that arrived and
	// were of use.
	Places uint64
	// Worst is the oldest place that was sampled, by band of distance.
	Worst [Bands]time.Duration

	ages [Bands][ageSteps]uint32
}

// Share is the part of the moves in view that were known in time, 0 to 1.
func (f *Freshness) Share() float64 {
	if f.Moves == 0 {
		return 0
	}
	return float64(f.InTime) / float64(f.Moves)
}

// Age is the age that a share q of the places is below, of those sampled in the bands from the
// first to before the last, the nearest being 0.
func (f *Freshness) Age(q float64, first, last int) time.Duration {
	all := 0
	for i := first; i < last; i++ {
		for _, n := range f.ages[i] {
			all += int(n)
		}
	}
	left := int(math.Ceil(q * float64(all)))
	for j := range ageSteps {
		for i := first; i < last; i++ {
			left -= int(f.ages[i][j])
		}
		if left <= 0 {
			return time.Duration(j) * ageStep
		}
	}
	return ageStep * ageSteps
}

func (f *Freshness) add(g *Freshness) {
	f.Moves += g.Moves
	f.InTime += g.InTime
	f.Places += g.Places
	for i := range f.ages {
		for j, n := range g.ages[i] {
			f.ages[i][j] += n
		}
		f.Worst[i] = max(f.Worst[i], g.Worst[i])
	}
}

// seen is another bot as one sees it.
type seen struct {
	trail *trail
	known int // number of the newest move that is known, -1 before any
	next  int // number of the first move that is not counted
}

func (b *Bot) enters(r *client.Replica) {
	if t := b.group.swarm.trails.find(r.ID); t != nil {
		s := &seen{trail: t, known: -1}
		b.sees[r.ID] = s
		b.learn(s, r)
		s.next = s.known + 1
	}
}

func (b *Bot) leaves(r *client.Replica) { delete(b.sees, r.ID) }

func (b *Bot) forgetAll() { clear(b.sees) }

func (b *Bot) moves(r *client.Replica) {
	s := b.sees[r.ID]
	if s == nil {
		return
	}
	watching := b.group.swarm.watching.Load()
	if s.known < 0 { // where it was when it entered is not remembered any more
		b.learn(s, r)
		s.next = s.known + 1
		return
	}
	if b.learn(s, r) && watching {
		b.fresh.Places++
		s.next = s.trail.count(s.next, s.known+1, b.group.env.Clock(), b.group.swarm.cfg.InTime, true, &b.fresh)
	}
	s.next = max(s.next, s.known+1)
}

func (b *Bot) learn(s *seen, r *client.Replica) bool {
	number, ok := s.trail.find(r.Position, s.known, b.group.swarm.cfg.Rounding)
	if ok {
		s.known = number
	}
	return ok
}

// look samples the ages of the places that the bot holds.
func (b *Bot) look(now time.Duration) {
	if now < b.lookAt {
		return
	}
	b.lookAt = now + lookEvery
	cfg := &b.group.swarm.cfg
	if !b.group.swarm.watching.Load() || !b.Client.InWorld() {
		return
	}
	own, now := b.Client.Player().Position, b.group.env.Clock()
	for r := range b.Client.Entities() {
		s := b.sees[r.ID]
		if s == nil || s.known < 0 {
			continue
		}
		s.next = s.trail.count(s.next, math.MaxInt, now, cfg.InTime, false, &b.fresh)
		distance := entity.Distance(own, r.Position)
		if cfg.ViewRadius == 0 || distance <= cfg.ViewRadius {
			b.fresh.note(distance, cfg.ViewRadius, s.trail.age(s.known, now))
		}
	}
}

func (f *Freshness) note(distance, radius float32, age time.Duration) {
	band := 0
	if radius > 0 {
		band = min(int(distance/radius*Bands), Bands-1)
	}
	f.ages[band][min(int(age/ageStep), ageSteps-1)]++
	f.Worst[band] = max(f.Worst[band], age)
}
