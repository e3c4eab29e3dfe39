package host_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/quic"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/tcp"
	"github.com/cellscape/cellscape/mercury/udp"
	"github.com/cellscape/cellscape/mercury/websocket"
)

// networks are all that there are, in the order of the carriers of a server here.
var networks = []string{"udp", "tcp", "quic", "websocket"}

// pki is one certificate for 127.0.0.1 for all tests.
var pki = sync.OnceValues(func() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf, err := x509.ParseCertificate(raw)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key, Leaf: leaf}, err
})

// Times are short here, yet a busy machine may stall a goroutine.
const (
	quickAlive   = 100 * time.Millisecond
	quickSilence = 2 * time.Second
)

// carrierAt makes a carrier of a network at "host:port", which dials as well; "" for one that only
// dials.
func carrierAt(t testing.TB, network, at string) mercury.Carrier {
	t.Helper()
	cert, err := pki()
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert.Leaf)
	server, client := &tls.Config{Certificates: []tls.Certificate{cert}}, &tls.Config{RootCAs: roots}
	if at == "" && network != "udp" {
		server = nil
	}
	cfg := stream.Config{KeepAlive: quickAlive, Inactivity: quickSilence}
	var c mercury.Carrier
	switch network {
	case "udp":
		if at == "" {
			at = "127.0.0.1:0"
		}
		var s *udp.Socket
		if s, err = udp.Listen(at); err == nil {
			c = udp.NewCarrier(s, mercury.Config{KeepAlive: quickAlive, Inactivity: quickSilence})
		}
	case "tcp":
		c, err = tcp.Listen(at, tcp.Config{Config: cfg}, nil)
	case "quic":
		c, err = quic.Listen(at, quic.Config{Config: cfg, TLS: server, DialTLS: client}, nil)
	case "websocket":
		c, err = websocket.Listen(at, websocket.Config{Config: cfg, TLS: server, DialTLS: client}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// all is a carrier of each network that listens.
func all(t testing.TB) host.Option {
	var cs []mercury.Carrier
	for _, network := range networks {
		cs = append(cs, carrierAt(t, network, "127.0.0.1:0"))
	}
	return host.Carriers(cs...)
}

// over starts an echo over carriers alone.
func over(t testing.TB, h *host.Host, name string, opts ...host.Option) *host.Process {
	t.Helper()
	p, err := h.Start(name, "", func(env host.Env) (host.App, error) { return &echo{env: env}, nil }, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// visitors are a client of each network.
func visitors(t testing.TB, h *host.Host) []*host.Process {
	var clients []*host.Process
	for _, network := range networks {
		clients = append(clients, over(t, h, "client over "+network, host.Carriers(carrierAt(t, network, "")), host.Shared()))
	}
	return clients
}

// TestFourCarriers runs one app over all four networks at once: one that waits in the kernel where it
// can, and ones that wait at their first carrier, which waits itself or for a channel of Go.
func TestFourCarriers(t *testing.T) {
	t.Run("process waits", func(t *testing.T) { fourCarriers(t, "udp") })
	for _, first := range []string{"udp", "tcp"} {
		t.Run(first+" waits", func(t *testing.T) { fourCarriers(t, first, host.Shared()) })
	}
}

func fourCarriers(t *testing.T, first string, opts ...host.Option) {
	before := runtime.NumGoroutine()
	h := newHost(t)
	cs := []mercury.Carrier{carrierAt(t, first, "127.0.0.1:0")}
	for _, network := range networks {
		if network != first {
			cs = append(cs, carrierAt(t, network, "127.0.0.1:0"))
		}
	}
	server := over(t, h, "server", append(opts, host.Carriers(cs...))...)
	clients := visitors(t, h)
	at := make([]mercury.Address, len(networks))
	for i, network := range networks {
		for _, p := range server.Places() {
			if p.Network == network {
				at[i] = p.Self
			}
		}
		if at[i].Salt != server.Address().Salt || !at[i].At.IsValid() {
			t.Fatalf("%s is reached at %v, the app at %v", network, at[i], server.Address())
		}
	}
	talk(t, server, clients, at)
	flood(t, server, clients, at)
	dies(t, server, clients[0], mercury.ErrTimeout)
	dies(t, server, clients[1], mercury.ErrPeerAborted)
	fares(t, server)
	leaves(t, server, clients[2:], at[2:])
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	for end := time.Now().Add(patience); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// talk opens a channel from each client, and has reliable messages go both ways in their order and
// unreliable ones come.
func talk(t *testing.T, server *host.Process, clients []*host.Process, at []mercury.Address) {
	t.Helper()
	const n = 200
	for i, c := range clients {
		do(t, c, func(e *echo) {
			ch := e.env.Transport.Dial(at[i])
			for k := range n {
				if err := e.env.Transport.Send(ch, fmt.Appendf(nil, "say %d", k)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i, c := range clients {
		until(t, c, "has all answers", func(e *echo) bool { return len(e.messages) == n })
		do(t, c, func(e *echo) {
			for k, m := range e.messages {
				if m != fmt.Sprint(k) {
					t.Fatalf("%s: answer %d is %q", networks[i], k, m)
				}
			}
			e.messages = nil
		})
	}
	do(t, server, func(e *echo) {
		if e.opened != len(clients) {
			t.Errorf("%d channels opened", e.opened)
		}
		e.messages = nil
	})
	for i, c := range clients {
		// The network may lose what is unreliable, so that it is said until it is heard.
		for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			do(t, c, func(e *echo) {
				if _, err := e.env.Transport.SendUnreliable(e.env.Transport.Dial(at[i]), []byte("loose "+networks[i])); err != nil {
					t.Error(err)
				}
			})
			heard := false
			do(t, server, func(e *echo) {
				for _, m := range e.messages {
					heard = heard || m == "loose "+networks[i]
				}
			})
			if heard {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%s: no unreliable message came", networks[i])
			}
		}
	}
}

// flood has one client send as much as it can over UDP and over TCP, while each other client is
// answered and ticks go on.
func flood(t *testing.T, server *host.Process, clients []*host.Process, at []mercury.Address) {
	t.Helper()
	stop := make(chan struct{})
	var flooding sync.WaitGroup
	for i := range 2 {
		flooding.Go(func() {
			msg := bytes.Repeat([]byte("x"), 1000)
			for {
				select {
				case <-stop:
					return
				default:
				}
				_ = clients[i].Do(func(a host.App) {
					net := a.(*echo).env.Transport
					ch := net.Dial(at[i])
					for range 100 {
						_, _ = net.SendUnreliable(ch, msg)
						if err := net.Send(ch, msg); err != nil && !errors.Is(err, mercury.ErrFull) {
							t.Error(err)
						}
					}
				})
			}
		})
	}
	var ticks int
	do(t, server, func(e *echo) { ticks = e.ticks })
	for _, i := range []int{2, 3} {
		for k := range 10 {
			send(t, clients[i], at[i], fmt.Sprintf("say %d", k))
			until(t, clients[i], "is answered beside a flood", func(e *echo) bool { return len(e.messages) == k+1 })
		}
	}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		more := false
		do(t, server, func(e *echo) { more = e.ticks > ticks+2 })
		if more {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no tick in a flood")
		}
	}
	close(stop)
	flooding.Wait()
	do(t, server, func(e *echo) {
		if len(e.closed) > 0 {
			t.Errorf("a flood ended channels: %v", e.closed)
		}
	})
}

// dies kills a client: the server hears the end of its channel and of no other.
func dies(t *testing.T, server, client *host.Process, want error) {
	t.Helper()
	do(t, server, func(e *echo) { e.closed = nil })
	client.Kill()
	until(t, server, "misses a client", func(e *echo) bool { return len(e.closed) == 1 })
	do(t, server, func(e *echo) {
		if !errors.Is(e.closed[0], want) {
			t.Errorf("%s: closed by %v, want %v", client.Name(), e.closed[0], want)
		}
	})
}

// fares looks at the figures by carrier.
func fares(t *testing.T, server *host.Process) {
	t.Helper()
	stats, err := server.Carriers()
	if err != nil || len(stats) != len(networks) {
		t.Fatalf("%d carriers, %v", len(stats), err)
	}
	for _, s := range stats {
		want := 1
		if s.Network == "udp" || s.Network == "tcp" {
			want = 0 // these clients are dead
		}
		if s.Channels != want || s.MessagesIn < 200 || s.MessagesOut < 200 || s.BytesIn == 0 || s.BytesOut == 0 {
			t.Errorf("%+v", s)
		}
		if runtime.GOOS == "linux" && s.Network == "quic" && s.RTT <= 0 {
			t.Errorf("no round trip: %+v", s)
		}
	}
}

// leaves stops the server: what it said last comes over all carriers, and the ends in order.
func leaves(t *testing.T, server *host.Process, clients []*host.Process, at []mercury.Address) {
	t.Helper()
	for i, c := range clients {
		do(t, c, func(e *echo) { e.messages = nil })
		send(t, c, at[i], "say goodbye")
	}
	until(t, server, "was asked by all", func(e *echo) bool {
		n := 0
		for _, m := range e.messages {
			if m == "say goodbye" {
				n++
			}
		}
		return n == len(clients)
	})
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
	for _, c := range clients {
		until(t, c, "hears the end", func(e *echo) bool { return len(e.closed) == 1 })
		do(t, c, func(e *echo) {
			if !errors.Is(e.closed[0], mercury.ErrPeerClosed) || len(e.messages) != 1 || e.messages[0] != "goodbye" {
				t.Errorf("%s: heard %q, closed by %v", c.Name(), e.messages, e.closed)
			}
		})
	}
}

// TestTransportOverNet runs the suite over the loop: an app with all four carriers, dialled and
// dialling over each.
func TestTransportOverNet(t *testing.T) {
	for i, network := range networks {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			mercurytest.TestTransport(t, func(t *testing.T, _ uint64) *mercurytest.Rig { return netRig(t, i) })
		})
	}
}

// via is a Net whose address is that of one of its carriers, and which dials over that.
type via struct {
	*host.Net
	carrier int
}

func (v via) Self() mercury.Address { return v.Net.Carriers()[v.carrier].Self() }

func (v via) Dial(to mercury.Address) mercury.ChannelID {
	ch, err := v.DialOver(networks[v.carrier], to)
	if err != nil {
		panic(err)
	}
	return ch
}

func netRig(t *testing.T, carrier int) *mercurytest.Rig {
	h := newHost(t)
	var ends [2]*host.Turned
	for i := range ends {
		var err error
		if ends[i], err = h.Open("", all(t)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(ends[i].Release)
	}
	return &mercurytest.Rig{
		A: via{ends[0].Net(), carrier}, B: via{ends[1].Net(), carrier},
		SetHandlers: func(a, b mercury.Handler) {
			ends[0].SetHandler(a)
			ends[1].SetHandler(b)
		},
		RunUntil: mercurytest.InRealTime(patience, func() {
			for _, x := range ends {
				if err := x.Turn(200 * time.Microsecond); err != nil {
					t.Fatal(err)
				}
			}
		}),
		MaxMessage: mercury.DefaultMaxMessage,
		Timeout:    50 * time.Millisecond,
	}
}

// A dismissed app begins anew over all carriers, at the same places.
func TestDismissedOverAll(t *testing.T) {
	h := newHost(t)
	server := over(t, h, "server", all(t))
	clients := visitors(t, h)
	before := server.Places()
	talk(t, server, clients, selves(before))
	do(t, server, func(e *echo) { e.dismissed = true })
	do(t, server, func(*echo) {}) // runs in the new start
	after := server.Places()
	for i := range before {
		if after[i].Self.At != before[i].Self.At || after[i].Self.Salt == before[i].Self.Salt || after[i].Self.Salt != after[0].Self.Salt {
			t.Errorf("was at %v, is at %v", before[i], after[i])
		}
	}
	// Packets for the old start tell a client of UDP what the others see at once.
	for i, c := range clients {
		_ = c.Do(func(a host.App) {
			net := a.(*echo).env.Transport
			_ = net.Send(net.Dial(before[i].Self), []byte("are you there?"))
		})
		until(t, c, "hears the end of the old start", func(e *echo) bool { return len(e.closed) > 0 })
		do(t, c, func(e *echo) { e.messages = nil })
	}
	talk(t, server, clients, selves(after))
}

func selves(places []host.Place) (at []mercury.Address) {
	for _, p := range places {
		at = append(at, p.Self)
	}
	return at
}

// Dials go over the carrier that a Route names, over the first without one, and over the one that
// DialOver is told.
func TestRoute(t *testing.T) {
	h := newHost(t)
	places := over(t, h, "server", all(t)).Places()
	inner := netip.MustParsePrefix("127.0.0.1/32")
	client := over(t, h, "client", all(t), host.Route("tcp", inner))
	plain := over(t, h, "plain", all(t))
	network := func(e *echo, ch mercury.ChannelID) string {
		i, _, ok := e.env.Net.Carrier(ch)
		if !ok {
			t.Fatalf("channel %d has no carrier", ch)
		}
		return e.env.Places[i].Network
	}
	do(t, client, func(e *echo) {
		if got := network(e, e.env.Transport.Dial(places[1].Self)); got != "tcp" {
			t.Errorf("a routed dial goes over %s", got)
		}
		if got := network(e, e.env.Transport.Dial(mercury.Address{At: netip.MustParseAddrPort("192.0.2.1:7")})); got != "udp" {
			t.Errorf("a dial without a route goes over %s", got)
		}
	})
	do(t, plain, func(e *echo) {
		for i, p := range places {
			ch, err := e.env.Net.DialOver(p.Network, p.Self)
			if err != nil || network(e, ch) != networks[i] {
				t.Errorf("DialOver %s: %v", p.Network, err)
			}
			if peer, ok := e.env.Transport.Peer(ch); !ok || peer.At != p.Self.At {
				t.Errorf("the peer is %v", peer)
			}
		}
		if _, err := e.env.Net.DialOver("pigeon", places[0].Self); !errors.Is(err, host.ErrNoCarrier) {
			t.Errorf("DialOver by pigeon: %v", err)
		}
	})
	until(t, client, "is connected", func(e *echo) bool { return e.opened == 1 })
	until(t, plain, "is connected over all", func(e *echo) bool { return e.opened == len(networks) })
}

// Two UDP carriers, an inner and an outer, have a Guard and a secret each.
func TestTwoDoors(t *testing.T) {
	h, key := newHost(t), newKey(t, 1)
	server, err := h.Start("server", "127.0.0.1:0", func(env host.Env) (host.App, error) { return &echo{env: env}, nil },
		host.Carriers(carrierAt(t, "udp", "127.0.0.1:0")), host.Secure(secure.Config{Key: key}))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range server.Places() {
		c := start(t, h, fmt.Sprint("client ", i), host.Secure(secure.Config{ServerKey: key.Public()}))
		send(t, c, p.Self, "say hello")
		until(t, c, "is answered", func(e *echo) bool { return len(e.messages) == 1 })
	}
	all, err := server.Carriers()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Seal.Admitted != 1 || s.Channels != 1 {
			t.Errorf("%+v", s)
		}
	}
}

// A Secure process takes no carrier in the clear unless it is told to; those it refuses are given
// back.
func TestSecureCarriers(t *testing.T) {
	h, seal := newHost(t), host.Secure(secure.Config{Key: newKey(t, 1)})
	create := func(env host.Env) (host.App, error) { return &echo{env: env}, nil }
	clear := carrierAt(t, "tcp", "127.0.0.1:0")
	place := clear.(*tcp.Transport)
	_, err := h.Start("refused", "127.0.0.1:0", create, seal, host.Carriers(clear))
	if err == nil || !strings.Contains(err.Error(), "in the clear") || !strings.Contains(err.Error(), "UnsealedCarriers") {
		t.Errorf("a carrier in the clear: %v", err)
	}
	if again, err := tcp.Listen(place.Self().At.String(), tcp.Config{}, nil); err != nil {
		t.Errorf("the refused carrier was not given back: %v", err)
	} else {
		_ = again.Release()
	}
	ws, err := websocket.Listen("127.0.0.1:0", websocket.Config{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Start("refused too", "127.0.0.1:0", create, seal, host.Carriers(ws)); err == nil {
		t.Error("a WebSocket without TLS was taken")
	}
	for _, network := range []string{"quic", "websocket"} {
		if _, err := h.Start(network, "127.0.0.1:0", create, seal, host.Carriers(carrierAt(t, network, "127.0.0.1:0"))); err != nil {
			t.Errorf("%s, which is sealed: %v", network, err)
		}
	}
	if _, err := h.Start("told", "127.0.0.1:0", create, seal, host.UnsealedCarriers(carrierAt(t, "tcp", "127.0.0.1:0"))); err != nil {
		t.Errorf("a carrier in the clear that was asked for: %v", err)
	}
}

// All faults of the options are told at once, with the carriers given back.
func TestCarrierFaults(t *testing.T) {
	h := newHost(t)
	create := func(env host.Env) (host.App, error) { return &echo{env: env}, nil }
	c := carrierAt(t, "tcp", "127.0.0.1:0")
	_, err := h.Start("faulty", "", create, host.Carriers(c, c), host.Route("pigeon", netip.Prefix{}), host.Pace(-1), host.SlowPace(-1), host.PaceFrom(-1))
	for _, want := range []string{"given twice", "pigeon", "not valid", "Pace is", "SlowPace is", "PaceFrom is"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if _, err := h.Start("nothing", "", create); err == nil || !strings.Contains(err.Error(), "no carrier") {
		t.Errorf("an app without a carrier: %v", err)
	}
	var none mercury.Carrier
	if _, err := h.Start("missing", "", create, host.Carriers(none)); err == nil || !strings.Contains(err.Error(), "a carrier is nil") {
		t.Errorf("a carrier that is nil: %v", err)
	}
	if _, err := h.Start("anywhere", "", create, host.Carriers(carrierAt(t, "tcp", ":0"))); err == nil || !strings.Contains(err.Error(), "Advertise") {
		t.Errorf("a carrier at all addresses: %v", err)
	}
	p, err := h.Start("advertised", "", create, host.Carriers(carrierAt(t, "tcp", ":0")), host.Advertise(netip.MustParseAddr("192.0.2.1")))
	if err != nil {
		t.Fatal(err)
	}
	if at := p.Address().At; at.Addr() != netip.MustParseAddr("192.0.2.1") || at.Port() == 0 {
		t.Errorf("reached at %v", at)
	}
}

// Each carrier may have an address of its own, which one that is none of the process's may not.
func TestAdvertiseOneCarrier(t *testing.T) {
	h := newHost(t)
	var places []host.Place
	create := func(e host.Env) (host.App, error) {
		places = e.Places
		return &echo{env: e}, nil
	}
	first, second, third := carrierAt(t, "udp", "127.0.0.1:0"), carrierAt(t, "tcp", ":0"), carrierAt(t, "udp", "127.0.0.1:0")
	all, one := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	if _, err := h.Start("advertised", "", create, host.Carriers(first, second, third), host.Advertise(all), host.Advertise(one, second, third)); err != nil {
		t.Fatal(err)
	}
	for i, want := range []netip.Addr{all, one, one} {
		if at := places[i].Self.At.Addr(); at != want {
			t.Errorf("carrier %d is reached at %v, want %v", i, at, want)
		}
	}
	strange := carrierAt(t, "udp", "127.0.0.1:0")
	defer func() { _ = strange.Release() }()
	if _, err := h.Start("strange", "127.0.0.1:0", create, host.Advertise(one, strange)); err == nil || !strings.Contains(err.Error(), "none of the process's") {
		t.Errorf("a carrier of nobody: %v", err)
	}
}

// A carrier that breaks ends the process, and its error says which.
func TestCarrierBreaks(t *testing.T) {
	h, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := udp.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := over(t, h, "p", host.Carriers(carrierAt(t, "tcp", "127.0.0.1:0"), udp.NewCarrier(c, mercury.Config{})))
	_ = c.Close()
	select {
	case <-p.Done():
	case <-time.After(patience):
		t.Fatal("the process goes on")
	}
	if err := p.Err(); !errors.Is(err, net.ErrClosed) || !strings.Contains(err.Error(), "udp") {
		t.Errorf("Err: %v", err)
	}
	if err := h.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Close: %v", err)
	}
}

// numbering is a carrier that dials a channel of a given number.
type numbering struct {
	mercury.Carrier // nil: whatever else is called is a fault of the test
	next            mercury.ChannelID
	aborted         []mercury.ChannelID
}

func (n *numbering) Dial(mercury.Address) mercury.ChannelID { return n.next }
func (n *numbering) Abort(ch mercury.ChannelID)             { n.aborted = append(n.aborted, ch) }

// A channel whose number leaves no room for that of its carrier is given up, and nobody hears of
// it.
func TestChannelNumbersRunOut(t *testing.T) {
	var at mercurytest.Recorder
	a, b := &numbering{next: 1<<31 - 1}, &numbering{next: 1 << 31}
	n := host.NewNet(&at, a, b)
	last := n.Dial(mercury.Address{})
	if i, there, ok := n.Carrier(last); !ok || i != 0 || there != 1<<31-1 {
		t.Errorf("the last channel is %d of carrier %d", there, i)
	}
	a.next = 1 << 31
	if ch := n.Dial(mercury.Address{}); ch != 0 || len(a.aborted) != 1 || n.Spent(0) != 1 {
		t.Errorf("a channel without a number is %d, aborted %v", ch, a.aborted)
	}
	n.Lane(1).Opened(0, 1<<31, mercury.Address{})
	n.Lane(1).Message(0, 1<<31, true, nil)
	n.Lane(1).Closed(0, 1<<31, mercury.ErrTimeout)
	if len(at.Order) != 0 || len(b.aborted) != 1 || n.Spent(1) != 1 {
		t.Errorf("heard of %v, aborted %v", at.Order, b.aborted)
	}
	if n.Lane(1).Opened(0, 7, mercury.Address{}); len(at.Order) != 1 || at.Order[0] != 15 {
		t.Errorf("heard of %v", at.Order)
	}
}
