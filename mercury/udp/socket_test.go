package udp_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/udp"
)

// patience bounds what a test waits for; nothing takes a noticeable part of it on loopback.
const patience = 10 * time.Second

func listen(t testing.TB, addr string) *udp.Socket {
	t.Helper()
	s, err := udp.Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestListenInUse(t *testing.T) {
	s := listen(t, "127.0.0.1:0")
	_, err := udp.Listen(s.Addr().String())
	var failed *udp.ListenError
	if !errors.As(err, &failed) || !errors.Is(err, syscall.EADDRINUSE) {
		t.Fatalf("Listen at a taken port: %v", err)
	}
	for _, want := range []string{s.Addr().String(), "in use", "another port"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	for _, addr := range []string{"no port", "192.0.2.1:0", "127.0.0.1:99999"} {
		if s, err := udp.Listen(addr); !errors.As(err, &failed) {
			t.Errorf("Listen(%q) = %v, %v", addr, s, err)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for _, host := range []string{"127.0.0.1:0", "[::1]:0", ":0"} {
		a, err := udp.Listen(host)
		if err != nil {
			t.Logf("skipping %s: %v", host, err)
			continue
		}
		t.Cleanup(func() { _ = a.Close() })
		b := listen(t, "127.0.0.1:0")
		if strings.HasPrefix(host, "[") {
			b = listen(t, host)
		}
		const n = 200
		for i := range n {
			a.Queue(b.Addr(), binary.LittleEndian.AppendUint32(bytes.Repeat([]byte{'x'}, i), uint32(i)))
		}
		if err := a.Flush(); err != nil {
			t.Fatal(err)
		}
		seen := make([]bool, n)
		for got := 0; got < n; {
			err := b.ReadBatch(func(from netip.AddrPort, p []byte) {
				if from.Port() != a.Addr().Port() || from.Addr().Is4In6() {
					t.Errorf("came from %v, want port of %v", from, a.Addr())
				}
				i := binary.LittleEndian.Uint32(p[len(p)-4:])
				if seen[i] || len(p) != int(i)+4 {
					t.Errorf("datagram %d has %d bytes or came twice", i, len(p))
				}
				seen[i] = true
				got++
			})
			if err != nil {
				t.Fatalf("after %d datagrams: %v", got, err)
			}
		}
		if a.Sent() != n || a.Dropped() != 0 {
			t.Errorf("sent %d, dropped %d", a.Sent(), a.Dropped())
		}
	}
}

func TestBadDatagramsAreDropped(t *testing.T) {
	a, b := listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
	a.Queue(b.Addr(), nil)
	a.Queue(b.Addr(), make([]byte, udp.MaxDatagram+1))
	a.Queue(netip.AddrPort{}, []byte("nowhere"))
	a.Queue(netip.MustParseAddrPort("127.0.0.1:0"), []byte("port 0 cannot be sent to"))
	a.Queue(b.Addr(), []byte("good"))
	if err := a.Flush(); err != nil {
		t.Fatal(err)
	}
	if a.Dropped() != 4 || a.Sent() != 1 {
		t.Errorf("dropped %d, sent %d; want 4 and 1", a.Dropped(), a.Sent())
	}
	if err := b.ReadBatch(func(_ netip.AddrPort, p []byte) {
		if string(p) != "good" {
			t.Errorf("got %q", p)
		}
	}); err != nil {
		t.Fatal(err)
	}
}

func TestClose(t *testing.T) {
	s := listen(t, "127.0.0.1:0")
	result := make(chan error)
	go func() { result <- s.ReadBatch(func(netip.AddrPort, []byte) {}) }()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-result; !errors.Is(err, net.ErrClosed) {
		t.Errorf("ReadBatch of a closed socket: %v", err)
	}
	s.Queue(netip.MustParseAddrPort("127.0.0.1:9"), []byte("late"))
	if err := s.Flush(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Flush of a closed socket: %v", err)
	}
}

// TestTransport runs the suite over real sockets in real time: one goroutine, which waits in turn
// at each socket.
func TestTransport(t *testing.T) {
	t.Parallel()
	mercurytest.TestTransport(t, func(t *testing.T, _ uint64) *mercurytest.Rig {
		start := time.Now()
		var sockets [2]*udp.Socket
		var ends [2]*mercury.Endpoint
		for i := range ends {
			sockets[i] = listen(t, "127.0.0.1:0")
			var err error
			// Real time is short here, yet a busy machine may stall this goroutine.
			cfg := mercury.Config{Salt: uint32(i + 1), KeepAlive: 100 * time.Millisecond, Inactivity: 2 * time.Second}
			if ends[i], err = mercury.NewEndpoint(cfg, sockets[i].Addr(), nil); err != nil {
				t.Fatal(err)
			}
		}
		turn := func(i int) {
			e, s := ends[i], sockets[i]
			if err := s.SetReadDeadline(time.Now().Add(200 * time.Microsecond)); err != nil {
				t.Fatal(err)
			}
			for {
				err := s.ReadBatch(func(from netip.AddrPort, p []byte) { e.Receive(time.Since(start), from, p) })
				if errors.Is(err, os.ErrDeadlineExceeded) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			e.Advance(time.Since(start))
			e.Flush(time.Since(start), s.Queue)
			if err := s.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		return mercurytest.RigOf(ends[0], ends[1], mercurytest.InRealTime(patience, func() {
			turn(0)
			turn(1)
		}))
	})
}
