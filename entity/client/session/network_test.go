package session_test

import (
	"crypto/tls"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/mercury/stream/streamtest"
	"github.com/cellscape/cellscape/space/cluster"
)

// relay stands between players and the UDP door of a BaseApp, as a network does: it can be blocked, and give
// the players another address.
type relay struct {
	front *net.UDPConn
	door  netip.AddrPort

	mu      sync.Mutex
	player  netip.AddrPort
	back    *net.UDPConn
	blocked bool
	moves   int
}

// newRelay listens at the port of a door, at an address of this machine that is not the door's.
func newRelay(t *testing.T, at netip.Addr, port uint16) *relay {
	t.Helper()
	front, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(at, port)))
	if err != nil {
		t.Skipf("no second address of the loopback: %v", err)
	}
	r := &relay{front: front, door: netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port)}
	t.Cleanup(func() {
		_ = front.Close()
		r.move()
	})
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, from, err := front.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			r.forward(from, buf[:n])
		}
	}()
	return r
}

func (r *relay) forward(from netip.AddrPort, datagram []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.player = from
	if r.blocked {
		return
	}
	if r.back == nil {
		back, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(r.door))
		if err != nil {
			return
		}
		r.back = back
		r.moves++
		go r.answer(back)
	}
	_, _ = r.back.Write(datagram) // it may be lost, as any
}

func (r *relay) answer(back *net.UDPConn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := back.Read(buf)
		if err != nil {
			return
		}
		r.mu.Lock()
		if !r.blocked {
			_, _ = r.front.WriteToUDPAddrPort(buf[:n], r.player)
		}
		r.mu.Unlock()
	}
}

// move gives the player another address, as a NAT does that has forgotten it.
func (r *relay) move() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.back != nil {
		_ = r.back.Close()
		r.back = nil
	}
}

func (r *relay) block() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.blocked = true
}

// freePort is a port that nobody had a moment ago, on the whole loopback.
func freePort(t *testing.T) uint16 {
	t.Helper()
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	return c.LocalAddr().(*net.UDPAddr).AddrPort().Port()
}

// A player by UDP plays on when its address changes, over the same channel; and when UDP is blocked, over
// TCP or WebSocket, with the same entity.
func TestNetworkIsLost(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the loopback has one address")
	}
	for _, network := range []string{cluster.TCP, cluster.WebSocket, cluster.QUIC} {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			outer, port := netip.MustParseAddr("127.0.0.2"), freePort(t)
			cert, roots := streamtest.Certificate(t)
			cfg := sealed(t)
			cfg.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
			cfg.Doors = []cluster.Door{
				{Network: cluster.UDP, Listen: "127.0.0.1", Advertise: outer, Ports: cluster.Ports{First: port, Last: port}},
				{Network: network, Listen: "127.0.0.1"},
			}
			r := newRelay(t, outer, port)
			w := started(t, cfg)

			resumed := make(chan struct{}, 9)
			p := player(cfg, netip.AddrPortFrom(r.door.Addr(), w.LoginAddr().Port()), "ada")
			p.AnyNetwork, p.TLS = true, &tls.Config{RootCAs: roots}
			p.Events.Resumed = func() { resumed <- struct{}{} }
			s, err := session.Dial(patient(t), p)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			var id entity.ID
			see := func() (st client.Stats) {
				if err := s.Do(func(c *client.Client) error {
					if st = c.Stats(); id == 0 {
						id = c.Player().ID
					} else if c.Player().ID != id {
						t.Errorf("the player is %v, and was %v", c.Player().ID, id)
					}
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				return st
			}
			see()
			for range 3 {
				r.move()
				time.Sleep(time.Second)
			}
			r.mu.Lock()
			moves := r.moves
			r.mu.Unlock()
			if st := see(); moves < 3 || st.Interrupted > 0 {
				t.Errorf("%d addresses, interrupted %d times", moves, st.Interrupted)
			}
			r.block()
			select {
			case <-resumed:
			case <-s.Done():
				t.Fatalf("the session has ended: %v", s.Err())
			case <-time.After(patience):
				t.Fatal("the session does not go on")
			}
			if st := see(); st.Resumed != 1 {
				t.Errorf("resumed %d times", st.Resumed)
			}
			time.Sleep(300 * time.Millisecond)
			see()
		})
	}
}
