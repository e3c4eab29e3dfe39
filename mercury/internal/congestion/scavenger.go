package congestion

import "time"

const (
	// bulkStart is the first window of bulk in packets; it grows by a sixth a round trip, of which
	// the path shows the effect two round trips later. What other traffic may do, to double or
	// quadruple until the queue before the bottleneck is full, the game beside it would feel.
	bulkStart = 32
	// bulkLeast is the least window in packets: a path that is full of others' traffic still moves
	// bulk. On a narrow path so few are a long queue. There longLeast is the least, and a window in
	// between may add half of bulkLong.
	bulkLeast, longLeast = 8, 2
	// bulkQueue is the delay that bulk may add on the path: half a tick of a client that draws
	// sixty pictures a second.
	bulkQueue = 8 * time.Millisecond
	// bulkLong is a delay that a game feels for certain. The window then goes at once to what the
	// path carries without the queue, since each further round lasts as long as that.
	bulkLong = 100 * time.Millisecond
	// bulkBurst is how many packets of bulk leave at once, bulkQuantum how many it waits for.
	bulkBurst   = 10
	bulkQuantum = 4
)

// scavenger bounds what bulk has in flight by the delay that the path shows, in the manner of RFC
// 6817 (LEDBAT): while the round trips of a round are on average near the path's least, the window
// grows; when they are above by more than bulkQueue, a queue stands, and it shrinks, but not below
// what the path carries without a queue. Its packets leave evenly over the round trip. The rate
// model's window and pace hold above it.
//
// Most of thousands of channels never carry bulk: a nil Scavenger is one that was never opened.
type Scavenger struct {
	window   int           // bytes in flight, all streams together, up to which bulk goes; 0 before the first use
	until    uint64        // the round ends with the ack of this packet number
	sum      time.Duration // of the round trips seen in this round
	count    int
	full     bool // the window held bulk back in this round
	credit   int  // bytes that may leave now
	creditAt time.Duration
}

// Closed reports whether the window holds bulk back.
func (s *Scavenger) Closed(flight int) bool { return s != nil && s.window > 0 && flight >= s.window }

// Open reports whether bulk may be added to what is in flight.
func (s *Scavenger) Open(now time.Duration, flight, mtu int, path time.Duration) bool {
	if s.window == 0 {
		s.window, s.credit, s.creditAt = bulkStart*mtu, bulkBurst*mtu, now
	}
	if flight >= s.window {
		s.full = true
		return false
	}
	s.refill(now, mtu, path)
	return s.credit > 0
}

// Spend takes bytes that leave now; they may be more than the credit, which what follows pays for.
func (s *Scavenger) Spend(bytes int) {
	if s != nil {
		s.credit -= bytes
	}
}

// HeldBack reports whether the window has held bulk back in this round.
func (s *Scavenger) HeldBack() bool { return s != nil && s.full }

// refill adds what the time since the last call brings: five quarters of the window a round trip.
func (s *Scavenger) refill(now time.Duration, mtu int, path time.Duration) {
	if path <= 0 {
		path = initialRTT
	}
	since := min(now-s.creditAt, path)
	if gain := int(int64(s.window) * 5 / 4 * int64(since) / int64(path)); gain > 0 {
		s.credit = min(s.credit+gain, bulkBurst*mtu)
		s.creditAt = now
	}
}

// NextAt is when a few packets may leave.
func (s *Scavenger) NextAt(now time.Duration, mtu int, path time.Duration) time.Duration {
	if path <= 0 {
		path = initialRTT
	}
	missing := max(0, bulkQuantum*mtu-s.credit)
	return now + time.Duration(int64(missing)*4*int64(path)/(5*int64(max(s.window, mtu)))) + 1
}

// OnAck learns from an ack: a round trip without the peer's delay (0 for none), the numbers acked
// and sent so far, the path's longest datagram and least round trip, and the least and most that the
// rate model leaves for a window.
func (s *Scavenger) OnAck(rtt time.Duration, acked, sent uint64, mtu int, path time.Duration, least, most int) {
	if s == nil || s.window == 0 {
		return
	}
	if rtt > 0 {
		s.sum += rtt
		s.count++
	}
	if acked < s.until || s.count == 0 {
		return
	}
	switch queue := s.sum/time.Duration(s.count) - path; {
	case queue > bulkLong:
		s.window = int(int64(s.window) * int64(path) / int64(path+queue))
	case s.full && s.window < bulkLeast*mtu && queue <= bulkLong/2:
		s.window += s.window / 6
	case queue > bulkQueue:
		less := int(int64(s.window) * int64(min(queue-bulkQueue, bulkQueue)) / int64(4*bulkQueue))
		s.window = max(s.window-less, min(s.window, bulkLeast*mtu))
	case s.full && queue <= bulkQueue/4:
		s.window += s.window / 6
	case s.full && queue <= bulkQueue/2:
		s.window += s.window / 32
	}
	s.window = max(min(s.window, most), least, longLeast*mtu)
	s.until, s.sum, s.count, s.full = sent, 0, 0, false
}
