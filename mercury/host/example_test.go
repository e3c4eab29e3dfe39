package host_test

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
)

// greeter answers whoever speaks to it, and speaks to a friend if it has one.
type greeter struct {
	net    mercury.Transport
	friend mercury.Address
	heard  chan string
}

func (g *greeter) Tick(now time.Duration) (next time.Duration) {
	if !g.friend.IsZero() {
		_ = g.net.Send(g.net.Dial(g.friend), []byte("hello"))
		g.friend = mercury.Address{}
	}
	return now + 100*time.Millisecond
}

func (g *greeter) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}

func (g *greeter) Message(_ time.Duration, ch mercury.ChannelID, _ bool, msg []byte) {
	g.heard <- string(msg)
	if string(msg) == "hello" {
		_ = g.net.Send(ch, []byte("hello to you"))
	}
}

func (g *greeter) Closed(time.Duration, mercury.ChannelID, error) {}

// Two apps in one OS process, each with a socket and a goroutine of its own.
func Example() {
	h, err := host.New(host.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = h.Close() }()
	heard := make(chan string, 10)
	start := func(name string, friend mercury.Address) *host.Process {
		p, err := h.Start(name, "127.0.0.1:0", func(env host.Env) (host.App, error) {
			return &greeter{net: env.Transport, friend: friend, heard: heard}, nil
		})
		if err != nil {
			fmt.Println(err)
		}
		return p
	}
	b := start("b", mercury.Address{})
	start("a", b.Address())
	fmt.Println(<-heard)
	fmt.Println(<-heard)
	// Output:
	// hello
	// hello to you
}
