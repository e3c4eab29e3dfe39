package mercury

import (
	"encoding/binary"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/invariant"
	"net/netip"
	"time"
)

// Flush seals what is queued into packets and passes them to emit, in a defined order. datagram is
// valid only during the call of emit, which must not call the Endpoint. What a window or the pace
// holds back waits; NextDeadline tells until when.
func (e *Endpoint) Flush(now time.Duration, emit func(to netip.AddrPort, datagram []byte)) {
	e.observe(now)
	e.reap()
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
		case c.state == dead || c.failing:
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
	c.copying.decide(e.now, out.rtt.Spread, e.cfg.copies())
	if c.path.peerMove != nil && c.path.ask {
		c.sendChallenge(e, emit)
	}
	for c.sendPacket(e, emit) {
	}
	c.copyDue = false
	if c.guest != nil && c.guest.due && c.introduced {
		c.sendTicket(e, emit)
	}
	if c.state == open && (c.dialled && c.remote != 0 || c.introduced) && c.path.searching(e.now) {
		c.sendSearch(e, emit)
	}
	out.probes = 0
	c.paceAt = 0
	for lane := range out.streams {
		if s := &out.streams[lane]; s.waiting(out.window) && c.windowOpen(lane) {
			at := out.rate.NextAt(e.now, int(c.path.mtu)) // only the pace holds it back
			if lane == laneBulk {
				at = max(at, out.bulk().NextAt(e.now, int(c.path.mtu), out.rate.MinRTT()))
			}
			if at = max(at, e.now+1); c.paceAt == 0 || at < c.paceAt {
				c.paceAt = at
			}
		}
	}
	e.noteHeld(c, c.out.streams[laneGame].heldBack() || c.out.streams[laneBulk].heldBack())
	if invariant.On {
		c.assert(e)
	}
	bulk := out.streams[laneBulk].waiting(out.window) && !out.scavenger.HeldBack()
	if c.paceAt == 0 && !bulk && !out.streams[laneGame].waiting(out.window) {
		out.rate.Limited(int(out.flightBytes))
	}
}

// noteHeld notes whether something that c was given is held back by a window or the pace.
func (e *Endpoint) noteHeld(c *channel, held bool) {
	switch {
	case held == c.held:
		return
	case held:
		e.held++
	default:
		e.held--
	}
	c.held = held
}

// HoldsBack reports whether anything that was sent reliably, on any channel, did not leave with the
// last Flush, or must leave again: what the peer says next, or the pace, decides when. Its owner
// had better not be late.
func (e *Endpoint) HoldsBack() bool { return e.held > 0 }

// pending reports whether c has something that must be sent now.
func (c *channel) pending(e *Endpoint) bool {
	return c.ping || c.in.ackNow || c.in.ackWhole || c.path.answer || c.in.hold.resumeDue || c.out.unreliable.len() > 0 ||
		c.maySend(e, laneGame) || c.maySend(e, laneBulk) || c.copiesAlone() || c.mayClose()
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
func (s *outStream) waiting(window uint16) bool {
	return s.lostCount > 0 || s.maySendNew(int(window))
}

// windowOpen reports whether more may be in flight for a stream.
func (c *channel) windowOpen(lane int) bool {
	out := &c.out
	if lane == laneBulk && out.scavenger.Closed(int(out.flightBytes)) {
		return false
	}
	return int(out.flightBytes) < out.rate.Window()+c.reserve(lane)
}

// reserve is how much a stream may exceed the window and the pace. It is meant for a tick's
// messages, not for megabytes.
func (c *channel) reserve(lane int) int {
	s := &c.out.streams[laneGame]
	if lane != laneGame || s.unsent()+int(s.lostCount) > gameReserve {
		return 0
	}
	return gameReserve * int(c.path.mtu)
}

// maySend reports whether a waiting segment of a stream may be sent by the windows and the pace.
func (c *channel) maySend(e *Endpoint, lane int) bool {
	out := &c.out
	if !out.streams[lane].waiting(out.window) {
		return false
	}
	if out.probes > 0 {
		return true
	}
	if lane == laneBulk && !out.bulk().Open(e.now, int(out.flightBytes), int(c.path.mtu), out.rate.MinRTT()) {
		return false
	}
	return out.rate.Allowed(e.now)+c.reserve(lane) > 0 && c.windowOpen(lane)
}

// mayClose reports whether everything sent on a condemned channel has arrived, so that the peer may
// be told.
func (c *channel) mayClose() bool {
	return c.condemned && !c.closeSent && c.out.empty()
}

// sendTicket sends the dialler a ticket for its next dial, in a packet of its own.
func (c *channel) sendTicket(e *Endpoint, emit func(netip.AddrPort, []byte)) {
	ticket := c.guest.ticket
	c.guest.due = false
	w := c.beginPacket(e)
	if w.free() < segmentOverhead+len(ticket) {
		return
	}
	w.b = append(w.b, byte(frameTicket))
	w.b = codec.AppendBytes(w.b, ticket)
	w.record.ticket, w.eliciting = true, true
	w.finish(c.trailer(e), 0)
	c.emitPacket(e, &w, c.peer.At, emit)
}

// sendSearch tries whether a longer datagram passes, by a padded ping.
func (c *channel) sendSearch(e *Endpoint, emit func(netip.AddrPort, []byte)) {
	p := &c.path
	p.tries++
	p.searchAt = e.now + searchAgain // until the fate of this one is known
	w := c.beginPacket(e)
	w.b = append(w.b, byte(framePing))
	w.room = int(p.goal) - c.trailer(e)
	w.record.search, w.eliciting = true, true
	w.finish(c.trailer(e), int(p.goal))
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
