package mercury

import "time"

// rttEstimate is the smoothed round trip of RFC 6298, without the time that the peer held back the ack.
type rttEstimate struct {
	smooth, spread, latest, least time.Duration // smooth is 0 before the first sample
}

func (r *rttEstimate) sample(took, delay time.Duration) {
	if r.least == 0 || took < r.least {
		r.least = max(took, 1)
	}
	// A peer that reports more delay than there was would make the round trip vanish.
	if took-delay >= r.least {
		took -= delay
	}
	r.latest = took
	if r.smooth == 0 {
		r.smooth, r.spread = max(took, 1), took/2
		return
	}
	r.spread += ((r.smooth - took).Abs() - r.spread) / 4
	r.smooth += (took - r.smooth) / 8
}

// timeout is how long an ack may take, without the delay that the peer adds on purpose.
func (r *rttEstimate) timeout() time.Duration {
	if r.smooth == 0 {
		return 3 * initialRTT
	}
	return r.smooth + max(4*r.spread, time.Millisecond)
}

// reorderTime is how long after its sending an overtaken packet may still come (RFC 9002, 6.1.2).
func (r *rttEstimate) reorderTime() time.Duration {
	rtt := max(r.smooth, r.latest)
	if rtt == 0 {
		rtt = initialRTT
	}
	return rtt + max(rtt/8, time.Millisecond)
}

const (
	// initialCongestion packets in flight do not overrun the default socket buffer of a peer.
	initialCongestion = 64
	// minCongestion lets a game's tick through whatever the loss.
	minCongestion = 32
)

// congestion bounds the packets in flight: it doubles each round trip until the first loss, then grows by one
// a round trip and gives way by three tenths a loss. What it protects is foremost the socket buffer of the peer.
type congestion struct {
	limit     int // 0 before the first use: initialCongestion
	threshold int // slow start ends here; 0 while it is not known
	credit    int
	recovery  uint64 // packets below this were sent before the last reduction and do not reduce again
}

func (g *congestion) packets() int {
	if g.limit == 0 {
		return initialCongestion
	}
	return g.limit
}

func (g *congestion) onAck(number uint64, window int) {
	if number < g.recovery {
		return
	}
	limit := g.packets()
	if g.threshold == 0 || limit < g.threshold {
		limit++
	} else if g.credit++; g.credit >= limit {
		g.credit = 0
		limit++
	}
	g.limit = min(limit, max(window, minCongestion))
}

func (g *congestion) onLoss(number, next uint64) {
	if number < g.recovery {
		return
	}
	g.recovery = next
	g.limit = max(g.packets()*7/10, minCongestion)
	g.threshold = g.limit
}
