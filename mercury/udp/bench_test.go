package udp_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/udp"
)

// benchDatagram is the size of a small bundle.
const benchDatagram = 200

// perPacket reports a figure for each datagram of a round of 64.
func perPacket(b *testing.B, calls uint64) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/packet")
	b.ReportMetric(float64(calls)/float64(b.N)/64, "calls/packet")
}

// BenchmarkSend writes 64 datagrams, to 64 peers (one tick of an app with many clients), to one (a
// burst of data), or to 8 in turn. Nobody reads: the figures are of the sending half, with the
// kernel's way to the receiver's full buffer.
func BenchmarkSend(b *testing.B) {
	for _, peers := range []int{64, 8, 1} {
		for _, v := range []struct {
			name string
			cfg  udp.Config
		}{{"batch", udp.Config{}}, {"noGSO", udp.Config{NoGSO: true}}} {
			b.Run(fmt.Sprintf("peers=%d/%s", peers, v.name), func(b *testing.B) {
				s, err := v.cfg.Listen("127.0.0.1:0")
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				to := sinks(b, peers)
				datagram := make([]byte, benchDatagram)
				b.ReportAllocs()
				for b.Loop() {
					for i := range 64 {
						s.Queue(to[i%peers], datagram)
					}
					if err := s.Flush(); err != nil {
						b.Fatal(err)
					}
				}
				perPacket(b, s.Counters().WriteCalls)
			})
		}
		b.Run(fmt.Sprintf("peers=%d/WriteTo", peers), func(b *testing.B) {
			conn := plain(b)
			to := sinks(b, peers)
			datagram := make([]byte, benchDatagram)
			b.ReportAllocs()
			for b.Loop() {
				for i := range 64 {
					if _, err := conn.WriteToUDPAddrPort(datagram, to[i%peers]); err != nil {
						b.Fatal(err)
					}
				}
			}
			perPacket(b, uint64(b.N)*64)
		})
	}
}

func plain(b testing.TB) *net.UDPConn {
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	return conn
}

// sinks are sockets that nobody reads.
func sinks(b testing.TB, n int) (to []netip.AddrPort) {
	for range n {
		conn := plain(b)
		_ = conn.SetReadBuffer(1)
		to = append(to, conn.LocalAddr().(*net.UDPAddr).AddrPort())
	}
	return to
}

// BenchmarkReceive reads 64 datagrams that are there already; their sending is not timed.
func BenchmarkReceive(b *testing.B) {
	for _, v := range []struct {
		name       string
		from, into udp.Config
	}{
		{"batch", udp.Config{NoGSO: true}, udp.Config{}},
		{"GRO", udp.Config{}, udp.Config{}},
		{"GSOnoGRO", udp.Config{}, udp.Config{NoGRO: true}},
	} {
		b.Run(v.name, func(b *testing.B) {
			from, err := v.from.Listen("127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			defer from.Close()
			into, err := v.into.Listen("127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			defer into.Close()
			got := 0
			count := func(netip.AddrPort, []byte) { got++ }
			b.ReportAllocs()
			drained(b, from, into.Addr(), func() {
				for got = 0; got < 64; {
					if err := into.TryRead(count); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.ReportMetric(float64(into.Counters().ReadCalls)/float64(b.N)/64, "calls/packet")
		})
	}
	b.Run("ReadFrom", func(b *testing.B) {
		from, err := udp.Config{NoGSO: true}.Listen("127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		defer from.Close()
		conn := plain(b)
		buf := make([]byte, 2000)
		b.ReportAllocs()
		drained(b, from, conn.LocalAddr().(*net.UDPAddr).AddrPort(), func() {
			for range 64 {
				if _, _, err := conn.ReadFromUDPAddrPort(buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}

// drained times read over datagrams that were sent before.
func drained(b *testing.B, from *udp.Socket, to netip.AddrPort, read func()) {
	datagram := make([]byte, benchDatagram)
	var spent time.Duration
	for b.Loop() {
		for range 64 {
			from.Queue(to, datagram)
		}
		if err := from.Flush(); err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		read()
		spent += time.Since(began)
	}
	b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N)/64, "ns/packet")
}

// BenchmarkDeadline tells how late a wait of 3.3 ms ends.
func BenchmarkDeadline(b *testing.B) {
	for _, v := range []struct {
		name string
		cfg  udp.Config
	}{{"alarm", udp.Config{}}, {"noAlarm", udp.Config{NoAlarm: true}}} {
		b.Run(v.name, func(b *testing.B) {
			s, err := v.cfg.Listen("127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			var late []time.Duration
			for b.Loop() {
				end := time.Now().Add(3300 * time.Microsecond)
				if err := s.SetReadDeadline(end); err != nil {
					b.Fatal(err)
				}
				_ = s.ReadBatch(func(netip.AddrPort, []byte) {})
				late = append(late, time.Since(end))
			}
			quantiles(b, late)
		})
	}
}

func quantiles(b *testing.B, d []time.Duration) {
	slices.Sort(d)
	b.ReportMetric(float64(d[len(d)/2].Nanoseconds())/1e3, "p50-us")
	b.ReportMetric(float64(d[len(d)*99/100].Nanoseconds())/1e3, "p99-us")
}

// BenchmarkOneWay sends a message of 200 bytes every 2 ms from one app that package host runs to
// another, and beside it a datagram between two plain sockets. The time is from the sender's tick
// to the receiver's callback.
func BenchmarkOneWay(b *testing.B) {
	const gap = 2 * time.Millisecond
	began := time.Now()
	clock := func() time.Duration { return time.Since(began) }
	stamp := func(msg []byte) { binary.LittleEndian.PutUint64(msg, uint64(clock())) }
	age := func(msg []byte) time.Duration { return clock() - time.Duration(binary.LittleEndian.Uint64(msg)) }
	collect := func(b *testing.B, arrived <-chan time.Duration) {
		var times []time.Duration
		for b.Loop() {
			times = append(times, <-arrived)
		}
		quantiles(b, times)
	}
	for _, reliable := range []bool{false, true} {
		b.Run(fmt.Sprintf("host/reliable=%v", reliable), func(b *testing.B) {
			h, err := host.New(host.Config{})
			if err != nil {
				b.Fatal(err)
			}
			arrived := make(chan time.Duration, 1<<16)
			s := listen(b, "127.0.0.1:0")
			to := run(b, h, s, app{message: func(msg []byte) { arrived <- age(msg) }})
			msg := make([]byte, benchDatagram)
			run(b, h, listen(b, "127.0.0.1:0"), app{tick: func(net mercury.Transport) {
				stamp(msg)
				ch := net.Dial(to.Address())
				if reliable {
					_ = net.Send(ch, msg)
				} else {
					_, _ = net.SendUnreliable(ch, msg)
				}
			}, every: gap})
			for range 5 { // those before the channel opened
				<-arrived
			}
			before := s.Counters()
			collect(b, arrived)
			after := s.Counters()
			calls := after.ReadCalls - before.ReadCalls + after.WriteCalls - before.WriteCalls
			b.ReportMetric(float64(calls)/float64(after.In-before.In), "receiver-calls/packet")
			if err := h.Close(); err != nil {
				b.Error(err)
			}
		})
	}
	b.Run("plain", func(b *testing.B) {
		from, to := plain(b), plain(b)
		at := to.LocalAddr().(*net.UDPAddr).AddrPort()
		arrived := make(chan time.Duration, 1<<16)
		go func() {
			buf := make([]byte, 2000)
			for {
				if _, _, err := to.ReadFromUDPAddrPort(buf); err != nil {
					return
				}
				arrived <- age(buf)
			}
		}()
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		go func() {
			msg := make([]byte, benchDatagram)
			for ctx.Err() == nil {
				time.Sleep(gap)
				stamp(msg)
				if _, err := from.WriteToUDPAddrPort(msg, at); err != nil {
					return
				}
			}
		}()
		collect(b, arrived)
	})
}

// app does what its functions say.
type app struct {
	net     mercury.Transport
	tick    func(net mercury.Transport)
	every   time.Duration
	message func(msg []byte)
}

// run runs a over a socket, without a pace.
func run(b *testing.B, h *host.Host, s *udp.Socket, a app) *host.Process {
	b.Helper()
	p, err := h.Start("app", "", func(env host.Env) (host.App, error) {
		a.net = env.Transport
		return a, nil
	}, host.Carriers(udp.NewCarrier(s, mercury.Config{})), host.Shared(), host.Pace(0))
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func (a app) Tick(now time.Duration) time.Duration {
	if a.tick == nil {
		return now + time.Hour
	}
	a.tick(a.net)
	return now + a.every
}

func (app) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}
func (a app) Message(_ time.Duration, _ mercury.ChannelID, _ bool, msg []byte) {
	a.message(msg)
}
func (app) Closed(time.Duration, mercury.ChannelID, error) {}
