package websocket_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/websocket"
)

// echo answers every message with the same.
type echo struct{ t *websocket.Transport }

func (echo) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}
func (e echo) Message(_ time.Duration, ch mercury.ChannelID, _ bool, msg []byte) {
	_ = e.t.Send(ch, msg) // a channel that cannot take it will be closed
}
func (echo) Closed(time.Duration, mercury.ChannelID, error) {}

// asker sends a message when its channel opens, and is done with the answer.
type asker struct {
	t    *websocket.Transport
	done func()
}

func (a asker) Opened(_ time.Duration, ch mercury.ChannelID, _ mercury.Address) {
	_ = a.t.Send(ch, []byte("hello, page"))
}

func (a asker) Message(_ time.Duration, _ mercury.ChannelID, reliable bool, msg []byte) {
	fmt.Println(reliable, string(msg))
	a.done()
}

func (asker) Closed(time.Duration, mercury.ChannelID, error) {}

// A Transport beside the other handlers of a web server, and a Go client in the place of a page.
func Example() {
	server, err := websocket.New(netip.AddrPort{}, websocket.Config{Config: stream.Config{Salt: 1}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	server.SetHandler(echo{server})
	mux := http.NewServeMux()
	mux.Handle("/play", server)
	web := httptest.NewServer(mux)
	defer web.Close()

	client, err := websocket.Listen("", websocket.Config{Config: stream.Config{Salt: 2}, Path: "/play"}, nil) // only dials
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	client.SetHandler(asker{client, cancel})
	client.Dial(mercury.Address{At: netip.MustParseAddrPort(web.Listener.Addr().String())}) // whatever start is there

	served := make(chan error)
	go func() { served <- websocket.NewLoop(server, websocket.LoopConfig{}).Run(ctx) }()
	fmt.Println(websocket.NewLoop(client, websocket.LoopConfig{}).Run(ctx))
	fmt.Println(<-served)
	// Output:
	// true hello, page
	// <nil>
	// <nil>
}
