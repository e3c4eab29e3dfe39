package congestion

import "time"

// initialRTT is believed until the first measure: twice the round trip between data centres near
// each other.
const initialRTT = 50 * time.Millisecond

// RTT is the smoothed round trip of RFC 6298, without the time that the peer held back the ack.
type RTT struct {
	Smooth, Spread, Least time.Duration // smooth is 0 before the first sample
}

// Sample takes a measure in and returns it without the delay.
func (r *RTT) Sample(took, delay time.Duration) time.Duration {
	if r.Least == 0 || took < r.Least {
		r.Least = max(took, 1)
	}
	// A peer that reports more delay than there was would make the round trip vanish.
	if took-delay >= r.Least {
		took -= delay
	}
	if r.Smooth == 0 {
		r.Smooth, r.Spread = max(took, 1), took/2
		return took
	}
	r.Spread += ((r.Smooth - took).Abs() - r.Spread) / 4
	r.Smooth += (took - r.Smooth) / 8
	return took
}

// Timeout is how long an ack may take, without the delay that the peer adds on purpose.
func (r *RTT) Timeout() time.Duration {
	if r.Smooth == 0 {
		return 3 * initialRTT
	}
	return r.Smooth + max(4*r.Spread, time.Millisecond)
}
