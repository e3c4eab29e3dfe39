package mercury

import (
	"math"
	"time"

	"github.com/cellscape/cellscape/mercury/internal/congestion"
)

const (
	// maxPacketSegments is the number of segments in one packet: more than one only when short ones
	// are sent again, early or late.
	maxPacketSegments = 6
	// maxUnreliableQueued bounds the bytes of unreliable messages that wait for one Flush or for a
	// dial. It is what a server in a crowd sends in one tick for 500 players, 4 KB each. More would
	// be out of date before it is sent.
	maxUnreliableQueued = 2 << 20
	// maxProbeSegments bounds what one timeout sends again; the ack of a probe tells what of the
	// rest is lost.
	maxProbeSegments = 4
	// maxBackoff bounds the doubling of the timeout before MaxRTO bounds it again.
	maxBackoff = 6
	// gameReserve is how many packets the game's stream may have in flight above the window, and
	// send above the pace, so that a tick's messages never wait behind bulk.
	gameReserve = 10
)

// segmentRef names what a packet carried: the number of a segment, its stream, and the part if it
// was one.
//
//	bits  0-47 number   48-51 part   52-55 parts, 0 for a whole   63 stream
type segmentRef uint64

func makeRef(lane int, seq uint64, part, parts uint8) segmentRef {
	return segmentRef(seq | uint64(part)<<48 | uint64(parts)<<52 | uint64(lane)<<63)
}

func (r segmentRef) lane() int    { return int(r >> 63) }
func (r segmentRef) seq() uint64  { return uint64(r) & maxNumber }
func (r segmentRef) part() uint8  { return uint8(r>>48) & 15 }
func (r segmentRef) parts() uint8 { return uint8(r>>52) & 15 }

// packetState is what is known of a packet that asked for an ack.
type packetState uint8

const (
	inFlight packetState = iota
	arrived
	lost // considered lost; may still turn out to have arrived
)

// sentPacket is a packet that asked for an ack.
type sentPacket struct {
	number   uint64
	at       time.Duration
	reported uint64 // largest number that its ack frame reported, plus 1; 0 when it had none
	stamp    congestion.Stamp
	refs     [maxPacketSegments]segmentRef
	tag      uint64 // its last bytes, by which a reset that answers it is recognised
	size     uint16
	count    uint8
	state    packetState
	closes   bool // carried a close
	resume   bool // carried the end of a pause
	channel  bool // carried the acceptor's channel
	ticket   bool // carried a ticket
	search   bool // was padded to try a larger MTU
	copies   bool // was sent while short segments were copied
}

// unreliableMessage waits for the next Flush.
type unreliableMessage struct {
	buf   []byte
	after uint64 // the game's segment with the reliable messages before it is below this number
}

// sender is the outward half of a channel.
type sender struct {
	streams [lanes]outStream

	unreliable ring[unreliableMessage]

	number uint64 // of the next packet
	skips  skips
	sent   ring[sentPacket]
	acked  uint64 // largest acked number plus 1
	pause  uint64 // number of the last pause of the peer, or of its end

	unreliableBytes int32  // up to maxUnreliableQueued
	inFlight        int32  // packets of sent in flight
	flightBytes     int32  // their bytes: congestion.MaxWindow, and a reserve
	window          uint16 // the peer's, in segments of a stream
	backoff         uint8
	probes          uint8 // packets that may be sent beyond the window

	rtt       congestion.RTT
	rate      congestion.Model
	scavenger *congestion.Scavenger // nil while there was no bulk
	losses    congestion.LossMeter
	late      lateness
	peerDelay delayMeter

	timerFrom  time.Duration // what the timeout is counted from
	progressAt time.Duration // awake time of the last ack of something new

	data rhythm // of packets with a reliable message
	any  rhythm // of packets with any message but bulk
}

// onAck takes an ack.
func (c *channel) onAck(e *Endpoint, a *ack) error {
	out := &c.out
	largest := a.ranges[0].hi
	if largest >= out.number || out.skips.acked(a.ranges) {
		return ErrFutureAck
	}
	if a.complete {
		for i := range out.streams {
			if a.cumulative[i] > out.streams[i].end() {
				return ErrFutureAck
			}
		}
	}
	progress := false
	var sample time.Duration
	var frame congestion.Frame
	for i := len(a.ranges) - 1; i >= 0; i-- {
		for j := out.find(a.ranges[i].lo); j < out.sent.len(); j++ {
			p := out.sent.at(j)
			if p.number > a.ranges[i].hi {
				break
			}
			if p.state == arrived {
				continue
			}
			progress = true
			if p.number >= out.acked && p.at >= e.jumped && out.isNewest(j, largest) {
				sample = out.rtt.Sample(e.now-p.at, a.delay)
			}
			if c.onPacketAcked(e, p, &frame) {
				return nil
			}
		}
	}
	if a.complete {
		c.settleBelow(e, a.cumulative)
	}
	for i := range out.streams {
		out.streams[i].trim()
	}
	out.acked = max(out.acked, largest+1)
	if progress {
		out.peerDelay.note(a.delay)
		out.rate.EndAck(e.now, sample, int(out.flightBytes), &frame)
		c.copying.sampled(e.now, sample, out.rtt.Smooth)
		c.scavenge(sample)
		out.backoff, out.probes = 0, 0
		out.timerFrom, out.progressAt = e.now, e.awake
	}
	c.detectLoss(e)
	return nil
}

// bulk is the window of bulk, made with its first use.
func (s *sender) bulk() *congestion.Scavenger {
	if s.scavenger == nil {
		s.scavenger = new(congestion.Scavenger)
	}
	return s.scavenger
}

// scavenge updates the window of bulk after an ack.
func (c *channel) scavenge(rtt time.Duration) {
	out := &c.out
	least, path := 0, out.rate.MinRTT()
	if out.rate.Found() {
		carried := int(min(out.rate.Bottleneck(), congestion.MaxWindow)) / 8 * 7
		least = int(int64(carried) * int64(min(path, time.Second)) / int64(time.Second))
	}
	out.scavenger.OnAck(rtt, out.acked, out.number, int(c.path.mtu), path, least, out.rate.Window())
}

// settleBelow settles the segments that have come without a gap, whatever packets they came in.
func (c *channel) settleBelow(e *Endpoint, cumulative [lanes]uint64) {
	for i := range c.out.streams {
		s := &c.out.streams[i]
		for seq := s.first; seq < cumulative[i]; seq++ {
			s.settle(e, seq, 0, 0)
		}
	}
}

// isNewest reports whether the packet at an index was the newest of those in sent when the one with
// the number largest left. What that one is itself says nothing: it may be of unreliable messages,
// which are not in sent. (Round trips used to be taken from that one alone. Beside many unreliable
// messages there were none any more, and a channel that a bad time had made slow never heard that
// the path was good.)
func (s *sender) isNewest(i int, largest uint64) bool {
	return i+1 == s.sent.len() || s.sent.at(i+1).number > largest
}

// find is the index of the first packet in sent with number n or more.
func (s *sender) find(n uint64) int {
	lo, hi := 0, s.sent.len()
	for lo < hi {
		if mid := (lo + hi) / 2; s.sent.at(mid).number < n {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// onPacketAcked settles what p carried; true if that ended the channel.
func (c *channel) onPacketAcked(e *Endpoint, p *sentPacket, f *congestion.Frame) (ended bool) {
	out := &c.out
	switch p.state {
	case inFlight:
		out.inFlight--
		out.flightBytes -= int32(p.size)
		c.noteArrived(p)
		out.rate.OnAcked(e.now, p.at, int(p.size), &p.stamp, f)
	case lost:
		c.noteRegained(p)
		out.rate.OnSpurious(int(p.size))
		e.stats.Spurious++
		c.trouble().spurious++
	}
	out.late.onAcked(e.now, p, &out.rtt)
	p.state = arrived
	for _, r := range p.refs[:p.count] {
		out.streams[r.lane()].settle(e, r.seq(), r.part(), r.parts())
	}
	if p.reported > 0 {
		c.in.numbers.settled(p.reported - 1)
	}
	if c.path.onAcked(p, &e.cfg) {
		out.rate.SetMTU(int(c.path.mtu))
	}
	if p.channel && !c.introduced {
		c.introduced = true
		e.touch(c) // a ticket and the search for a longer datagram wait for this
	}
	if p.ticket {
		c.ticketArrived()
	}
	if p.closes {
		e.end(c, nil, false)
		return true
	}
	return false
}

// noteArrived tells the meters of loss about a packet. Packets sent to the peer's former address
// say nothing about this path.
func (c *channel) noteArrived(p *sentPacket) {
	if p.number >= c.path.from {
		c.out.losses.Arrived()
		c.copying.arrived(p)
	}
}

// noteRegained takes back that a packet was lost.
func (c *channel) noteRegained(p *sentPacket) {
	if p.number >= c.path.from {
		c.out.losses.Regained()
		c.copying.regained(p)
	}
}

// noteLost tells the meters of loss about a lost packet.
func (c *channel) noteLost(e *Endpoint, p *sentPacket, follows bool) {
	if p.number >= c.path.from {
		c.out.losses.Lost()
		c.copying.lost(p, follows, e.cfg.copies())
	}
}

// onPacketLost marks what p carried for sending again. follows means that the packet before it is
// lost, too.
func (c *channel) onPacketLost(e *Endpoint, p *sentPacket, follows bool) {
	out := &c.out
	p.state = lost
	out.inFlight--
	out.flightBytes -= int32(p.size)
	if p.closes {
		c.closeSent = false
	}
	if c.path.onLost(p, &e.cfg) {
		return // a probe of the path says nothing about its load
	}
	e.stats.Lost++
	c.trouble().lost++
	if e.monitor != nil {
		e.monitor.PacketLost(e.now, PacketInfo{Peer: c.peer.At, Kind: PacketData, Channel: c.id, Number: p.number, Size: int(p.size)})
	}
	c.noteLost(e, p, follows)
	out.rate.OnLost(e.now, int(p.size), &p.stamp)
	for _, r := range p.refs[:p.count] {
		out.streams[r.lane()].resend(r.seq(), p.number, r.part(), r.parts())
	}
	if p.ticket && c.guest != nil && c.guest.ticket != nil {
		c.guest.due = true
		e.touch(c)
	}
	if p.resume && !c.in.hold.holding {
		c.in.hold.resumeDue = true
		e.touch(c)
	}
}

// dropSettled removes packets whose fate is known from the front of sent. One considered lost stays
// for a while, so that a late ack shows that the patience was too short.
func (c *channel) dropSettled(e *Endpoint) {
	out := &c.out
	for out.sent.len() > 0 {
		p := out.sent.at(0)
		if p.state == inFlight {
			break
		}
		if p.state == lost && e.now < p.at+3*out.rtt.Timeout() && out.sent.len() <= 2*e.cfg.Window {
			break
		}
		out.sent.pop()
	}
	out.sent.shrink()
}

// timeoutAt is when the oldest packets are sent again if nothing is acked.
func (s *sender) timeoutAt(e *Endpoint) time.Duration {
	rto := max(s.rtt.Timeout()+s.peerDelay.most(e.cfg.AckDelay), e.cfg.MinRTO) << min(s.backoff, maxBackoff)
	return s.timerFrom + min(rto, e.cfg.MaxRTO)
}

// probe reacts to a timeout: it sends the oldest segments in flight again, or a ping, whatever the
// window. The ack shows which of the others are lost.
func (c *channel) probe(e *Endpoint) {
	out := &c.out
	if out.backoff < math.MaxUint8 {
		out.backoff++
	}
	if out.backoff > 1 {
		out.rate.OnSilence(e.now)
		if c.path.onSilence(e.now, int(out.backoff), &e.cfg) {
			out.rate.SetMTU(int(c.path.mtu))
		}
	}
	out.timerFrom = e.now
	out.probes = 2
	c.ping = true
	c.closeSent = false
	oldest := e.now - out.rtt.Timeout()
	first := true
	for i, n := 0, 0; i < out.sent.len() && n < maxProbeSegments; i++ {
		p := out.sent.at(i)
		if p.state != inFlight || !first && p.at > oldest {
			continue // known, or its ack may well be under way
		}
		for _, r := range p.refs[:p.count] {
			out.streams[r.lane()].resend(r.seq(), p.number, r.part(), r.parts())
			n++
		}
		first = false
	}
}

// loseAll marks every packet in flight as lost: the pass was refused, so the peer has read none.
func (c *channel) loseAll() {
	out := &c.out
	c.closeSent = false
	for i := range out.sent.len() {
		p := out.sent.at(i)
		if p.state != inFlight {
			continue
		}
		p.state = lost
		out.inFlight--
		out.flightBytes -= int32(p.size)
		for _, r := range p.refs[:p.count] {
			out.streams[r.lane()].resend(r.seq(), p.number, r.part(), r.parts())
		}
	}
}

// empty reports whether all that was sent reliably has been acked.
func (s *sender) empty() bool {
	return s.streams[laneGame].empty() && s.streams[laneBulk].empty()
}
