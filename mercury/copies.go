package mercury

import (
	"time"

	"github.com/cellscape/cellscape/mercury/internal/congestion"
)

// This file sends short messages again before their loss is known.
//
// If a sender waits for evidence of a loss, a lost message arrives after one and a half round trips
// and an interval between messages at the earliest. If short messages are copied into the next one
// or two packets, they arrive only an interval later. That doubles or triples the bytes of such
// messages, but adds no packet. So it is done only while the path loses packets and has room; see
// copyPolicy.
const (
	// maxCopied is the longest segment that is copied. Copies of longer ones would crowd out new
	// messages.
	maxCopied = 400
	// DefaultCopies is the most copies of a message.
	DefaultCopies = 2
	// copyWait is the longest that a first copy waits for a packet to ride in: a loss that touches one
	// packet seldom touches another that much later, and a player notices no less.
	copyWait = 16 * time.Millisecond
	// ridesSoon is the rhythm up to which copies wait for the next message.
	ridesSoon = copyWait + copyWait/2
)

// roomForCopies reports whether the path has room for bytes that may not be needed: the game's
// messages do not wait, and no more is in flight than half of the window, or than the path has
// carried in one and a half round trips and the time that the peer may hold an ack. The window
// alone says little, since its floor is more than a narrow line carries.
func (c *channel) roomForCopies() bool {
	out := &c.out
	if out.streams[laneGame].unsent() > 1 || 2*int(out.flightBytes) >= out.rate.Window() {
		return false
	}
	least := out.rate.MinRTT()
	carried := congestion.PerTime(out.rate.Bottleneck(), least+least/2+maxAckHold)
	return int(out.flightBytes) <= int(min(carried, congestion.MaxWindow))+int(c.path.mtu)
}

// rider is a short segment to copy into the next packets.
type rider struct {
	seq     uint64
	left    int8
	overdue bool // it was sent again, and rides whether or not others are copied
}

// maxRiders bounds them: as many as a packet of a game's tick, with its resends, can bring.
const maxRiders = 4

// riders are the last short segments that were sent, oldest first.
type riders struct {
	list [maxRiders]rider
	n    int8
}

// add makes a segment a rider; the oldest gives way.
func (r *riders) add(x rider) {
	if r.n == maxRiders {
		copy(r.list[:], r.list[1:])
		r.n--
	}
	r.list[r.n] = x
	r.n++
}

// ride has copies made of a short segment that goes into a packet now, if it is to have any.
func (c *channel) ride(e *Endpoint, seq uint64, p *segment) {
	x := rider{seq: seq, left: c.copying.level, overdue: p.overdue}
	if p.overdue {
		p.overdue = false
		x.left = c.overdueCopies(e)
	}
	if x.left == 0 {
		return
	}
	if c.riders == nil {
		c.riders = new(riders)
	}
	c.riders.add(x)
	if every := c.out.data.every; every == 0 || every > ridesSoon {
		c.copyAt = e.now + copyWait
	}
}

// rides reports whether a rider may be copied now.
func (c *channel) rides(x *rider) bool { return x.overdue || c.copying.level > 0 }

// copiesRide reports whether copies may go into a packet.
func (c *channel) copiesRide() bool {
	if c.riders == nil {
		return false
	}
	for i := range c.riders.list[:c.riders.n] {
		if c.rides(&c.riders.list[i]) {
			return c.roomForCopies()
		}
	}
	return false
}

// copiesAlone reports whether copies are to go in a packet of their own.
func (c *channel) copiesAlone() bool {
	if !c.copyDue || !c.copiesRide() {
		return false
	}
	s := &c.out.streams[laneGame]
	for _, x := range c.riders.list[:c.riders.n] {
		if c.rides(&x) && x.seq >= s.first && x.seq < s.end() {
			if p := s.segments.at(int(x.seq - s.first)); !p.acked && !p.lost {
				return true
			}
		}
	}
	return false
}

// appendCopies copies unacked short segments into a packet.
func (c *channel) appendCopies(e *Endpoint, w *packetWriter) {
	c.copyDue = false
	r := c.riders
	kept := int8(0)
	for _, x := range r.list[:r.n] {
		if c.rides(&x) && c.appendCopy(e, w, x.seq) {
			x.left--
		}
		if x.left > 0 {
			r.list[kept] = x
			kept++
		}
	}
	r.n = kept
}

// appendCopy copies segment seq if needed, and reports whether its turn is over.
func (c *channel) appendCopy(e *Endpoint, w *packetWriter, seq uint64) bool {
	s := &c.out.streams[laneGame]
	if seq < s.first || seq >= s.end() {
		return true
	}
	p := s.segments.at(int(seq - s.first))
	if p.acked || p.lost {
		return true // it has arrived, or will be sent again by itself
	}
	if p.packet == w.record.number {
		return false // it is already in this packet
	}
	if w.record.count >= maxPacketSegments-1 || !w.segmentFits(seq, len(p.buf)) {
		return true
	}
	w.segment(laneGame, seq, p)
	e.stats.Copies++
	c.trouble().copied++
	return true
}
