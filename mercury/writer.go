package mercury

import (
	"encoding/binary"
	"net/netip"
)

// packetWriter builds one data packet of a channel.
type packetWriter struct {
	b      []byte
	head   int // size of the header
	room   int // what b may grow to
	record sentPacket

	eliciting bool
	last      int // where the last frame begins if its length may be left out; otherwise 0
	lastSize  int // of that length
	lastAt    int // where it stands
}

// beginPacket starts the next packet of c in the Endpoint's scratch buffer.
func (c *channel) beginPacket(e *Endpoint) packetWriter {
	out := &c.out
	w := packetWriter{b: e.packet[:0], record: sentPacket{number: out.number, at: e.now, copies: c.copying.level > 0}}
	if c.dialled && c.remote == 0 {
		h := firstHeader{bind: c.bind(e), Pass: c.pass, Number: uint32(out.number)}
		w.b = h.append(w.b)
	} else {
		w.b = appendDataHeader(w.b, c.remote, out.number, out.acked)
	}
	w.head = len(w.b)
	w.room = int(c.path.mtu) - c.trailer(e)
	return w
}

// trailer is the size of what follows the frames.
func (c *channel) trailer(e *Endpoint) int {
	if c.sealer == nil {
		return checksumSize
	}
	return e.trailer
}

// free is the number of bytes that may still be appended.
func (w *packetWriter) free() int { return w.room - len(w.b) }

// segmentFits reports whether a segment of n bytes may be appended.
func (w *packetWriter) segmentFits(seq uint64, n int) bool {
	return 1+uvarintLen(seq)+uvarintLen(uint64(n))+n <= w.free()
}

// segment appends a whole segment.
func (w *packetWriter) segment(lane int, seq uint64, p *segment) {
	w.last = len(w.b)
	kind := frameSegment | flagLength
	if lane == laneBulk {
		kind |= flagBulk
	}
	w.b = append(w.b, byte(kind))
	w.b = binary.AppendUvarint(w.b, seq)
	w.bytes(p.buf)
	w.carry(makeRef(lane, seq, 0, 0), p)
}

// part appends a part of a segment.
func (w *packetWriter) part(lane int, seq uint64, p *segment, part, parts uint8, offset, n int) {
	w.last = len(w.b)
	kind := frameSegment | flagLength | flagPart
	if lane == laneBulk {
		kind |= flagBulk
	}
	w.b = append(w.b, byte(kind))
	w.b = binary.AppendUvarint(w.b, seq)
	w.b = append(w.b, part<<4|parts)
	w.b = binary.AppendUvarint(w.b, uint64(offset))
	w.bytes(p.buf[offset : offset+n])
	w.carry(makeRef(lane, seq, part, parts), p)
}

func (w *packetWriter) unreliable(p []byte) {
	w.last = len(w.b)
	w.b = append(w.b, byte(frameUnreliable|flagLength))
	w.bytes(p)
}

func (w *packetWriter) bytes(p []byte) {
	w.lastAt = len(w.b)
	w.b = binary.AppendUvarint(w.b, uint64(len(p)))
	w.lastSize = len(w.b) - w.lastAt
	w.b = append(w.b, p...)
}

func (w *packetWriter) carry(r segmentRef, p *segment) {
	p.packet = w.record.number
	w.record.refs[w.record.count] = r
	w.record.count++
	w.eliciting = true
}

// finish pads a packet to its least size, or leaves out the length of the last frame.
func (w *packetWriter) finish(trailer, least int) {
	if w.eliciting {
		least = max(least, minEliciting)
	}
	if n := least - trailer - len(w.b); n > 0 {
		for range n {
			w.b = append(w.b, byte(framePad))
		}
		return
	}
	if w.last > 0 && len(w.b)-w.lastSize+trailer >= least {
		w.b[w.last] &^= byte(flagLength)
		w.b = append(w.b[:w.lastAt], w.b[w.lastAt+w.lastSize:]...)
	}
}

// emitPacket seals what w holds and emits it. It takes one packet number.
func (c *channel) emitPacket(e *Endpoint, w *packetWriter, to netip.AddrPort, emit func(netip.AddrPort, []byte)) {
	out := &c.out
	if c.sealer != nil {
		w.b = c.sealer.Seal(w.b, w.head, w.record.number)
	} else {
		w.b = binary.LittleEndian.AppendUint32(w.b, plainTag(w.b, c.key, w.record.number))
	}
	e.packet = w.b
	c.nextNumber(e)
	c.lastSent = e.now
	if c.remote == 0 {
		c.noteFirst(e.now)
	}
	if w.eliciting {
		w.record.tag = endOf(w.b)
		w.record.size = uint16(len(w.b))
		out.rate.OnSend(e.now, len(w.b), int(out.flightBytes), &w.record.stamp)
		if out.inFlight == 0 {
			out.timerFrom, out.progressAt = e.now, e.awake
		}
		out.inFlight++
		out.flightBytes += int32(len(w.b))
		*out.sent.push() = w.record
	}
	if w.eliciting {
		out.rate.Spend(e.now, len(w.b))
	} else {
		out.rate.SpendBeside(e.now, len(w.b))
	}
	if e.monitor != nil {
		kind := PacketData
		switch {
		case w.record.search:
			kind = PacketProbe
		case c.remote == 0:
			kind = PacketFirst
		}
		e.monitor.PacketOut(e.now, PacketInfo{Peer: to, Kind: kind, Channel: c.id, Number: w.record.number, Size: len(w.b)})
	}
	e.emit(to, w.b, emit)
}
