package stream

import "github.com/cellscape/cellscape/mercury"

// Stats counts what a Transport did. Bytes are those of frames, without what the protocols below
// add.
type Stats struct {
	Channels, Pending       int
	MessagesIn, MessagesOut uint64
	BytesIn, BytesOut       uint64
	Writes                  uint64 // attempts of the owner to write
	Full                    uint64 // reliable messages refused with mercury.ErrFull
	UnreliableDropped       uint64 // by SendUnreliable, for what waited already
	UnreliableRefused       uint64 // by a connection's lane: too long by now, or it has ended
	Refused                 uint64 // connections that were not let in, but for those that said nothing
}

// Stats returns the counters as they stand.
func (t *Transport) Stats() Stats {
	s := t.stats
	s.Channels, s.UnreliableRefused = len(t.channels), t.laneRefused.Load()
	t.mu.Lock()
	s.Pending, s.Refused = len(t.pending), t.unopened.refused()
	t.mu.Unlock()
	return s
}

// Pending is the number of accepted connections that have not said who they are. Any goroutine may
// call it.
func (t *Transport) Pending() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pending)
}

// CountUnopened counts a connection that came to nothing before an adapter gave it to Accept. Any
// goroutine may call it.
func (t *Transport) CountUnopened(why Fate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unopened[why]++
}

// Channels implements mercury.Carrier.
func (t *Transport) Channels() int { return len(t.channels) }

// CarrierStats implements mercury.Carrier. It asks the system about each connection.
func (t *Transport) CarrierStats() mercury.CarrierStats {
	own, below := t.Stats(), t.Infos()
	s := mercury.CarrierStats{
		Channels: own.Channels, RTT: below.RTT, MessagesIn: own.MessagesIn, MessagesOut: own.MessagesOut, BytesIn: own.BytesIn, BytesOut: own.BytesOut,
		Resends: below.Resends, Lost: below.Lost, Full: own.Full, Refused: own.Refused, Dropped: own.UnreliableDropped + own.UnreliableRefused,
	}
	t.mu.Lock()
	t.unopened.tell(&s)
	t.mu.Unlock()
	if below.PacketsOut > 0 {
		s.Loss = float64(below.Lost) / float64(below.PacketsOut)
	}
	for _, c := range t.order {
		if c.state != dead {
			s.Queued += c.backlog()
		}
	}
	return s
}
