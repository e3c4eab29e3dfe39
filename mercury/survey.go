package mercury

import "time"

// Survey tells how the path of a channel fares towards the peer. The counters begin with the channel
// and are compared between two surveys. What a transport does not know is 0.
type Survey struct {
	RTT, MinRTT time.Duration // smoothed round trip, and the least seen
	Packets     uint64        // that left here
	Lost        uint64        // of these, packets taken for lost; it falls when one proves to have arrived
	Delivered   uint64        // bytes that the peer has acked, headers included
	Waiting     int           // bytes that have not left this machine
	Dropped     uint64        // unreliable messages dropped here for want of room
}

// Surveyor is a Transport that knows the paths of its channels. A sender of much that may be late,
// such as the places of entities, learns from it how much the path carries. It need not be asked more
// often than twice a second; over TCP it asks the system.
type Surveyor interface {
	// Survey returns the figures of an open channel; false if there is none.
	Survey(ch ChannelID) (Survey, bool)
}

var _ Surveyor = (*Endpoint)(nil)

// Survey implements Surveyor.
func (e *Endpoint) Survey(ch ChannelID) (Survey, bool) {
	c := e.channel(ch)
	if c == nil {
		return Survey{}, false
	}
	t := c.counted()
	return Survey{
		RTT: c.out.rtt.Smooth, MinRTT: c.out.rtt.Least, Packets: c.out.number, Lost: t.lost - min(t.lost, t.spurious),
		Delivered: c.out.rate.Delivered(), Waiting: c.out.streams[laneGame].queued, Dropped: t.dropped,
	}, true
}
