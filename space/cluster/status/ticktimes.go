package status

import "time"

// TickTimes is a histogram of how long ticks took. Element i counts ticks shorter than 2^(i/4) × 50
// µs that no earlier element counts; the last one counts the rest (over 2.7 s).
type TickTimes [65]uint64

// Count counts a tick that took d.
func (t *TickTimes) Count(d time.Duration) {
	i := 0
	for i < len(t)-1 && d >= tickBound(i) {
		i++
	}
	t[i]++
}

// Add adds o to t.
func (t *TickTimes) Add(o *TickTimes) {
	for i, n := range o {
		t[i] += n
	}
}

// Quantile returns a time within which the fraction q of all ticks ended, exact to a fifth; 0
// before any tick.
func (t *TickTimes) Quantile(q float64) time.Duration {
	var all, sum uint64
	for _, n := range t {
		all += n
	}
	if all == 0 {
		return 0
	}
	for i, n := range t {
		if sum += n; float64(sum) >= q*float64(all) {
			return tickBound(i)
		}
	}
	return tickBound(len(t) - 1)
}

// tickBound is the upper bound of element i.
func tickBound(i int) time.Duration {
	// Quarter powers of two in units of 1/1024 need no floating point.
	quarters := [4]time.Duration{1024, 1218, 1448, 1722}
	return 50 * time.Microsecond * quarters[i%4] / 1024 << (i / 4)
}
