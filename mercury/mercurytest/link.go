package mercurytest

import (
	"container/heap"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"
)

const (
	// linkBuffer is what the sockets of a UserLink ask of the system for each direction, so that a
	// burst is lost where the Link says and nowhere else.
	linkBuffer = 4 << 20
	// linkDatagram is the largest datagram of UDP.
	linkDatagram = 65507
	// linkNap is how long the scheduler sleeps at a time in the last moment before a datagram is
	// due: the system's ordinary timers come a millisecond late.
	linkNap = 60 * time.Microsecond
	// linkCoarse is the last moment: further away, ordinary timers are exact enough.
	linkCoarse = 2 * time.Millisecond
)

// LinkConfig is what NewLink makes a UserLink of.
type LinkConfig struct {
	// Seed is where all chance comes from. What happens to the n-th datagram of one direction
	// follows from the seed, the order in which the directions were first used, and n.
	Seed uint64
	// Link is the link between all, both ways, until one of the Set methods changes it.
	Link Link
}

// UserLink carries datagrams between real UDP sockets of this host through a bad link, in real
// time. Each socket gets an outer address on loopback: who sends to it reaches the socket, and sees
// the outer address of its own as the sender's, as behind a router that maps addresses (full-cone
// NAT). All methods may be called from any goroutine.
//
//	a ──> outer of b ═ delay, loss, ... ═ outer of a ──> b
//
// Datagrams leave within about 0.2 ms of their time while the machine is not overloaded.
type UserLink struct {
	begun time.Time
	wake  chan struct{}
	done  chan struct{}
	wait  sync.WaitGroup

	mu     sync.Mutex
	seed   uint64
	link   Link
	ways   map[way]Link
	froms  map[netip.AddrPort]Link
	cuts   map[pair]bool
	gates  map[netip.AddrPort]*gate // by the place behind it
	flows  map[way]*flow
	flying flight
	sent   uint64
	counts Counts
	closed bool
}

// gate is the outer address of one socket.
type gate struct {
	place netip.AddrPort
	outer netip.AddrPort
	conn  *net.UDPConn
}

// flow is one direction between two places.
type flow struct {
	rng *rand.Rand
	lane
}

// NewLink starts a link. Close it in the end.
func NewLink(cfg LinkConfig) *UserLink {
	l := &UserLink{
		begun: time.Now(),
		wake:  make(chan struct{}, 1),
		done:  make(chan struct{}),
		seed:  cfg.Seed,
		link:  cfg.Link,
		ways:  make(map[way]Link),
		froms: make(map[netip.AddrPort]Link),
		cuts:  make(map[pair]bool),
		gates: make(map[netip.AddrPort]*gate),
		flows: make(map[way]*flow),
	}
	l.wait.Add(1)
	go l.schedule()
	return l
}

// Via is the address to dial instead of target, the address of a socket on loopback. It is the same
// for every call until Rebind.
func (l *UserLink) Via(target netip.AddrPort) (netip.AddrPort, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g, err := l.gate(target)
	if err != nil {
		return netip.AddrPort{}, err
	}
	return g.outer, nil
}

// Rebind gives a socket another outer address and returns it. What is sent to the former one is
// lost.
func (l *UserLink) Rebind(place netip.AddrPort) (netip.AddrPort, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old, err := l.gate(place)
	if err != nil {
		return netip.AddrPort{}, err
	}
	// The new gate is opened before the old one is closed, so that the port differs.
	delete(l.gates, place)
	g, err := l.gate(place)
	if err != nil {
		l.gates[place] = old
		return netip.AddrPort{}, err
	}
	_ = old.conn.Close()
	return g.outer, nil
}

// SetLink sets the link between all sockets that have none of their own, from the next datagram on.
func (l *UserLink) SetLink(link Link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.link = link
}

// SetLinkOneWay sets the link for what one socket sends to another. Both are named by their own
// addresses, not the outer ones.
func (l *UserLink) SetLinkOneWay(from, to netip.AddrPort, link Link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ways[way{from, to}] = link
}

// SetLinkFrom sets the link for what one socket sends to all others, before what SetLink says and
// after SetLinkOneWay.
func (l *UserLink) SetLinkFrom(from netip.AddrPort, link Link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.froms[from] = link
}

// Cut parts two sockets, or joins them again. What is in flight still arrives.
func (l *UserLink) Cut(a, b netip.AddrPort, cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cuts[pairOf(a, b)] = cut
}

// Counts returns what became of the datagrams so far.
func (l *UserLink) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

// Close ends the link; what is in flight is lost. It returns when all its goroutines have ended.
func (l *UserLink) Close() {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.done)
		for _, g := range l.gates {
			_ = g.conn.Close()
		}
	}
	l.mu.Unlock()
	l.wait.Wait()
}

// gate returns the gate of a place, a new one if there is none. The lock is held.
func (l *UserLink) gate(place netip.AddrPort) (*gate, error) {
	if g := l.gates[place]; g != nil {
		return g, nil
	}
	if l.closed {
		return nil, fmt.Errorf("mercurytest: a way to %v: %w", place, net.ErrClosed)
	}
	host := net.IPv4(127, 0, 0, 1)
	if place.Addr().Is6() && !place.Addr().Is4In6() {
		host = net.IPv6loopback
	}
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: host})
	if err != nil {
		return nil, fmt.Errorf("mercurytest: a way to %v: %w", place, err)
	}
	_ = conn.SetReadBuffer(linkBuffer)
	_ = conn.SetWriteBuffer(linkBuffer)
	g := &gate{place: place, outer: canonical(conn.LocalAddr().(*net.UDPAddr).AddrPort()), conn: conn}
	l.gates[place] = g
	l.wait.Add(1)
	go l.read(g)
	return g, nil
}

// canonical strips the IPv6 clothes from an IPv4 place.
func canonical(at netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

func (l *UserLink) now() time.Duration { return time.Since(l.begun) }

// read takes what is sent to a gate until it is closed.
func (l *UserLink) read(g *gate) {
	defer l.wait.Done()
	buf := make([]byte, linkDatagram)
	for {
		n, from, err := g.conn.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			l.take(canonical(from), g.place, buf[:n])
		}
	}
}

// take decides what becomes of a datagram and puts it into flight, or passes it on at once if it
// takes no time.
func (l *UserLink) take(from, to netip.AddrPort, datagram []byte) {
	l.mu.Lock()
	l.counts.Sent++
	sender, err := l.gate(from)
	if err != nil || l.cuts[pairOf(from, to)] {
		l.counts.Lost++
		l.mu.Unlock()
		return
	}
	link, own := l.ways[way{from, to}]
	if !own {
		link, own = l.froms[from]
	}
	if !own {
		link = l.link
	}
	fl := l.flow(way{from, to})
	now := l.now()
	f := link.fate(fl.rng, &fl.lane, now, len(datagram))
	l.counts.fare(&f)
	if f.copies == 1 && f.at[0] <= now && !f.corrupt[0] {
		l.counts.Delivered++
		l.mu.Unlock()
		_, _ = sender.conn.WriteToUDPAddrPort(datagram, to)
		return
	}
	first := len(l.flying) == 0
	for i := range f.copies {
		data := append([]byte(nil), datagram...)
		if f.corrupt[i] {
			l.counts.Corrupted++
			Corrupt(fl.rng, data)
		}
		l.sent++
		first = first || f.at[i] < l.flying[0].at
		heap.Push(&l.flying, parcel{at: f.at[i], order: l.sent, from: from, to: to, data: data})
	}
	l.mu.Unlock()
	if first {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

func (l *UserLink) flow(w way) *flow {
	fl := l.flows[w]
	if fl == nil {
		fl = &flow{rng: rand.New(rand.NewPCG(l.seed, uint64(len(l.flows))+1))}
		l.flows[w] = fl
	}
	return fl
}

// schedule writes each datagram when it is due.
func (l *UserLink) schedule() {
	defer l.wait.Done()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		next, some := l.deliver()
		away := next - l.now()
		switch {
		case some && away <= 0:
			continue
		case some && away <= linkCoarse:
			select {
			case <-l.done:
				return
			default:
			}
			nap(min(away, linkNap))
			continue
		case some:
			timer.Reset(away - linkCoarse)
		default:
			timer.Reset(time.Hour)
		}
		select {
		case <-l.done:
			return
		case <-l.wake:
		case <-timer.C:
		}
	}
}

// deliver writes what is due and tells when the next is.
func (l *UserLink) deliver() (next time.Duration, some bool) {
	for {
		l.mu.Lock()
		if len(l.flying) == 0 || l.flying[0].at > l.now() {
			if some = len(l.flying) > 0; some {
				next = l.flying[0].at
			}
			l.mu.Unlock()
			return next, some
		}
		p := heap.Pop(&l.flying).(parcel)
		sender, err := l.gate(p.from)
		if err != nil {
			l.counts.Lost++
		} else {
			l.counts.Delivered++
		}
		l.mu.Unlock()
		if err == nil {
			// An error here is a loss, as the network may lose anything.
			_, _ = sender.conn.WriteToUDPAddrPort(p.data, p.to)
		}
	}
}
