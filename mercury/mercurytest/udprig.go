package mercurytest

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/udp"
)

const (
	// udpPace is how much faster than real time a UDPRig runs: its endpoints are told ten seconds
	// for each real one, and its link is ten times shorter, so that the suite's minutes of silence
	// take seconds.
	udpPace = 10
	// udpMail bounds the datagrams of one socket that wait for their endpoint. More are lost, as in
	// a full socket.
	udpMail = 8192
	// udpNap is how long the rig sleeps when it finds nothing to do.
	udpNap = 80 * time.Microsecond
	// udpInactivity lets a busy machine stall the rig for a tenth of a second of real time.
	udpInactivity = 4 * time.Second
)

// udpNode is an endpoint with its socket and the goroutine that reads it.
type udpNode struct {
	e     *mercury.Endpoint
	s     *udp.Socket
	mail  chan parcel
	ended chan error
}

// UDPRig is a Rig of two mercury.Endpoints on real sockets (package udp) with a UserLink between
// them. Its time is real, but runs ten times as fast. cfg's salt is set, and KeepAlive and
// Inactivity if they are zero. It cleans up after itself.
func UDPRig(t testing.TB, seed uint64, cfg mercury.Config) *Rig {
	t.Helper()
	if cfg.Inactivity == 0 {
		cfg.Inactivity, cfg.KeepAlive = udpInactivity, udpInactivity/20
	}
	link := NewLink(LinkConfig{Seed: seed})
	var nodes [2]*udpNode
	for i := range nodes {
		cfg.Salt = uint32(i + 1)
		nodes[i] = newUDPNode(t, link, cfg)
	}
	t.Cleanup(func() {
		for _, n := range nodes {
			_ = n.s.Close()
			if err := <-n.ended; !errors.Is(err, net.ErrClosed) {
				t.Errorf("reading ended with %v", err)
			}
		}
		link.Close()
	})
	a, b := nodes[0], nodes[1]
	run := &udpRun{t: t, nodes: nodes, begun: time.Now()}
	rig := RigOf(a.e, b.e, run.until)
	rig.MaxMessage = cmp.Or(cfg.MaxMessage, mercury.DefaultMaxMessage)
	rig.Timeout = cfg.Inactivity * 3 / 2
	rig.SetLink = func(l Link) {
		l.Delay, l.Jitter, l.Rate = l.Delay/udpPace, l.Jitter/udpPace, l.Rate*udpPace
		link.SetLink(l)
	}
	rig.Cut = func(cut bool) { link.Cut(a.s.Addr(), b.s.Addr(), cut) }
	rig.Rebind = func() {
		if _, err := link.Rebind(a.s.Addr()); err != nil {
			t.Fatal(err)
		}
	}
	return rig
}

// InRealTime returns a RunUntil for transports that live in real time. turn lets both do what is due; with
// no wait of its own it would keep a core busy. The suite only lets short limits pass and waits for nothing
// in them, so they are cut; patience bounds the others.
func InRealTime(patience time.Duration, turn func()) func(limit time.Duration, done func() bool) bool {
	return func(limit time.Duration, done func() bool) bool {
		if limit < time.Second {
			limit /= 20
		}
		for end := time.Now().Add(min(limit, patience)); ; {
			turn()
			if done() {
				return true
			}
			if time.Now().After(end) {
				return false
			}
		}
	}
}

func newUDPNode(t testing.TB, link *UserLink, cfg mercury.Config) *udpNode {
	t.Helper()
	s, err := udp.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	self, err := link.Via(s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	e, err := mercury.NewEndpoint(cfg, self, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := &udpNode{e: e, s: s, mail: make(chan parcel, udpMail), ended: make(chan error, 1)}
	go func() {
		for {
			err := s.ReadBatch(func(from netip.AddrPort, datagram []byte) {
				select {
				case n.mail <- parcel{from: from, data: append([]byte(nil), datagram...)}:
				default:
				}
			})
			if err != nil {
				n.ended <- err
				return
			}
		}
	}()
	return n
}

// udpRun lets the nodes of a rig live on the caller's goroutine.
type udpRun struct {
	t     testing.TB
	nodes [2]*udpNode
	begun time.Time
}

func (r *udpRun) now() time.Duration { return udpPace * time.Since(r.begun) }

func (r *udpRun) until(limit time.Duration, done func() bool) bool {
	end := r.now() + limit
	for {
		busy := false
		for _, n := range r.nodes {
			busy = r.turn(n) || busy
		}
		if done() {
			return true
		}
		if r.now() >= end {
			return false
		}
		if !busy {
			nap(udpNap)
		}
	}
}

// turn takes in what has come for n and sends what it has to say; it reports whether there was
// anything.
func (r *udpRun) turn(n *udpNode) bool {
	heard := false
	for more := true; more; {
		select {
		case p := <-n.mail:
			n.e.Receive(r.now(), p.from, p.data)
			heard = true
		default:
			more = false
		}
	}
	now := r.now()
	if due, some := n.e.NextDeadline(); !heard && (!some || due > now) {
		return false
	}
	n.e.Advance(now)
	n.e.Flush(now, n.s.Queue)
	if err := n.s.Flush(); err != nil {
		r.t.Fatalf("writing: %v", err)
	}
	return true
}
