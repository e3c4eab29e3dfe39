package mercurytest

import (
	"encoding/binary"
	"math"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

const (
	cubicDatagram = 1400 // bytes
	cubicHeader   = 8    // the number of the datagram
	cubicWindow   = 10   // datagrams, the first window (RFC 6928)
	cubicGap      = 3    // datagrams acked behind one that is missing, which then counts as lost (RFC 5681)
	cubicC        = 0.4  // growth, and
	cubicBeta     = 0.7  // what remains after a loss (RFC 9438)
	cubicRTO      = time.Second
)

// Cubic is a download that shares the way with what is tested: it sends all that it may, and fills
// the queue until that drops something, as most of the Internet does (RFC 9438, without its finer
// points: an ack a datagram, nothing sent again). It is a Node, as is its peer, a CubicSink.
type Cubic struct {
	self, peer netip.AddrPort

	now     time.Duration
	next    uint64 // number of the next datagram
	acked   uint64 // largest acked plus 1
	flying  map[uint64]time.Duration
	oldest  uint64 // none below is in flight
	heardAt time.Duration

	window, most float64       // datagrams; most is the window at the last loss
	slow         bool          // slow start is over
	lossAt       time.Duration // beginning of this epoch
	recovered    uint64        // losses of datagrams below this have been answered
	srtt         time.Duration
	lost         int
}

// NewCubic makes the sender at one place of a download to another.
func NewCubic(self, peer netip.AddrPort) *Cubic {
	return &Cubic{self: self, peer: peer, window: cubicWindow, flying: make(map[uint64]time.Duration)}
}

// Acked is the bytes that have arrived, as far as the sender knows; Lost the datagrams that have
// not.
func (c *Cubic) Acked() (bytes, lost int) {
	return (int(c.next) - len(c.flying) - c.lost) * (cubicDatagram + PacketOverhead), c.lost
}

// Self implements Node.
func (c *Cubic) Self() mercury.Address { return mercury.Address{At: c.self} }

// Receive implements Node: an ack of one datagram.
func (c *Cubic) Receive(now time.Duration, _ netip.AddrPort, datagram []byte) {
	if len(datagram) != cubicHeader {
		return
	}
	c.now, c.heardAt = now, now
	n := binary.LittleEndian.Uint64(datagram)
	at, flying := c.flying[n]
	if !flying {
		return
	}
	delete(c.flying, n)
	c.acked = max(c.acked, n+1)
	if took := now - at; c.srtt == 0 {
		c.srtt = took
	} else {
		c.srtt += (took - c.srtt) / 8
	}
	for ; c.oldest+cubicGap < c.acked; c.oldest++ {
		if _, missing := c.flying[c.oldest]; missing {
			delete(c.flying, c.oldest)
			c.onLost(c.oldest)
		}
	}
	c.grow()
}

func (c *Cubic) onLost(n uint64) {
	c.lost++
	if n < c.recovered {
		return
	}
	c.recovered, c.lossAt, c.slow = c.next, c.now, true
	c.most = c.window
	c.window = max(2, c.window*cubicBeta)
}

func (c *Cubic) grow() {
	if !c.slow {
		c.window++
		return
	}
	k := math.Cbrt(c.most * (1 - cubicBeta) / cubicC)
	t := (c.now - c.lossAt + c.srtt).Seconds() - k
	if want := cubicC*t*t*t + c.most; want > c.window {
		c.window += min((want-c.window)/c.window, 0.5)
	}
	c.window += 0.1 / c.window // no slower than Reno by much
}

// Advance implements Node: when nothing is heard any more all is taken for lost.
func (c *Cubic) Advance(now time.Duration) {
	c.now = now
	if len(c.flying) > 0 && now-c.heardAt >= cubicRTO {
		c.lost += len(c.flying)
		clear(c.flying)
		c.oldest, c.recovered, c.heardAt = c.next, c.next, now
		c.most, c.window, c.slow, c.lossAt = c.window, 2, true, now
	}
}

// Flush implements Node.
func (c *Cubic) Flush(now time.Duration, emit func(to netip.AddrPort, datagram []byte)) {
	for len(c.flying) < int(c.window) {
		if len(c.flying) == 0 {
			c.heardAt = now
		}
		c.flying[c.next] = now
		emit(c.peer, binary.LittleEndian.AppendUint64(make([]byte, 0, cubicDatagram), c.next)[:cubicDatagram])
		c.next++
	}
}

// NextDeadline implements Node.
func (c *Cubic) NextDeadline() (time.Duration, bool) {
	if len(c.flying) < int(c.window) {
		return c.now, true
	}
	return c.heardAt + cubicRTO, true
}

// CubicSink is the receiving end of a Cubic, at a place. It acks each datagram.
type CubicSink struct {
	At   netip.AddrPort
	acks [][cubicHeader]byte
	to   netip.AddrPort
	now  time.Duration
}

// Self implements Node.
func (s *CubicSink) Self() mercury.Address { return mercury.Address{At: s.At} }

// Receive implements Node.
func (s *CubicSink) Receive(now time.Duration, from netip.AddrPort, datagram []byte) {
	if len(datagram) == cubicDatagram {
		s.now, s.to = now, from
		s.acks = append(s.acks, [cubicHeader]byte(datagram))
	}
}

// Advance implements Node.
func (s *CubicSink) Advance(now time.Duration) { s.now = now }

// Flush implements Node.
func (s *CubicSink) Flush(_ time.Duration, emit func(to netip.AddrPort, datagram []byte)) {
	for i := range s.acks {
		emit(s.to, s.acks[i][:])
	}
	s.acks = s.acks[:0]
}

// NextDeadline implements Node.
func (s *CubicSink) NextDeadline() (time.Duration, bool) { return s.now, len(s.acks) > 0 }
