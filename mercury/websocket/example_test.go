package websocket_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/websocket"
)

// echo answers every message with the same.
type echo struct{ net mercury.Transport }

func (echo) Tick(now time.Duration) time.Duration                     { return now + time.Hour }
func (echo) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}
func (e echo) Message(_ time.Duration, ch mercury.ChannelID, _ bool, msg []byte) {
	if err := e.net.Send(ch, msg); err != nil {
		fmt.Println(err)
	}
}
func (echo) Closed(time.Duration, mercury.ChannelID, error) {}

// asker sends a message to a server, and is done with the answer.
type asker struct {
	net    mercury.Transport
	server mercury.Address
	done   chan struct{}
}

// Tick comes once at the start.
func (a asker) Tick(time.Duration) time.Duration {
	if err := a.net.Send(a.net.Dial(a.server), []byte("hello, page")); err != nil {
		fmt.Println(err)
	}
	return forever
}

// forever is when the next tick is due of who needs none.
const forever = 1 << 62

func (asker) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}
func (a asker) Message(_ time.Duration, _ mercury.ChannelID, reliable bool, msg []byte) {
	fmt.Println(reliable, string(msg))
	close(a.done)
}
func (asker) Closed(time.Duration, mercury.ChannelID, error) {}

// A carrier beside the other handlers of a web server, and a Go client in the place of a page.
func Example() {
	server, err := websocket.New(netip.AddrPort{}, websocket.Config{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/play", server)
	web := httptest.NewServer(mux)
	defer web.Close()
	at := mercury.Address{At: netip.MustParseAddrPort(web.Listener.Addr().String())} // whatever start is there

	client, err := websocket.Listen("", websocket.Config{Path: "/play"}, nil) // only dials
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := host.New(host.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = h.Close() }()
	_, err = h.Start("server", "", func(env host.Env) (host.App, error) { return echo{env.Transport}, nil }, host.Carriers(server))
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan struct{})
	_, err = h.Start("client", "", func(env host.Env) (host.App, error) {
		return asker{env.Transport, at, done}, nil
	}, host.Carriers(client))
	if err != nil {
		fmt.Println(err)
		return
	}
	<-done
	// Output:
	// true hello, page
}
