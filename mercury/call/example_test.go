package call_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/call"
)

// bank answers questions about accounts, and passes on to its Calls what it hears.
type bank struct{ calls *call.Calls }

const kind = 0 // the first byte of the messages that are the Calls'

func newBank(t mercury.Transport) *bank {
	b := &bank{}
	b.calls, _ = call.New(t, call.Config{Kind: kind}, b)
	return b
}

func (b *bank) Requested(_ time.Duration, from call.Caller, body []byte) {
	switch string(body) {
	case "Ada":
		_ = b.calls.Reply(from, []byte("120 gold"))
	case "Bob":
		_ = b.calls.Fail(from, 404, "no such account")
	} // anything else is never answered
}

func (b *bank) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}

func (b *bank) Message(now time.Duration, ch mercury.ChannelID, _ bool, msg []byte) {
	if taken, err := b.calls.Take(now, ch, msg); taken || err != nil {
		return
	}
	fmt.Printf("a message of the app's own: %q\n", msg)
}

func (b *bank) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	b.calls.Closed(now, ch, reason)
}

// A request to another app is answered, fails there, or is never answered.
func ExampleCalls() {
	ends := map[netip.AddrPort]*mercury.Endpoint{}
	var order []*mercury.Endpoint
	var apps []*bank
	for i, at := range []string{"10.0.0.1:20000", "10.0.0.2:20000"} {
		e, err := mercury.NewEndpoint(mercury.Config{Salt: uint32(i + 1)}, netip.MustParseAddrPort(at), nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		app := newBank(e)
		e.SetHandler(app)
		ends[e.Self().At] = e
		order, apps = append(order, e), append(apps, app)
	}

	ch := order[0].Dial(order[1].Self())
	for _, name := range []string{"Ada", "Bob", "Cyd"} {
		_, err := apps[0].calls.Request(0, ch, call.Request{
			Body:    []byte(name),
			Timeout: 500 * time.Millisecond,
			Details: true,
			Handler: call.ReplyFunc(func(_ time.Duration, _ call.ID, _ uint64, body []byte, err error) {
				fmt.Printf("%s: %s %v\n", name, body, err)
			}),
		})
		if err != nil {
			fmt.Println(err)
		}
	}

	for now := time.Duration(0); now < time.Second; now += 10 * time.Millisecond {
		for i, e := range order {
			e.Advance(now)
			apps[i].calls.Advance(now)
			e.Flush(now, func(to netip.AddrPort, datagram []byte) {
				ends[to].Receive(now, e.Self().At, datagram)
			})
		}
	}
	// Output:
	// Ada: 120 gold <nil>
	// Bob:  call: failed at the callee: code 404, "no such account"
	// Cyd:  call: no reply in time
}
