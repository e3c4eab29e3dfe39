package stream_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/stream"
)

// printer says what it hears.
type printer string

func (p printer) Opened(_ time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	fmt.Println(p, "opened", ch, "to", peer)
}

func (p printer) Message(_ time.Duration, ch mercury.ChannelID, reliable bool, msg []byte) {
	fmt.Println(p, "got", string(msg))
}

func (p printer) Closed(_ time.Duration, ch mercury.ChannelID, reason error) {
	fmt.Println(p, "closed:", reason)
}

// An adapter of a protocol of one's own, here of pipes within a process: a Network that dials, and
// an Accept for what comes.
func Example() {
	at := netip.MustParseAddrPort("10.0.0.1:20000")
	server, err := stream.New(stream.Config{Salt: 1}, at, stream.Network{Name: "pipe", MaxUnreliable: 1200}, printer("server"))
	if err != nil {
		fmt.Println(err)
		return
	}
	dial := func(context.Context, netip.AddrPort) (stream.Conn, error) {
		ours, theirs := net.Pipe()
		server.Accept(theirs, netip.MustParseAddrPort("10.0.0.2:50000"))
		return ours, nil
	}
	client, err := stream.New(stream.Config{Salt: 2}, netip.AddrPort{}, stream.Network{Name: "pipe", Dial: dial, MaxUnreliable: 1200}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ch := client.Dial(mercury.Address{At: at, Salt: 1})
	if err := client.Send(ch, []byte("through the pipe")); err != nil {
		fmt.Println(err)
	}
	client.Close(ch)
	for client.Stats().Channels > 0 { // the server hangs up once it has everything
		for _, t := range []*stream.Transport{client, server} {
			_, _ = t.Receive(t.Now() + time.Millisecond)
			_ = t.Flush()
		}
	}
	for _, t := range []*stream.Transport{client, server} {
		if err := t.Release(); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// server opened 1 to 10.0.0.2:50000#2
	// server got through the pipe
	// server closed: mercury: peer closed the channel
}
