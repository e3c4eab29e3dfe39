package mercurytest

import (
	"container/heap"
	"math/rand/v2"
	"net/netip"
	"time"
)

// pair is an unordered pair of places.
type pair struct{ a, b netip.AddrPort }

func pairOf(a, b netip.AddrPort) pair {
	if a.Compare(b) > 0 {
		a, b = b, a
	}
	return pair{a, b}
}

// maxSpare bounds the buffers kept for reuse, so that one burst does not weigh on tests of memory
// for ever after.
const maxSpare = 1024

// way is an ordered pair of places.
type way struct{ from, to netip.AddrPort }

// Counts tells what became of the datagrams given to a Network.
type Counts struct {
	Sent, Lost, Doubled, Delivered, Dropped int
	Corrupted                               int // arrived damaged, or will
	TooBig                                  int // above the MTU of their way
	Overrun                                 int // found the queue before a bottleneck full
	Stray                                   int // went to an address that Rebind took away
	Injected                                int
}

// fare counts what becomes of a datagram, apart from damage and arrival.
func (c *Counts) fare(f *fate) {
	switch {
	case f.tooBig:
		c.TooBig++
	case f.overrun:
		c.Overrun++
	case f.copies == 0:
		c.Lost++
	case f.copies == 2:
		c.Doubled++
	}
}

// Network carries datagrams between places in virtual time. It belongs to one goroutine.
type Network struct {
	rng    *rand.Rand
	link   Link
	links  map[pair]Link
	ways   map[way]Link
	cuts   map[pair]bool
	lanes  map[way]*lane
	outer  map[netip.AddrPort]netip.AddrPort // of a place: the address that others see
	inner  map[netip.AddrPort]netip.AddrPort // and back
	watch  func(now time.Duration, from, to netip.AddrPort, datagram []byte)
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
		ways:  make(map[way]Link),
		cuts:  make(map[pair]bool),
		lanes: make(map[way]*lane),
		outer: make(map[netip.AddrPort]netip.AddrPort),
		inner: make(map[netip.AddrPort]netip.AddrPort),
	}
}

// SetLink sets the link between all pairs that have none of their own.
func (n *Network) SetLink(l Link) { n.link = l }

// SetLinkBetween sets the link between two places, both ways.
func (n *Network) SetLinkBetween(a, b netip.AddrPort, l Link) { n.links[pairOf(a, b)] = l }

// SetLinkOneWay sets the link for what goes from one place to another, before what SetLinkBetween
// says of both.
func (n *Network) SetLinkOneWay(from, to netip.AddrPort, l Link) { n.ways[way{from, to}] = l }

// Cut parts two places, or joins them again. What is in flight still arrives.
func (n *Network) Cut(a, b netip.AddrPort, cut bool) { n.cuts[pairOf(a, b)] = cut }

// Parted reports whether the link between two places is cut.
func (n *Network) Parted(a, b netip.AddrPort) bool { return n.cuts[pairOf(a, b)] }

// Counts returns what became of the datagrams so far.
func (n *Network) Counts() Counts { return n.counts }

// Watch has f see every datagram that is sent from now on, before anything happens to it; nil ends
// that. from is the address that the receiver will see. datagram is valid only during the call and
// must not be changed.
func (n *Network) Watch(f func(now time.Duration, from, to netip.AddrPort, datagram []byte)) {
	n.watch = f
}

// Rebind gives a place another address towards all others, as when a router forgets its mapping or
// a player walks from one network into the next: what the place sends comes from outer, what is
// sent to outer arrives there, and its former address leads nowhere, also for what is in flight.
// Rebind to the place itself undoes it. Links and cuts go on naming the place.
func (n *Network) Rebind(place, outer netip.AddrPort) {
	if old, ok := n.outer[place]; ok {
		delete(n.inner, old)
		delete(n.outer, place)
	}
	if outer != place {
		n.outer[place], n.inner[outer] = outer, place
	}
}

// Outer is the address at which others see a place.
func (n *Network) Outer(place netip.AddrPort) netip.AddrPort {
	if outer, ok := n.outer[place]; ok {
		return outer
	}
	return place
}

// placeAt is the place behind an address; false when Rebind took the address away.
func (n *Network) placeAt(at netip.AddrPort) (netip.AddrPort, bool) {
	if len(n.outer) == 0 {
		return at, true
	}
	if place, ok := n.inner[at]; ok {
		return place, true
	}
	_, moved := n.outer[at]
	return at, !moved
}

// Send gives a datagram to the network; it is copied.
func (n *Network) Send(now time.Duration, from, to netip.AddrPort, datagram []byte) {
	n.counts.Sent++
	if n.watch != nil {
		n.watch(now, n.Outer(from), to, datagram)
	}
	place, _ := n.placeAt(to)
	link := n.linkFor(from, place)
	if n.cuts[pairOf(from, place)] {
		n.counts.Lost++
		return
	}
	var ln *lane
	if link.remembers() {
		ln = n.lane(way{from, place})
	}
	f := link.fate(n.rng, ln, now, len(datagram))
	n.counts.fare(&f)
	for i := range f.copies {
		p := n.fly(f.at[i], n.Outer(from), to, datagram)
		if f.corrupt[i] {
			n.counts.Corrupted++
			Corrupt(n.rng, p)
		}
	}
}

// Inject puts a datagram into flight that arrives at the next Deliver, whatever the links are: one
// that was recorded before, or forged. from may be any address.
func (n *Network) Inject(now time.Duration, from, to netip.AddrPort, datagram []byte) {
	n.counts.Injected++
	n.fly(now, from, to, datagram)
}

func (n *Network) linkFor(from, to netip.AddrPort) Link {
	if l, own := n.ways[way{from, to}]; own {
		return l
	}
	if l, own := n.links[pairOf(from, to)]; own {
		return l
	}
	return n.link
}

func (n *Network) lane(w way) *lane {
	ln := n.lanes[w]
	if ln == nil {
		ln = &lane{}
		n.lanes[w] = ln
	}
	return ln
}

// fly puts a copy of a datagram into flight and returns the copy.
func (n *Network) fly(at time.Duration, from, to netip.AddrPort, datagram []byte) []byte {
	var buf []byte
	if k := len(n.spare); k > 0 {
		buf, n.spare = n.spare[k-1], n.spare[:k-1]
	}
	n.sent++
	buf = append(buf[:0], datagram...)
	heap.Push(&n.flying, parcel{at: at, order: n.sent, from: from, to: to, data: buf})
	return buf
}

// NextArrival is when the next datagram arrives; false when none is in flight.
func (n *Network) NextArrival() (time.Duration, bool) {
	if len(n.flying) == 0 {
		return 0, false
	}
	return n.flying[0].at, true
}

// Deliver hands out all datagrams that arrive at or before now, by time of arrival and then of
// sending. datagram is valid only during the call of f, which may overwrite it. What f sends is
// delivered by the next Deliver, even if it takes no time. to is the place that stands behind the
// address the datagram was sent to.
func (n *Network) Deliver(now time.Duration, f func(from, to netip.AddrPort, datagram []byte)) {
	last := n.sent
	var later []parcel
	for len(n.flying) > 0 && n.flying[0].at <= now {
		p := heap.Pop(&n.flying).(parcel)
		if p.order > last {
			later = append(later, p)
			continue
		}
		if place, ok := n.placeAt(p.to); ok {
			n.counts.Delivered++
			f(p.from, place, p.data)
		} else {
			n.counts.Stray++
		}
		if len(n.spare) < maxSpare {
			n.spare = append(n.spare, p.data)
		}
	}
	for _, p := range later {
		heap.Push(&n.flying, p)
	}
}

// Drop throws away everything in flight to a place, as when the process there crashes and its
// socket with it.
func (n *Network) Drop(at netip.AddrPort) {
	kept := n.flying[:0]
	for _, p := range n.flying {
		if place, _ := n.placeAt(p.to); place == at {
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
