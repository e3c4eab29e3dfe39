package mercury

import "github.com/cellscape/cellscape/internal/invariant"

// A channel with more than fewCounted packets and segments is checked only once in countEvery
// packets. A bulk transfer with thousands of them would otherwise do nothing else.
const fewCounted, countEvery = 128, 64

// assert checks the accounts of a channel: what is in flight is what packets and segments say.
func (c *channel) assert(e *Endpoint) {
	out := &c.out
	counted := out.sent.len()
	for lane := range out.streams {
		counted += out.streams[lane].segments.len()
	}
	if counted > fewCounted && out.number%countEvery != 0 {
		return
	}
	packets, bytes := 0, 0
	for i := range out.sent.len() {
		p := out.sent.at(i)
		if p.state == inFlight {
			packets++
			bytes += int(p.size)
		}
		if p.number >= out.number || i > 0 && out.sent.at(i-1).number >= p.number {
			invariant.Broken("mercury: packet %d is out of order, the next is %d", p.number, out.number)
		}
	}
	if packets != int(out.inFlight) || bytes != int(out.flightBytes) {
		invariant.Broken("mercury: %d packets of %d bytes in flight, %d of %d are counted",
			packets, bytes, out.inFlight, out.flightBytes)
	}
	for lane := range out.streams {
		out.streams[lane].assert(out.window)
		if held := c.in.streams[lane].holds(); held > e.cfg.Window {
			invariant.Broken("mercury: %d segments are held, the window is %d", held, e.cfg.Window)
		}
	}
}

// assert checks what a stream counts, and that it keeps to the peer's window.
func (s *outStream) assert(window uint16) {
	lost, queued := 0, 0
	for i := range s.segments.len() {
		p := s.segments.at(i)
		if p.lost {
			lost++
		}
		if i >= int(s.sentCount) {
			queued += len(p.buf)
		}
		seq := s.first + uint64(i)
		// The first that was not sent whole may have parts on their way.
		if p.lost && (p.acked || seq > s.end() || seq < s.lostFrom) {
			invariant.Broken("mercury: segment %d is lost; acked: %v, sent below %d, none lost below %d",
				seq, p.acked, s.end(), s.lostFrom)
		}
	}
	if lost != int(s.lostCount) || queued != s.queued || s.unsent() < 0 {
		invariant.Broken("mercury: %d segments lost and %d bytes queued, %d and %d are counted",
			lost, queued, s.lostCount, s.queued)
	}
	if s.sentCount > window {
		invariant.Broken("mercury: %d segments on their way, the window is %d", s.sentCount, window)
	}
}
