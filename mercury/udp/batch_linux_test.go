package udp_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury/udp"
)

func listenAs(t testing.TB, c udp.Config, addr string) *udp.Socket {
	t.Helper()
	s, err := c.Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return s
}

func flush(t testing.TB, s *udp.Socket) {
	t.Helper()
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
}

// drain reads n datagrams, and writes over them as a receiver may.
func drain(t testing.TB, s *udp.Socket, n int, f func(from netip.AddrPort, p []byte)) {
	t.Helper()
	for got := 0; got < n; {
		if err := s.ReadBatch(func(from netip.AddrPort, p []byte) {
			got++
			f(from, p)
			clear(p[:cap(p)])
		}); err != nil {
			t.Fatalf("after %d of %d datagrams: %v", got, n, err)
		}
	}
}

// configs are the ways of both directions.
var configs = []struct {
	name   string
	cfg    udp.Config
	singly bool
}{
	{name: "defaults"},
	{name: "no GSO", cfg: udp.Config{NoGSO: true}},
	{name: "no GRO", cfg: udp.Config{NoGRO: true}},
	{name: "batch 1", cfg: udp.Config{Batch: 1}},
	{name: "batch 3", cfg: udp.Config{Batch: 3, NoAlarm: true}},
	{name: "no batch calls", singly: true},
}

// TestOrderPerPeer sends to three peers in turn, in sizes that are the same now and then: each gets
// its own, whole and in order.
func TestOrderPerPeer(t *testing.T) {
	for _, v := range configs {
		for _, host := range []string{"127.0.0.1:0", "[::1]:0", ":0"} {
			t.Run(v.name+" "+host, func(t *testing.T) {
				chance := rand.New(rand.NewPCG(1, 0))
				a := listenAs(t, v.cfg, host)
				var to [3]*udp.Socket
				for i := range to {
					at := host
					if host == ":0" {
						at = "127.0.0.1:0"
					}
					to[i] = listenAs(t, v.cfg, at)
				}
				if v.singly {
					a.Singly()
					to[0].Singly()
				}
				const n = 600
				var want [3][]int
				for i := range n {
					p, size := chance.IntN(3), 20
					switch chance.IntN(8) {
					case 0:
						size = 1200
					case 1:
						size = 1 + chance.IntN(1400)
					}
					size = max(size, 4)
					datagram := make([]byte, size)
					for j := range datagram {
						datagram[j] = byte(i)
					}
					binary.LittleEndian.PutUint32(datagram, uint32(i))
					a.Queue(to[p].Addr(), datagram)
					want[p] = append(want[p], size<<16|i)
				}
				flush(t, a)
				for p, s := range to {
					at := 0
					drain(t, s, len(want[p]), func(from netip.AddrPort, d []byte) {
						i := int(binary.LittleEndian.Uint32(d))
						if want[p][at] != len(d)<<16|i || len(d) > 4 && d[len(d)-1] != byte(i) {
							t.Fatalf("peer %d: datagram %d of %d bytes in place %d", p, i, len(d), at)
						}
						if from.Port() != a.Addr().Port() || from.Addr() != s.Addr().Addr() {
							t.Errorf("from %v, want %v", from, a.Addr())
						}
						at++
					})
					if c := s.Counters(); c.In != uint64(len(want[p])) || c.Cut != 0 {
						t.Errorf("counters in %+v", c)
					}
				}
				c := a.Counters()
				if c.Out != n || c.Dropped != 0 || (c.GSO > 0) != (!v.cfg.NoGSO && v.cfg.Batch != 1 && !v.singly) {
					t.Errorf("counters out %+v", c)
				}
			})
		}
	}
}

// TestGSOAndGRO: what left together arrives together, and costs one call.
func TestGSOAndGRO(t *testing.T) {
	a, b := listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
	for i := range 41 {
		size := 1300
		if i == 40 {
			size = 7
		}
		a.Queue(b.Addr(), make([]byte, size))
	}
	flush(t, a)
	sizes := 0
	drain(t, b, 41, func(_ netip.AddrPort, p []byte) { sizes += len(p) })
	out, in := a.Counters(), b.Counters()
	if sizes != 40*1300+7 || out.BytesOut != uint64(sizes) || in.BytesIn != uint64(sizes) || out.Out != 41 || in.In != 41 {
		t.Errorf("%d bytes; out %+v in %+v", sizes, out, in)
	}
	if out.GSO != 1 || out.WriteCalls != 1 {
		t.Skipf("no GSO here: %+v", out)
	}
	if in.GRO != 1 || in.ReadCalls > 2 {
		t.Errorf("in %+v", in)
	}
	if in.ReadBuffer < udp.DefaultBuffer/16 || out.WriteBuffer == 0 {
		t.Errorf("buffers %d, %d", in.ReadBuffer, out.WriteBuffer)
	}
}

// TestTooLongIsCut: a datagram above MaxDatagram is thrown away, and what comes with it is not.
func TestTooLongIsCut(t *testing.T) {
	b := listen(t, "127.0.0.1:0")
	conn, err := net.Dial("udp", b.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, size := range []int{udp.MaxDatagram + 1, 60000, udp.MaxDatagram} {
		if _, err := conn.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	drain(t, b, 1, func(_ netip.AddrPort, p []byte) {
		if len(p) != udp.MaxDatagram {
			t.Errorf("got %d bytes", len(p))
		}
	})
	if c := b.Counters(); c.Cut != 2 || c.In != 1 {
		t.Errorf("%+v", c)
	}
}

// TestNobodyThere: datagrams to a port that nobody has do no harm to others.
func TestNobodyThere(t *testing.T) {
	gone := listen(t, "127.0.0.1:0")
	at := gone.Addr()
	_ = gone.Close()
	a, b := listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
	for range 10 {
		for range 3 {
			a.Queue(at, []byte("nobody"))
		}
		a.Queue(b.Addr(), []byte("somebody"))
		a.Queue(netip.MustParseAddrPort("[2001:db8::1]:9"), []byte("the wrong family"))
		flush(t, a)
	}
	drain(t, b, 10, func(netip.AddrPort, []byte) {})
	if c := a.Counters(); c.Dropped != 10 || c.Out < 10 {
		t.Errorf("%+v", c)
	}
}

// TestFullBuffer: a burst that finds no room is lost and told, and what comes later is read.
func TestFullBuffer(t *testing.T) {
	a := listen(t, "127.0.0.1:0")
	b := listenAs(t, udp.Config{ReadBuffer: 8192}, "127.0.0.1:0")
	for range 20 {
		for range 100 {
			a.Queue(b.Addr(), make([]byte, 1000))
		}
		flush(t, a)
	}
	got := 0
	for {
		before := got
		if err := b.TryRead(func(netip.AddrPort, []byte) { got++ }); err != nil {
			t.Fatal(err)
		}
		if got == before {
			break
		}
	}
	if c := b.Counters(); got == 2000 || c.Overflow == 0 {
		t.Errorf("got %d, %+v", got, c)
	}
	a.Queue(b.Addr(), []byte("later"))
	flush(t, a)
	drain(t, b, 1, func(_ netip.AddrPort, p []byte) {
		if string(p) != "later" {
			t.Errorf("got %q", p)
		}
	})
}

// TestTryRead does not wait and does not care for the deadline.
func TestTryRead(t *testing.T) {
	s := listen(t, "127.0.0.1:0")
	if err := s.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	n := 0
	count := func(netip.AddrPort, []byte) { n++ }
	if err := s.TryRead(count); err != nil || n != 0 || s.More() {
		t.Errorf("nothing there: %v, %d", err, n)
	}
	s.Queue(s.Addr(), []byte("x"))
	flush(t, s)
	if err := s.ReadBatch(count); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
	if err := s.TryRead(count); err != nil || n != 1 {
		t.Errorf("one there: %v, %d", err, n)
	}
	_ = s.Close()
	if err := s.TryRead(count); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestBatchOfOne: a datagram that was waited for is taken to be the only one, so that the reader of
// a client need not look in vain for a second; when there are more, all are found.
func TestBatchOfOne(t *testing.T) {
	a, b := listen(t, "127.0.0.1:0"), listenAs(t, udp.Config{Batch: 1}, "127.0.0.1:0")
	got := 0
	count := func(netip.AddrPort, []byte) { got++ }
	send := func(n int) {
		for range n {
			a.Queue(b.Addr(), []byte("x"))
		}
		flush(t, a)
	}
	send(3)
	for i := range 3 {
		if err := b.ReadBatch(count); err != nil || got != i+1 || !b.More() {
			t.Fatalf("%d of 3 that were there: %v, more %v", got, err, b.More())
		}
	}
	if err := b.TryRead(count); err != nil || got != 3 || b.More() {
		t.Fatalf("none left: %v, %d, more %v", err, got, b.More())
	}
	before := b.Counters().ReadCalls
	read := make(chan error)
	go func() { read <- b.ReadBatch(count) }()
	for b.Counters().ReadCalls == before { // until it has looked, and waits
		runtime.Gosched()
	}
	send(1)
	if err := <-read; err != nil || got != 4 || b.More() {
		t.Errorf("waited for: %v, %d, more %v", err, got, b.More())
	}
}

// TestNoAllocations: neither direction allocates, however the datagrams are spread.
func TestNoAllocations(t *testing.T) {
	for _, host := range []string{"127.0.0.1:0", "[::1]:0"} {
		for _, cfg := range []udp.Config{{}, {NoGSO: true}, {NoGRO: true}, {Batch: 1}} {
			a := listenAs(t, cfg, host)
			to := []*udp.Socket{listenAs(t, cfg, host), listenAs(t, cfg, host)}
			datagram, got := make([]byte, 200), 0
			count := func(netip.AddrPort, []byte) { got++ }
			round := func() {
				for i := range 64 {
					a.Queue(to[i%2].Addr(), datagram)
				}
				if err := a.Flush(); err != nil {
					t.Fatal(err)
				}
				for got = 0; got < 64; {
					for _, s := range to {
						if err := s.TryRead(count); err != nil {
							t.Fatal(err)
						}
					}
				}
				a.Queue(to[0].Addr(), datagram)
				if err := a.Flush(); err != nil {
					t.Fatal(err)
				}
				if err := to[0].ReadBatch(count); err != nil {
					t.Fatal(err)
				}
				if err := a.SetReadDeadline(time.Now().Add(patience)); err != nil {
					t.Fatal(err)
				}
			}
			// The race detector makes pools forget, and a collection may empty one; neither happens
			// in most runs of most rounds.
			if n := testing.AllocsPerRun(100, round); n > 0 && !raceEnabled {
				t.Errorf("%s %+v: %v allocations for 65 datagrams", host, cfg, n)
			}
		}
	}
}

func TestConfigFaults(t *testing.T) {
	_, err := udp.Config{Batch: -1, ReadBuffer: -1}.Listen("127.0.0.1:0")
	want := fmt.Sprintf("udp: Config.ReadBuffer is -1: take 1 to %d\nudp: Config.Batch is -1: take 1 to %d", udp.MaxBuffer, udp.MaxBatch)
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// TestWriteAhead queues more than a peer should wait for: some of it leaves before Flush, and what
// Flush writes comes behind it.
func TestWriteAhead(t *testing.T) {
	for _, v := range configs {
		t.Run(v.name, func(t *testing.T) {
			from, to := listenAs(t, v.cfg, "127.0.0.1:0"), listenAs(t, udp.Config{}, "127.0.0.1:0")
			if v.singly {
				from.Singly()
			}
			const size, count = 1400, 200
			for i := range count {
				p := make([]byte, size)
				binary.LittleEndian.PutUint32(p, uint32(i))
				from.Queue(to.Addr(), p)
			}
			ahead := from.Counters().Out
			if ahead == 0 || ahead == count {
				t.Errorf("%d of %d datagrams were written before Flush", ahead, count)
			}
			flush(t, from)
			next := uint32(0)
			drain(t, to, count, func(_ netip.AddrPort, p []byte) {
				if n := binary.LittleEndian.Uint32(p); n != next || len(p) != size {
					t.Errorf("datagram %d of %d bytes came when %d was due", n, len(p), next)
				}
				next++
			})
		})
	}
}
