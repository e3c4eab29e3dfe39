package congestion

import (
	"math"
	"math/bits"
	"time"
)

const (
	// burstPackets may leave back to back: a game's tick goes out at once.
	burstPackets = 10
	// carefulBurst may where bursts have met with heavy loss.
	carefulBurst = 4
	// burstTime at the rate may leave back to back where that is more: a process that wakes each
	// millisecond must not lose rate.
	burstTime = 2 * time.Millisecond
	// quantumTime is the rate's worth of packets that a wait is for: a wake for each packet would
	// cost more than the packet.
	quantumTime = time.Millisecond
	// maxQuantum is what one system call takes with segmentation offload, and well below a default
	// socket buffer of the peer.
	maxQuantum = 64 << 10
)

// pacer is a token bucket in bytes. Its rate may change at any time.
type Pacer struct {
	rate   uint64        // bytes/s; 0 for no pacing
	burst  int64         // bytes that the bucket holds
	credit int64         // bytes in it as of at; negative when overdrawn
	at     time.Duration // fractions of a byte stay in the time that is not yet turned into credit
}

// set changes the rate; time that refill has not seen yet counts at the new one. The bucket holds
// least bytes, or what the rate comes to in long.
func (p *Pacer) set(rate uint64, least int, long time.Duration) {
	p.rate = rate
	p.burst = max(int64(least), int64(min(PerTime(rate, long), math.MaxInt32)))
	p.credit = min(p.credit, p.burst)
}

// refill turns the time until now into credit.
func (p *Pacer) refill(now time.Duration) {
	took := now - p.at
	if took <= 0 {
		return
	}
	if p.rate == 0 || took > time.Minute {
		p.credit, p.at = p.burst, now
		return
	}
	got := int64(min(PerTime(p.rate, took), math.MaxInt64/2))
	if p.credit+got >= p.burst {
		p.credit, p.at = p.burst, now
		return
	}
	p.credit += got
	p.at += timeFor(uint64(got), p.rate) // rounded up, so that many small steps never come to more than the rate
}

func (p *Pacer) allowed(now time.Duration) int {
	if p.rate == 0 {
		return math.MaxInt32
	}
	p.refill(now)
	return int(max(p.credit, 0))
}

func (p *Pacer) spend(now time.Duration, size int) {
	if p.rate == 0 {
		return
	}
	p.refill(now)
	// What waits for no pace (unreliable messages) must not leave a debt that reliable ones pay for
	// seconds.
	p.credit = max(p.credit-int64(size), -p.burst)
}

func (p *Pacer) nextAt(now time.Duration, size int) time.Duration {
	if p.rate == 0 {
		return now
	}
	p.refill(now)
	if p.credit >= int64(size) {
		return now
	}
	want := max(int64(size), min(int64(min(PerTime(p.rate, quantumTime), maxQuantum)), p.burst/2))
	return max(now, p.at+timeFor(uint64(want-p.credit), p.rate))
}

// PerTime is what rate bytes/s come to in d, rounded down.
func PerTime(rate uint64, d time.Duration) uint64 {
	return mulDiv(rate, uint64(max(d, 0)), uint64(time.Second))
}

// timeFor is how long n bytes take at rate, rounded up.
func timeFor(n, rate uint64) time.Duration {
	t := min(mulDiv(n, uint64(time.Second), rate), math.MaxInt64/4)
	if PerTime(rate, time.Duration(t)) < n {
		t++
	}
	return time.Duration(t)
}

// mulDiv is a*b/c without overflow in between; more than 64 bits become the largest number. c is
// not 0.
func mulDiv(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi == 0 {
		return lo / c
	}
	if hi >= c {
		return math.MaxUint64
	}
	q, _ := bits.Div64(hi, lo, c)
	return q
}
