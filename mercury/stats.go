package mercury

import "time"

// Stats counts what an Endpoint has done since it was made. The Bad counters count dropped
// datagrams by reason.
type Stats struct {
	// Channels is the number of channels now, including condemned and dialling ones. At 0 an app
	// may exit.
	Channels int

	PacketsIn, PacketsOut   uint64 // datagrams taken and handed out
	BytesIn, BytesOut       uint64 // their payloads
	MessagesIn, MessagesOut uint64 // messages delivered and accepted for sending
	Resends                 uint64 // segments sent again because they were taken for lost
	Copies                  uint64 // segments copied before anything was known of their loss
	Spurious                uint64 // packets considered lost that had arrived
	Moved                   uint64 // channels whose peer changed its address
	Narrowed                uint64 // channels whose path no longer passed long datagrams
	Challenged              uint64 // opens answered by a challenge, because there were many
	Lost                    uint64 // packets taken for lost
	Duplicates              uint64 // packets that had come before, or too late to tell
	Opened                  uint64 // channels opened, both ways
	Refused                 uint64 // opens refused, for MaxChannels or a wrong salt
	ResetsIn, ResetsOut     uint64 // notices that a channel is unknown
	Full                    uint64 // reliable and bulk messages refused with ErrFull
	UnreliableDropped       uint64 // unreliable messages dropped at the sender for want of room
	UnreliablePaused        uint64 // unreliable messages that came on paused channels and were dropped

	BadSize     uint64 // too short, too long, or not of the size of its kind
	BadChecksum uint64 // damaged, or not of this protocol
	BadKind     uint64 // an unknown kind, or impossible fields
	BadCookie   uint64 // an open whose cookie is too old or was not given by this start
	BadChannel  uint64 // for a channel that is not here, or with the wrong key
	BadFrame    uint64 // of the right key, but malformed inside; closes its channel
	BadHello    uint64 // hellos and replies that the Guard refused
	Filtered    uint64 // refused by the Filter
	Throttled   uint64 // answers withheld by a rate limit
}

// ChannelStats has the figures of one channel.
type ChannelStats struct {
	RTT, MinRTT time.Duration // smoothed round trip without the peer's delay of acks, and the least seen; 0 before the first
	Loss        float64       // share of our packets that is lost, over the last one to two thousand
	Copies      int           // how often a short message is copied now
	Window      int           // bytes that may be in flight
	InFlight    int           // bytes that are
	Rate        uint64        // bytes a second at which anything beyond a few packets is sent
	MTU         int           // longest datagram in use
	Resends     uint64        // segments sent again
	Copied      uint64        // segments copied
	Lost        uint64        // packets taken for lost
	Spurious    uint64        // of these, packets that had arrived
	Queued      int           // bytes of reliable messages that wait for a first sending
	QueuedBulk  int           // the same of bulk messages
	Full        uint64        // reliable and bulk messages refused with ErrFull
	Dropped     uint64        // unreliable messages of ours dropped here for want of room
}

// ChannelStats returns the figures of a channel; false if there is none.
func (e *Endpoint) ChannelStats(ch ChannelID) (ChannelStats, bool) {
	c := e.channel(ch)
	if c == nil {
		return ChannelStats{}, false
	}
	t := c.counted()
	return ChannelStats{
		RTT: c.out.rtt.Smooth, MinRTT: c.out.rtt.Least,
		Loss:   float64(c.out.losses.PerMyriad()) / 10000,
		Copies: int(c.copying.level), Window: c.out.rate.Window(), InFlight: int(c.out.flightBytes), Rate: c.out.rate.Rate(), MTU: int(c.path.mtu),
		Resends: t.resent, Copied: t.copied, Lost: t.lost, Spurious: t.spurious,
		Queued: c.out.streams[laneGame].queued, QueuedBulk: c.out.streams[laneBulk].queued, Full: t.full, Dropped: t.dropped,
	}, true
}
