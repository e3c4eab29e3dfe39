package mercury

import (
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/internal/enum"
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
	return enum.Name(k, "packet", []string{
		PacketOther:     "other",
		PacketOpen:      "open",
		PacketChallenge: "challenge",
		PacketAccept:    "accept",
		PacketRefuse:    "refuse",
		PacketData:      "data",
		PacketReset:     "reset",
		PacketFirst:     "first",
		PacketProbe:     "probe",
	})
}

// PacketInfo is one packet as a Monitor sees it. Its sealed content is not shown.
type PacketInfo struct {
	Peer    netip.AddrPort // where it came from or goes to
	Kind    PacketKind
	Channel ChannelID // of this side; 0 outside of a channel
	Number  uint64    // of the packet, in its channel and direction; 0 outside of a channel
	Size    int       // of the datagram, in bytes
	// Dropped says in a word or two why an arriving packet was of no use; "" for a good one.
	Dropped string
}

// Monitor is told of every packet of an Endpoint: for a dump, a graph, a test. It must not call the
// Endpoint. It is called within Receive, Advance and Flush, for each packet, so a slow Monitor
// slows them.
type Monitor interface {
	// PacketIn tells of a packet that arrived, once it is known what it is, or why it is dropped.
	PacketIn(now time.Duration, p PacketInfo)
	// PacketOut tells of a packet that is sent.
	PacketOut(now time.Duration, p PacketInfo)
	// PacketLost tells that an earlier packet is considered lost. Its content is sent again, under
	// another number.
	PacketLost(now time.Duration, p PacketInfo)
}

// Filter decides which datagrams an Endpoint ignores. It is called before checksums, seals and
// tables, so what a ban list or a rate limit rejects costs nothing else.
type Filter interface {
	// Drop reports whether to drop a datagram unread. An IPv4 place is never an IPv4-mapped IPv6
	// one. Sources can be forged: a ban based on a datagram's source lets others ban its victims.
	// datagram is valid only during the call, and must not be changed. Drop must not call the
	// Endpoint.
	Drop(now time.Duration, from netip.AddrPort, datagram []byte) bool
}

// FilterFunc is a function as a Filter.
type FilterFunc func(now time.Duration, from netip.AddrPort, datagram []byte) bool

// Drop calls f.
func (f FilterFunc) Drop(now time.Duration, from netip.AddrPort, datagram []byte) bool {
	return f(now, from, datagram)
}

// SetMonitor sets the Monitor, which is told of every packet; nil means none.
func (e *Endpoint) SetMonitor(m Monitor) { e.monitor = m }

// SetFilter sets the Filter of arriving datagrams; nil lets all pass.
func (e *Endpoint) SetFilter(f Filter) { e.filter = f }
