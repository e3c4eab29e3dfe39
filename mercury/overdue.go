package mercury

// This file sends short messages again that the peer speaks without having got.
//
// A loss shows when a later packet is acked. While a burst of losses lasts none is, so that its first
// message would wait for the end of the burst and a round trip, and for one message in a hundred that
// is long. But the peer speaks meanwhile. A packet that it sent half a round trip after one of ours
// does not ack it only if that one is late or lost:
//
//	ours    0 x   16 x   32 x   48 ────.      .── 64     the ack of 48 shows that 0 to 32 are lost
//	             .───────────── 41 ─────\────'           41 shows that 0 is, and is here before 48 is there
//
// What is sent again may fall into the same burst. It is therefore copied into the packets that
// follow, and one goes by itself if none does soon: these are few bytes, since few messages are lost.
//
// This is a guess at one message, not a measure of the path: the packet counts as in flight until it is
// known to be lost, the peer is never taken for slow, and a path that loses nothing is spared.
const (
	// overdueCopies is how often a message that was sent again for this rides once more.
	overdueCopies = 2
	// mostOverdue is above the number of packets that a game has in flight; with more a later one is
	// soon acked.
	mostOverdue = 16
)

// overdue marks the short segments for sending again that the peer, from which a packet has just come,
// should have acked with it.
func (c *channel) overdue(e *Endpoint) {
	out := &c.out
	if out.losses.Gone == 0 || out.inFlight == 0 || out.inFlight > mostOverdue || out.rtt.Smooth == 0 || c.copying.standing() {
		return
	}
	sentBy := e.now - out.rtt.Timeout() - out.late.wait(&out.rtt)
	s := &out.streams[laneGame]
	for i := range out.sent.len() {
		p := out.sent.at(i)
		if p.at > sentBy {
			return
		}
		if p.state != inFlight {
			continue
		}
		for _, r := range p.refs[:p.count] {
			if r.lane() == laneGame && s.short(r.seq()) && s.resend(r.seq(), p.number, r.part(), r.parts()) {
				s.segments.at(int(r.seq() - s.first)).overdue = true
				e.touch(c)
			}
		}
	}
}

// overdueCopies is how often a message that is sent again rides once more.
func (c *channel) overdueCopies(e *Endpoint) int8 {
	k := &c.copying
	if !k.bursts() || k.copyTrial != nil && e.now < k.attempts[0].until {
		return k.level // it will pass, or there is no room for more
	}
	return min(overdueCopies, e.cfg.copies())
}

// short reports whether segment seq is one that is copied.
func (s *outStream) short(seq uint64) bool {
	return seq >= s.first && len(s.segments.at(int(seq-s.first)).buf) <= maxCopied
}
