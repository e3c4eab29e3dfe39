package mercury

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"time"
)

// Receive takes in a datagram that arrived from a place. It delivers to the Handler what that completes. Bad datagrams
// change nothing and are counted by kind in Stats. datagram is not kept.
func (e *Endpoint) Receive(now time.Duration, from netip.AddrPort, datagram []byte) {
	e.observe(now)
	e.reap()
	from = canonical(from)
	e.stats.PacketsIn++
	e.stats.BytesIn += uint64(len(datagram))
	kind, ok := e.check(datagram)
	if !ok || !from.IsValid() {
		return
	}
	switch kind {
	case kindOpen:
		e.onOpen(from, datagram)
	case kindChallenge:
		e.onChallenge(from, datagram)
	case kindAccept:
		e.onAccept(from, datagram)
	case kindRefuse:
		e.onRefuse(from, datagram)
	case kindData:
		e.onData(from, datagram)
	case kindReset:
		e.onReset(from, datagram)
	}
}

// check looks at what every packet has: size, kind, checksum.
func (e *Endpoint) check(p []byte) (packetKind, bool) {
	if len(p) < prefixSize {
		e.stats.BadSize++
		return 0, false
	}
	if p[0] != packetMagic || binary.LittleEndian.Uint32(p[2:]) != checksum(p) {
		e.stats.BadChecksum++
		return 0, false
	}
	kind := packetKind(p[1] &^ packetVersion)
	if p[1]&0xF0 != packetVersion {
		kind = 0
	}
	if kind == kindData {
		if len(p) < headerSize {
			e.stats.BadSize++
			return 0, false
		}
		return kind, true
	}
	size, ok := handshakeSize(kind)
	switch {
	case !ok:
		e.stats.BadKind++
		return 0, false
	case len(p) != size:
		e.stats.BadSize++
		return 0, false
	}
	return kind, true
}

// handshakeSize is the size of a packet of a kind other than data.
func handshakeSize(kind packetKind) (int, bool) {
	switch kind {
	case kindOpen:
		return openSize, true
	case kindChallenge:
		return challengeSize, true
	case kindAccept:
		return acceptSize, true
	case kindRefuse:
		return refuseSize, true
	case kindReset:
		return resetSize, true
	}
	return 0, false
}

// onData takes a packet of a channel in.
func (e *Endpoint) onData(from netip.AddrPort, p []byte) {
	var h dataHeader
	frames, err := h.parse(p)
	if err != nil {
		e.stats.BadSize++
		return
	}
	c := e.channels[h.Channel]
	if c == nil || c.state != open || c.key != h.Key || c.peer.At != from {
		e.stats.BadChannel++
		// A channel whose accept is still under way is not unknown; one that is spoken to from elsewhere is not the speaker's.
		if c == nil || c.state == open && c.key != h.Key {
			e.reset(from, &h)
		}
		return
	}
	if c.failing != nil {
		return
	}
	if h.Number >= maxNumber {
		e.breach(c, ErrProtocol)
		return
	}
	before, some := c.in.numbers.largest()
	if !c.in.numbers.add(h.Number) {
		e.stats.Duplicates++
		return
	}
	if !some || h.Number > before {
		c.in.largestAt = e.now
	}
	c.heard = e.awake
	eliciting, err := c.onFrames(e, frames)
	switch {
	case c.state != open:
	case err != nil:
		e.breach(c, err)
	default:
		if eliciting {
			c.wantAck(e, some && h.Number != before+1)
		}
		e.queue.lower(c, c.deadline(e))
	}
}

// breach closes a channel whose peer sent what it must not.
func (e *Endpoint) breach(c *channel, err error) {
	if !errors.Is(err, ErrMessageTooLong) {
		err = ErrProtocol
	}
	e.stats.BadFrame++
	e.end(c, err, true)
}

// onFrames takes the frames of a packet in and reports whether they ask for an ack.
func (c *channel) onFrames(e *Endpoint, frames []byte) (eliciting bool, err error) {
	r := NewReader(frames)
	for r.Len() > 0 && c.state == open {
		switch frameKind(r.U8()) {
		case frameAck:
			readAck(&r, &e.ack)
			if r.err == nil {
				err = c.onAck(e, &e.ack)
			}
		case frameSegment:
			eliciting = true
			seq, p := r.Uvarint(), r.Bytes(e.cfg.MTU)
			if r.err == nil {
				err = c.onSegment(e, seq, p)
			}
		case frameUnreliable:
			p := r.Bytes(e.cfg.MTU)
			if r.err == nil {
				c.deliver(e, false, p)
			}
		case framePing:
			eliciting = true
		case frameClose:
			e.farewell(c, 0)
			e.end(c, ErrPeerClosed, false)
		case frameAbort:
			e.end(c, ErrPeerAborted, false)
		default:
			err = ErrProtocol
		}
		if err == nil {
			err = r.Err()
		}
		if err != nil {
			return eliciting, err
		}
	}
	return eliciting, nil
}
