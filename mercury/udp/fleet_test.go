package udp_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury/udp"
)

// Each socket of a fleet is a place of its own: what it sends comes from there, and what is sent
// there comes to it.
func TestFleet(t *testing.T) {
	const n = 40
	loopback := netip.MustParseAddr("127.0.0.1")
	a, err := udp.Config{}.Fleet(loopback, n)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	b, err := udp.Config{}.Fleet(loopback, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	for i := range n {
		for k := range 3 {
			a.Write(i, b.Addr(0), fmt.Appendf(nil, "%d of %d", k, i))
		}
	}
	echoed := 0
	read(t, func() bool {
		if err := b.Read(func(_ int, from netip.AddrPort, datagram []byte) { echoed++; b.Write(0, from, datagram) }); err != nil {
			t.Fatal(err)
		}
		return echoed == 3*n
	})
	var next [n]int
	got := 0
	read(t, func() bool {
		if err := a.Read(func(socket int, from netip.AddrPort, datagram []byte) {
			if want := fmt.Sprintf("%d of %d", next[socket], socket); from != b.Addr(0) || string(datagram) != want {
				t.Errorf("%q came to socket %d from %v, want %q", datagram, socket, from, want)
			}
			next[socket]++
			got++
		}); err != nil {
			t.Fatal(err)
		}
		return got == 3*n
	})
	if c := a.Counters(); a.Len() != n || c.In != 3*n || c.Out != 3*n || c.Dropped != 0 || c.BytesIn != c.BytesOut {
		t.Errorf("%+v", c)
	}
	a.Write(0, netip.AddrPort{}, []byte("nowhere"))
	a.Write(0, b.Addr(0), nil)
	if c := a.Counters(); c.Dropped != 2 {
		t.Errorf("%d dropped, want 2", c.Dropped)
	}
}

// read turns until done, or fails.
func read(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !done(); {
		if time.Now().After(end) {
			t.Fatal("not everything came")
		}
	}
}

// Faults are told.
func TestFleetFaults(t *testing.T) {
	for name, open := range map[string]func() (*udp.Fleet, error){
		"no sockets":   func() (*udp.Fleet, error) { return udp.Config{}.Fleet(netip.IPv6Unspecified(), 0) },
		"a bad config": func() (*udp.Fleet, error) { return udp.Config{Batch: -1}.Fleet(netip.IPv6Unspecified(), 1) },
		"not here":     func() (*udp.Fleet, error) { return udp.Config{}.Fleet(netip.MustParseAddr("192.0.2.1"), 1) },
	} {
		if f, err := open(); err == nil {
			t.Errorf("%s: there is a fleet of %d", name, f.Len())
		}
	}
}
