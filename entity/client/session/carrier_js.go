package session

import (
	"context"
	"net"
	"net/netip"
	"strconv"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/websocket"
)

// inPage says that the program runs in a web page.
const inPage = true

// route returns what stands for the LoginApp.
func (a *address) route(context.Context) (from netip.Addr, to netip.AddrPort, err error) {
	_, text, err := net.SplitHostPort(a.place)
	if err != nil {
		return from, to, err
	}
	port, err := strconv.ParseUint(text, 10, 16)
	at := standIn(a.host)
	return at, netip.AddrPortFrom(at, uint16(port)), err
}

// carrier makes the carrier that the session dials over, and what the client tells the names of BaseApps.
func (c *Config) carrier(a *address, _ netip.Addr, to netip.AddrPort) (mercury.Carrier, named, []host.Option, error) {
	hosts := newNames(a, to)
	made, err := websocket.Listen("", websocket.Config{DialTLS: c.dialTLS(a), URL: hosts.url}, nil)
	return made, hosts.put, nil, err
}
