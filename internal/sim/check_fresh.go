package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

const (
	// tick is the tick of all processes.
	tick = 100 * time.Millisecond
	// twoTicks is when a move must have arrived: after one tick of the cell on which it was made,
	// which tells the ghost, one tick of the cell on which the player is, and the time of both
	// messages over a clean network. Most come sooner, since ghosts are told of clients' moves
	// between ticks; see TestFreshInACrowd.
	twoTicks = 2*tick + 50*time.Millisecond
	// arriving is the share of moves that must have arrived by then where the budget suffices.
	arriving = 0.99
	// enoughMoves is how many moves must have been counted before the share is judged.
	enoughMoves = 500
	// staleLimit is the age at which a place is late: it has had nine more chances than a move
	// needs. Over a network that loses a tenth of its packets, one place in a thousand million gets
	// that old by chance.
	staleLimit = time.Second
	// spent is the share of the budget that must have been used in the meantime; otherwise a late
	// place is a fault. The budget does not cover headers, and what an Enter exceeded it by is
	// saved later only up to MaxDeficit. The share is as low for a single tick, since two messages
	// of one tick may come on different sides of a check.
	spent = 0.6
	// deficits is the witness's default for MaxDeficit, in budgets.
	deficits = 2
	// steadyFor is how long a player and what it sees must be as they are before places are judged:
	// since they were handed over, restored, logged in, or came into view.
	steadyFor = time.Second
	// freshAfter is how long after the network has healed places are judged: channels have to open
	// again, and apps to rejoin.
	freshAfter = 4 * time.Second
	// bands is the number of bands of distance in which ages are told apart, bandWidth their width
	// in metres.
	bands, bandWidth = 4, float64(aoiRadius) / 4
)

// placesFresh checks promise 9 while everyone moves. For each player and each entity that the
// player holds, it follows the age of the place that the player holds: the time since the entity
// made the first move that the player does not know. It demands
//
//   - that while a place was older than staleLimit the player's budget was spent, so that the place
//     waits for its turn and for nothing else;
//   - that each place is told within Config.MaxWait, however small the budget: after that only
//     those that are as late go first;
//   - at the end, that the share arriving of all moves in view had come within twoTicks. A move may
//     wait for its turn while its player's budget is spent: it, or a later one, must have come
//     twoTicks after the budget was last spent.
//
// What the player received tells whether a budget was spent, by the witness's own rule: what one
// tick sends beyond the budget, the next ones save. In a tight world (Wild.Tight: 200 bytes) one
// enter spends three ticks; elsewhere that hardly happens.
//
// The promise holds over a network that is clean or loses a few packets in a hundred, so judging
// begins freshAfter the network has healed, or when a test says so (watch); during the bad time
// nobody can promise when a packet comes. A player or an entity that has just been handed over,
// restored or met is left out until it has been steady: a handoff holds a place up for some ticks,
// which other checkers bound. Runs in which cells tell less because they have too much to do are
// left out as well.
type placesFresh struct {
	c     *Cluster
	watch bool // from now on, whatever the phase
	off   bool // a test wants to see another promise broken

	healed  time.Duration // 0 before
	players []*viewer
	tracks  map[entity.ID]*track

	moves, arrived int // all, and those that came within twoTicks
	late, waited   int // those that did not: for no reason; because the budget was spent
	ages           [bands][]time.Duration
	tight          bool // a place became stale because somebody's budget was spent
}

func newPlacesFresh(c *Cluster) *placesFresh {
	return &placesFresh{c: c, tracks: map[entity.ID]*track{}}
}

// track is what is known of an entity's real.
type track struct {
	app         mercury.Address
	incarnation uint32
	since       time.Duration // since when the entity is there
	view        space.View    // of this check
	seen        time.Duration // the last check that found it
	moves       []moveMade    // the last keptMoves
}

// keptMoves is more moves than are made in the longest wait that is judged.
const keptMoves = 1024

type moveMade struct {
	stamp uint32
	place property.Vector3
	at    time.Duration
}

// viewer is a player, and what it was last seen with.
type viewer struct {
	own entity.ID
	// budget is the least that the path to the player has left of the budget lately.
	budget float64
	since  time.Duration // since when it plays as this entity
	bytes  []uint64      // that it had received at the checks of the last second, and at one more
	used   float64       // bytes that were sent and that the budget has not made good yet
	// spentAt is the last check that found the budget spent.
	spentAt time.Duration
	pairs   map[entity.ID]*pair
}

// pair is an entity in the view of a player.
type pair struct {
	since time.Duration // since when it is in view
	seen  time.Duration
	due   []moveMade // moves that must have arrived twoTicks after they were made
	// owed is the first move that did not arrive because the budget was spent.
	owed *moveMade
	// known is the stamp of the newest move that the player knows of, if learned.
	known   uint32
	learned bool
}

const checkPeriod = 50 * time.Millisecond

func (k *placesFresh) active() bool {
	if k.c.calm && k.healed == 0 {
		k.healed = k.c.now
	}
	return !k.off && k.c.opts.Overload.Start >= 1000 && (k.watch || k.c.calm && k.c.now >= k.healed+freshAfter)
}

func (k *placesFresh) safe() error {
	if !k.active() {
		return nil
	}
	now := k.c.now
	k.follow(now)
	if k.players == nil {
		for range k.c.players {
			k.players = append(k.players, &viewer{pairs: map[entity.ID]*pair{}})
		}
	}
	for i, pl := range k.c.players {
		if err := k.player(now, pl, k.players[i]); err != nil {
			return fmt.Errorf("promise 9: %s: %w", pl.name, err)
		}
	}
	return nil
}

// follow looks where all reals are.
func (k *placesFresh) follow(now time.Duration) {
	for v := range k.c.reals() {
		if v.cell.Space() != theSpace || !v.Def().HasClient {
			continue
		}
		t := k.tracks[v.ID()]
		if t == nil {
			t = &track{}
			k.tracks[v.ID()] = t
		}
		if at, inc := v.p.Address(), v.Order().Incarnation; t.app != at || t.incarnation != inc || t.seen < now-2*checkPeriod {
			if t.incarnation != inc {
				t.moves = t.moves[:0]
			}
			t.app, t.incarnation, t.since = at, inc, now
		}
		if v.Vehicle() != 0 {
			t.since = now // who rides is as fresh as the vehicle
		}
		t.view, t.seen = v.View, now
		if n := len(t.moves); n == 0 || t.moves[n-1].stamp != v.MoveStamp() {
			if n == keptMoves {
				t.moves = slices.Delete(t.moves, 0, n/2)
			}
			t.moves = append(t.moves, moveMade{v.MoveStamp(), v.Position(), now})
		}
	}
}

// steady reports whether the real has been where it is for long enough.
func (t *track) steady(now time.Duration) bool {
	return t != nil && t.seen == now && now-t.since >= steadyFor
}

// learn is the stamp of the newest move that a player knows of, by the place that it holds. The way
// from place to place is rounded on the wire.
func (p *pair) learn(t *track, place property.Vector3) uint32 {
	const rounding = 1.0 / presence.Grid
	for _, m := range slices.Backward(t.moves) {
		if p.learned && int32(m.stamp-p.known) <= 0 {
			break
		}
		if math.Abs(float64(m.place.X)-float64(place.X)) <= rounding && math.Abs(float64(m.place.Z)-float64(place.Z)) <= rounding {
			p.known, p.learned = m.stamp, true
			break
		}
	}
	if !p.learned {
		return t.moves[0].stamp
	}
	return p.known
}

// age is how long ago the entity made the first move after that of a stamp.
func (t *track) age(now time.Duration, stamp uint32) time.Duration {
	i, _ := slices.BinarySearchFunc(t.moves, stamp, func(m moveMade, s uint32) int {
		if int32(m.stamp-s) > 0 {
			return 1
		}
		return -1
	})
	if i == len(t.moves) {
		return 0
	}
	return now - t.moves[i].at
}

func (k *placesFresh) player(now time.Duration, pl *player, v *viewer) error {
	if id := pl.id(); !pl.playing() || id != v.own || k.c.forsaken(id) {
		*v = viewer{since: now, pairs: map[entity.ID]*pair{}}
		if pl.playing() {
			v.own = id
		}
		return nil
	}
	own := k.tracks[v.own]
	v.budget = k.allowed(v.budget, own)
	k.spend(now, v, pl.told)
	if !own.steady(now) || now-v.since < steadyFor {
		clear(v.pairs)
		return nil
	}
	for r := range pl.client.Entities() {
		t := k.tracks[r.ID]
		if !t.steady(now) || apart(own.view.Position(), t.view.Position()) > aoiRadius {
			delete(v.pairs, r.ID)
			continue
		}
		p := v.pairs[r.ID]
		if p == nil || p.seen < now-2*checkPeriod {
			p = &pair{since: now}
			v.pairs[r.ID] = p
		}
		p.seen = now
		// It learns from the beginning on: if the first place that is judged is that of a move between
		// two checks, which nobody has noted, the player would be taken to know nothing.
		stamp := p.learn(t, r.Position)
		if now-p.since < steadyFor {
			continue
		}
		if err := k.pair(now, v, p, t, stamp); err != nil {
			return err
		}
	}
	return nil
}

// allowed is what a player is told in a tick. What it has been told to have lately still counts: a
// smaller budget begins with what the larger one left over.
func (k *placesFresh) allowed(before float64, own *track) float64 {
	budget := float64(k.budget())
	if own == nil || own.seen != k.c.now || !own.view.IsReal() {
		return budget
	}
	if now := float64(own.view.ClientBudget()); now > 0 && now < budget {
		budget = now
	}
	if before > 0 && before < budget {
		budget = min(budget, before*1.02) // of the last second or two
	}
	return budget
}

// spend books what a player has received so far, in the way its witness reckons with the budget.
func (k *placesFresh) spend(now time.Duration, v *viewer, received uint64) {
	budget := v.budget
	if n := len(v.bytes); n > 0 {
		v.used = max(0, v.used-budget*float64(checkPeriod)/float64(tick)) + float64(received-v.bytes[n-1])
	}
	if v.used >= spent*budget {
		v.spentAt = now
	}
	v.used = min(v.used, (1+deficits)*budget)
	v.bytes = append(v.bytes, received)
	if most := int(staleLimit/checkPeriod) + 1; len(v.bytes) > most {
		v.bytes = slices.Delete(v.bytes, 0, len(v.bytes)-most)
	}
}

// forsaken reports whether the base of a player died, and its client has yet to find the next life.
func (c *Cluster) forsaken(id entity.ID) bool {
	lives := false
	for b := range c.bases() {
		lives = lives || b.ID == id && (b.Life == 0 || !b.Away)
	}
	return !lives
}

// count counts the moves of a pair that must have arrived by now.
func (k *placesFresh) count(now time.Duration, v *viewer, p *pair, stamp uint32) {
	if p.owed != nil && int32(stamp-p.owed.stamp) >= 0 {
		p.owed = nil
	}
	if p.owed != nil && now >= v.spentAt+twoTicks {
		k.late++
		p.owed = nil
	}
	for ; len(p.due) > 0 && now >= p.due[0].at+twoTicks; p.due = p.due[1:] {
		k.moves++
		switch m := p.due[0]; {
		case int32(stamp-m.stamp) >= 0:
			k.arrived++
		case v.spentAt < m.at:
			k.late++
		default:
			k.waited++
			if p.owed == nil {
				p.owed = &m
			}
		}
	}
}

// pair judges what a player holds of an entity.
func (k *placesFresh) pair(now time.Duration, v *viewer, p *pair, t *track, stamp uint32) error {
	k.count(now, v, p, stamp)
	if last := t.moves[len(t.moves)-1]; last.at == now {
		p.due = append(p.due, last)
	}
	age, distance := t.age(now, stamp), apart(k.tracks[v.own].view.Position(), t.view.Position())
	band := min(int(distance/bandWidth), bands-1)
	k.ages[band] = append(k.ages[band], age)
	if age <= staleLimit {
		return nil
	}
	k.tight = true
	used := float64(v.bytes[len(v.bytes)-1] - v.bytes[0])
	ticks := float64(len(v.bytes)-1) * float64(checkPeriod) / float64(tick)
	if most := v.budget * ticks; used < spent*most {
		return fmt.Errorf("its place of %s at %.0f m is %v old, and only %.0f of %.0f bytes of the budget were used", t.view.ID(), distance, age, used, most)
	}
	// As many as are late go first, a few in each tick.
	if most := time.Duration(k.maxWait())*tick + time.Duration(len(v.pairs))*tick + staleLimit; age > most {
		return fmt.Errorf("its place of %s at %.0f m is %v old, at most %v are promised", t.view.ID(), distance, age, most)
	}
	return nil
}

func (k *placesFresh) budget() int  { return cmp.Or(k.c.opts.Budget, witness.DefaultBytesPerTick) }
func (k *placesFresh) maxWait() int { return cmp.Or(k.c.opts.MaxWait, witness.DefaultMaxWait) }

func (k *placesFresh) converged() error {
	judged := k.arrived + k.late
	if judged < enoughMoves || float64(k.arrived) >= arriving*float64(judged) {
		return nil
	}
	return fmt.Errorf("promise 9: %d of %d moves in view were late with budget to spare; %s", k.late, judged, k)
}

func (k *placesFresh) share() float64 { return float64(k.arrived) / float64(max(1, k.moves)) }

// quantile is an age in a band, in order.
func (k *placesFresh) quantile(band int, q float64) time.Duration {
	if len(k.ages[band]) == 0 {
		return 0
	}
	slices.Sort(k.ages[band])
	return k.ages[band][int(q*float64(len(k.ages[band])-1))]
}

// String tells the ages by distance.
func (k *placesFresh) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d moves, %.2f %% within %v, %d waited for budget, %d for nothing", k.moves, 100*k.share(), twoTicks, k.waited, k.late)
	for i := range k.ages {
		fmt.Fprintf(&b, "; %.0f m: p50 %v p99 %v worst %v", float64(i+1)*bandWidth, k.quantile(i, .5), k.quantile(i, .99), k.quantile(i, 1))
	}
	return b.String()
}
