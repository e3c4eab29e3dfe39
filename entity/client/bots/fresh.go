package bots

import (
	"math"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/property"
)

const (
	// ageStep is the step of the histogram of ages up to fineAges, longStep that beyond, up to oldestAge: the
	// queue of a dense crowd promises that nobody is older than half a minute, and a trail tells a minute.
	ageStep, fineAges   = 10 * time.Millisecond, 10 * time.Second
	longStep, oldestAge = time.Second, time.Minute
	fineSteps           = int(fineAges / ageStep)
	ageSteps            = fineSteps + int((oldestAge-fineAges)/longStep) + 1
	// lookEvery is how often a bot samples the ages of what it holds, and more seldom where it sees
	// more than lookedAt others: with five hundred in view that was a third of a bot's cost.
	// slowLook is half of the time for which a trail tells each move.
	lookEvery = time.Second
	lookedAt  = 128
	slowLook  = 3 * time.Second
)

// Nearest is how many of those that a bot knows come first for it: what it holds of them is told by itself.
const Nearest = 20

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
	// Worst is the oldest place that was sampled, by band of distance from where the other really is.
	Worst [Bands]time.Duration
	// Apart is the same of the moves that bots set apart (Bot.Apart), at any distance. They count
	// above, too.
	Apart Apart
	// WorstNear is the oldest place that was sampled of the Nearest of some bot.
	WorstNear time.Duration

	ages [Bands][ageSteps]uint32
	near [ageSteps]uint32
}

// Apart tells how well others know of moves that bots have set apart.
type Apart struct {
	// Moves, InTime and Worst are as in Freshness.
	Moves, InTime uint64
	Worst         time.Duration

	ages [ageSteps]uint32
}

// Share is the part of the moves that were known in time, 0 to 1.
func (a *Apart) Share() float64 { return share(a.InTime, a.Moves) }

// Age is the age that a share q of the sampled places is below.
func (a *Apart) Age(q float64) time.Duration { return ageBelow(q, a.ages[:]) }

func (a *Apart) add(b *Apart) {
	a.Moves += b.Moves
	a.InTime += b.InTime
	a.Worst = max(a.Worst, b.Worst)
	for i, n := range b.ages {
		a.ages[i] += n
	}
}

// Share is the part of the moves in view that were known in time, 0 to 1.
func (f *Freshness) Share() float64 { return share(f.InTime, f.Moves) }

func share(part, all uint64) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) / float64(all)
}

// Age is the age that a share q of the places is below, of those sampled in the bands from the
// first to before the last, the nearest being 0.
func (f *Freshness) Age(q float64, first, last int) time.Duration {
	var sum [ageSteps]uint32
	for i := first; i < last; i++ {
		for j, n := range f.ages[i] {
			sum[j] += n
		}
	}
	return ageBelow(q, sum[:])
}

// AgeNear is the age that a share q of the places is below, of the Nearest that each bot knows.
func (f *Freshness) AgeNear(q float64) time.Duration { return ageBelow(q, f.near[:]) }

// ageBelow is the age that a share q of those in a histogram is below.
func ageBelow(q float64, ages []uint32) time.Duration {
	all := 0
	for _, n := range ages {
		all += int(n)
	}
	left := int(math.Ceil(q * float64(all)))
	for j, n := range ages {
		if left -= int(n); left <= 0 {
			return ageOf(j)
		}
	}
	return oldestAge
}

// ageBin is where an age stands in the histogram, ageOf the least age that stands there.
func ageBin(age time.Duration) int {
	if age < fineAges {
		return int(age / ageStep)
	}
	return fineSteps + int((min(age, oldestAge)-fineAges)/longStep)
}

func ageOf(bin int) time.Duration {
	if bin < fineSteps {
		return time.Duration(bin) * ageStep
	}
	return fineAges + time.Duration(bin-fineSteps)*longStep
}

func (f *Freshness) add(g *Freshness) {
	f.Moves += g.Moves
	f.InTime += g.InTime
	f.Places += g.Places
	f.Apart.add(&g.Apart)
	for i := range f.ages {
		for j, n := range g.ages[i] {
			f.ages[i][j] += n
		}
		f.Worst[i] = max(f.Worst[i], g.Worst[i])
	}
	for j, n := range g.near {
		f.near[j] += n
	}
	f.WorstNear = max(f.WorstNear, g.WorstNear)
}

// nothing is the number of a place that no move has led to.
const nothing = -2

// seen is another bot as one sees it. Those of one bot lie together, since with each packet all are
// asked for in a row; the Tag of a replica is the place among them, from 1.
type seen struct {
	trail *trail
	known int32 // number of the newest move that is known; -1 before the first, or nothing
	next  int32 // number of the first move that is not counted
}

// newSeen begins to watch another; nil for what is no bot. What it did before it came to the place
// that is held is not counted.
func (b *Bot) newSeen(r *client.Replica) *seen {
	r.Tag = 0
	t := b.group.swarm.trails.find(r.ID)
	if t == nil {
		return nil
	}
	if len(b.seen) == cap(b.seen) {
		b.sweepSeen()
	}
	b.seen = append(b.seen, seen{trail: t, known: nothing, next: t.n.Load()})
	r.Tag = uint64(len(b.seen))
	s := &b.seen[len(b.seen)-1]
	switch {
	case s.next == 0:
		s.known = -1
	case s.learn(r, b.group.swarm.cfg.Rounding):
		s.next = s.known + 1
	}
	return s
}

// spareSeen is how many may come into view, beside a quarter of those in it, until what is kept of
// those who have left is swept away.
const spareSeen = 16

// sweepSeen drops what is kept of those who have left.
func (b *Bot) sweepSeen() {
	b.group.learn() // while those who have just left are known
	left := make([]seen, 0, b.Client.Len()*5/4+spareSeen)
	for r := range b.Client.Entities() {
		if s := b.seenOf(r); s != nil {
			left = append(left, *s)
			r.Tag = uint64(len(left))
		}
	}
	b.seen = left
}

// seenOf is how the bot sees another; nil for what it does not watch.
func (b *Bot) seenOf(r *client.Replica) *seen {
	if i := r.Tag - 1; i < uint64(len(b.seen)) {
		return &b.seen[i]
	}
	return nil
}

// beginWatch takes down what the bot knows before it counts. A place that its bot does not remember
// is taken to be as old as the oldest that it does.
func (b *Bot) beginWatch() {
	if b.Client == nil {
		return
	}
	b.lookAt = b.group.now + b.phase(b.looksEvery())
	b.seen = nil
	for r := range b.Client.Entities() {
		r.Tag = 0
	}
	for r := range b.Client.Entities() {
		if s := b.newSeen(r); s != nil {
			s.next = s.trail.n.Load()
			if s.known == nothing {
				s.known = max(-1, s.next-1-kept)
			}
		}
	}
}

func (b *Bot) enters(r *client.Replica) {
	r.Tag = 0
	if b.group.swarm.watching.Load() {
		b.newSeen(r)
	}
}

// sighting is a place that a bot has just been told.
type sighting struct {
	bot *Bot
	of  *client.Replica
}

func (b *Bot) moves(r *client.Replica) {
	if r.Tag != 0 && b.group.swarm.watching.Load() {
		b.group.sightings = append(b.group.sightings, sighting{b, r})
	}
}

// learn looks up the places of a datagram.
func (g *group) learn() {
	for i := range g.sightings {
		if x := &g.sightings[i]; x.bot.seenOf(x.of) != nil {
			g.fetched += int64(x.bot.seenOf(x.of).trail.n.Load()) // see fetched
		}
	}
	for _, x := range g.sightings {
		s := x.bot.seenOf(x.of)
		if s != nil && s.learn(x.of, g.swarm.cfg.Rounding) {
			g.fresh.Places++
			s.next = s.trail.count(s.next, s.known+1, g.now, g.swarm.cfg.InTime, true, &g.fresh)
		}
	}
	clear(g.sightings)
	g.sightings = g.sightings[:0]
}

// learn looks up which move the place of r belongs to, and reports whether it is a newer one.
func (s *seen) learn(r *client.Replica, rounding float32) bool {
	number, ok := s.trail.find(r.Position, s.known, rounding)
	if ok {
		s.known = number
	}
	return ok
}

// looksEvery is how much time passes from one look to the next.
func (b *Bot) looksEvery() time.Duration {
	return min(max(lookEvery, lookEvery*time.Duration(b.Client.Len())/lookedAt), slowLook)
}

// phase is where in a period of at most four seconds a bot has its turn: all are spread over it.
// When all looked in the same tick, a thousand with six hundred in view each stood still for a
// third of a second, and found what had come meanwhile old.
func (b *Bot) phase(period time.Duration) time.Duration {
	const golden = 0x9e3779b9 // of 1<<32: multiples of it fall where the gap is widest
	return time.Duration(uint64(period) * uint64(uint32(b.Number)*golden) >> 32)
}

// look samples the ages of the places that the bot holds.
func (b *Bot) look(now time.Duration) {
	if now < b.lookAt || !b.group.swarm.watching.Load() || !b.Client.InWorld() {
		return
	}
	b.lookAt = now + b.looksEvery()
	cfg, fresh := &b.group.swarm.cfg, &b.group.fresh
	own := b.Client.Player().Position
	near := b.group.near[:0]
	for r := range b.Client.Entities() {
		if s := b.seenOf(r); s != nil {
			b.group.fetched += int64(s.trail.n.Load())
		}
	}
	for r := range b.Client.Entities() {
		s := b.seenOf(r)
		if s == nil {
			continue
		}
		s.next = s.trail.count(s.next, math.MaxInt32, now, cfg.InTime, false, fresh)
		// By where the other is: who was last heard of beyond the view may stand beside the bot.
		distance := property.Distance(own, s.trail.place(r.Position))
		if s.known != nothing && (cfg.ViewRadius == 0 || distance <= cfg.ViewRadius) {
			age := s.trail.age(s.known, now)
			fresh.note(distance, cfg.ViewRadius, age, s.trail.isApart(now))
			near = nearer(near, sample{distance, age})
		}
	}
	fresh.noteNear(near)
	b.group.near = near
}

func (f *Freshness) noteNear(near []sample) {
	for _, x := range near {
		f.near[ageBin(x.age)]++
		f.WorstNear = max(f.WorstNear, x.age)
	}
}

// sample is the age of what a bot holds of another, at a distance.
type sample struct {
	distance float32
	age      time.Duration
}

// nearer puts x among the Nearest, the nearest first, if it is one of them.
func nearer(near []sample, x sample) []sample {
	i := len(near)
	switch {
	case i < Nearest:
		near = append(near, x)
	case x.distance >= near[i-1].distance:
		return near
	default:
		i--
	}
	for ; i > 0 && x.distance < near[i-1].distance; i-- {
		near[i] = near[i-1]
	}
	near[i] = x
	return near
}

// countLate counts what the bot does not know and should, of all in view: what the next look would count.
func (b *Bot) countLate(now time.Duration) {
	if b.Client == nil || !b.group.swarm.watching.Load() || !b.Client.InWorld() {
		return
	}
	for r := range b.Client.Entities() {
		if s := b.seenOf(r); s != nil {
			s.next = s.trail.count(s.next, math.MaxInt32, now, b.group.swarm.cfg.InTime, false, &b.group.fresh)
		}
	}
}

func (f *Freshness) note(distance, radius float32, age time.Duration, apart bool) {
	band := 0
	if radius > 0 {
		band = min(int(distance/radius*Bands), Bands-1)
	}
	f.ages[band][ageBin(age)]++
	f.Worst[band] = max(f.Worst[band], age)
	if apart {
		f.Apart.ages[ageBin(age)]++
		f.Apart.Worst = max(f.Apart.Worst, age)
	}
}
