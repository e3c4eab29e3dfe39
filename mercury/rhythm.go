package mercury

import "time"

// maxAckHold is the longest that an ack waits for a packet to ride on, and rhythmLimit the longest
// rhythm that it follows.
const (
	maxAckHold  = 50 * time.Millisecond
	rhythmLimit = 39 * time.Millisecond
)

// noteRhythm learns how often this side sends reliable messages, which is what an ack may wait for.
func (s *sender) noteRhythm(now time.Duration) {
	d := now - s.lastData
	if d < time.Millisecond {
		return // another packet of the same tick
	}
	s.lastData = now
	switch {
	case d > rhythmLimit+rhythmLimit/4:
		s.every = 0
	case s.every == 0:
		s.every = min(d, rhythmLimit)
	default:
		s.every += (min(d, rhythmLimit) - s.every) / 8
	}
}

// ackHold is how long an ack may wait now.
func (s *sender) ackHold(now, usual time.Duration) time.Duration {
	if s.every == 0 || now-s.lastData > 2*rhythmLimit {
		return usual
	}
	return min(max(usual, s.every+s.every/4+time.Millisecond), maxAckHold)
}
