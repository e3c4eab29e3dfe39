package mercury

import (
	"encoding/binary"
	"net/netip"
)

// reset tells the sender of a data packet that its channel is not here; taken says that another has
// its number. It does not answer a packet too short for a shorter answer; no packet that asks for an
// ack is so short.
func (e *Endpoint) reset(to netip.AddrPort, channel ChannelID, taken bool, p []byte) {
	if len(p) <= resetSize {
		return
	}
	if !e.resets.take(e.now) {
		e.stats.Throttled++
		return
	}
	e.stats.ResetsOut++
	e.reply(to, &resetPacket{Channel: channel, Tag: endOf(p), Self: e.self.Salt, Taken: taken})
}

// onReset ends the channel that the peer does not know. A sender that can repeat the end of a
// packet in flight has seen it. A start gives a number once, so the number is taken only if the peer
// has started anew; in the same start, the packet was damaged on its way.
func (e *Endpoint) onReset(from netip.AddrPort, p []byte) {
	var s resetPacket
	if e.malformed(s.parse(p)) {
		return
	}
	if !e.resetsIn.take(e.now) {
		e.stats.Throttled++
		return
	}
	for c := e.byPlace[from]; c != nil; c = c.sibling {
		if c.state != open || c.remote != s.Channel || !c.out.hasTag(s.Tag) {
			continue
		}
		if s.Taken && s.Self == c.peer.Salt {
			break
		}
		e.stats.ResetsIn++
		if s.Self != c.peer.Salt {
			e.end(c, ErrPeerRestarted, false)
		} else {
			e.end(c, ErrPeerAborted, false)
		}
		return
	}
	e.stats.BadChannel++
}

// endOf is the last eight bytes of a packet.
func endOf(p []byte) uint64 { return binary.LittleEndian.Uint64(p[len(p)-8:]) }

// hasTag reports whether an unacked packet ends with the tag.
func (s *sender) hasTag(tag uint64) bool {
	for i := range s.sent.len() {
		if p := s.sent.at(i); p.state != arrived && p.tag == tag {
			return true
		}
	}
	return false
}
