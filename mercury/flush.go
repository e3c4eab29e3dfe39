package mercury

import (
	"encoding/binary"
	"net/netip"
	"time"
)

// Flush seals what is queued into packets and hands them to emit, in a defined order. datagram is valid only during the
// call of emit, which must not call the Endpoint.
func (e *Endpoint) Flush(now time.Duration, emit func(to netip.AddrPort, datagram []byte)) {
	e.observe(now)
	e.reap()
	for ; e.replies.len() > 0; e.replies.pop() {
		r := e.replies.at(0)
		e.emit(r.to, r.buf, emit)
		e.release(r.buf)
	}
	for i, c := range e.dirty {
		e.dirty[i] = nil
		c.dirty = false
		switch {
		case c.state == dead || c.failing != nil:
		case c.state == dialling:
			if c.openDue {
				c.sendOpen(e, emit)
			}
		default:
			for c.sendPacket(e, emit) {
			}
			c.out.probes = 0
		}
		if c.place >= 0 {
			e.queue.lower(c, c.deadline(e))
		}
	}
	e.dirty = e.dirty[:0]
}

func (e *Endpoint) emit(to netip.AddrPort, p []byte, emit func(netip.AddrPort, []byte)) {
	e.stats.PacketsOut++
	e.stats.BytesOut += uint64(len(p))
	emit(to, p)
}

// pending reports whether c has frames that may be sent now.
func (c *channel) pending(e *Endpoint) bool {
	return c.out.ping || c.in.ackNow || c.out.unreliable.len() > 0 || c.maySendSegment() || c.mayClose()
}

// maySendSegment reports whether a segment waits that the windows let pass.
func (c *channel) maySendSegment() bool {
	out := &c.out
	if out.inFlight >= min(out.congestion.packets(), out.window) && out.probes == 0 {
		return false
	}
	return out.lostCount > 0 || out.sentCount < out.segments.len() && out.sentCount < out.window
}

// mayClose reports whether all that was sent on a condemned channel has arrived, so that the peer may be told.
func (c *channel) mayClose() bool {
	return c.condemned && !c.closeSent && c.out.segments.len() == 0
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
	h := dataHeader{Channel: c.remote, Key: c.key, Number: out.number}
	b := h.append(e.packet[:0])
	record := sentPacket{number: out.number, at: e.now}
	b = c.appendAck(e, b, &record)
	eliciting := false
	if c.mayClose() {
		b = append(b, byte(frameClose))
		c.closeSent, record.closes, eliciting = true, true, true
	}
	if c.maySendSegment() {
		b = c.appendSegments(e, b, &record)
		eliciting = eliciting || record.count > 0
	}
	if out.ping {
		if !eliciting && len(b) < e.cfg.MTU {
			b = append(b, byte(framePing))
			eliciting = true
		}
		out.ping = !eliciting
	}
	b = c.appendUnreliable(e, b)
	sealPacket(b)
	e.packet = b
	out.number++
	c.lastSent = e.now
	if eliciting {
		if out.inFlight == 0 {
			out.timerFrom = e.now
		}
		out.inFlight++
		out.probes = max(0, out.probes-1)
		*out.sent.push() = record
	}
	e.emit(c.peer.At, b, emit)
	return true
}

// appendAck appends an ack if one is owed: what goes out anyway carries it for nothing.
func (c *channel) appendAck(e *Endpoint, b []byte, record *sentPacket) []byte {
	in := &c.in
	if !in.ackPending {
		return b
	}
	room := ackReserve
	if !c.maySendSegment() && c.out.unreliable.len() == 0 {
		room = e.cfg.MTU - len(b) - 2 // a ping or a close
	}
	b = appendAck(b, &in.numbers, e.now-in.largestAt, in.next, room)
	in.ackPending, in.ackNow, in.ackCount = false, false, 0
	largest, _ := in.numbers.largest()
	record.reported = largest + 1
	return b
}

// appendSegments appends lost segments first, then new ones, as many as fit.
func (c *channel) appendSegments(e *Endpoint, b []byte, record *sentPacket) []byte {
	out := &c.out
	for out.lostCount > 0 && record.count < maxPacketSegments {
		p := out.segments.at(int(out.nextLost() - out.first))
		if !fits(e, b, out.lostFrom, p.buf) {
			return b
		}
		b = appendSegment(b, out.lostFrom, p, record)
		p.lost = false
		out.lostCount--
		e.stats.Resends++
	}
	for record.count < maxPacketSegments && out.sentCount < out.segments.len() && out.sentCount < out.window {
		p := out.segments.at(out.sentCount)
		seq := out.first + uint64(out.sentCount)
		if !fits(e, b, seq, p.buf) {
			return b
		}
		b = appendSegment(b, seq, p, record)
		out.sentCount++
		out.queued -= len(p.buf)
	}
	return b
}

// nextLost moves lostFrom to the first lost segment. There is one.
func (s *sender) nextLost() uint64 {
	s.lostFrom = max(s.lostFrom, s.first)
	for !s.segments.at(int(s.lostFrom - s.first)).lost {
		s.lostFrom++
	}
	return s.lostFrom
}

func fits(e *Endpoint, b []byte, seq uint64, p []byte) bool {
	return len(b)+1+uvarintLen(seq)+uvarintLen(uint64(len(p)))+len(p) <= e.cfg.MTU
}

func appendSegment(b []byte, seq uint64, p *segment, record *sentPacket) []byte {
	b = append(b, byte(frameSegment))
	b = binary.AppendUvarint(b, seq)
	b = AppendBytes(b, p.buf)
	p.packet = record.number
	record.segments[record.count] = seq
	record.count++
	return b
}

// appendUnreliable appends unreliable messages as they fit, oldest first.
func (c *channel) appendUnreliable(e *Endpoint, b []byte) []byte {
	waiting := &c.out.unreliable
	for waiting.len() > 0 {
		p := *waiting.at(0)
		if len(b)+unreliableOverhead+len(p) > e.cfg.MTU {
			break
		}
		b = append(b, byte(frameUnreliable))
		b = AppendBytes(b, p)
		c.out.unreliableBytes -= len(p) + unreliableOverhead
		waiting.pop()
		e.release(p)
	}
	return b
}

// farewell queues a last packet of c for the next Flush: an ack of all that came, and a frame.
func (e *Endpoint) farewell(c *channel, frame frameKind) {
	if e.replies.len() >= maxReplies {
		e.stats.Throttled++
		return
	}
	h := dataHeader{Channel: c.remote, Key: c.key, Number: c.out.number}
	c.out.number++
	b := h.append(e.buffer())
	if len(c.in.numbers.runs) > 0 {
		b = appendAck(b, &c.in.numbers, e.now-c.in.largestAt, c.in.next, ackReserve)
	}
	if frame != 0 {
		b = append(b, byte(frame))
	}
	sealPacket(b)
	*e.replies.push() = reply{to: c.peer.At, buf: b}
}
