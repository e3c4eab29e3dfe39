package mercury

import (
	"encoding/binary"
	"net/netip"
)

// sendPacket builds one packet from what waits, and emits it; false if nothing waited.
func (c *channel) sendPacket(e *Endpoint, emit func(netip.AddrPort, []byte)) bool {
	out := &c.out
	if !c.pending(e) {
		return false
	}
	if out.number >= maxNumber {
		e.fail(c, ErrProtocol)
		return false
	}
	w := c.beginPacket(e)
	game, bulk, copies := c.maySend(e, laneGame), c.maySend(e, laneBulk), c.copiesAlone()
	c.appendAck(e, &w, game || bulk || copies || out.unreliable.len() > 0)
	c.appendControl(e, &w)
	game = game && !c.unreliableFirst(&w)
	if game {
		c.appendLost(e, &w, laneGame)
		c.appendNew(e, &w, laneGame)
		out.data.note(e.now, rhythmLimit)
	}
	if game || out.unreliable.len() > 0 {
		out.any.note(e.now, calmRhythm)
	}
	c.appendUnreliable(e, &w)
	if copies || w.last > 0 && c.copiesRide() {
		c.appendCopies(e, &w) // last, so that they do not push anything into another packet
	}
	if bulk {
		before := len(w.b)
		c.appendLost(e, &w, laneBulk)
		c.appendNew(e, &w, laneBulk)
		out.scavenger.Spend(len(w.b) - before)
	}
	if c.ping && !w.eliciting {
		w.b = append(w.b, byte(framePing))
		w.last, w.eliciting = 0, true
	}
	c.ping = false
	if out.probes > 0 {
		out.probes--
	}
	w.finish(c.trailer(e), 0)
	c.emitPacket(e, &w, c.peer.At, emit)
	return true
}

// appendAck appends an ack if one is owed, since it is free in a packet that goes out anyway.
// Beside other frames there is room only for a short one.
func (c *channel) appendAck(e *Endpoint, w *packetWriter, beside bool) {
	in := &c.in
	if !in.ackPending && !in.ackWhole || len(in.numbers.runs) == 0 {
		in.ackPending, in.ackNow, in.ackWhole = false, false, false
		return
	}
	if in.hold.holding && w.free() >= pauseFrameSize+ackFixed {
		w.b = c.appendPause(w.b)
	}
	room := w.free()
	if beside {
		room = min(room, max(ackReserve, min(ackRoom, room-segmentOverhead-c.nextSize())))
	}
	if room < ackFixed {
		return
	}
	cumulative := [lanes]uint64{in.streams[laneGame].next, in.streams[laneBulk].next}
	b, whole := appendAck(w.b, &in.numbers, e.now-in.largestAt, cumulative, room)
	in.calm.acked(e.now - in.largestAt)
	w.b, w.last = b, 0
	in.ackWhole = beside && !whole
	in.ackPending, in.ackNow, in.ackCount = false, false, 0
	largest, _ := in.numbers.largest()
	w.record.reported = largest + 1
}

// nextSize is the size of the longest piece that the next packet may begin with.
func (c *channel) nextSize() int {
	size := 0
	for lane := range c.out.streams {
		s := &c.out.streams[lane]
		if s.lostCount > 0 {
			size = max(size, len(s.segments.at(int(s.nextLost()-s.first)).buf))
		}
		if s.unsent() > 0 {
			size = max(size, len(s.segments.at(int(s.sentCount)).buf))
		}
	}
	if c.out.unreliable.len() > 0 {
		size = max(size, len(c.out.unreliable.at(0).buf))
	}
	return size
}

// appendControl appends what a channel has to say about itself.
func (c *channel) appendControl(e *Endpoint, w *packetWriter) {
	if !c.dialled && !c.introduced && w.free() >= channelFrameSize {
		w.b = append(w.b, byte(frameChannel))
		w.b = binary.AppendUvarint(w.b, uint64(c.id))
		w.b = binary.LittleEndian.AppendUint32(w.b, e.self.Salt)
		w.b = binary.AppendUvarint(w.b, uint64(e.cfg.Window))
		w.last, w.record.channel, w.eliciting = 0, true, true
	}
	if c.path.answer && w.free() >= pathFrameSize {
		w.b = append(w.b, byte(frameResponse))
		w.b = append(w.b, c.path.response[:]...)
		w.last, c.path.answer = 0, false
		w.eliciting = true
	}
	if c.in.hold.resumeDue && w.free() >= pauseFrameSize {
		w.b = binary.AppendUvarint(append(w.b, byte(frameResume)), c.in.hold.number)
		w.last, w.record.resume, w.eliciting = 0, true, true
		c.in.hold.resumeDue = false
	}
	if c.mayClose() && w.free() > 0 {
		w.b = append(w.b, byte(frameClose))
		w.last, w.record.closes, w.eliciting = 0, true, true
		c.closeSent = true
	}
}

// appendLost appends lost segments of a stream, oldest first.
func (c *channel) appendLost(e *Endpoint, w *packetWriter, lane int) {
	s := &c.out.streams[lane]
	for s.lostCount > 0 && w.record.count < maxPacketSegments {
		seq := s.nextLost()
		p := s.segments.at(int(seq - s.first))
		if !c.appendSegment(e, w, lane, seq, p) {
			return
		}
		s.found(p)
		e.stats.Resends++
		c.trouble().resent++
	}
}

// appendNew appends unsent segments of a stream.
func (c *channel) appendNew(e *Endpoint, w *packetWriter, lane int) {
	s := &c.out.streams[lane]
	for w.record.count < maxPacketSegments && s.maySendNew(int(c.out.window)) {
		p := s.segments.at(int(s.sentCount))
		if !c.appendSegment(e, w, lane, s.end(), p) {
			return
		}
		s.sentCount++
		s.queued -= len(p.buf)
		c.noteRoom(e, s)
	}
}

// appendSegment appends a segment, or the next part of one that is too long for the path; true if
// all of it is on its way.
func (c *channel) appendSegment(e *Endpoint, w *packetWriter, lane int, seq uint64, p *segment) bool {
	if w.segmentFits(seq, len(p.buf)) {
		w.segment(lane, seq, p)
		if lane == laneGame && len(p.buf) <= maxCopied {
			c.ride(e, seq, p)
		}
		return true
	}
	size := e.cfg.SafeMTU - maxHeader - c.trailer(e) - ackReserve - segmentOverhead - partOverhead
	if len(p.buf) <= size || len(p.buf) <= c.segmentLimit(e) {
		return false // fits an emptier packet
	}
	parts := uint8((len(p.buf) + size - 1) / size)
	for ; p.next < parts; p.next++ {
		if p.parted>>p.next&1 == 1 {
			continue
		}
		offset := int(p.next) * size
		n := min(size, len(p.buf)-offset)
		if segmentOverhead+partOverhead+n > w.free() || w.record.count >= maxPacketSegments {
			return false
		}
		w.part(lane, seq, p, p.next, parts, offset, n)
	}
	return true
}

// unreliableFirst reports whether unreliable messages that were sent before those of the next segment
// fill the packet, and do so now. What is sent of one client then leaves close together, and whoever
// passes it on does so in one datagram. (All segments used to leave first. A BaseApp, which reads a
// tick's worth of a crowd in several turns, then sent one client of four its reliable messages in a
// datagram of their own.)
func (c *channel) unreliableFirst(w *packetWriter) bool {
	s := &c.out.streams[laneGame]
	if s.lostCount > 0 || c.out.probes > 0 {
		return false
	}
	room, next := w.free(), s.end()
	for i := range c.out.unreliable.len() {
		m := c.out.unreliable.at(i)
		if m.after > next {
			return false
		}
		if room -= unreliableOverhead + len(m.buf); room < 0 {
			return true
		}
	}
	return false
}

// appendUnreliable appends the unreliable messages that fit, oldest first.
func (c *channel) appendUnreliable(e *Endpoint, w *packetWriter) {
	for waiting := &c.out.unreliable; waiting.len() > 0; waiting.pop() {
		p := waiting.at(0).buf
		if unreliableOverhead+len(p) > w.free() {
			return
		}
		w.unreliable(p)
		c.out.unreliableBytes -= int32(len(p) + unreliableOverhead)
		e.release(p)
	}
	c.out.unreliable.shrink()
}
