package mercurytest

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Link says what happens to datagrams on their way. Shares are from 0 to 1; a field of 0 does nothing.
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

// lane is one direction between two places. It remembers when its bottleneck is free again.
type lane struct{ free time.Duration }

// fate is what becomes of one datagram: when each of its copies arrives and which of them are damaged.
type fate struct {
	copies  int // 0 to 2
	at      [2]time.Duration
	corrupt [2]bool
	tooBig  bool
	overrun bool
}

// fate draws what becomes of a datagram of size bytes that is sent at now. It draws only for what may happen, so that
// switching one fault on leaves the draws of others as they were.
func (l *Link) fate(rng *rand.Rand, ln *lane, now time.Duration, size int) (f fate) {
	if happens(rng, l.Loss) {
		return f
	}
	if l.MTU > 0 && size > l.MTU {
		f.tooBig = true
		return f
	}
	if l.Rate > 0 {
		if now, f.overrun = ln.queue(l, now, size+PacketOverhead); f.overrun {
			return f
		}
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

// queue puts size bytes behind what waits before the bottleneck and returns when they have passed it.
func (ln *lane) queue(l *Link, now time.Duration, size int) (passed time.Duration, overrun bool) {
	room := l.Queue
	if room == 0 {
		room = DefaultQueue
	}
	start := max(now, ln.free)
	if waiting := int64(start-now) * int64(l.Rate) / int64(time.Second); waiting > 0 && waiting+int64(size) > int64(room) {
		return now, true
	}
	ln.free = start + time.Duration(int64(size)*int64(time.Second)/int64(l.Rate))
	return ln.free, false
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
