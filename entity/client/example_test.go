package client_test

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// A client logs in and is refused. The runner would do what this example does by hand: hand over
// what arrives on the client's channel.
func Example() {
	schema, err := property.NewSchema(&property.Definition{Name: "Avatar", HasCell: true, HasBase: true, HasClient: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := client.New(client.Config{
		Transport: &wireTap{},
		Schema:    schema,
		LoginApp:  netip.MustParseAddrPort("10.0.0.1:20013"),
		User:      "ann",
		Password:  "secret",
		Events: client.Events{
			LoggedIn: func() { fmt.Println("in") },
			Closed: func(err error) {
				var refused *protocol.Refused
				fmt.Println(errors.As(err, &refused), err)
			},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	c.Tick(0)
	c.Opened(0, 1, mercury.Address{})
	no := protocol.Refused{Code: protocol.BadCredentials}
	c.Message(0, 1, true, no.Append(nil))
	fmt.Println(c.State())
	// Output:
	// sent 31 bytes
	// true refused: unknown user or wrong password
	// closed
}

// An entity is drawn between the places that arrive ten times a second, and one of them is late. A
// Config.Filter gives such a filter to each entity that comes into view, and Replica.Shown asks it.
func ExampleHermite() {
	filter := new(client.Hermite)
	east := func(x float32) property.Vector3 { return property.Vector3{X: x} }
	for _, arrives := range []struct {
		after time.Duration
		x     float32
		says  client.Word
	}{{0, 0, client.Appears}, {100, 1, client.Moves}, {200, 2, client.Moves}, {390, 3, client.Moves}, {400, 4, client.Moves}, {500, 5, client.Rests}} {
		filter.Input(arrives.after*time.Millisecond, east(arrives.x), property.Vector3{}, arrives.says)
		for frame := range time.Duration(2) {
			shown, _ := filter.Output((arrives.after + 50*frame) * time.Millisecond)
			fmt.Printf("%.1f ", shown.X)
		}
	}
	shown, _ := filter.Output(time.Second)
	fmt.Printf("%.1f\n", shown.X)
	// Output:
	// 0.0 0.0 0.0 0.4 1.0 1.4 2.4 2.5 2.5 2.5 2.6 2.8 5.0
}

// wireTap is a transport with one channel that leads nowhere.
type wireTap struct{}

func (*wireTap) Self() mercury.Address                  { return mercury.Address{} }
func (*wireTap) Dial(mercury.Address) mercury.ChannelID { return 1 }
func (*wireTap) Send(_ mercury.ChannelID, msg []byte) error {
	fmt.Println("sent", len(msg), "bytes")
	return nil
}
func (*wireTap) Queued(mercury.ChannelID) (bytes, limit int)           { return 0, mercury.DefaultMaxQueued }
func (*wireTap) SendUnreliable(mercury.ChannelID, []byte) (int, error) { return 0, nil }
func (*wireTap) Pause(mercury.ChannelID)                               {}
func (*wireTap) Resume(mercury.ChannelID)                              {}
func (*wireTap) MaxUnreliable(mercury.ChannelID) int                   { return 900 }
func (*wireTap) Close(mercury.ChannelID)                               {}
func (*wireTap) Abort(mercury.ChannelID)                               {}
func (*wireTap) Peer(mercury.ChannelID) (mercury.Address, bool)        { return mercury.Address{}, true }
func (*wireTap) Standing(mercury.ChannelID) mercury.Standing           { return mercury.Trusted }
