package mercury

import "time"

// delayMeter remembers how long the peer has held acks back lately, so that no timer runs out while
// an ack is on its way.
type delayMeter struct {
	now, before time.Duration // the most in this window and in the one before
	count       uint8         // acks in this window
	known       bool
}

// delayWindow is the number of acks in a window.
const delayWindow = 64

func (m *delayMeter) note(d time.Duration) {
	m.now = max(m.now, d)
	if m.count++; m.count == delayWindow {
		m.before, m.now, m.count, m.known = m.now, 0, 0, true
	}
}

// most is how long an ack may be held back: a quarter more than was seen, and at least what every
// peer may take. Before enough acks were seen, it is the most that any sound peer takes.
func (m *delayMeter) most(usual time.Duration) time.Duration {
	if !m.known {
		return max(usual, maxAckHold, m.now+m.now/4)
	}
	d := max(m.now, m.before)
	return max(d+d/4, usual)
}
