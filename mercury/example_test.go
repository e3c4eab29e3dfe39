package mercury_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// greeter answers every message.
type greeter struct{ transport mercury.Transport }

func (g *greeter) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}
func (g *greeter) Message(_ time.Duration, ch mercury.ChannelID, _ bool, msg []byte) {
	fmt.Printf("%v got %q\n", g.transport.Self(), msg)
	if string(msg) == "ping" {
		_ = g.transport.Send(ch, []byte("pong"))
	}
}
func (g *greeter) Closed(time.Duration, mercury.ChannelID, error) {}

// Two endpoints in one goroutine, joined by function calls in place of sockets.
func Example() {
	ends := map[netip.AddrPort]*mercury.Endpoint{}
	var order []*mercury.Endpoint
	for i, at := range []string{"10.0.0.1:20000", "10.0.0.2:20000"} {
		e, err := mercury.NewEndpoint(mercury.Config{Salt: uint32(i + 1)}, netip.MustParseAddrPort(at), nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		e.SetHandler(&greeter{e})
		ends[e.Self().At] = e
		order = append(order, e)
	}

	ch := order[0].Dial(order[1].Self())
	_ = order[0].Send(ch, []byte("ping")) // waits until the channel is open

	for now := time.Duration(0); now < 100*time.Millisecond; now += 10 * time.Millisecond {
		for _, e := range order {
			e.Advance(now)
			e.Flush(now, func(to netip.AddrPort, datagram []byte) {
				ends[to].Receive(now, e.Self().At, datagram)
			})
		}
	}
	// Output:
	// 10.0.0.2:20000#2 got "ping"
	// 10.0.0.1:20000#1 got "pong"
}
