package congestion

import "time"

const (
	// rateRounds is half of the number of rounds for which a sample counts. BBR takes ten for the
	// whole.
	rateRounds = 5
	// rateSpan is the least time for half of the filter: on a fast local path ten rounds are
	// shorter than one garbage collection.
	rateSpan = 100 * time.Millisecond
	// leastLife is how long the least round trip is believed without a sample near it.
	leastLife = 10 * time.Second
)

// Stamp is what a packet in flight remembers of the time when it was sent
// (draft-cheng-iccrg-delivery-rate-estimation).
type Stamp struct {
	delivered   uint64        // bytes acked then
	deliveredAt time.Duration // and when that was last counted
	firstSentAt time.Duration // beginning of the interval in which the sample's packets were sent
	path        uint8
	limited     bool // the application had nothing more to send
}

// Frame collects the packets that one ack frame acks. It begins empty, and is of no use after
// EndAck, so that a Model need not have one.
type Frame struct {
	prior    uint64        // delivered when the newest of them was sent
	priorAt  time.Duration // and when that was counted
	sendTook time.Duration // from the first packet of its sample to itself
	acked    int32         // bytes
	any      bool
	old      bool // acks packets of before a move
	limited  bool
}

// rateRound is one round trip: it ends with the ack of a packet that was sent after it began.
type rateRound struct {
	end        uint64        // a packet sent when this much was delivered ends it
	startAt    time.Duration // of its first ack
	least      time.Duration // round trip sample; 0 for none
	best       uint64        // sample, bytes/s
	lost       uint64        // bytes
	peak       int32         // most bytes in flight
	peakBefore int32         // and in the round before, whose packets this round acks
	valid      bool          // has a sample that the application did not limit
	queue      bool          // has a round trip sample that shows a queue
}

// OnSend stamps a packet of size bytes that leaves with inFlight others before it in flight.
func (m *Model) OnSend(now time.Duration, size, inFlight int, s *Stamp) {
	if inFlight == 0 {
		m.firstSentAt, m.deliveredAt = now, now
	}
	m.age(now)
	s.delivered, s.deliveredAt, s.firstSentAt = m.delivered, m.deliveredAt, m.firstSentAt
	m.round.peak = int32(max(int(m.round.peak), inFlight+size))
	s.path, s.limited = m.path, m.limitedUntil != 0
}

// OnAcked takes in one newly acked packet of an ack frame; EndAck follows the last of them.
func (m *Model) OnAcked(now, sentAt time.Duration, size int, s *Stamp, f *Frame) {
	m.delivered += uint64(size)
	m.deliveredAt = now
	if s.path != m.path {
		f.old = true
		return
	}
	f.acked += int32(size)
	if f.any && (s.delivered < f.prior || s.delivered == f.prior && sentAt <= m.firstSentAt) {
		return // an ack frame may name packets in any order: the newest counts
	}
	f.any = true
	f.prior, f.priorAt, f.sendTook, f.limited = s.delivered, s.deliveredAt, sentAt-s.firstSentAt, s.limited
	m.firstSentAt = sentAt
}

// EndAck draws the conclusions from an ack frame. rtt is the round trip of its newest packet
// without the peer's delay, 0 for none; inFlight is what remains in flight, in bytes. Without
// packets it takes in a round trip alone, such as the handshake's.
func (m *Model) EndAck(now, rtt time.Duration, inFlight int, f *Frame) {
	m.pacer.refill(now)
	resumed := m.limitedUntil != 0 && m.delivered > m.limitedUntil
	if resumed {
		m.limitedUntil = 0
	}
	if !f.any {
		if rtt > 0 && !f.old {
			m.takeRTT(now, rtt)
			m.derive()
		}
		return
	}
	m.age(now)
	if f.prior >= m.round.end {
		m.endRound(now)
		m.round = rateRound{end: m.delivered, startAt: now, peakBefore: m.round.peak, peak: int32(inFlight)}
	}
	if resumed {
		m.round.startAt = now // the acks before were of a trickle, not of a flight
	}
	if rtt > 0 {
		m.takeRTT(now, rtt)
	}
	m.takeSample(now, f)
	if m.phase == rateStartup {
		m.grow(now, rtt, int(f.acked))
	}
	m.step(now, rtt, inFlight)
	m.derive()
}

// takeSample turns an ack frame into a sample of the delivery rate.
func (m *Model) takeSample(now time.Duration, f *Frame) {
	took := max(f.sendTook, now-f.priorAt)
	if took <= 0 || took < m.least {
		return // acks that were held up somewhere and come in a heap
	}
	rate := mulDiv(m.delivered-f.prior, uint64(time.Second), uint64(took))
	if f.limited && rate < m.Bottleneck() {
		return
	}
	m.best[0] = max(m.best[0], rate)
	m.rateAt = now
	m.round.best = max(m.round.best, rate)
	m.round.valid = m.round.valid || !f.limited
}

// turnFilter forgets the older half of the samples in time.
func (m *Model) turnFilter(now time.Duration) {
	m.filterRounds = min(m.filterRounds+1, rateRounds)
	if m.filterRounds < rateRounds || now-m.filterAt < rateSpan {
		return
	}
	m.filterRounds, m.filterAt = 0, now
	m.best[0], m.best[1] = 0, m.best[0]
}

// takeRTT keeps the least round trip of leastLife.
func (m *Model) takeRTT(now, rtt time.Duration) {
	if m.round.least == 0 || rtt < m.round.least {
		m.round.least = rtt
	}
	m.round.queue = m.round.queue || m.least > 0 && m.queued(rtt)
	if m.recent == 0 || rtt < m.recent {
		m.recent = rtt
	}
	// A sample a little above confirms the least as well: noise would make it look old, and a look
	// costs rate.
	if m.least == 0 || rtt <= m.least+m.least/16 {
		if m.least == 0 || rtt < m.least {
			m.least = rtt
		}
		m.leastAt, m.recent = now, rtt
		return
	}
	if now-m.leastAt < leastLife {
		return
	}
	switch m.phase {
	case rateStartup, rateSettle, rateDrain:
		// startup's queue is no round trip, and rateSettle ends by itself
	default:
		if m.limitedUntil == 0 {
			m.enter(rateSettle)
			return
		}
	}
	if m.limitedUntil != 0 {
		m.least, m.leastAt, m.recent = m.recent, now, rtt // the path was not full: what came is what there is
	}
}

// queued reports whether a round trip of rtt shows a queue.
func (m *Model) queued(rtt time.Duration) bool {
	return rtt > m.least+max(m.least/8, queueSlack)
}
