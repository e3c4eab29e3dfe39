package mercury

import "time"

const (
	// lossMemory is how many packets the measure of loss remembers at least.
	lossMemory = 1024
	// lossFloor is taken for the number of packets while there were fewer, so that one early loss is not much.
	lossFloor = 512
)

// lossMeter measures which share of the packets is lost, over the last one to two thousand.
type lossMeter struct{ decided, gone uint32 }

func (m *lossMeter) arrived() { m.add(0) }

func (m *lossMeter) lost() { m.add(1) }

// regained takes a loss back.
func (m *lossMeter) regained() {
	if m.gone > 0 {
		m.gone--
	}
}

func (m *lossMeter) add(gone uint32) {
	m.decided++
	m.gone += gone
	if m.decided >= 2*lossMemory {
		m.decided /= 2
		m.gone = (m.gone + 1) / 2
	}
}

// perMyriad is the loss in hundredths of a percent.
func (m *lossMeter) perMyriad() int { return int(m.gone) * 10000 / int(max(m.decided, lossFloor)) }

// delayMeter remembers how long the peer has held acks back of late: no timer may run out before an ack that is on its way.
type delayMeter struct {
	now, before time.Duration // most in this window and the one before
	count       int           // acks in this window
	known       bool
}

// delayWindow is the number of acks over which the most is taken.
const delayWindow = 64

func (m *delayMeter) note(d time.Duration) {
	m.now = max(m.now, d)
	if m.count++; m.count == delayWindow {
		m.before, m.now, m.count, m.known = m.now, 0, 0, true
	}
}

// most is how long an ack may be held back: a quarter more than has been seen, and at least what every peer may take.
// Before enough has been seen it is the most that any sound peer takes.
func (m *delayMeter) most(usual time.Duration) time.Duration {
	if !m.known {
		return max(usual, maxAckHold)
	}
	d := max(m.now, m.before)
	return max(d+d/4, usual)
}
