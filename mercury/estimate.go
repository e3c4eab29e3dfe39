package mercury

import "time"

// initialRTT is believed until the first measure: twice the round trip between data centres near each other.
const initialRTT = 50 * time.Millisecond

// rttEstimate is the smoothed round trip of RFC 6298, without the time that the peer held back the ack.
type rttEstimate struct {
	smooth, spread, least time.Duration // smooth is 0 before the first sample
}

// sample takes a measure in and returns it without the delay.
func (r *rttEstimate) sample(took, delay time.Duration) time.Duration {
	if r.least == 0 || took < r.least {
		r.least = max(took, 1)
	}
	// A peer that reports more delay than there was would make the round trip vanish.
	if took-delay >= r.least {
		took -= delay
	}
	if r.smooth == 0 {
		r.smooth, r.spread = max(took, 1), took/2
		return took
	}
	r.spread += ((r.smooth - took).Abs() - r.spread) / 4
	r.smooth += (took - r.smooth) / 8
	return took
}

// timeout is how long an ack may take, without the delay that the peer adds on purpose.
func (r *rttEstimate) timeout() time.Duration {
	if r.smooth == 0 {
		return 3 * initialRTT
	}
	return r.smooth + max(4*r.spread, time.Millisecond)
}
