package mercury

import (
	"encoding/binary"
	"slices"
)

const (
	// skipEvery is about how often a packet number is left out.
	skipEvery = 256
	// skipsKept bounds how many are remembered: more than can be unsettled in the largest window.
	skipsKept = 64
)

// skips are packet numbers that were never used. A peer that acks one acks what it has not seen, in
// order to be sent more and faster than its path carries, at the cost of others (RFC 9000, 21.4).
// An ack of what was settled long ago gains nothing, so that only those among the packets that are
// still remembered count.
type skips struct {
	next uint64   // the next number to be left out; 0 while there is none
	list []uint64 // ascending
}

// leaveOut moves number past a number that should be left out. Packets below settled are no longer
// remembered. random draws the next one.
func (s *skips) leaveOut(number, settled uint64, random func() uint64) uint64 {
	if number < s.next {
		return number
	}
	skip := s.next > 0
	s.next = number + 1 + skipEvery/2 + random()%skipEvery
	if !skip {
		return number
	}
	old := max(0, len(s.list)+1-skipsKept)
	for old < len(s.list) && s.list[old] < settled {
		old++
	}
	s.list = append(slices.Delete(s.list, 0, old), number)
	return number + 1
}

// acked reports whether the ranges of an ack hold a number that was left out.
func (s *skips) acked(ranges []numberRange) bool {
	for _, n := range s.list {
		for _, r := range ranges {
			if r.lo <= n && n <= r.hi {
				return true
			}
		}
	}
	return false
}

// nextNumber takes the next packet number, and sometimes leaves one out.
func (c *channel) nextNumber(e *Endpoint) {
	out := &c.out
	settled := out.number
	if out.sent.len() > 0 {
		settled = out.sent.at(0).number
	}
	out.number = out.skips.leaveOut(out.number+1, settled, func() uint64 {
		return binary.LittleEndian.Uint64(e.keyed('s', openKey{at: c.peer.At, salt: c.peer.Salt, dial: c.id}, out.number))
	})
}
