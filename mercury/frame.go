package mercury

import (
	"encoding/binary"
	"github.com/cellscape/cellscape/internal/codec"
	"time"
)

// frameKind opens each frame of a data packet.
type frameKind uint8

const (
	framePad       frameKind = 0x00 // nothing
	framePing      frameKind = 0x01 // asks for an ack
	frameClose     frameKind = 0x02 // closed properly: all that was sent has been acked
	frameAbort     frameKind = 0x03 // closed at once; asks for no ack
	frameChannel   frameKind = 0x04 // the acceptor's channel, salt and window, until the dialler is known to have them
	frameTicket    frameKind = 0x05 // for the dialler's next dial
	frameChallenge frameKind = 0x06 // of a path: a token to be sent back
	frameResponse  frameKind = 0x07 // the token
	frameAck       frameKind = 0x08 // the newest run of packets received
	frameAckRanges frameKind = 0x09 // the newest runs, and how far the streams have come without a gap
	framePause     frameKind = 0x0a // what comes is held; asks for no ack
	frameResume    frameKind = 0x0b // it is delivered again

	// frameSegment and frameUnreliable are combined with flags.
	frameSegment    frameKind = 0x10 // a piece of a reliable stream
	frameUnreliable frameKind = 0x20 // one unreliable message
	flagLength      frameKind = 1    // a length precedes the bytes; without it they reach to the end of the packet
	flagBulk        frameKind = 2    // of the bulk stream
	flagPart        frameKind = 4    // a part of a segment that is too long for the path
)

const (
	// maxAckRanges bounds an ack; older gaps are left out. The cumulative part covers their
	// content.
	maxAckRanges = 64
	// ackReserve is how many bytes of each packet segments leave free, so that an ack of one run
	// has room beside a full one. A longer ack goes in a packet of its own, or beside a segment
	// that leaves ackRoom.
	ackReserve = 20
	ackRoom    = 200
	// ackFixed is the most that an ack of one run takes: kind, largest, delay, run.
	ackFixed = 1 + 7 + 3 + 7
	// rangesFixed is what an ack of several takes beside: count, cumulative numbers.
	rangesFixed = 1 + 7 + 7
	// rangeMax is the most that one further range takes.
	rangeMax = 7 + 7
	// segmentOverhead is the most a segment takes beside its bytes: kind, number, length.
	segmentOverhead = 1 + 7 + 3
	// partOverhead is what a part of one takes beside that: index and count, offset.
	partOverhead = 1 + 3
	// unreliableOverhead is the most an unreliable frame takes beside its bytes: kind, length.
	unreliableOverhead = 1 + 3
	// channelFrameSize is the most that the acceptor's frame takes.
	channelFrameSize = 1 + 5 + 4 + 3
	// pathFrameSize is what a challenge of a path or the response to it takes.
	pathFrameSize = 1 + 8
	// ackDelayShift gives the unit of an ack's delay, 131 µs, so that a game's tick takes one byte.
	ackDelayShift = 17
	// maxReportedDelay bounds that delay.
	maxReportedDelay = 2 * time.Second
)

// ack is the content of an ack frame.
type ack struct {
	delay      time.Duration // between receiving the largest packet that asked for an ack and sending this
	cumulative [lanes]uint64 // all segments of a stream below it have been received
	complete   bool          // cumulative was told
	ranges     []numberRange // of packet numbers, descending, never empty
}

// appendAck appends an ack of the runs of s that the peer has not seen acked, newest first, in at
// most room bytes, which must be ackFixed or more. It reports whether all of them found room.
func appendAck(b []byte, s *numberSet, delay time.Duration, cumulative [lanes]uint64, room int) ([]byte, bool) {
	start, last := len(b), len(s.runs)-1
	oldest := last // index of the oldest run to be told
	for oldest > 0 && s.runs[oldest-1].hi >= s.known && last-oldest < maxAckRanges-1 {
		oldest--
	}
	kind := frameAckRanges
	if oldest == last {
		kind = frameAck
	}
	hi, lo := s.runs[last].hi, max(s.runs[last].lo, min(s.known, s.runs[last].hi))
	b = append(b, byte(kind))
	b = binary.AppendUvarint(b, hi)
	b = binary.AppendUvarint(b, uint64(min(max(delay, 0), maxReportedDelay))>>ackDelayShift)
	b = binary.AppendUvarint(b, hi-lo)
	if oldest == last {
		return b, true
	}
	if room < ackFixed+rangesFixed+rangeMax {
		b[start] = byte(frameAck)
		return b, false
	}
	for _, n := range cumulative {
		b = binary.AppendUvarint(b, n)
	}
	count := len(b)
	b = append(b, 0)
	for i := last - 1; i >= oldest; i-- {
		if len(b)-start > room-rangeMax {
			return b, false
		}
		b = binary.AppendUvarint(b, lo-s.runs[i].hi-2) // runs do not touch
		b = binary.AppendUvarint(b, s.runs[i].hi-s.runs[i].lo)
		lo = s.runs[i].lo
		b[count]++
	}
	return b, true
}

// readAck reads an ack frame after its kind into a, reusing a.ranges. Ranges are proved descending
// and not negative.
func readAck(r *codec.Reader, kind frameKind, a *ack) {
	a.ranges = a.ranges[:0]
	a.complete = kind == frameAckRanges
	hi, delay, first := r.Uvarint(), r.Uvarint(), r.Uvarint()
	if hi > maxNumber || first > hi || delay > uint64(maxReportedDelay)>>ackDelayShift {
		r.Fail(codec.ErrValue)
		return
	}
	a.delay = time.Duration(delay << ackDelayShift)
	lo := hi - first
	a.ranges = append(a.ranges, numberRange{lo, hi})
	if !a.complete {
		return
	}
	for i := range a.cumulative {
		a.cumulative[i] = r.Uvarint()
	}
	count := int(r.U8())
	if count >= maxAckRanges {
		r.Fail(codec.ErrValue)
		return
	}
	for range count {
		gap, run := r.Uvarint(), r.Uvarint()
		if r.Err() != nil || gap > lo || lo-gap < 2 || run > lo-gap-2 {
			r.Fail(codec.ErrValue)
			return
		}
		hi = lo - gap - 2
		lo = hi - run
		a.ranges = append(a.ranges, numberRange{lo, hi})
	}
}

// segmentFrame is the content of a segment frame. bytes alias the packet.
type segmentFrame struct {
	lane   int
	seq    uint64
	part   uint8 // index of the part
	parts  uint8 // 0 for a whole segment
	offset int   // of the part within the segment
	bytes  []byte
}

func readSegment(r *codec.Reader, kind frameKind, f *segmentFrame) {
	*f = segmentFrame{seq: r.Uvarint()}
	if kind&flagBulk != 0 {
		f.lane = laneBulk
	}
	if kind&flagPart != 0 {
		which := r.U8()
		f.part, f.parts = which>>4, which&15
		offset := r.Uvarint()
		if f.parts < 2 || f.parts > maxParts || f.part >= f.parts || offset > MaxMTU {
			r.Fail(codec.ErrValue)
			return
		}
		f.offset = int(offset)
	}
	f.bytes = readRest(r, kind)
	if r.Err() == nil && len(f.bytes) == 0 {
		r.Fail(codec.ErrValue)
	}
}

// readRest reads bytes behind a length, or all that is left of the packet.
func readRest(r *codec.Reader, kind frameKind) []byte {
	if kind&flagLength != 0 {
		return r.Bytes(MaxMTU)
	}
	return r.Take(r.Len())
}

// uvarintLen is the number of bytes that binary.AppendUvarint takes for v.
func uvarintLen(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}
