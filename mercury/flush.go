package mercury

import (
	"encoding/binary"
	"net/netip"
	"time"
)

// Flush seals what is queued into packets and hands them to emit, in a defined order. datagram is valid only during the
// call of emit, which must not call the Endpoint. What a window or the pace holds back waits; NextDeadline tells until when.
func (e *Endpoint) Flush(now time.Duration, emit func(to netip.AddrPort, datagram []byte)) {
	e.observe(now)
	e.reap()
	if e.impairer != nil {
		defer e.emitDue(emit)
		emit = e.impaired()
	}
	for _, waiting := range [...]*ring[reply]{&e.replies, &e.farewells} {
		for ; waiting.len() > 0; waiting.pop() {
			r := waiting.at(0)
			e.emit(r.to, r.buf, emit)
			e.release(r.buf)
		}
		waiting.shrink()
	}
	for i, c := range e.dirty {
		e.dirty[i] = nil
		c.dirty = false
		switch {
		case c.state == dead || c.failing != nil:
		case c.state == dialling && c.pass == nil:
			if c.openDue {
				c.sendOpen(e, emit)
			}
		default:
			c.flush(e, emit)
		}
		if c.state != dead {
			e.wake(c)
		}
	}
	e.dirty = e.dirty[:0]
}

func (e *Endpoint) emit(to netip.AddrPort, p []byte, emit func(netip.AddrPort, []byte)) {
	e.stats.PacketsOut++
	e.stats.BytesOut += uint64(len(p))
	emit(to, p)
}

// flush sends what c may send now.
func (c *channel) flush(e *Endpoint, emit func(netip.AddrPort, []byte)) {
	out := &c.out
	c.decideCopies(e)
	if c.path.ask {
		c.sendChallenge(e, emit)
	}
	for c.sendPacket(e, emit) {
	}
	if c.ticketDue && c.introduced {
		c.sendTicket(e, emit)
	}
	if c.state == open && (c.dialled && c.remote != 0 || c.introduced) && c.path.searching(e.now) {
		c.sendSearch(e, emit)
	}
	out.probes = 0
	c.paceAt = 0
	for lane := range out.streams {
		if s := &out.streams[lane]; s.waiting(out.window) && c.windowOpen(lane) {
			at := out.rate.nextAt(e.now, c.path.mtu) // only the pace holds it back
			if lane == laneBulk {
				at = max(at, out.scavenger.nextAt(e.now, c.path.mtu, out.rate.minRTT()))
			}
			if at = max(at, e.now+1); c.paceAt == 0 || at < c.paceAt {
				c.paceAt = at
			}
		}
	}
	bulk := out.streams[laneBulk].waiting(out.window) && !out.scavenger.full
	if c.paceAt == 0 && !bulk && !out.streams[laneGame].waiting(out.window) {
		out.rate.limited(out.flightBytes)
	}
}

// pending reports whether c has something that must be sent now.
func (c *channel) pending(e *Endpoint) bool {
	return c.out.ping || c.in.ackNow || c.in.ackWhole || c.path.answer || c.out.unreliable.len() > 0 ||
		c.maySend(e, laneGame) || c.maySend(e, laneBulk) || c.mayClose()
}

// paced reports whether nothing but the pace holds something back.
func (c *channel) paced() bool {
	for lane := range c.out.streams {
		if c.out.streams[lane].waiting(c.out.window) && c.windowOpen(lane) {
			return true
		}
	}
	return false
}

// waiting reports whether the stream has a segment to send that the peer's window lets pass.
func (s *outStream) waiting(window int) bool {
	return s.lostCount > 0 || s.sentCount < s.segments.len() && s.sentCount < window
}

// windowOpen reports whether more may be in flight for a stream.
func (c *channel) windowOpen(lane int) bool {
	out := &c.out
	if lane == laneBulk && out.scavenger.closed(out.flightBytes) {
		return false
	}
	return out.flightBytes < out.rate.window()+c.reserve(lane)
}

// reserve is what a stream may overdraw the window and the pace by. It is there for what a tick has to say, not for megabytes.
func (c *channel) reserve(lane int) int {
	s := &c.out.streams[laneGame]
	if lane != laneGame || s.unsent()+s.lostCount > gameReserve {
		return 0
	}
	return gameReserve * c.path.mtu
}

// maySend reports whether a segment of a stream waits that the windows and the pace let pass.
func (c *channel) maySend(e *Endpoint, lane int) bool {
	out := &c.out
	if !out.streams[lane].waiting(out.window) {
		return false
	}
	if out.probes > 0 {
		return true
	}
	if lane == laneBulk && !out.scavenger.open(e.now, out.flightBytes, c.path.mtu, out.rate.minRTT()) {
		return false
	}
	return out.rate.allowed(e.now)+c.reserve(lane) > 0 && c.windowOpen(lane)
}

// mayClose reports whether all that was sent on a condemned channel has arrived, so that the peer may be told.
func (c *channel) mayClose() bool {
	return c.condemned && !c.closeSent && c.out.empty()
}

// sendPacket builds one packet of what waits and hands it out; false when nothing did.
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
	game, bulk := c.maySend(e, laneGame), c.maySend(e, laneBulk)
	c.appendAck(e, &w, game || bulk || out.unreliable.len() > 0)
	c.appendControl(&w)
	if game {
		c.appendLost(e, &w, laneGame)
	}
	if game {
		c.appendNew(e, &w, laneGame)
		out.noteRhythm(e.now)
	}
	c.appendUnreliable(e, &w)
	if c.riders.n > 0 && w.last > 0 && c.roomForCopies() {
		c.appendCopies(e, &w) // last, so that they push nothing into a packet more
	}
	if bulk {
		before := len(w.b)
		c.appendLost(e, &w, laneBulk)
		c.appendNew(e, &w, laneBulk)
		out.scavenger.credit -= len(w.b) - before
	}
	if out.ping && !w.eliciting {
		w.b = append(w.b, byte(framePing))
		w.last, w.eliciting = 0, true
	}
	out.ping = false
	out.probes = max(0, out.probes-1)
	w.finish(c.trailer(e), 0)
	c.emitPacket(e, &w, c.peer.At, emit)
	return true
}

// appendAck appends an ack if one is owed: what goes out anyway carries it for nothing. Beside other things only a short one has room.
func (c *channel) appendAck(e *Endpoint, w *packetWriter, beside bool) {
	in := &c.in
	if !in.ackPending && !in.ackWhole || len(in.numbers.runs) == 0 {
		in.ackPending, in.ackNow, in.ackWhole = false, false, false
		return
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
			size = max(size, len(s.segments.at(s.sentCount).buf))
		}
	}
	if c.out.unreliable.len() > 0 {
		size = max(size, len(*c.out.unreliable.at(0)))
	}
	return size
}

// appendControl appends what a channel has to say about itself.
func (c *channel) appendControl(w *packetWriter) {
	if !c.dialled && !c.introduced && w.free() >= channelFrameSize {
		w.b = append(w.b, byte(frameChannel))
		w.b = binary.AppendUvarint(w.b, uint64(c.id))
		w.b = binary.LittleEndian.AppendUint32(w.b, c.ownSalt)
		w.b = binary.AppendUvarint(w.b, uint64(c.ownWindow))
		w.last, w.record.channel, w.eliciting = 0, true, true
	}
	if c.path.answer && w.free() >= pathFrameSize {
		w.b = append(w.b, byte(frameResponse))
		w.b = append(w.b, c.path.response[:]...)
		w.last, c.path.answer = 0, false
		w.eliciting = true
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
		c.resent++
	}
}

// appendNew appends segments of a stream that were not sent yet.
func (c *channel) appendNew(e *Endpoint, w *packetWriter, lane int) {
	s := &c.out.streams[lane]
	for w.record.count < maxPacketSegments && s.sentCount < s.segments.len() && s.sentCount < c.out.window {
		p := s.segments.at(s.sentCount)
		if !c.appendSegment(e, w, lane, s.end(), p) {
			return
		}
		s.sentCount++
		s.queued -= len(p.buf)
	}
}

// appendSegment appends a segment, or the next part of one that is longer than the path passes; true when it is all on its way.
func (c *channel) appendSegment(e *Endpoint, w *packetWriter, lane int, seq uint64, p *segment) bool {
	if w.segmentFits(seq, len(p.buf)) {
		w.segment(lane, seq, p)
		if lane == laneGame && c.copies > 0 && len(p.buf) <= maxCopied {
			c.riders.add(seq, c.copies)
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

// appendUnreliable appends unreliable messages as they fit, oldest first, and then passengers if the packet goes anyway.
func (c *channel) appendUnreliable(e *Endpoint, w *packetWriter) {
	out := &c.out
	out.unreliableBytes -= appendMessages(e, w, &out.unreliable)
	if w.eliciting || w.last > 0 {
		out.passengerBytes -= appendMessages(e, w, &out.passengers)
	}
}

func appendMessages(e *Endpoint, w *packetWriter, waiting *ring[[]byte]) (taken int) {
	for waiting.len() > 0 {
		p := *waiting.at(0)
		if unreliableOverhead+len(p) > w.free() {
			return taken
		}
		w.unreliable(p)
		taken += len(p) + unreliableOverhead
		waiting.pop()
		e.release(p)
	}
	waiting.shrink()
	return taken
}

// sendTicket brings the dialler a ticket for its next dial, in a packet of its own.
func (c *channel) sendTicket(e *Endpoint, emit func(netip.AddrPort, []byte)) {
	c.ticketDue = false
	w := c.beginPacket(e)
	if len(c.ticket) == 0 || w.free() < segmentOverhead+len(c.ticket) {
		return
	}
	w.b = append(w.b, byte(frameTicket))
	w.b = AppendBytes(w.b, c.ticket)
	w.record.ticket, w.eliciting = true, true
	w.finish(c.trailer(e), 0)
	c.emitPacket(e, &w, c.peer.At, emit)
}

// sendSearch tries whether a longer datagram passes: a ping, padded.
func (c *channel) sendSearch(e *Endpoint, emit func(netip.AddrPort, []byte)) {
	p := &c.path
	p.tries++
	p.searchAt = e.now + searchAgain // until the fate of this one is known
	w := c.beginPacket(e)
	w.b = append(w.b, byte(framePing))
	w.room = p.goal - c.trailer(e)
	w.record.search, w.eliciting = true, true
	w.finish(c.trailer(e), p.goal)
	c.emitPacket(e, &w, c.peer.At, emit)
}

// farewell queues a last packet of c for the next Flush: an ack of all that came, and a frame.
func (e *Endpoint) farewell(c *channel, frame frameKind) {
	w := c.beginPacket(e)
	if len(c.in.numbers.runs) > 0 {
		cumulative := [lanes]uint64{c.in.streams[laneGame].next, c.in.streams[laneBulk].next}
		w.b, _ = appendAck(w.b, &c.in.numbers, e.now-c.in.largestAt, cumulative, ackReserve)
	}
	if frame != framePad {
		w.b = append(w.b, byte(frame))
	}
	if c.sealer != nil {
		w.b = c.sealer.Seal(w.b, w.head, c.out.number)
	} else {
		w.b = binary.LittleEndian.AppendUint32(w.b, plainTag(w.b, c.key, c.out.number))
	}
	c.out.number++
	e.packet = w.b
	if e.monitor != nil {
		e.monitor.PacketOut(e.now, PacketInfo{Peer: c.peer.At, Kind: PacketData, Channel: c.id, Number: c.out.number - 1, Size: len(w.b)})
	}
	*e.farewells.push() = reply{to: c.peer.At, buf: append(e.buffer(len(w.b)), w.b...)}
}
