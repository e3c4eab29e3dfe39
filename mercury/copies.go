package mercury

import "github.com/cellscape/cellscape/mercury/internal/congestion"

// Resending before the loss is known.
//
// Whoever waits for evidence of a loss delivers a lost message after one and a half round trips and
// an interval between messages at the earliest. Short messages that ride again in the next packet,
// or the next two, are there one interval later instead. That doubles or triples the bytes of such
// messages but adds no packet. So it is done only while the path loses packets and has room: see
// copyPolicy.
const (
	// maxCopied is the longest segment that rides again; the copies of longer ones would crowd out
	// what is new.
	maxCopied = 400
	// DefaultCopies is the most copies of a message.
	DefaultCopies = 2
)

// roomForCopies reports whether the path has room for bytes that are not needed: what the game has
// to say waits for nothing, and no more is in flight than half of the window, or than the path was
// seen to carry in one and a half round trips and the time that the peer may hold an ack. The
// window alone says little: it has a floor that a narrow line does not carry.
func (c *channel) roomForCopies() bool {
	out := &c.out
	if c.copying.level == 0 || out.streams[laneGame].unsent() > 1 || 2*out.flightBytes >= out.rate.Window() {
		return false
	}
	least := out.rate.MinRTT()
	carried := congestion.PerTime(out.rate.Bottleneck(), least+least/2+maxAckHold)
	return out.flightBytes <= int(min(carried, congestion.MaxWindow))+c.path.mtu
}

// rider is a short segment that rides again in the next packets.
type rider struct {
	seq  uint64
	left int8
}

// maxRiders bounds them: what a packet of a game's tick, and the resends in it, can bring.
const maxRiders = 4

// riders are the short segments sent last, oldest first.
type riders struct {
	list [maxRiders]rider
	n    int8
}

// add has segment seq ride again; the oldest gives way.
func (r *riders) add(seq uint64, times int8) {
	if r.n == maxRiders {
		copy(r.list[:], r.list[1:])
		r.n--
	}
	r.list[r.n] = rider{seq, times}
	r.n++
}

// appendCopies lets unacked short segments ride along in a packet that goes anyway.
func (c *channel) appendCopies(e *Endpoint, w *packetWriter) {
	r := &c.riders
	kept := int8(0)
	for _, x := range r.list[:r.n] {
		if c.appendCopy(e, w, x.seq) {
			x.left--
		}
		if x.left > 0 {
			r.list[kept] = x
			kept++
		}
	}
	r.n = kept
}

// appendCopy reports whether the turn of segment seq is over: it rode, or need not any more.
func (c *channel) appendCopy(e *Endpoint, w *packetWriter, seq uint64) bool {
	s := &c.out.streams[laneGame]
	if seq < s.first || seq >= s.end() {
		return true
	}
	p := s.segments.at(int(seq - s.first))
	if p.acked || p.lost {
		return true // arrived, or about to go again by itself
	}
	if p.packet == w.record.number {
		return false // it is in this packet
	}
	if w.record.count >= maxPacketSegments-1 || !w.segmentFits(seq, len(p.buf)) {
		return true
	}
	w.segment(laneGame, seq, p)
	e.stats.Copies++
	c.copied++
	return true
}
