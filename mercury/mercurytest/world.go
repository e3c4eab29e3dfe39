package mercurytest

import (
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// Node is what a World runs: a mercury.Endpoint, or other traffic that shares the Network with
// endpoints. The methods are those of an Endpoint and are called as its package comment says.
type Node interface {
	Self() mercury.Address
	Receive(now time.Duration, from netip.AddrPort, datagram []byte)
	Advance(now time.Duration)
	Flush(now time.Duration, emit func(to netip.AddrPort, datagram []byte))
	NextDeadline() (time.Duration, bool)
}

// World runs endpoints over a Network in virtual time, from event to event. It belongs to one
// goroutine.
type World struct {
	Net   *Network
	now   time.Duration
	nodes []*node // in the order of their adding
	at    map[netip.AddrPort]*node
}

type node struct {
	e      Node
	paused bool
	mail   []parcel // what came while it was paused
	heard  bool     // has taken something in during this step
	ahead  time.Duration
}

// NewWorld makes a World with a Network of its own.
func NewWorld(seed uint64) *World {
	return &World{Net: New(seed), at: make(map[netip.AddrPort]*node)}
}

// Now is the virtual time.
func (w *World) Now() time.Duration { return w.now }

// Add puts an endpoint, or another Node, at its place; one that was there before is gone, as after
// a restart.
func (w *World) Add(e Node) {
	at := e.Self().At
	w.Remove(at)
	n := &node{e: e}
	w.nodes = append(w.nodes, n)
	w.at[at] = n
}

// Remove takes the endpoint at a place away without a word, as a crash does.
func (w *World) Remove(at netip.AddrPort) {
	n := w.at[at]
	if n == nil {
		return
	}
	delete(w.at, at)
	w.Net.Drop(at)
	for i, m := range w.nodes {
		if m == n {
			w.nodes = append(w.nodes[:i], w.nodes[i+1:]...)
			return
		}
	}
}

// Pause stops the endpoint at a place as SIGSTOP does: datagrams wait in its socket, its time
// stands still. Pausing with false wakes it.
func (w *World) Pause(at netip.AddrPort, paused bool) { w.at[at].paused = paused }

// Jump sets the clock of the endpoint at a place ahead by d, once, against all others: its host was
// suspended, or it was moved to another. Clocks never run back.
func (w *World) Jump(at netip.AddrPort, d time.Duration) {
	w.at[at].ahead += d
	w.at[at].heard = true
}

// Inject hands a datagram to the endpoint at to within the next step, as if it had come from an
// address. The network does nothing to it.
func (w *World) Inject(from, to netip.AddrPort, datagram []byte) {
	w.Net.Inject(w.now, from, to, datagram)
}

// Run moves time on by d.
func (w *World) Run(d time.Duration) { w.RunUntil(d, func() bool { return false }) }

// RunUntil moves time on until done or until d has passed; it reports whether done was met. done is
// asked after every step.
func (w *World) RunUntil(d time.Duration, done func() bool) bool {
	end := w.now + d
	for {
		w.step()
		if done() {
			return true
		}
		next, ok := w.next()
		if !ok || next > end {
			w.now = end
			return done()
		}
		w.now = max(w.now, next)
	}
}

// next is when something happens next.
func (w *World) next() (at time.Duration, ok bool) {
	at, ok = w.Net.NextArrival()
	for _, n := range w.nodes {
		if n.paused {
			continue
		}
		if d, some := n.e.NextDeadline(); some && (!ok || d-n.ahead < at) {
			at, ok = d-n.ahead, true
		}
	}
	return at, ok
}

// step does all that is due now, once.
func (w *World) step() {
	for _, n := range w.nodes {
		if !n.paused && len(n.mail) > 0 {
			for _, p := range n.mail {
				n.e.Receive(w.now+n.ahead, p.from, p.data)
			}
			n.mail, n.heard = nil, true
		}
	}
	w.Net.Deliver(w.now, func(from, to netip.AddrPort, datagram []byte) {
		n := w.at[to]
		switch {
		case n == nil:
		case n.paused:
			n.mail = append(n.mail, parcel{from: from, data: append([]byte(nil), datagram...)})
		default:
			n.e.Receive(w.now+n.ahead, from, datagram)
			n.heard = true
		}
	})
	for _, n := range w.nodes {
		if n.paused {
			continue
		}
		d, some := n.e.NextDeadline()
		now := w.now + n.ahead
		if !n.heard && (!some || d > now) {
			continue
		}
		n.heard = false
		n.e.Advance(now)
		n.e.Flush(now, func(to netip.AddrPort, datagram []byte) {
			w.Net.Send(w.now, n.e.Self().At, to, datagram)
		})
	}
}
