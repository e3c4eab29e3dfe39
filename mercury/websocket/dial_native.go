//go:build !js

package websocket

import (
	"context"
	"net"
	"net/http"

	"github.com/coder/websocket"
)

// open makes a WebSocket, and returns the connection below it.
func (d dialer) open(ctx context.Context, url string) (*websocket.Conn, net.Conn, *http.Response, error) {
	var socket net.Conn
	// Each connection is one WebSocket for its life, so its HTTP transport needs no pool.
	through := &http.Transport{
		TLSClientConfig:   d.cfg.DialTLS,
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			dialer := net.Dialer{KeepAlive: -1}
			c, err := dialer.DialContext(ctx, network, addr)
			socket = c
			return c, err
		},
	}
	defer through.CloseIdleConnections()
	ws, resp, err := websocket.Dial(ctx, url, &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: through},
		HTTPHeader: d.cfg.Header,
	})
	if err != nil {
		return nil, nil, resp, err // a dial that was given up may still be under way, and about to set socket
	}
	return ws, socket, resp, nil
}
