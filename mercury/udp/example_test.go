package udp_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/udp"
)

// A socket writes what was queued at Flush, and reads what has come in batches.
func Example() {
	s, err := udp.Listen("127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	s.Queue(s.Addr(), []byte("to myself"))
	if err := s.Flush(); err != nil {
		fmt.Println(err)
	}
	if err := s.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		fmt.Println(err)
	}
	err = s.ReadBatch(func(from netip.AddrPort, datagram []byte) {
		fmt.Println(from == s.Addr(), string(datagram))
	})
	fmt.Println(err)
	// Output:
	// true to myself
	// <nil>
}

// greeter says hello to a friend if it has one, and prints what it hears.
type greeter struct {
	net    mercury.Transport
	friend mercury.Address
	heard  chan struct{}
}

// Tick comes once at the start.
func (g greeter) Tick(now time.Duration) time.Duration {
	if !g.friend.IsZero() {
		if err := g.net.Send(g.net.Dial(g.friend), []byte("hello")); err != nil {
			fmt.Println(err)
		}
	}
	return now + time.Hour
}
func (greeter) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}
func (g greeter) Message(_ time.Duration, _ mercury.ChannelID, reliable bool, msg []byte) {
	fmt.Println(reliable, string(msg))
	close(g.heard)
}
func (greeter) Closed(time.Duration, mercury.ChannelID, error) {}

// Two apps that package host runs, over sockets that are opened as their owner likes.
func ExampleCarrier() {
	h, err := host.New(host.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	heard := make(chan struct{})
	start := func(name string, friend mercury.Address) *host.Process {
		s, err := udp.Config{ReadBuffer: 1 << 20}.Listen("127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		p, err := h.Start(name, "", func(env host.Env) (host.App, error) {
			return greeter{env.Transport, friend, heard}, nil
		}, host.Carriers(udp.NewCarrier(s, mercury.Config{MaxChannels: 100})))
		if err != nil {
			panic(err)
		}
		return p
	}
	server := start("server", mercury.Address{})
	start("client", server.Address())
	<-heard
	fmt.Println(h.Close())
	// Output:
	// true hello
	// <nil>
}
