package mercury

import "time"

const (
	// lateAtLeast is the first patience after packets were seen to overtake each other.
	lateAtLeast = 250 * time.Microsecond
	// lateHolds is how long a patience is kept after the last overtaking that needed it; then it halves.
	lateHolds = 10 * time.Second
)

// lateness decides how long a packet that was overtaken is waited for. As in RFC 8985 (RACK, 6.2) time of sending counts, not
// distance in numbers: a packet is lost once one sent no earlier was acked and as much time has passed since as packets on this path
// have been seen to overtake each other. On a path that keeps the order that is none at all.
type lateness struct {
	newest   uint64        // largest number acked so far, plus 1
	newestAt time.Duration // when that was sent
	ackedAt  time.Duration // when its ack came
	patience time.Duration
	seenAt   time.Duration // when patience was last needed
	lossAt   time.Duration // when the oldest overtaken packet is taken for lost; 0 for none
}

// due is when p, sent at that time and overtaken, is taken for lost.
func (l *lateness) due(at time.Duration) time.Duration {
	return l.ackedAt - (l.newestAt - at) + l.patience
}

// onAcked is called for each packet acked, also one that was taken for lost.
func (l *lateness) onAcked(now time.Duration, p *sentPacket, rtt *rttEstimate) {
	if p.number >= l.newest {
		l.newest, l.newestAt, l.ackedAt = p.number+1, p.at, now
		return
	}
	// It was overtaken and has come after all: by this much later than the one that overtook it.
	by := now - (l.ackedAt - (l.newestAt - p.at))
	if by <= 0 || now == l.ackedAt {
		return // acked together: only the ack was late
	}
	l.seenAt = now
	if want := max(by+by/4, lateAtLeast); want > l.patience {
		l.patience = min(want, max(rtt.smooth, lateAtLeast))
	}
}

// settle lets a patience that was not needed for a while fade.
func (l *lateness) settle(now time.Duration) {
	if l.patience > 0 && now-l.seenAt > lateHolds {
		l.seenAt = now
		if l.patience /= 2; l.patience < lateAtLeast {
			l.patience = 0
		}
	}
}

// detectLoss takes overtaken packets for lost that were waited for long enough.
func (c *channel) detectLoss(e *Endpoint) {
	out := &c.out
	l := &out.late
	l.lossAt = 0
	l.settle(e.now)
	for i := range out.sent.len() {
		p := out.sent.at(i)
		if p.number+1 >= l.newest {
			break
		}
		if p.state != inFlight {
			continue
		}
		if due := l.due(p.at); due <= e.now {
			c.onPacketLost(e, p)
		} else if l.lossAt == 0 || due < l.lossAt {
			l.lossAt = due
		}
	}
	c.dropSettled(e)
	c.checkPath(e)
	if c.pending(e) || c.paceAt == 0 && c.paced() {
		e.touch(c)
	}
}

const (
	// lossMemory is how many packets the measure of loss remembers at least.
	lossMemory = 1024
	// lossFloor is taken for the number of packets while there were fewer, so that one early loss is not much.
	lossFloor = 512
)

// lossMeter measures which share of the packets is lost, over the last one to two thousand.
type lossMeter struct{ decided, gone uint32 }

func (m *lossMeter) arrived() { m.add(0) }
func (m *lossMeter) lost()    { m.add(1) }

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
