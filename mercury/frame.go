package mercury

import (
	"encoding/binary"
	"time"
)

// frameKind opens each frame of a data packet.
type frameKind uint8

const (
	frameAck        frameKind = 1 + iota // what the sender of this packet has received
	frameSegment                         // a piece of the reliable stream: number, length, bytes
	frameUnreliable                      // one unreliable message: length, bytes
	framePing                            // asks for an ack
	frameClose                           // closed in order, all that was sent has been acked
	frameAbort                           // closed at once; asks for no ack
)

const (
	// maxAckRanges bounds an ack; older gaps are left out. The cumulative part covers what they would have told.
	maxAckRanges = 64
	// ackReserve of each packet is kept free of segments, so that an ack of some ranges always finds room beside a full one.
	ackReserve = 64
	// ackFixed is the most an ack takes without further ranges: kind, largest, delay, cumulative, first run, count.
	ackFixed = 1 + 7 + 5 + 7 + 7 + 1
	// rangeMax is the most that one further range takes.
	rangeMax = 7 + 7
	// segmentOverhead is the most a segment frame takes beside its bytes: kind, number, length.
	segmentOverhead = 1 + 7 + 3
	// unreliableOverhead is the most an unreliable frame takes beside its bytes: kind, length.
	unreliableOverhead = 1 + 3
	// maxReportedDelay bounds the delay in an ack, so that it fits five bytes of microseconds.
	maxReportedDelay = time.Minute
)

// ack is the content of an ack frame.
type ack struct {
	delay      time.Duration // between receiving the largest packet that asked for an ack and sending this
	cumulative uint64        // all segments below it have been received
	ranges     []numberRange // of packet numbers, descending, never empty
}

// appendAck appends an ack of the newest runs of s in at most room bytes, which must be ackFixed or more.
func appendAck(b []byte, s *numberSet, delay time.Duration, cumulative uint64, room int) []byte {
	i := len(s.runs) - 1
	count := min(i, maxAckRanges-1, (room-ackFixed)/rangeMax)
	delay = min(max(delay, 0), maxReportedDelay)
	b = append(b, byte(frameAck))
	b = binary.AppendUvarint(b, s.runs[i].hi)
	b = binary.AppendUvarint(b, uint64(delay/time.Microsecond))
	b = binary.AppendUvarint(b, cumulative)
	b = binary.AppendUvarint(b, s.runs[i].hi-s.runs[i].lo)
	b = append(b, byte(count))
	for ; count > 0; count-- {
		i--
		b = binary.AppendUvarint(b, s.runs[i+1].lo-s.runs[i].hi-2) // runs do not touch
		b = binary.AppendUvarint(b, s.runs[i].hi-s.runs[i].lo)
	}
	return b
}

// readAck reads an ack frame after its kind into a, reusing a.ranges. Ranges are proved descending and not negative.
func readAck(r *Reader, a *ack) {
	a.ranges = a.ranges[:0]
	hi := r.Uvarint()
	delay := r.Uvarint()
	a.cumulative = r.Uvarint()
	first := r.Uvarint()
	count := int(r.U8())
	if hi > maxNumber || first > hi || delay > uint64(maxReportedDelay/time.Microsecond) || count >= maxAckRanges {
		r.fail(ErrValue)
		return
	}
	a.delay = time.Duration(delay) * time.Microsecond
	lo := hi - first
	a.ranges = append(a.ranges, numberRange{lo, hi})
	for range count {
		gap, run := r.Uvarint(), r.Uvarint()
		if r.err != nil || gap > lo || lo-gap < 2 || run > lo-gap-2 {
			r.fail(ErrValue)
			return
		}
		hi = lo - gap - 2
		lo = hi - run
		a.ranges = append(a.ranges, numberRange{lo, hi})
	}
}

// uvarintLen is the number of bytes that binary.AppendUvarint takes for v.
func uvarintLen(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}
