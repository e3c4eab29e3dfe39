package mercury

import (
	"fmt"
	"iter"
	"net/netip"
	"strings"
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

// Monitor is told of every packet of an Endpoint: for a dump, a graph, a test. It must not call the Endpoint. It is called within
// Receive, Advance and Flush, for each packet, so that a slow one slows them.
type Monitor interface {
	// PacketIn tells of a packet that arrived, once it is known what it is, or why it is dropped.
	PacketIn(now time.Duration, p PacketInfo)
	// PacketOut tells of a packet that is handed out.
	PacketOut(now time.Duration, p PacketInfo)
	// PacketLost tells that a packet sent earlier is taken for lost. What it carried goes out again, under another number.
	PacketLost(now time.Duration, p PacketInfo)
}

// Filter decides which datagrams an Endpoint does not even look at: it is asked before checksums, seals and tables, so that what a ban list
// or a rate limit turns away costs nothing else.
type Filter interface {
	// Drop reports whether a datagram is to be dropped unread. An IPv4 place comes as one, not in IPv6 clothes. A source can be
	// forged: who is banned by what a datagram says of itself can be banned by others. datagram is valid only during the call and not
	// to be changed. It must not call the Endpoint.
	Drop(now time.Duration, from netip.AddrPort, datagram []byte) bool
}

// FilterFunc is a function as a Filter.
type FilterFunc func(now time.Duration, from netip.AddrPort, datagram []byte) bool

// Drop calls f.
func (f FilterFunc) Drop(now time.Duration, from netip.AddrPort, datagram []byte) bool {
	return f(now, from, datagram)
}

// PacketWay tells the records of a PacketLog apart.
type PacketWay uint8

// What can happen to a packet.
const (
	PacketIn PacketWay = iota
	PacketOut
	PacketLost
)

func (w PacketWay) String() string {
	switch w {
	case PacketIn:
		return "in"
	case PacketOut:
		return "out"
	}
	return "lost"
}

// PacketRecord is one record of a PacketLog.
type PacketRecord struct {
	At  time.Duration
	Way PacketWay
	PacketInfo
}

// String is the record as a line of a dump.
func (r PacketRecord) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%14v %-4v %-21v %-9v", r.At, r.Way, r.Peer, r.Kind)
	if r.Channel != 0 {
		fmt.Fprintf(&b, " channel %d #%d", r.Channel, r.Number)
	}
	fmt.Fprintf(&b, " %d bytes", r.Size)
	if r.Dropped != "" {
		fmt.Fprintf(&b, ", dropped: %s", r.Dropped)
	}
	return b.String()
}

// MaxPacketLog is the most that a PacketLog keeps: a million records are 100 MB.
const MaxPacketLog = 1 << 20

// PacketLog is a Monitor that keeps the last packets. It allocates nothing once it is full. It belongs to the goroutine of its
// Endpoint.
type PacketLog struct {
	records ring[PacketRecord]
	limit   int
	total   uint64
}

var _ Monitor = (*PacketLog)(nil)

// NewPacketLog makes a PacketLog of the last n packets, at least 1, at most MaxPacketLog.
func NewPacketLog(n int) *PacketLog { return &PacketLog{limit: min(max(n, 1), MaxPacketLog)} }

// PacketIn implements Monitor.
func (l *PacketLog) PacketIn(now time.Duration, p PacketInfo) {
	l.add(PacketRecord{now, PacketIn, p})
}

// PacketOut implements Monitor.
func (l *PacketLog) PacketOut(now time.Duration, p PacketInfo) {
	l.add(PacketRecord{now, PacketOut, p})
}

// PacketLost implements Monitor.
func (l *PacketLog) PacketLost(now time.Duration, p PacketInfo) {
	l.add(PacketRecord{now, PacketLost, p})
}

func (l *PacketLog) add(r PacketRecord) {
	if l.records.len() == l.limit {
		l.records.pop()
	}
	*l.records.push() = r
	l.total++
}

// Total is the number of records ever made; those above the log's size are forgotten.
func (l *PacketLog) Total() uint64 { return l.total }

// All iterates over what is kept, the oldest first.
func (l *PacketLog) All() iter.Seq[PacketRecord] {
	return func(yield func(PacketRecord) bool) {
		for i := range l.records.len() {
			if !yield(*l.records.at(i)) {
				return
			}
		}
	}
}

// String is a dump: a line for each packet that is kept, the oldest first.
func (l *PacketLog) String() string {
	var b strings.Builder
	if forgotten := l.total - uint64(l.records.len()); forgotten > 0 {
		fmt.Fprintf(&b, "%d earlier packets forgotten\n", forgotten)
	}
	for r := range l.All() {
		b.WriteString(r.String())
		b.WriteByte('\n')
	}
	return b.String()
}
