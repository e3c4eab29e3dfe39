package mercury

import (
	"encoding/binary"
	"time"
)

const (
	// packetThreshold is how many packets later an ack must be before one without is taken for lost (RFC 9002, 6.1.1).
	packetThreshold = 3
	// maxPacketSegments is the number of segments in one packet: more than one only when short ones are sent again.
	maxPacketSegments = 4
	// maxUnreliableQueued is what unreliable messages may wait for one Flush, or for a dial: more is out of date before it is sent.
	maxUnreliableQueued = 256 << 10
	// initialRTT and its spread are believed until the first measure: twice the round trip between data centres near each other.
	initialRTT = 50 * time.Millisecond
	// maxLengthSize is what must be free in a segment for the length of a message to begin there.
	maxLengthSize = 4
	// maxProbeSegments bounds what one timeout sends again; the ack of a probe tells what of the rest is lost.
	maxProbeSegments = 4
	// maxBackoff bounds the doubling of the timeout before MaxRTO bounds it again.
	maxBackoff = 6
)

// segment is a piece of the reliable stream.
type segment struct {
	buf    []byte
	packet uint64 // number of the packet that carried it last
	lost   bool   // that packet is taken for lost
	acked  bool
}

// sentPacket is a packet that asked for an ack and has not got it.
type sentPacket struct {
	number   uint64
	at       time.Duration
	reported uint64 // largest number that its ack frame reported, plus 1; 0 when it had none
	segments [maxPacketSegments]uint64
	count    uint8
	closes   bool
	done     bool // acked or taken for lost
}

// sender is the outward half of a channel.
//
// segments holds the reliable stream from the oldest unacked segment (number first) on; the first sentCount of them
// have been sent. The last may still be open for more messages, until it is sent.
type sender struct {
	segments  ring[segment]
	first     uint64
	sentCount int
	queued    int // bytes in segments not yet sent
	lostCount int
	lostFrom  uint64 // no lost segment lies below

	unreliable      ring[[]byte]
	unreliableBytes int

	number   uint64 // of the next packet
	sent     ring[sentPacket]
	inFlight int    // of sent, not done
	acked    uint64 // largest acked number plus 1
	window   int    // the peer's

	rtt        rttEstimate
	congestion congestion
	lossAt     time.Duration // when the oldest packet below acked is taken for lost; 0 for none
	timerFrom  time.Duration // what the timeout is counted from
	backoff    int
	probes     int // packets that may be sent beyond the congestion window
	ping       bool
}

// queue cuts msg into segments at the end of the stream.
func (c *channel) queue(e *Endpoint, msg []byte) {
	out := &c.out
	limit := e.maxSegment()
	tail := out.tail()
	if tail == nil || limit-len(tail.buf) < maxLengthSize {
		tail = out.addSegment(e)
	}
	before := len(tail.buf)
	tail.buf = binary.AppendUvarint(tail.buf, uint64(len(msg)))
	out.queued += len(tail.buf) - before
	for len(msg) > 0 {
		if len(tail.buf) == limit {
			tail = out.addSegment(e)
		}
		n := min(limit-len(tail.buf), len(msg))
		tail.buf = append(tail.buf, msg[:n]...)
		out.queued += n
		msg = msg[n:]
	}
}

// tail is the segment that may still be added to.
func (s *sender) tail() *segment {
	if s.sentCount == s.segments.len() {
		return nil
	}
	return s.segments.at(s.segments.len() - 1)
}

func (s *sender) addSegment(e *Endpoint) *segment {
	p := s.segments.push()
	p.buf = e.buffer()
	return p
}

// settle marks segment seq as received by the peer.
func (s *sender) settle(e *Endpoint, seq uint64) {
	if seq < s.first {
		return
	}
	p := s.segments.at(int(seq - s.first))
	if p.acked {
		return
	}
	p.acked = true
	if p.lost {
		p.lost = false
		s.lostCount--
	}
	e.release(p.buf)
	p.buf = nil
}

// trim drops settled segments from the front.
func (s *sender) trim() {
	for s.sentCount > 0 && s.segments.at(0).acked {
		s.segments.pop()
		s.first++
		s.sentCount--
	}
}

// onAck takes in what the peer reports.
func (c *channel) onAck(e *Endpoint, a *ack) error {
	out := &c.out
	largest := a.ranges[0].hi
	if largest >= out.number || a.cumulative > out.first+uint64(out.sentCount) {
		return ErrProtocol // acked what was never sent
	}
	progress := false
	r := 0
	for i := out.sent.len() - 1; i >= 0; i-- {
		p := out.sent.at(i)
		for r < len(a.ranges) && a.ranges[r].lo > p.number {
			r++
		}
		if r == len(a.ranges) {
			break
		}
		if p.done || p.number > a.ranges[r].hi {
			continue
		}
		progress = true
		if p.number == largest && p.at >= e.jumped {
			out.rtt.sample(e.now-p.at, a.delay)
		}
		if c.onPacketAcked(e, p) {
			return nil
		}
	}
	for seq := out.first; seq < a.cumulative; seq++ {
		out.settle(e, seq)
	}
	out.trim()
	out.acked = max(out.acked, largest+1)
	if progress {
		out.backoff, out.probes = 0, 0
		out.timerFrom = e.now
	}
	c.detectLoss(e)
	return nil
}

// onPacketAcked settles what p carried; true when that ended the channel.
func (c *channel) onPacketAcked(e *Endpoint, p *sentPacket) (ended bool) {
	out := &c.out
	p.done = true
	out.inFlight--
	out.congestion.onAck(p.number, out.window)
	for _, seq := range p.segments[:p.count] {
		out.settle(e, seq)
	}
	if p.reported > 0 {
		c.in.numbers.settled(p.reported - 1)
	}
	if p.closes {
		e.end(c, nil, false)
		return true
	}
	return false
}

// detectLoss takes packets for lost that were overtaken by packetThreshold others, or by one for longer than
// packets overtake each other.
func (c *channel) detectLoss(e *Endpoint) {
	out := &c.out
	out.lossAt = 0
	patience := out.rtt.reorderTime()
	for i := range out.sent.len() {
		p := out.sent.at(i)
		if p.number+1 >= out.acked {
			break
		}
		if p.done {
			continue
		}
		if p.number+1+packetThreshold <= out.acked || p.at+patience <= e.now {
			c.onPacketLost(e, p)
		} else if out.lossAt == 0 || p.at+patience < out.lossAt {
			out.lossAt = p.at + patience
		}
	}
	for out.sent.len() > 0 && out.sent.at(0).done {
		out.sent.pop()
	}
	if c.pending(e) {
		e.touch(c)
	}
}

func (c *channel) onPacketLost(e *Endpoint, p *sentPacket) {
	out := &c.out
	p.done = true
	out.inFlight--
	e.stats.Lost++
	if p.closes {
		c.closeSent = false
	}
	again := false
	for _, seq := range p.segments[:p.count] {
		again = out.resend(seq, p.number) || again
	}
	if again {
		out.congestion.onLoss(p.number, out.number)
	}
}

// resend marks segment seq for sending again, if packet number was the last to carry it.
func (s *sender) resend(seq, number uint64) bool {
	if seq < s.first {
		return false
	}
	p := s.segments.at(int(seq - s.first))
	if p.acked || p.lost || p.packet != number {
		return false
	}
	p.lost = true
	if s.lostCount == 0 || seq < s.lostFrom {
		s.lostFrom = seq
	}
	s.lostCount++
	return true
}

// timeoutAt is when the oldest packets are sent again although nothing was acked.
func (s *sender) timeoutAt(e *Endpoint) time.Duration {
	rto := s.rtt.timeout() + e.cfg.AckDelay // the peer is taken to be set up like this side
	rto = max(rto, e.cfg.MinRTO) << min(s.backoff, maxBackoff)
	return s.timerFrom + min(rto, e.cfg.MaxRTO)
}

// probe answers a timeout: the oldest segments in flight go out again, or a ping, whatever the congestion window says. The
// ack of it shows which of the others are lost.
func (c *channel) probe(e *Endpoint) {
	out := &c.out
	out.backoff++
	out.timerFrom = e.now
	out.probes = 2
	out.ping = true
	c.closeSent = false
	late := e.now - out.rtt.timeout()
	first := true
	for i, n := 0, 0; i < out.sent.len() && n < maxProbeSegments; i++ {
		p := out.sent.at(i)
		if p.done || !first && p.at > late {
			continue // done with, or an ack of it may well be under way
		}
		for _, seq := range p.segments[:p.count] {
			out.resend(seq, p.number)
			n++
		}
		first = false
	}
}
