package load

import (
	"math/bits"
	"time"
)

const (
	// Max is the most load that a Meter shows: a thousand cores. It keeps sums of thousands of
	// loads far from the ends of int64, however broken the clock is.
	Max int64 = 1000 * Core

	// Core is the load of one core that never rests.
	Core int64 = 1e9
)

// Weight is how much of a new sample goes into a smoothed value, in thousandths: 1000 smooths
// nothing. 0 stands for DefaultWeight.
type Weight int64

// DefaultWeight takes a twentieth of each sample: at ten ticks a second, two thirds of a change
// show after 2 s.
const DefaultWeight Weight = 50

// Meter smooths the load of one thing. The zero Meter is ready.
type Meter struct {
	pending int64 // nanoseconds since the last Tick
	scaled  int64 // smoothed load times 1024, so that small changes are not rounded away
	raw     int64 // the last sample
	primed  bool
}

// Add counts work done now. A negative duration counts as none.
func (m *Meter) Add(work time.Duration) {
	m.pending += min(max(0, int64(work)), Max)
	m.pending = min(m.pending, Max)
}

// Drain takes out what was added since the last Tick and returns it, for another meter: the work of
// an entity that ends in the middle of a tick was done nevertheless.
func (m *Meter) Drain() time.Duration {
	work := time.Duration(m.pending)
	m.pending = 0
	return work
}

// Tick turns what was added since the last Tick into load. The first sample is taken whole, so that
// a new entity does not seem weightless for seconds. An elapsed time of 0 or less leaves everything
// as it is.
func (m *Meter) Tick(elapsed time.Duration, w Weight) {
	if elapsed <= 0 {
		return
	}
	m.raw = rate(m.pending, int64(elapsed))
	sample := m.raw * 1024
	m.pending = 0
	if w <= 0 {
		w = DefaultWeight
	}
	if !m.primed || w >= 1000 {
		m.scaled, m.primed = sample, true
		return
	}
	// The weight is applied by parts, since the difference times the weight could exceed int64.
	d := sample - m.scaled
	m.scaled += d/1000*int64(w) + d%1000*int64(w)/1000
}

// rate is work per second, limited to Max.
func rate(work, elapsed int64) int64 {
	hi, lo := bits.Mul64(uint64(work), uint64(time.Second))
	if hi >= uint64(elapsed) { // the quotient would not fit 64 bits
		return Max
	}
	r, _ := bits.Div64(hi, lo, uint64(elapsed))
	return int64(min(r, uint64(Max)))
}

// Load returns the smoothed load in nanoseconds per second.
func (m *Meter) Load() int64 { return m.scaled >> 10 }

// Raw returns the last sample, in nanoseconds per second, as Tick found it; 0 before the first.
func (m *Meter) Raw() int64 { return m.raw }

// Set makes the meter show a load at once, for an entity that brings its measured load along.
func (m *Meter) Set(load int64) {
	m.scaled, m.primed = Clamp(load)*1024, true
}

// Clamp brings a load from elsewhere into 0 to Max.
func Clamp(load int64) int64 { return min(max(0, load), Max) }

// Share is each real's part of the work that no entity's meter saw: total less the sum of the
// meters, divided by the number of reals. It is 0 if there are none.
func Share(total, attributed int64, reals int) int64 {
	if reals <= 0 {
		return 0
	}
	return max(0, Clamp(total)-Clamp(attributed)) / int64(reals)
}
