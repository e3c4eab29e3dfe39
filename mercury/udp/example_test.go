package udp_test

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
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

// listener prints what comes and tells when.
type listener struct{ done func() }

func (listener) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}
func (l listener) Message(_ time.Duration, _ mercury.ChannelID, reliable bool, msg []byte) {
	fmt.Println(reliable, string(msg))
	l.done()
}
func (listener) Closed(time.Duration, mercury.ChannelID, error) {}

// Two loops, each on a goroutine of its own. What one sends before it ends still comes over.
func ExampleLoop() {
	ctx, stop := context.WithCancel(context.Background())
	var sockets []*udp.Socket
	loop := func(salt uint32, h mercury.Handler) (*udp.Loop, *mercury.Endpoint) {
		s, err := udp.Listen("127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		sockets = append(sockets, s)
		e, err := mercury.NewEndpoint(mercury.Config{Salt: salt}, s.Addr(), h)
		if err != nil {
			panic(err)
		}
		return udp.NewLoop(e, s, udp.LoopConfig{}), e
	}
	server, at := loop(1, listener{stop})
	client, e := loop(2, nil)
	ended := make(chan error)
	go func() { ended <- server.Run(ctx) }()
	go func() { ended <- client.Run(ctx) }()
	if err := client.Do(func() {
		if err := e.Send(e.Dial(at.Self()), []byte("hello")); err != nil {
			panic(err)
		}
	}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(<-ended, <-ended)
	for _, s := range sockets {
		_ = s.Close()
	}
	// Output:
	// true hello
	// <nil> <nil>
}
