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
	// maxBurst is what leaves in burstTime on a path of 2 Tbit/s. Four of it are an int32, which is
	// the most that refill adds up: there are thousands of pacers.
	maxBurst = 1<<29 - 1
)

// pacer is a token bucket in bytes. Its rate may change at any time.
type Pacer struct {
	rate   uint64        // bytes/s; 0 for no pacing
	at     time.Duration // fractions of a byte stay in the time that is not yet turned into credit
	burst  int32         // bytes that the bucket holds, up to maxBurst
	credit int32         // bytes in it as of at; negative when overdrawn
	// beside is what packets that wait for no pace may still take of the credit, in half bytes: half of what
	// comes in. Otherwise many of them leave nothing to those that wait, which then never leave.
	beside int32
}

// set changes the rate; time that refill has not seen yet counts at the new one. The bucket holds
// least bytes, or what the rate comes to in long.
func (p *Pacer) set(rate uint64, least int, long time.Duration) {
	p.rate = rate
	p.burst = int32(min(max(uint64(least), PerTime(rate, long)), maxBurst))
	p.credit, p.beside = min(p.credit, p.burst), min(p.beside, 2*p.burst)
}

// refill turns the time until now into credit.
func (p *Pacer) refill(now time.Duration) {
	took := now - p.at
	if took <= 0 {
		return
	}
	if p.rate == 0 || took > time.Minute {
		p.fill(now)
		return
	}
	got := PerTime(p.rate, took)
	if got >= uint64(p.burst-p.credit) {
		p.fill(now)
		return
	}
	p.credit += int32(got)
	p.beside = min(p.beside+int32(got), 2*p.burst)
	p.at += timeFor(got, p.rate) // rounded up, so that many small steps never come to more than the rate
}

func (p *Pacer) fill(now time.Duration) { p.credit, p.beside, p.at = p.burst, 2*p.burst, now }

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
	// What must leave although the pace does not allow it must not leave a debt that is paid for seconds.
	p.credit = int32(max(int(p.credit)-size, -int(p.burst)))
}

// spendBeside is spend for a packet that waits for no pace.
func (p *Pacer) spendBeside(now time.Duration, size int) {
	if p.rate == 0 {
		return
	}
	p.refill(now)
	took := int32(min(size, int(p.beside/2)))
	p.beside -= 2 * took
	p.credit = max(p.credit-took, -p.burst)
}

func (p *Pacer) nextAt(now time.Duration, size int) time.Duration {
	if p.rate == 0 {
		return now
	}
	p.refill(now)
	if int(p.credit) >= size {
		return now
	}
	want := max(size, min(int(min(PerTime(p.rate, quantumTime), maxQuantum)), int(p.burst)/2))
	return max(now, p.at+timeFor(uint64(want-int(p.credit)), p.rate))
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
