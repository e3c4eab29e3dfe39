package mercury

import (
	"math"
	"time"

	"github.com/cellscape/cellscape/mercury/internal/congestion"
)

// This file decides when short messages are copied into later packets.
//
// Copies make up for what a path loses by chance. But they are bytes, so they can also cause loss:
// on a line that has no room for them they fill the queue before it, and its drops look like a
// reason for more copies. They do not help if many packets in a row are lost, since the copies are
// lost, too.
//
//	none  --(loss by chance)--> copies --(no loss for quietGaps)--> none
//	copies --(a queue grows, or the loss)--> rest, twice as long each time
//	copies --(now and then)--> rest
//	rest  --(its time has passed, and a packet was lost)--> copies
//
// Invariants:
//   - Only a loss that a copy would have made up for is a reason for copies: no more packets in a
//     row than there may be copies, four times in five, and while no queue stands.
//   - Copies begin only while no queue stands, and end when the round trip rises above what it was
//     without them.
//   - Copies end when more is lost with them than without.
//   - A failed attempt is repeated only after a time that doubles with each failure.
//   - After a rest, copies come back only when a loss without them has shown that there is still a
//     reason.
//   - All state is in the struct; there is no clock and no random number.
const (
	// These are thresholds of measured loss, in hundredths of a percent, above which one or two
	// copies begin and below which they end.
	oneCopyFrom, oneCopyUntil   = 30, 15
	twoCopiesFrom, twoCopiesEnd = 400, 280
	// quietGaps is how many times the usual number of packets between two losses must pass without
	// one before the loss counts as over. Chance alone does that once in three thousand losses, and
	// costs one message's delay. mostQuiet bounds the number of packets: ten seconds of a game.
	quietGaps, mostQuiet = 8, 600
	// runsMemory is the least number of runs of lost packets whose length is remembered.
	runsMemory = 32

	// A queue shows in the smoothed round trip and in the lowest of lowSpan (as in RFC 8289). A
	// machine or a radio that stands still for a moment delays some packets, and jitter delays any,
	// but a queue delays all.
	lowSpan = 100 * time.Millisecond
	// standingQueue is a growth of both above the path's least that is more than a radio link's
	// jitter: a queue stands, whoever filled it. Half of the round trip counts if that is more.
	standingQueue = 25 * time.Millisecond
	// ownQueue is a growth of both above their values without copies that shows that the copies
	// fill a queue. An eighth of the round trip, or twice its usual spread, counts if that is more.
	ownQueue = 8 * time.Millisecond
	// leastRTTLife is half of the time for which the path's least round trip is remembered. It is
	// long because a download beside the game may keep a queue filled for minutes. It ends because
	// a path may become longer.
	leastRTTLife = 2 * time.Minute

	// restLeast lets a queue that copies have filled run empty, and shows the loss without copies.
	// checkRest is enough if no queue was seen. Packets sent in the time draining after a rest
	// begins may still be lost to the copies before it, and show nothing.
	restLeast, checkRest, draining = time.Second, 200 * time.Millisecond, 200 * time.Millisecond
	// firstWait is how long a failed attempt is not repeated; each failure doubles it, up to
	// lastWait.
	firstWait, lastWait = 2 * time.Second, 64 * time.Second
	// noQueue is how long copies must have caused no queue to show that the path has room for them.
	// A queue that grows later is not of their making, and the next attempt need not wait. Copies
	// that exceed the room by a hundredth fill a queue in less time. noLoss is the same for more
	// loss than without copies, which takes longer to show.
	noQueue, noLoss = 3 * time.Second, 30 * time.Second
	// firstCheck is when successful copies rest until the next loss. That delays one message, and
	// ends copies that cause the very loss that keeps them going. Each passed check makes the time
	// to the next four times as long, up to lastCheck.
	firstCheck, lastCheck = 4 * time.Second, 256 * time.Second
	// tallyMemory is how many packets the comparison of loss with and without copies remembers at
	// least.
	tallyMemory = 512
	// tallyFloor is how many packets without a loss are remembered, since what was before the first
	// loss says little about what follows. Copies begin once tallyLeast packets without them are
	// known for comparison.
	tallyFloor, tallyLeast = 128, 64
)

// copyPolicy decides for a channel how often short segments are copied.
type copyPolicy struct {
	level int8 // how often a short segment is copied now
	want  int8 // how often it would be, going by the loss alone
	over  bool // quiet was too long for the loss to go on

	losses congestion.LossMeter // lost packets that copies would make up for
	quiet  uint32               // packets whose fate was learnt since the last of these
	run    uint32               // packets lost in a row up to the last one
	noted  uint32               // of these, in losses
	runs   uint32               // runs of lost packets
	short  uint32               // of these, those that copies would make good

	least   [2]time.Duration // least round trips since leastAt and in the time before; 0 for none
	leastAt time.Duration
	low     [2]time.Duration // the same since lowAt, over lowSpan
	lowAt   time.Duration
	smooth  time.Duration // smoothed round trip

	*copyTrial // nil while there was never a reason for copies
	without    copyTally
}

// copyTrial is what came of the copies so far.
type copyTrial struct {
	began     time.Duration // of this level
	before    time.Duration // smoothed round trip then, and
	lowBefore time.Duration // the lowest
	bearable  time.Duration // growth of both above which copies count as filling a queue
	resting   bool
	missed    bool          // a packet sent since drained was lost in this rest
	rested    time.Duration // when the rest may end
	drained   time.Duration // packets sent from then on show the path without copies
	check     time.Duration // from began to the next check
	attempts  [DefaultCopies]copyAttempt
	with      copyTally
}

// copyAttempt remembers that copies to a number did not go well.
type copyAttempt struct {
	until, wait time.Duration // it is not tried again until then, after this wait
}

// copyTally counts packets and the lost ones among them.
type copyTally struct{ settled, lost uint32 }

func (t *copyTally) add(lost uint32) {
	t.settled++
	t.lost += lost
	if t.lost == 0 {
		t.settled = min(t.settled, tallyFloor)
	}
	if t.settled >= 2*tallyMemory {
		t.settled /= 2
		t.lost = (t.lost + 1) / 2
	}
}

// few and many bound the loss from below and above, in hundredths of a percent, by three standard
// deviations.
func (t *copyTally) few() int {
	n := float64(t.lost)
	return int(max(0, n-3*math.Sqrt(n)) * 10000 / float64(max(t.settled, 1)))
}

func (t *copyTally) many() int {
	n := float64(t.lost)
	return int((n + 3*math.Sqrt(n) + 3) * 10000 / float64(max(t.settled, 1)))
}

// tally counts a packet with those of its kind.
func (k *copyPolicy) tally(p *sentPacket, lost uint32) {
	if p.copies {
		k.with.add(lost)
	} else if k.copyTrial == nil || p.at >= k.drained {
		k.without.add(lost)
	}
}

// arrived notes that a packet was acked.
func (k *copyPolicy) arrived(p *sentPacket) {
	k.tally(p, 0)
	if k.quiet++; k.standing() {
		return // a loss now would not be a reason for copies, so an arrival must not count either
	}
	k.losses.Arrived()
	if k.losses.Gone == 0 {
		k.losses.Decided = min(k.losses.Decided, congestion.LossFloor) // as tallyFloor
	}
}

// lost notes that a packet is considered lost; follows means that the one before it was, too. most
// is the largest level.
func (k *copyPolicy) lost(p *sentPacket, follows bool, most int8) {
	k.tally(p, 1)
	if !follows {
		k.beginRun()
	}
	k.run++
	switch {
	case k.run > uint32(most):
		if k.run == uint32(most)+1 {
			k.short--
			k.losses.Gone -= min(k.losses.Gone, k.noted)
		}
	case !k.standing():
		k.losses.Lost()
		k.noted++
		k.quiet, k.over = 0, false
		if t := k.copyTrial; t != nil {
			t.missed = t.missed || !p.copies && p.at >= t.drained
		}
	}
}

func (k *copyPolicy) beginRun() {
	k.run, k.noted = 0, 0
	if k.runs >= 2*runsMemory {
		k.runs /= 2
		k.short /= 2
	}
	k.runs++
	k.short++
}

// regained takes a loss back.
func (k *copyPolicy) regained(p *sentPacket) {
	k.losses.Regained()
	t := &k.without
	if p.copies {
		t = &k.with
	}
	t.lost -= min(t.lost, 1)
}

// sampled notes a round trip, and the smoothed one.
func (k *copyPolicy) sampled(now, rtt, smooth time.Duration) {
	k.smooth = smooth
	if rtt <= 0 {
		return
	}
	if now-k.leastAt >= leastRTTLife {
		k.least, k.leastAt = [2]time.Duration{0, k.least[0]}, now
	}
	if now-k.lowAt >= lowSpan {
		k.low, k.lowAt = [2]time.Duration{0, k.low[0]}, now
	}
	for _, of := range [...]*time.Duration{&k.least[0], &k.low[0]} {
		if *of == 0 || rtt < *of {
			*of = rtt
		}
	}
}

// lesser is the lesser of two round trips that are known; 0 for none.
func lesser(of [2]time.Duration) time.Duration {
	if of[0] == 0 || of[1] > 0 && of[1] < of[0] {
		return of[1]
	}
	return of[0]
}

// standing reports whether a queue stands on the path.
func (k *copyPolicy) standing() bool {
	least := lesser(k.least)
	return min(lesser(k.low), k.smooth) > least+max(least/2, standingQueue)
}

// filling reports whether copies fill a queue.
func (k *copyPolicy) filling() bool {
	return min(lesser(k.low)-k.lowBefore, k.smooth-k.before) > k.bearable
}

// decide sets the level. It is called once in each Flush.
func (k *copyPolicy) decide(now, spread time.Duration, most int8) {
	k.want = min(k.wanted(), most)
	if k.want == 0 {
		if k.level = 0; k.copyTrial != nil {
			k.resting = false
		}
		return
	}
	if k.copyTrial == nil {
		k.copyTrial = new(copyTrial)
	}
	switch {
	case k.level == 0:
	case k.filling():
		k.failed(now, noQueue)
	case k.with.few() > k.without.many():
		k.without = copyTally{} // the path may lose more now
		k.failed(now, noLoss)
	case now-k.began >= max(k.check, firstCheck):
		k.check = min(4*max(k.check, firstCheck), lastCheck)
		k.without.settled, k.without.lost = k.without.settled*3/4, k.without.lost*3/4
		k.rest(now, checkRest)
	default:
		k.level = min(k.level, k.want)
	}
	if k.resting && (now < k.rested || !k.missed) || k.smooth == 0 || k.standing() || k.level == 0 && k.without.settled < tallyLeast {
		return
	}
	k.resting = false
	if to := k.allowed(now); to > k.level {
		k.level, k.began = to, now
		k.before, k.lowBefore = k.smooth, lesser(k.low)
		k.bearable = max(k.smooth/8, 2*spread, ownQueue)
		k.with = copyTally{}
	}
}

// bursts reports whether packets are lost too many in a row, too often, for copies to make up for it.
func (k *copyPolicy) bursts() bool { return 5*k.short < 4*k.runs }

// wanted is the level that the loss asks for.
func (k *copyPolicy) wanted() int8 {
	gone := k.losses.Gone
	if gone > 0 && !k.over && k.quiet > min(quietGaps*k.losses.Decided/gone, mostQuiet) {
		if k.over = true; k.copyTrial != nil {
			k.check /= 4
		}
		k.losses.Gone -= gone / 4 // it may come back
	}
	if k.over || gone == 0 || k.bursts() {
		return 0
	}
	loss := k.losses.PerMyriad()
	switch {
	case loss >= twoCopiesFrom, k.want == 2 && loss >= twoCopiesEnd:
		return 2
	case loss >= oneCopyFrom, k.want > 0 && loss >= oneCopyUntil:
		return 1
	}
	return 0
}

// allowed is the highest level, up to want, without a recent failure.
func (k *copyPolicy) allowed(now time.Duration) int8 {
	for level := range k.want {
		if now < k.attempts[level].until {
			return level
		}
	}
	return k.want
}

// failed ends copies that do harm. If they have gone well for long enough, the harm is not their
// fault.
func (k *copyPolicy) failed(now, long time.Duration) {
	if a := &k.attempts[k.level-1]; now-k.began >= long {
		a.wait = 0
	} else {
		a.wait = min(max(2*a.wait, firstWait), lastWait)
		a.until = now + a.wait
	}
	k.check = 0
	k.rest(now, restLeast)
}

// rest goes without copies until a loss shows that there is still a reason for them.
func (k *copyPolicy) rest(now, least time.Duration) {
	k.level, k.resting, k.missed = 0, true, false
	k.rested, k.drained = now+least, now+draining
}
