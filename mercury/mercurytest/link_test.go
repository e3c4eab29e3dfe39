package mercurytest_test

import (
	"encoding/binary"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// plug is a socket on loopback.
type plug struct {
	t    testing.TB
	conn *net.UDPConn
	at   netip.AddrPort
}

func newPlug(t testing.TB) *plug {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadBuffer(4 << 20)
	t.Cleanup(func() { _ = conn.Close() })
	return &plug{t: t, conn: conn, at: conn.LocalAddr().(*net.UDPAddr).AddrPort()}
}

func (p *plug) send(to netip.AddrPort, datagram []byte) {
	p.t.Helper()
	if _, err := p.conn.WriteToUDPAddrPort(datagram, to); err != nil {
		p.t.Fatal(err)
	}
}

// read waits for one datagram; false when none comes within wait.
func (p *plug) read(wait time.Duration) (from netip.AddrPort, datagram []byte, ok bool) {
	p.t.Helper()
	buf := make([]byte, 65536)
	_ = p.conn.SetReadDeadline(time.Now().Add(wait))
	n, from, err := p.conn.ReadFromUDPAddrPort(buf)
	return from, buf[:n], err == nil
}

func newLink(t testing.TB, l mercurytest.Link) *mercurytest.UserLink {
	link := mercurytest.NewLink(mercurytest.LinkConfig{Seed: 1, Link: l})
	t.Cleanup(link.Close)
	return link
}

func via(t testing.TB, l *mercurytest.UserLink, p *plug) netip.AddrPort {
	t.Helper()
	at, err := l.Via(p.at)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

const (
	soon = 5 * time.Second       // comes for certain
	late = 30 * time.Millisecond // does not come
)

func TestLinkShowsOuterAddresses(t *testing.T) {
	l := newLink(t, mercurytest.Link{})
	a, b := newPlug(t), newPlug(t)
	a.send(via(t, l, b), []byte("to b"))
	from, msg, ok := b.read(soon)
	if !ok || string(msg) != "to b" || from != via(t, l, a) {
		t.Fatalf("b got %q from %v, want it from %v", msg, from, via(t, l, a))
	}
	b.send(from, []byte("to a"))
	if from, msg, _ := a.read(soon); string(msg) != "to a" || from != via(t, l, b) {
		t.Fatalf("a got %q from %v", msg, from)
	}
	before := via(t, l, a)
	after, err := l.Rebind(a.at)
	if err != nil || after == before {
		t.Fatalf("Rebind: %v, %v", after, err)
	}
	b.send(before, []byte("to where a was"))
	if _, msg, ok := a.read(late); ok {
		t.Errorf("the former address brought %q", msg)
	}
	a.send(via(t, l, b), []byte("it is me"))
	if from, _, _ := b.read(soon); from != after {
		t.Errorf("b sees %v, want %v", from, after)
	}
	b.send(after, []byte("to a again"))
	if _, msg, _ := a.read(soon); string(msg) != "to a again" {
		t.Errorf("the new address brought %q", msg)
	}
}

func TestLinkFaults(t *testing.T) {
	const n = 1000
	// once sends n numbered datagrams and counts what comes of each.
	once := func(link mercurytest.Link) (seen []int, damaged int, order []uint32, c mercurytest.Counts) {
		l := newLink(t, link)
		a, b := newPlug(t), newPlug(t)
		to := via(t, l, b)
		seen = make([]int, n)
		take := func(wait time.Duration) bool {
			_, p, ok := b.read(wait)
			if !ok {
				return false
			}
			i := binary.LittleEndian.Uint32(p)
			if i >= n || slices.ContainsFunc(p[4:], func(c byte) bool { return c != 7 }) {
				damaged++
				return true
			}
			seen[i]++
			order = append(order, i)
			return true
		}
		for i := range n {
			a.send(to, append(binary.LittleEndian.AppendUint32(nil, uint32(i)), 7, 7, 7, 7, 7, 7, 7, 7))
			if i%50 == 49 {
				time.Sleep(time.Millisecond)
			}
		}
		for take(60 * time.Millisecond) {
		}
		return seen, damaged, order, l.Counts()
	}
	// run is once, or again if more came to the link than was sent: the system gives a port that
	// has just become free to the next who asks, and what tests of other packages still send there
	// comes to this one.
	run := func(link mercurytest.Link) (seen []int, damaged int, order []uint32, c mercurytest.Counts) {
		for range 5 {
			if seen, damaged, order, c = once(link); c.Sent <= n {
				return seen, damaged, order, c
			}
		}
		t.Fatalf("%d datagrams came to the link, %d were sent", c.Sent, n)
		return nil, 0, nil, c
	}
	count := func(seen []int, times int) (k int) {
		for _, s := range seen {
			if s == times {
				k++
			}
		}
		return k
	}
	seen, damaged, order, _ := run(mercurytest.Link{Delay: 5 * time.Millisecond})
	if got := count(seen, 1); got != n || damaged > 0 || !slices.IsSorted(order) {
		t.Errorf("a plain link: %d of %d came once, %d damaged", got, n, damaged)
	}
	if seen, _, _, _ = run(mercurytest.Link{Loss: 0.2}); count(seen, 0) < n/6 || count(seen, 0) > n/4 {
		t.Errorf("at a loss of one in five %d of %d are lost", count(seen, 0), n)
	}
	if seen, _, _, _ = run(mercurytest.Link{Duplicate: 0.2}); count(seen, 2) < n/6 || count(seen, 0) > 0 {
		t.Errorf("%d of %d came twice, %d not", count(seen, 2), n, count(seen, 0))
	}
	if seen, _, order, _ = run(mercurytest.Link{Reorder: 0.2, Delay: time.Millisecond}); count(seen, 1) != n || slices.IsSorted(order) {
		t.Errorf("reordering: %d of %d came once, in order: %v", count(seen, 1), n, slices.IsSorted(order))
	}
	if seen, damaged, _, _ = run(mercurytest.Link{Corrupt: 0.2}); damaged < n/6 || damaged+count(seen, 1)+count(seen, 2) < n-20 {
		t.Errorf("%d of %d damaged, %d whole", damaged, n, count(seen, 1))
	}
	_, _, _, first := run(mercurytest.Link{Loss: 0.1, Corrupt: 0.1, Duplicate: 0.1})
	if _, _, _, again := run(mercurytest.Link{Loss: 0.1, Corrupt: 0.1, Duplicate: 0.1}); again != first {
		t.Errorf("the same seed: %+v, then %+v", first, again)
	}
}

func TestLinkLimits(t *testing.T) {
	l := newLink(t, mercurytest.Link{MTU: 1200})
	a, b := newPlug(t), newPlug(t)
	to := via(t, l, b)
	a.send(to, make([]byte, 1201))
	a.send(to, make([]byte, 1200))
	if _, p, ok := b.read(soon); !ok || len(p) != 1200 {
		t.Errorf("%d bytes came through an MTU of 1200", len(p))
	}
	l.SetLink(mercurytest.Link{})
	l.Cut(a.at, b.at, true)
	a.send(to, []byte("cut"))
	if _, p, ok := b.read(late); ok {
		t.Errorf("%q came over a cut link", p)
	}
	l.Cut(a.at, b.at, false)

	// 200 datagrams of 1000 bytes through 10 MB/s take 20 ms; the queue holds 100 of them.
	l.SetLink(mercurytest.Link{Rate: 10_000_000, Queue: 100 * (1000 + mercurytest.PacketOverhead)})
	begun := time.Now()
	for range 200 {
		a.send(to, make([]byte, 1000))
	}
	got, last := 0, time.Duration(0)
	for got+l.Counts().Overrun < 200 { // all of them, however busy the machine is
		if _, _, ok := b.read(soon); !ok {
			break
		}
		got, last = got+1, time.Since(begun)
	}
	passed := time.Duration(got) * (1000 + mercurytest.PacketOverhead) * 100 // 10 MB/s is 100 ns a byte
	if got+l.Counts().Overrun != 200 || got < 100 || last < passed-time.Millisecond {
		t.Errorf("%d came in %v and %d overran the queue; they need %v", got, last, l.Counts().Overrun, passed)
	}
	// The queue empties by the time at which the link reads, and a busy machine reads late. A queue
	// of one byte takes nothing while a datagram of a second is on its way.
	l.SetLink(mercurytest.Link{Rate: 1000, Queue: 1})
	overrun := l.Counts().Overrun
	for range 3 {
		a.send(to, make([]byte, 1000))
	}
	for end := time.Now().Add(soon); l.Counts().Overrun < overrun+2 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if n := l.Counts().Overrun - overrun; n != 2 {
		t.Errorf("of 3 datagrams %d overran a queue of one byte", n)
	}
	l.SetLink(mercurytest.Link{})
	if _, _, ok := b.read(soon); !ok {
		t.Error("what the queue took did not come")
	}

	// Asymmetric: nothing goes from a to b, all goes back.
	l.SetLink(mercurytest.Link{})
	l.SetLinkOneWay(a.at, b.at, mercurytest.Link{Loss: 1})
	a.send(to, []byte("no"))
	b.send(via(t, l, a), []byte("yes"))
	if _, p, _ := a.read(soon); string(p) != "yes" {
		t.Errorf("back came %q", p)
	}
	if _, p, ok := b.read(late); ok {
		t.Errorf("%q came through a loss of all", p)
	}
}

// What one socket sends to all others may have a link of its own, and share a bottleneck.
func TestLinkFrom(t *testing.T) {
	l := newLink(t, mercurytest.Link{})
	server, a, b := newPlug(t), newPlug(t), newPlug(t)
	trunk := mercurytest.NewTrunk(1000*(100+mercurytest.PacketOverhead), 50*time.Millisecond) // a datagram a millisecond
	l.SetLinkFrom(server.at, mercurytest.Link{Trunk: trunk})
	for range 100 {
		server.send(via(t, l, a), make([]byte, 100))
		server.send(via(t, l, b), make([]byte, 100))
	}
	got := 0
	for _, p := range []*plug{a, b} {
		for {
			if _, _, ok := p.read(200 * time.Millisecond); !ok {
				break
			}
			got++
		}
		p.send(via(t, l, server), []byte("back"))
		if _, _, ok := server.read(soon); !ok {
			t.Error("the way back is the server's")
		}
	}
	l.Close()
	if c := trunk.Counts(); c.Passed != got || c.Passed+c.Dropped != 200 || c.Dropped == 0 {
		t.Errorf("%d of 200 came, the trunk of 50 ms counts %+v", got, c)
	}
}

// Datagrams are never early; how late they are is logged, as it depends on what else the machine does.
func TestLinkTiming(t *testing.T) {
	const delay = 10 * time.Millisecond
	l := newLink(t, mercurytest.Link{Delay: delay})
	a, b := newPlug(t), newPlug(t)
	to := via(t, l, b)
	var over []time.Duration
	for range 40 {
		begun := time.Now()
		a.send(to, []byte("x"))
		if _, _, ok := b.read(soon); !ok {
			t.Fatal("lost without loss")
		}
		over = append(over, time.Since(begun)-delay)
	}
	slices.Sort(over)
	t.Logf("late by %v to %v, half of them below %v", over[0], over[len(over)-1], over[len(over)/2])
	if over[0] < 0 {
		t.Errorf("a datagram came %v early", -over[0])
	}
	if half := over[len(over)/2]; half > 5*time.Millisecond {
		t.Errorf("half of the datagrams came more than %v late", half)
	}
}

func TestLinkCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 5 {
		l := mercurytest.NewLink(mercurytest.LinkConfig{Link: mercurytest.Link{Delay: time.Minute}})
		a, b := newPlug(t), newPlug(t)
		for range 10 {
			a.send(via(t, l, b), []byte("never comes"))
		}
		if _, err := l.Rebind(b.at); err != nil {
			t.Fatal(err)
		}
		l.Close()
		l.Close()
		if _, err := l.Via(newPlug(t).at); err == nil {
			t.Error("a closed link gives a way")
		}
	}
	// A goroutine that has said that it is done is counted until it has returned.
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
}

// TestEndpointOverSockets is the suite over real sockets and a link with faults.
func TestEndpointOverSockets(t *testing.T) {
	mercurytest.TestTransport(t, func(t *testing.T, seed uint64) *mercurytest.Rig {
		return mercurytest.UDPRig(t, seed, mercury.Config{})
	})
}
