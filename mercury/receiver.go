package mercury

import (
	"encoding/binary"
	"time"
)

// ackEvery is how many packets that ask for an ack may come before one is sent without delay, so
// that a fast sender can keep going.
const ackEvery = 8

// Buffers for long messages are an Endpoint's, since most channels see one such message in their life.
// It keeps a few for the next, up to a size.
const (
	keepAssembly   = 64 << 10
	keepAssemblies = 16
)

// receiver is the inward half of a channel.
type receiver struct {
	numbers    numberSet
	ackPending bool
	ackNow     bool
	ackWhole   bool  // a whole ack is due: the last one had room only for the newest runs
	ackCount   uint8 // packets since the last ack, up to ackEvery
	ackAt      time.Duration
	largestAt  time.Duration // when the newest packet came that asked for an ack: acks report their delay since then
	calm       calm

	streams [lanes]inStream
	hold    hold
}

// inStream is the inward half of a reliable stream.
//
// Reliable messages travel as one stream of bytes, each message after its length, cut into numbered
// segments of at most one packet. next is the first segment not received; held keeps those beyond
// it.
type inStream struct {
	next     uint64
	*backlog // nil while all came in order and whole
}

// backlog is what a stream has received and not delivered.
type backlog struct {
	held ring[heldSegment] // held.at(i) is segment next+i
	rest []byte            // of the segment before next, which a pause has cut short; nil for nothing

	assembly []byte // the beginning of a message longer than what was there of it
	want     int    // its full length; 0 when none is under way
}

// keep makes room for what cannot be delivered yet.
func (s *inStream) keep() *backlog {
	if s.backlog == nil {
		s.backlog = new(backlog)
	}
	return s.backlog
}

// holds is how many segments from next on are known of: held ones, and gaps before them.
func (s *inStream) holds() int {
	if s.backlog == nil {
		return 0
	}
	return s.held.len()
}

// forget gives back what b holds.
func (b *backlog) forget(e *Endpoint) {
	if b == nil {
		return
	}
	if b.rest != nil {
		e.release(b.rest)
	}
	for ; b.held.len() > 0; b.held.pop() {
		e.release(b.held.at(0).buf)
		b.held.at(0).drop(e)
	}
}

// heldSegment is a segment, or parts of one, beyond the first that is missing.
type heldSegment struct {
	buf    []byte   // nil while it is not whole
	pieces []*piece // parts that have come; they take only their own length, so a peer must send what it makes us hold
}

// piece is a part of a segment.
type piece struct {
	offset int
	buf    []byte
}

// gap reports whether something is missing before what has come.
func (r *receiver) gap() bool {
	return r.streams[laneGame].holds() > 0 || r.streams[laneBulk].holds() > 0
}

// wantAck notes that a packet asking for an ack has come. One out of order is acked at once if the
// streams wait for what is missing. If the content has come in another packet, there is no hurry. But
// on a path that was calm it does not wait for longer than usual: an ack of several runs may find
// no room beside a full segment, and that of the newest alone would look like a loss.
func (c *channel) wantAck(e *Endpoint, outOfOrder, calm bool) {
	in := &c.in
	in.ackCount = min(in.ackCount+1, ackEvery)
	if !in.ackPending {
		in.ackPending = true
		in.ackAt = e.now + c.ackHold(e.now, e.cfg.AckDelay)
	}
	if outOfOrder && calm {
		in.ackAt = min(in.ackAt, e.now+e.cfg.AckDelay)
	}
	if outOfOrder && in.gap() || in.ackCount >= ackEvery {
		in.ackNow = true
	}
	if in.ackNow {
		e.touch(c)
	}
}

// onSegment takes a segment or a part of one. Its bytes alias the datagram.
func (c *channel) onSegment(e *Endpoint, f *segmentFrame) error {
	s := &c.in.streams[f.lane]
	switch {
	case f.offset+len(f.bytes) > e.cfg.MTU && f.offset+len(f.bytes) > maxPeerSegment:
		return ErrProtocol
	case f.seq < s.next:
		return nil
	case f.seq-s.next >= uint64(e.cfg.Window):
		return ErrProtocol // the window was agreed on when the channel opened
	case f.seq > s.next || f.parts > 0 || c.in.hold.holding:
		c.hold(e, s, f)
		if f.seq > s.next || c.in.hold.holding {
			return nil
		}
	default:
		if err := c.advanceStream(e, f.lane, f.bytes); err != nil {
			return err
		}
	}
	return c.advanceHeld(e, f.lane)
}

// advanceHeld delivers the held segments that are next, until the app pauses the channel.
func (c *channel) advanceHeld(e *Endpoint, lane int) error {
	s := &c.in.streams[lane]
	for c.state == open && !c.in.hold.paused && s.holds() > 0 && s.held.at(0).buf != nil {
		p := s.held.at(0).buf
		s.held.at(0).buf = nil
		err := c.advanceStream(e, lane, p)
		e.release(p)
		if err != nil {
			return err
		}
	}
	return nil
}

// hold keeps a segment that is not the next, or a part.
func (c *channel) hold(e *Endpoint, s *inStream, f *segmentFrame) {
	i := int(f.seq - s.next)
	s.keep()
	for s.held.len() <= i {
		s.held.push()
	}
	slot := s.held.at(i)
	switch {
	case slot.buf != nil:
	case f.parts == 0:
		slot.buf = append(e.buffer(len(f.bytes)), f.bytes...)
		slot.drop(e)
	default:
		slot.take(e, f)
	}
}

// take keeps a part, and joins the parts once all have come. The first part decides how many there
// are.
func (h *heldSegment) take(e *Endpoint, f *segmentFrame) {
	if h.pieces == nil {
		h.pieces = make([]*piece, f.parts)
	}
	if int(f.parts) != len(h.pieces) || h.pieces[f.part] != nil {
		return
	}
	h.pieces[f.part] = &piece{f.offset, append(e.buffer(len(f.bytes)), f.bytes...)}
	size := 0
	for _, p := range h.pieces {
		if p == nil {
			return
		}
		size = max(size, p.offset+len(p.buf))
	}
	h.buf = e.buffer(size)[:size]
	clear(h.buf)
	for _, p := range h.pieces {
		copy(h.buf[p.offset:], p.buf)
	}
	h.drop(e)
}

// drop gives the parts back.
func (h *heldSegment) drop(e *Endpoint) {
	for _, p := range h.pieces {
		if p != nil {
			e.release(p.buf)
		}
	}
	h.pieces = nil
}

// advanceStream delivers what segment next completes.
func (c *channel) advanceStream(e *Endpoint, lane int, p []byte) error {
	s := &c.in.streams[lane]
	s.next++
	if s.holds() > 0 {
		s.held.at(0).drop(e) // parts of a segment that has come whole
		s.held.pop()
		s.held.shrink()
	}
	return c.takeMessages(e, lane, p)
}

// takeMessages takes the messages of a segment. If the app pauses the channel, the rest is kept.
func (c *channel) takeMessages(e *Endpoint, lane int, p []byte) (err error) {
	for len(p) > 0 && c.state == open {
		if c.in.hold.paused {
			c.in.streams[lane].keep().rest = append(e.buffer(len(p)), p...)
			return nil
		}
		if p, err = c.takeMessage(e, lane, p); err != nil {
			return err
		}
	}
	return nil
}

// takeMessage takes one message or a part of one from p and returns what follows.
func (c *channel) takeMessage(e *Endpoint, lane int, p []byte) ([]byte, error) {
	s := &c.in.streams[lane]
	if s.backlog != nil && s.want > 0 {
		n := min(s.want-len(s.assembly), len(p))
		s.assembly = append(s.assembly, p[:n]...)
		if len(s.assembly) == s.want {
			msg := s.assembly
			s.want, s.assembly = 0, nil
			c.deliver(e, lane, msg)
			e.assembled(msg)
		}
		return p[n:], nil
	}
	length, n := binary.Uvarint(p)
	if n <= 0 {
		return nil, ErrProtocol // a length is never cut by the sender
	}
	if length > uint64(e.cfg.MaxMessage) {
		return nil, ErrMessageTooLong
	}
	p = p[n:]
	if length > uint64(len(p)) {
		b := s.keep()
		b.want = int(length)
		b.assembly = append(e.assembly(), p...)
		return nil, nil
	}
	c.deliver(e, lane, p[:length:length])
	return p[length:], nil
}

// assembly is an empty buffer for a long message.
func (e *Endpoint) assembly() []byte {
	last := len(e.assemblies) - 1
	if last < 0 {
		return nil
	}
	b := e.assemblies[last]
	e.assemblies = e.assemblies[:last]
	return b
}

// assembled takes back the buffer of a message that was delivered.
func (e *Endpoint) assembled(b []byte) {
	if cap(b) <= keepAssembly && len(e.assemblies) < keepAssemblies {
		e.assemblies = append(e.assemblies, b[:0])
	}
}

// deliver passes one reliable message to the app, unless it has closed the channel.
func (c *channel) deliver(e *Endpoint, lane int, msg []byte) {
	if c.condemned || c.state != open {
		return
	}
	if lane == laneGame {
		e.stats.MessagesIn++
		e.handler.Message(e.now, c.id, true, msg)
	} else if h, ok := e.handler.(BulkHandler); ok {
		e.stats.MessagesIn++
		h.Bulk(e.now, c.id, msg)
	}
}

// deliverUnreliable passes one unreliable message to the app.
func (c *channel) deliverUnreliable(e *Endpoint, msg []byte) {
	if c.condemned || c.state != open {
		return
	}
	if c.in.hold.paused {
		e.stats.UnreliablePaused++
		return
	}
	e.stats.MessagesIn++
	e.handler.Message(e.now, c.id, false, msg)
}
