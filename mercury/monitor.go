package mercury

import (
	"net/netip"
	"time"
)

// PacketKind is what a packet is for, as a Monitor sees it.
type PacketKind uint8

// The kinds of packets.
const (
	PacketOther     PacketKind = iota // none of these, or not yet known
	PacketOpen                        // dialler: may I
	PacketChallenge                   // answer to an open that must prove its address
	PacketAccept                      // answer to an open that may
	PacketRefuse                      // answer to an open that cannot be
	PacketData                        // frames of a channel
	PacketReset                       // answer to data of an unknown channel
	PacketFirst                       // frames of a channel, with the pass that opens it
	PacketProbe                       // padded, to find out how large a packet may be
)

func (k PacketKind) String() string {
	switch k {
	case PacketOpen:
		return "open"
	case PacketChallenge:
		return "challenge"
	case PacketAccept:
		return "accept"
	case PacketRefuse:
		return "refuse"
	case PacketData:
		return "data"
	case PacketReset:
		return "reset"
	case PacketFirst:
		return "first"
	case PacketProbe:
		return "probe"
	}
	return "other"
}

// PacketInfo is one packet as a Monitor sees it. What lies inside is under seal, and not shown.
type PacketInfo struct {
	Peer    netip.AddrPort // where it came from or goes to
	Kind    PacketKind
	Channel ChannelID // of this side; 0 outside of a channel
	Number  uint64    // of the packet, in its channel and direction; 0 outside of a channel
	Size    int       // of the datagram, in bytes
	// Dropped is why an arriving packet was of no use, in a word or two; "" for a good one.
	Dropped string
}

// Monitor is told of every packet of an Endpoint: for a dump, a graph, a test. It must not call the
// Endpoint. It is called within Receive, Advance and Flush, for each packet, so that a slow one
// slows them.
type Monitor interface {
	// PacketIn tells of a packet that arrived, once it is known what it is, or why it is dropped.
	PacketIn(now time.Duration, p PacketInfo)
	// PacketOut tells of a packet that is handed out.
	PacketOut(now time.Duration, p PacketInfo)
	// PacketLost tells that a packet sent earlier is taken for lost. What it carried goes out
	// again, under another number.
	PacketLost(now time.Duration, p PacketInfo)
}

// Filter decides which datagrams an Endpoint does not even look at: it is asked before checksums,
// seals and tables, so that what a ban list or a rate limit turns away costs nothing else.
type Filter interface {
	// Drop reports whether a datagram is to be dropped unread. An IPv4 place comes as one, not in
	// IPv6 clothes. A source can be forged: who is banned by what a datagram says of itself can be
	// banned by others. datagram is valid only during the call and not to be changed. It must not
	// call the Endpoint.
	Drop(now time.Duration, from netip.AddrPort, datagram []byte) bool
}

// FilterFunc is a function as a Filter.
type FilterFunc func(now time.Duration, from netip.AddrPort, datagram []byte) bool

// Drop calls f.
func (f FilterFunc) Drop(now time.Duration, from netip.AddrPort, datagram []byte) bool {
	return f(now, from, datagram)
}

// SetMonitor has m told of every packet of a channel; nil for nobody.
func (e *Endpoint) SetMonitor(m Monitor) { e.monitor = m }

// SetFilter has f asked about every datagram that arrives; nil lets all pass.
func (e *Endpoint) SetFilter(f Filter) { e.filter = f }
