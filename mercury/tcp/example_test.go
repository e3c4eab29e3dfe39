package tcp_test

import (
	"context"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/tcp"
)

// echo answers every message with the same.
type echo struct{ t *tcp.Transport }

func (echo) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}
func (e echo) Message(_ time.Duration, ch mercury.ChannelID, _ bool, msg []byte) {
	_ = e.t.Send(ch, msg) // a channel that cannot take it will be closed
}
func (echo) Closed(time.Duration, mercury.ChannelID, error) {}

// asker sends a message when its channel opens, and is done with the answer.
type asker struct {
	t    *tcp.Transport
	done func()
}

func (a asker) Opened(_ time.Duration, ch mercury.ChannelID, _ mercury.Address) {
	_ = a.t.Send(ch, []byte("hello, rack"))
}

func (a asker) Message(_ time.Duration, _ mercury.ChannelID, reliable bool, msg []byte) {
	fmt.Println(reliable, string(msg))
	a.done()
}

func (asker) Closed(time.Duration, mercury.ChannelID, error) {}

// Two apps, each owned by a Loop.
func Example() {
	server, err := tcp.Listen("127.0.0.1:0", tcp.Config{Config: stream.Config{Salt: 1}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	server.SetHandler(echo{server})
	client, err := tcp.Listen("", tcp.Config{Config: stream.Config{Salt: 2}}, nil) // only dials
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	client.SetHandler(asker{client, cancel})
	client.Dial(server.Self())

	served := make(chan error)
	go func() { served <- tcp.NewLoop(server, tcp.LoopConfig{}).Run(ctx) }()
	fmt.Println(tcp.NewLoop(client, tcp.LoopConfig{}).Run(ctx))
	fmt.Println(<-served)
	// Output:
	// true hello, rack
	// <nil>
	// <nil>
}
