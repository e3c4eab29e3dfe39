package mercurytest

import (
	"container/heap"
	"math/rand/v2"
	"net/netip"
	"time"
)

// Link says what happens to datagrams on their way. Shares are from 0 to 1.
type Link struct {
	Loss      float64       // share that never arrives
	Duplicate float64       // share that arrives twice, the second copy with a delay of its own
	Reorder   float64       // share that is held back by up to four times Delay+Jitter (at least 1 ms), so that later ones overtake it
	Delay     time.Duration // every datagram takes at least this long
	Jitter    time.Duration // and up to this much longer; it reorders too
}

// pair is an unordered pair of places.
type pair struct{ a, b netip.AddrPort }

func pairOf(a, b netip.AddrPort) pair {
	if a.Compare(b) > 0 {
		a, b = b, a
	}
	return pair{a, b}
}

// Counts tells what became of the datagrams given to a Network.
type Counts struct{ Sent, Lost, Doubled, Delivered, Dropped int }

// Network carries datagrams between places in virtual time. It belongs to one goroutine.
type Network struct {
	rng    *rand.Rand
	link   Link
	links  map[pair]Link
	cuts   map[pair]bool
	flying flight
	spare  [][]byte
	sent   uint64
	counts Counts
}

// New makes a Network that loses nothing and takes no time. All chance comes from seed.
func New(seed uint64) *Network {
	return &Network{
		rng:   rand.New(rand.NewPCG(seed, 0x6d657263757279)),
		links: make(map[pair]Link),
		cuts:  make(map[pair]bool),
	}
}

// SetLink sets the link between all pairs that have none of their own.
func (n *Network) SetLink(l Link) { n.link = l }

// SetLinkBetween sets the link between two places, both ways.
func (n *Network) SetLinkBetween(a, b netip.AddrPort, l Link) { n.links[pairOf(a, b)] = l }

// Cut parts two places, or joins them again. What is in flight still arrives.
func (n *Network) Cut(a, b netip.AddrPort, cut bool) { n.cuts[pairOf(a, b)] = cut }

// Counts returns what became of the datagrams so far.
func (n *Network) Counts() Counts { return n.counts }

// Send gives a datagram to the network; it is copied.
func (n *Network) Send(now time.Duration, from, to netip.AddrPort, datagram []byte) {
	n.counts.Sent++
	between := pairOf(from, to)
	link, own := n.links[between]
	if !own {
		link = n.link
	}
	if n.cuts[between] || n.happens(link.Loss) {
		n.counts.Lost++
		return
	}
	n.fly(now, link, from, to, datagram)
	if n.happens(link.Duplicate) {
		n.counts.Doubled++
		n.fly(now, link, from, to, datagram)
	}
}

// happens draws only for what may happen, so that switching one fault on leaves the draws of others as they were.
func (n *Network) happens(share float64) bool { return share > 0 && n.rng.Float64() < share }

func (n *Network) fly(now time.Duration, link Link, from, to netip.AddrPort, datagram []byte) {
	at := now + link.Delay + n.upTo(link.Jitter)
	if n.happens(link.Reorder) {
		at += n.upTo(4 * max(link.Delay+link.Jitter, time.Millisecond))
	}
	var buf []byte
	if k := len(n.spare); k > 0 {
		buf, n.spare = n.spare[k-1], n.spare[:k-1]
	}
	n.sent++
	heap.Push(&n.flying, parcel{at: at, order: n.sent, from: from, to: to, data: append(buf[:0], datagram...)})
}

func (n *Network) upTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(n.rng.Int64N(int64(d) + 1))
}

// NextArrival is when the next datagram arrives; false when none is in flight.
func (n *Network) NextArrival() (time.Duration, bool) {
	if len(n.flying) == 0 {
		return 0, false
	}
	return n.flying[0].at, true
}

// Deliver hands out all datagrams that arrive at or before now, by time of arrival and then of sending. datagram is
// valid only during the call of f. What f sends is delivered by the next Deliver, even if it takes no time.
func (n *Network) Deliver(now time.Duration, f func(from, to netip.AddrPort, datagram []byte)) {
	last := n.sent
	var later []parcel
	for len(n.flying) > 0 && n.flying[0].at <= now {
		p := heap.Pop(&n.flying).(parcel)
		if p.order > last {
			later = append(later, p)
			continue
		}
		n.counts.Delivered++
		f(p.from, p.to, p.data)
		n.spare = append(n.spare, p.data)
	}
	for _, p := range later {
		heap.Push(&n.flying, p)
	}
}

// Drop throws away everything in flight to a place, as when the process there crashes and its socket with it.
func (n *Network) Drop(at netip.AddrPort) {
	kept := n.flying[:0]
	for _, p := range n.flying {
		if p.to == at {
			n.counts.Dropped++
			continue
		}
		kept = append(kept, p)
	}
	clear(n.flying[len(kept):])
	n.flying = kept
	heap.Init(&n.flying)
}

// parcel is a datagram in flight.
type parcel struct {
	at       time.Duration
	order    uint64
	from, to netip.AddrPort
	data     []byte
}

// flight is a heap of parcels by arrival; ties go to the one sent first.
type flight []parcel

func (f flight) Len() int { return len(f) }
func (f flight) Less(i, j int) bool {
	return f[i].at < f[j].at || f[i].at == f[j].at && f[i].order < f[j].order
}
func (f flight) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *flight) Push(x any)   { *f = append(*f, x.(parcel)) }
func (f *flight) Pop() any {
	last := len(*f) - 1
	p := (*f)[last]
	(*f)[last] = parcel{}
	*f = (*f)[:last]
	return p
}
