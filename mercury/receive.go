package mercury

import (
	"encoding/binary"
	"errors"
	"github.com/cellscape/cellscape/internal/codec"
	"net/netip"
	"time"
)

// maxPeerSegment is the longest segment accepted from a peer whose MTU is larger than ours.
const maxPeerSegment = 9000

// Receive takes a datagram that arrived from a place, and delivers what it completes to the
// Handler. Bad datagrams change nothing, and Stats counts them by kind. Receive does not keep
// datagram, but may change its bytes.
func (e *Endpoint) Receive(now time.Duration, from netip.AddrPort, datagram []byte) {
	e.observe(now)
	e.reap()
	from = canonical(from)
	e.stats.PacketsIn++
	e.stats.BytesIn += uint64(len(datagram))
	if e.filter != nil && e.filter.Drop(now, from, datagram) {
		e.stats.Filtered++
		return
	}
	if len(datagram) < 2 || !from.IsValid() {
		e.stats.BadSize++
		return
	}
	if datagram[0]&^3 == dataBits {
		e.onData(from, datagram)
		return
	}
	kind := packetKind(datagram[0] &^ handshakeBits)
	if datagram[0]&handshakeBits != handshakeBits || datagram[1] != packetVersion {
		e.stats.BadKind++
		return
	}
	if kind == kindFirst {
		e.onFirst(from, datagram)
		return
	}
	if e.check(kind, datagram) {
		e.onHandshake(from, kind, datagram)
	}
}

// check checks size and checksum of a handshake packet.
func (e *Endpoint) check(kind packetKind, p []byte) bool {
	least, most := handshakeSize(kind)
	switch {
	case least == 0:
		e.stats.BadKind++
	case len(p) < least || len(p) > most:
		e.stats.BadSize++
	case binary.LittleEndian.Uint32(p[2:]) != checksum(p):
		e.stats.BadChecksum++
	default:
		return true
	}
	return false
}

// handshakeSize is the least and largest size of a kind of handshake packet; 0 for other kinds.
func handshakeSize(kind packetKind) (least, most int) {
	switch kind {
	case kindOpen:
		return openSize, openSize
	case kindChallenge:
		return challengeSize, challengeSize
	case kindAccept:
		return acceptFixed, acceptFixed + MaxReply
	case kindRefuse:
		return refuseSize, refuseSize
	case kindReset:
		return resetSize, resetSize
	}
	return 0, 0
}

func (e *Endpoint) onHandshake(from netip.AddrPort, kind packetKind, p []byte) {
	switch kind {
	case kindOpen:
		e.onOpen(from, p)
	case kindChallenge:
		e.onChallenge(from, p)
	case kindAccept:
		e.onAccept(from, p)
	case kindRefuse:
		e.onRefuse(from, p)
	case kindReset:
		e.onReset(from, p)
	}
}

// onData takes a packet of a channel.
func (e *Endpoint) onData(from netip.AddrPort, p []byte) {
	var h dataHeader
	head, ok := h.parse(p)
	if !ok {
		e.stats.BadSize++
		return
	}
	c := e.channel(h.Channel)
	if c == nil || !c.sends() {
		e.stats.BadChannel++
		if c == nil || c.peer.At != from {
			e.reset(from, h.Channel, c != nil, p)
		}
		return
	}
	moved := c.peer.At != from
	if moved && !e.movers.take(e.now) {
		e.stats.Throttled++
		return
	}
	e.take(c, from, p, head, h.number(c.in.expected()))
}

// expected is one above the largest number received.
func (r *receiver) expected() uint64 {
	largest, some := r.numbers.largest()
	if !some {
		return 0
	}
	return largest + 1
}

// unseal checks p and returns its frames.
func (c *channel) unseal(p []byte, head int, number uint64) ([]byte, bool) {
	if c.sealer != nil {
		frames, err := c.sealer.Open(p, head, number)
		return frames, err == nil
	}
	end := len(p) - checksumSize
	if end < head || binary.LittleEndian.Uint32(p[end:]) != plainTag(p[:end], c.key, number) {
		return nil, false
	}
	return p[head:end], true
}

// take takes a packet that claims to be of c. A forged, damaged or duplicated one changes nothing.
func (e *Endpoint) take(c *channel, from netip.AddrPort, p []byte, head int, number uint64) {
	if c.failing {
		return
	}
	frames, ok := c.unseal(p, head, number)
	if !ok {
		e.stats.BadChecksum++
		if c.peer.At != from {
			e.reset(from, c.id, true, p)
		}
		return
	}
	if number >= maxNumber {
		e.breach(c, ErrProtocol)
		return
	}
	before, some := c.in.numbers.largest()
	if !c.in.numbers.add(number) {
		e.stats.Duplicates++
		return
	}
	if e.monitor != nil {
		e.monitor.PacketIn(e.now, PacketInfo{Peer: from, Kind: PacketData, Channel: c.id, Number: number, Size: len(p)})
	}
	newest := !some || number > before
	calm, gap := c.in.calm.missing == 0, some && number != before+1
	c.in.calm.packet(gap)
	c.heard = e.awake
	if newest && from != c.peer.At && len(p) >= maxHeader+pathFrameSize+c.trailer(e) {
		c.seenElsewhere(e, from)
	}
	c.take(e, from, frames, arriving{newest, gap, calm})
	if newest && c.state != dead {
		c.overdue(e)
	}
}

// arriving says how a packet comes: as the newest so far, after a gap, while nothing was missing.
// The latter two are what wantAck asks for.
type arriving struct{ newest, gap, calm bool }

// take acts on the frames of a packet that is new.
func (c *channel) take(e *Endpoint, from netip.AddrPort, frames []byte, how arriving) {
	eliciting, err := c.onFrames(e, from, frames)
	switch {
	case c.state == dead:
	case err != nil:
		e.breach(c, err)
	default:
		if eliciting {
			if how.newest {
				c.in.largestAt = e.now
			}
			c.wantAck(e, how.gap, how.calm)
		}
		e.wake(c)
	}
}

// breach closes a channel whose peer has broken the protocol.
func (e *Endpoint) breach(c *channel, err error) {
	if !errors.Is(err, ErrMessageTooLong) && !errors.Is(err, ErrProtocol) {
		err = ErrProtocol
	}
	e.stats.BadFrame++
	e.end(c, err, true)
}

// onFrames takes the frames of a packet, and reports whether they ask for an ack.
func (c *channel) onFrames(e *Endpoint, from netip.AddrPort, frames []byte) (eliciting bool, err error) {
	r := codec.NewReader(frames)
	for r.Len() > 0 && c.state != dead {
		kind := frameKind(r.U8())
		if kind != framePad && kind != frameAck && kind != frameAckRanges && kind&^flagLength != frameUnreliable && kind != frameAbort && kind != framePause {
			eliciting = true
		}
		if err = c.onFrame(e, from, kind, &r); err == nil {
			err = r.Err()
		}
		if err != nil {
			return eliciting, err
		}
	}
	return eliciting, nil
}

// onFrame takes one frame of a kind; r is just behind the kind.
func (c *channel) onFrame(e *Endpoint, from netip.AddrPort, kind frameKind, r *codec.Reader) error {
	if c.state == dialling && kind >= frameSegment {
		return ErrProtocol // an acceptor names its channel in every packet with messages until the dialler knows it
	}
	switch kind {
	case framePad, framePing:
	case frameAck, frameAckRanges:
		readAck(r, kind, &e.ack)
		if r.Err() == nil {
			return c.onAck(e, &e.ack)
		}
	case frameChannel:
		return c.onChannel(e, r)
	case frameTicket:
		ticket := r.Bytes(MaxTicket)
		if r.Err() == nil && c.dialled && e.cfg.Guard != nil {
			e.cfg.Guard.Keep(e.now, c.peer, ticket)
		}
	case frameChallenge:
		c.path.response, c.path.answer = readToken(r), true
		e.touch(c)
	case frameResponse:
		token := readToken(r)
		c.onResponse(e, from, token[:])
	case framePause:
		return c.onPause(r)
	case frameResume:
		c.onResume(e, r)
	case frameClose:
		if err := c.endHold(e); err != nil || c.state == dead {
			return err
		}
		e.farewell(c, framePad)
		e.end(c, ErrPeerClosed, false)
	case frameAbort:
		e.end(c, ErrPeerAborted, false)
	default:
		return c.onMessageFrame(e, kind, r)
	}
	return nil
}

// onMessageFrame takes a frame with messages.
func (c *channel) onMessageFrame(e *Endpoint, kind frameKind, r *codec.Reader) error {
	switch {
	case kind&^(flagLength|flagBulk|flagPart) == frameSegment:
		readSegment(r, kind, &e.segment)
		if r.Err() == nil {
			return c.onSegment(e, &e.segment)
		}
	case kind&^flagLength == frameUnreliable:
		p := readRest(r, kind)
		if r.Err() == nil {
			c.deliverUnreliable(e, p)
		}
	default:
		return ErrProtocol
	}
	return nil
}
