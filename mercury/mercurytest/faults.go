package mercurytest

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Link says what happens to datagrams on their way. Shares are from 0 to 1; a field of 0 does
// nothing.
type Link struct {
	Loss      float64       // share that never arrives
	Duplicate float64       // share that arrives twice, the second copy with a delay of its own
	Reorder   float64       // share that is held back by up to four times Delay+Jitter (at least 1 ms), so that later ones overtake it
	Delay     time.Duration // every datagram takes at least this long
	Jitter    time.Duration // and up to this much longer; it reorders too
	Corrupt   float64       // share that arrives with some bits turned over
	MTU       int           // bytes; larger datagrams vanish without a word, as in a black hole of path MTU discovery
	Rate      int           // bytes per second through the bottleneck, PacketOverhead a datagram included
	Queue     int           // bytes that may wait before the bottleneck (DefaultQueue); what comes then is dropped
	Trunk     *Trunk        // a bottleneck that this link shares with others; Rate and Queue are not used then

	// BurstBegin is the chance of a datagram to begin a burst, in which all is lost, itself
	// included. BurstEnd is the chance of each later one to end it and to pass; 0 counts as 1. A
	// burst takes 1/BurstEnd datagrams on average (Gilbert's model).
	BurstBegin, BurstEnd float64
	// Nothing passes for the last Outage of each OutageEvery, counted from time 0.
	Outage, OutageEvery time.Duration
}

// String lists the fields of l, those of rarer faults only where they are set.
func (l Link) String() string {
	s := fmt.Sprintf("{Loss:%v Duplicate:%v Reorder:%v Delay:%v Jitter:%v", l.Loss, l.Duplicate, l.Reorder, l.Delay, l.Jitter)
	if l.Corrupt > 0 {
		s += fmt.Sprintf(" Corrupt:%v", l.Corrupt)
	}
	if l.MTU > 0 {
		s += fmt.Sprintf(" MTU:%d", l.MTU)
	}
	if l.Rate > 0 {
		s += fmt.Sprintf(" Rate:%d Queue:%d", l.Rate, l.Queue)
	}
	if l.Trunk != nil {
		s += fmt.Sprintf(" Trunk:%v", l.Trunk)
	}
	if l.BurstBegin > 0 {
		s += fmt.Sprintf(" BurstBegin:%v BurstEnd:%v", l.BurstBegin, l.BurstEnd)
	}
	if l.Outage > 0 {
		s += fmt.Sprintf(" Outage:%v OutageEvery:%v", l.Outage, l.OutageEvery)
	}
	return s + "}"
}

const (
	// PacketOverhead is what IPv4 and UDP add to a datagram on a wire.
	PacketOverhead = 20 + 8
	// DefaultQueue is the buffer of a small router: 45 packets of full size.
	DefaultQueue = 64 << 10
	// maxBitFlips bounds the bits that one corruption turns over.
	maxBitFlips = 8
)

// lane is one direction between two places: what its link remembers from one datagram to the next.
type lane struct {
	bottleneck
	burst bool // the last datagram was lost in one
}

// bottleneck remembers when it is free again.
type bottleneck struct{ free time.Duration }

// Trunk is a bottleneck that several links share, one direction of it: a player's line with all
// that goes over it, or a server's. It is first in, first out, and drops what finds its queue full.
// Links of one Network, or of one UserLink, share it.
type Trunk struct {
	rate, queue int
	bottleneck
	counts TrunkCounts
}

// TrunkCounts tells what a Trunk did, PacketOverhead a datagram included.
type TrunkCounts struct {
	Passed, Dropped           int // datagrams
	PassedBytes, DroppedBytes int
}

// NewTrunk makes a Trunk of a rate in bytes per second, whose queue takes as long as queue to run
// empty.
func NewTrunk(rate int, queue time.Duration) *Trunk {
	return &Trunk{rate: rate, queue: QueueOf(rate, queue)}
}

// QueueOf is the bytes that a bottleneck of a rate passes in a time: Link.Queue for a queue that is
// given as a delay.
func QueueOf(rate int, d time.Duration) int {
	return int(int64(rate) * int64(d) / int64(time.Second))
}

// Counts returns what the Trunk did so far. For a UserLink it is called when the link is closed.
func (t *Trunk) Counts() TrunkCounts { return t.counts }

// String tells rate and queue.
func (t *Trunk) String() string { return fmt.Sprintf("%d/%d", t.rate, t.queue) }

// pass puts size bytes through the Trunk.
func (t *Trunk) pass(now time.Duration, size int) (passed time.Duration, overrun bool) {
	if passed, overrun = t.bottleneck.pass(t.rate, t.queue, now, size); overrun {
		t.counts.Dropped++
		t.counts.DroppedBytes += size
		return passed, true
	}
	t.counts.Passed++
	t.counts.PassedBytes += size
	return passed, false
}

// fate is what becomes of one datagram: when each of its copies arrives and which of them are
// damaged.
type fate struct {
	copies  int // 0 to 2
	at      [2]time.Duration
	corrupt [2]bool
	tooBig  bool
	overrun bool
}

// fate draws what becomes of a datagram of size bytes that is sent at now. It draws only for what
// may happen, so that switching one fault on leaves the draws of others as they were.
func (l *Link) fate(rng *rand.Rand, ln *lane, now time.Duration, size int) (f fate) {
	if happens(rng, l.Loss) || l.inBurst(rng, ln) || l.inOutage(now) {
		return f
	}
	if l.MTU > 0 && size > l.MTU {
		f.tooBig = true
		return f
	}
	switch {
	case l.Trunk != nil:
		now, f.overrun = l.Trunk.pass(now, size+PacketOverhead)
	case l.Rate > 0:
		now, f.overrun = ln.pass(l.Rate, l.Queue, now, size+PacketOverhead)
	}
	if f.overrun {
		return f
	}
	l.copy(rng, now, &f)
	if happens(rng, l.Duplicate) {
		l.copy(rng, now, &f)
	}
	return f
}

// copy draws how one copy fares behind the bottleneck.
func (l *Link) copy(rng *rand.Rand, now time.Duration, f *fate) {
	at := now + l.Delay + upTo(rng, l.Jitter)
	if happens(rng, l.Reorder) {
		at += upTo(rng, 4*max(l.Delay+l.Jitter, time.Millisecond))
	}
	f.at[f.copies], f.corrupt[f.copies] = at, happens(rng, l.Corrupt)
	f.copies++
}

// inBurst draws whether a datagram is lost in a burst.
func (l *Link) inBurst(rng *rand.Rand, ln *lane) bool {
	switch {
	case l.BurstBegin == 0:
		return false
	case ln.burst:
		ln.burst = l.BurstEnd > 0 && !happens(rng, l.BurstEnd)
	default:
		ln.burst = happens(rng, l.BurstBegin)
	}
	return ln.burst
}

// inOutage reports whether nothing passes now.
func (l *Link) inOutage(now time.Duration) bool {
	return l.Outage > 0 && l.OutageEvery > 0 && now%l.OutageEvery >= l.OutageEvery-l.Outage
}

// remembers reports whether the link needs a lane.
func (l *Link) remembers() bool { return l.Rate > 0 || l.BurstBegin > 0 }

// pass puts size bytes behind what waits before the bottleneck and returns when they have passed
// it.
func (b *bottleneck) pass(rate, room int, now time.Duration, size int) (passed time.Duration, overrun bool) {
	if room == 0 {
		room = DefaultQueue
	}
	start := max(now, b.free)
	if waiting := int64(start-now) * int64(rate) / int64(time.Second); waiting > 0 && waiting+int64(size) > int64(room) {
		return now, true
	}
	b.free = start + time.Duration(int64(size)*int64(time.Second)/int64(rate))
	return b.free, false
}

// Corrupt turns over one to maxBitFlips bits of p, drawn from rng.
func Corrupt(rng *rand.Rand, p []byte) {
	if len(p) == 0 {
		return
	}
	for range 1 + rng.IntN(maxBitFlips) {
		p[rng.IntN(len(p))] ^= 1 << rng.IntN(8)
	}
}

func happens(rng *rand.Rand, share float64) bool { return share > 0 && rng.Float64() < share }

func upTo(rng *rand.Rand, d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(rng.Int64N(int64(d) + 1))
}
