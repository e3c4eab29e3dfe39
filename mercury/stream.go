package mercury

import "encoding/binary"

// A channel has two reliable streams. Losses in one never delay the other.
const (
	laneGame = iota // Send: goes first, may exceed the window and the pace a little
	laneBulk        // SendBulk: takes what is left
	lanes
)

const (
	// maxLengthSize is how many bytes must be free in a segment for a message to begin there.
	maxLengthSize = 4
	// maxParts bounds the parts of a segment that has become too long for its path.
	maxParts = 15
)

// segment is a piece of a reliable stream. Once sent it is not added to.
type segment struct {
	buf    []byte
	packet uint64 // number of the packet that carried it last
	parted uint16 // parts of it that were acked
	next   uint8  // the next of its parts to be sent
	lost   bool   // that packet is taken for lost
	acked  bool
	// overdue means that the peer was heard without an ack of it.
	overdue bool
}

// outStream is the outward half of a stream: the segments from the oldest unacked one (number
// first) on. The first sentCount of them have been sent. Messages can be added to the last until it
// is sent.
type outStream struct {
	segments  ring[segment]
	first     uint64
	queued    int    // bytes in segments not yet sent
	limit     uint64 // while the peer holds what comes, no segment from this one on may be sent; 0 for none
	lostFrom  uint64 // no lost segment lies below
	sentCount uint16 // at most the window, hence MaxWindow
	lostCount uint16 // of these
	refused   bool   // a message found no room since the last Room
}

// write cuts msg into segments of at most limit bytes at the end of the stream.
func (s *outStream) write(e *Endpoint, limit int, msg []byte) {
	tail := s.tail()
	if tail != nil {
		// Most messages find room where the last one ended.
		before := len(tail.buf)
		if end := before + maxLengthSize + len(msg); end <= limit && end <= cap(tail.buf) {
			tail.buf = append(binary.AppendUvarint(tail.buf, uint64(len(msg))), msg...)
			s.queued += len(tail.buf) - before
			return
		}
	}
	if tail == nil || limit-len(tail.buf) < maxLengthSize {
		tail = s.addSegment(e, len(msg), limit)
	}
	tail.buf = e.grow(tail.buf, maxLengthSize)
	before := len(tail.buf)
	tail.buf = binary.AppendUvarint(tail.buf, uint64(len(msg)))
	s.queued += len(tail.buf) - before
	for len(msg) > 0 {
		if len(tail.buf) >= limit {
			tail = s.addSegment(e, len(msg), limit)
		}
		n := min(limit-len(tail.buf), len(msg))
		tail.buf = append(e.grow(tail.buf, n), msg[:n]...)
		s.queued += n
		msg = msg[n:]
	}
}

// tail is the segment that may still be added to.
func (s *outStream) tail() *segment {
	if s.unsent() == 0 {
		return nil
	}
	return s.segments.at(s.segments.len() - 1)
}

// addSegment begins a segment for n bytes. Behind one that is full and waits more will follow, up
// to limit, and would have to be moved into a larger buffer.
func (s *outStream) addSegment(e *Endpoint, n, limit int) *segment {
	if s.unsent() > 0 {
		n = limit
	}
	p := s.segments.push()
	p.buf = e.buffer(min(n+maxLengthSize, e.buffers.large))
	return p
}

// empty reports whether all that was written has been acked.
func (s *outStream) empty() bool { return s.segments.len() == 0 }

// heldBack reports whether a segment waits to be sent, or to be sent again.
func (s *outStream) heldBack() bool { return s.lostCount > 0 || s.unsent() > 0 }

// unsent is the number of segments that wait for a first sending.
func (s *outStream) unsent() int { return s.segments.len() - int(s.sentCount) }

// maySendNew reports whether the peer's window allows another new segment.
func (s *outStream) maySendNew(window int) bool {
	return s.unsent() > 0 && int(s.sentCount) < window && (s.limit == 0 || s.end() < s.limit)
}

// end is the number of the first segment that has not been sent.
func (s *outStream) end() uint64 { return s.first + uint64(s.sentCount) }

// settle marks segment seq, or a part of it, as received by the peer.
func (s *outStream) settle(e *Endpoint, seq uint64, part, parts uint8) {
	if seq < s.first {
		return
	}
	p := s.segments.at(int(seq - s.first))
	if p.acked {
		return
	}
	if parts > 0 {
		if p.parted |= 1 << part; p.parted != 1<<parts-1 {
			return
		}
	}
	p.acked = true
	if p.lost {
		p.lost = false
		s.lostCount--
	}
	e.release(p.buf)
	p.buf = nil
}

// trim drops settled segments from the front.
func (s *outStream) trim() {
	for s.sentCount > 0 && s.segments.at(0).acked {
		s.segments.pop()
		s.first++
		s.sentCount--
	}
	s.segments.shrink()
}

// resend marks what packet number carried of segment seq for sending again, unless a later packet
// carried it, too.
func (s *outStream) resend(seq, number uint64, part, parts uint8) bool {
	if seq < s.first {
		return false
	}
	p := s.segments.at(int(seq - s.first))
	if p.acked {
		return false
	}
	if p.lost {
		p.next = min(p.next, part) // a part that has just gone out again is lost before the last one went
		return false
	}
	if parts == 0 && p.packet != number || parts > 0 && p.parted>>part&1 == 1 {
		return false
	}
	p.lost, p.next = true, 0
	if s.lostCount == 0 || seq < s.lostFrom {
		s.lostFrom = seq
	}
	s.lostCount++
	return true
}

// nextLost moves lostFrom to the first lost segment. There is one.
func (s *outStream) nextLost() uint64 {
	s.lostFrom = max(s.lostFrom, s.first)
	for !s.segments.at(int(s.lostFrom - s.first)).lost {
		s.lostFrom++
	}
	return s.lostFrom
}

// found takes back the mark of a lost segment, which is about to be sent.
func (s *outStream) found(p *segment) {
	if p.lost {
		p.lost = false
		s.lostCount--
	}
}

// forget releases all buffers.
func (s *outStream) forget(e *Endpoint) {
	for ; s.segments.len() > 0; s.segments.pop() {
		e.release(s.segments.at(0).buf)
	}
}
