package mercury

import "time"

const (
	// maxAckHold is the longest that an ack waits for a packet to ride on, and rhythmLimit the longest
	// rhythm of reliable messages that it follows.
	maxAckHold  = 50 * time.Millisecond
	rhythmLimit = 39 * time.Millisecond

	// maxCalmHold and calmRhythm are the same on a path that loses nothing, where a late ack delays
	// nothing, for the rhythm of messages of any kind: a player says ten times a second where it is.
	maxCalmHold = 120 * time.Millisecond
	calmRhythm  = 110 * time.Millisecond

	// calmAfter is how many packets must come before a path counts as one that loses nothing, and
	// calmAgain how many more once it has lost some.
	calmAfter = 64
	calmAgain = 1024

	// calmGap is below the distance of two numbers that are left out on purpose: two gaps that are
	// nearer show a loss.
	calmGap = skipEvery / 2
)

// rhythm is how regularly this side sends packets.
type rhythm struct {
	last  time.Duration // when one was sent
	every time.Duration // smoothed time between two; 0 when there is no rhythm
}

// note takes in a packet. There is no rhythm above the limit.
func (r *rhythm) note(now, limit time.Duration) {
	d := now - r.last
	if d < time.Millisecond {
		return // another packet of the same tick
	}
	r.last = now
	switch {
	case d > limit+limit/4:
		r.every = 0
	case r.every == 0:
		r.every = min(d, limit)
	default:
		r.every += (min(d, limit) - r.every) / 8
	}
}

// hold is how long an ack may wait for the next packet; 0 when none is to be expected.
func (r *rhythm) hold(now, limit time.Duration) time.Duration {
	if r.every == 0 || now-r.last > 2*limit {
		return 0
	}
	return r.every + r.every/4 + time.Millisecond
}

// calm tells whether the packets of the peer get through.
type calm struct {
	held    time.Duration // the longest that acks were held back lately
	missing uint16        // packets that must come until the path is calm: calmAgain or fewer
	gap     uint16        // packets since the last gap, up to calmGap
}

// packet takes in a packet; gap says that its number does not follow the one before.
func (m *calm) packet(gap bool) {
	m.missing, m.gap = m.missing-min(m.missing, 1), min(m.gap+1, calmGap)
	if gap {
		if m.gap < calmGap {
			m.missing = calmAgain
		}
		m.gap = 0
	}
}

// acked takes in how long an ack was held back.
func (m *calm) acked(delay time.Duration) { m.held = max(delay, m.held-m.held/64) }

// ackHold is how long an ack may wait now. On a calm path it grows by a fifth at a time beyond what
// it has been: the peer adds to its timeout what it has seen, and a quarter.
func (c *channel) ackHold(now, usual time.Duration) time.Duration {
	out, in := &c.out, &c.in
	hold := max(usual, min(out.data.hold(now, rhythmLimit), maxAckHold))
	if in.calm.missing > 0 || c.copying.level > 0 {
		return hold
	}
	held := max(usual, min(in.calm.held, maxCalmHold))
	return max(hold, min(out.any.hold(now, calmRhythm), maxCalmHold, held+held/5))
}
