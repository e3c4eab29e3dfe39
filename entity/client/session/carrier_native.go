//go:build !js

package session

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/quic"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/mercury/tcp"
	"github.com/cellscape/cellscape/mercury/udp"
	"github.com/cellscape/cellscape/mercury/websocket"
)

// inPage says that the program runs in a web page.
const inPage = false

// route looks up the LoginApp's address, and the address of this machine that leads there.
func (a *address) route(ctx context.Context) (from netip.Addr, to netip.AddrPort, err error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "udp", a.place) // dialling a UDP socket sends nothing
	if err != nil {
		return from, to, fmt.Errorf("session: the LoginApp at %s: %w", a.place, err)
	}
	defer func() { _ = conn.Close() }() // nothing was written
	from = conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
	to = conn.RemoteAddr().(*net.UDPAddr).AddrPort()
	return from, netip.AddrPortFrom(to.Addr().Unmap(), to.Port()), nil
}

// carrier makes the carrier that the session dials over, and what the client tells the names of BaseApps:
// nothing, since their addresses are enough. from is the address of this machine that leads to the
// LoginApp.
func (c *Config) carrier(a *address, from netip.Addr, _ netip.AddrPort) (mercury.Carrier, named, []host.Option, error) {
	how := c.dialTLS(a)
	var made mercury.Carrier
	var opts []host.Option
	var err error
	switch a.network() {
	case "udp":
		if c.Listen == "" {
			// Listen at all addresses, since another one may lead to the BaseApp.
			opts = append(opts, host.Advertise(from))
		}
		if !c.ServerKey.IsZero() {
			opts = append(opts, host.Secure(secure.Config{ServerKey: c.ServerKey}))
		}
		made, err = c.listen()
	case "tcp":
		made, err = tcp.Listen("", tcp.Config{DialTLS: how}, nil)
	case "quic":
		made, err = quic.Listen("", quic.Config{DialTLS: how}, nil)
	case "websocket":
		made, err = websocket.Listen("", websocket.Config{DialTLS: how, Path: a.path}, nil)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	return made, nil, opts, nil
}

func (c *Config) listen() (mercury.Carrier, error) {
	at := c.Listen
	if at == "" {
		at = ":0"
	}
	s, err := udp.Listen(at)
	if err != nil {
		return nil, err
	}
	return udp.NewCarrier(s, mercury.Config{}), nil
}
