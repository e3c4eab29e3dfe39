//go:build !js

package session

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"

	"github.com/cellscape/cellscape/entity/client/protocol"
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
// LoginApp. With AnyNetwork the options have further carriers.
func (c *Config) carrier(a *address, from netip.Addr, _ netip.AddrPort) (mercury.Carrier, named, []host.Option, error) {
	how := c.dialTLS(a)
	made, err := c.over(a.network(), a, how)
	if err != nil {
		return nil, nil, nil, err
	}
	var opts []host.Option
	udp := a.network() == protocol.UDP
	for _, network := range c.further(a, how) {
		other, err := c.over(network, a, how)
		if err != nil {
			return nil, nil, nil, err
		}
		udp = udp || network == protocol.UDP
		opts = append(opts, host.Carriers(other))
	}
	if udp && c.Listen == "" {
		// Listen at all addresses, since another one may lead to the BaseApp.
		opts = append(opts, host.Advertise(from))
	}
	if udp && !c.ServerKey.IsZero() {
		opts = append(opts, host.Secure(secure.Config{ServerKey: c.ServerKey}))
	}
	return made, nil, opts, nil
}

// further are the networks beside that of the LoginApp, the one that comes through most often first. None is
// less sealed than that.
func (c *Config) further(a *address, how *tls.Config) (list []string) {
	if !c.AnyNetwork {
		return nil
	}
	sealed := how != nil
	for _, x := range []struct {
		network string
		fits    bool
	}{
		{protocol.UDP, !sealed || !c.ServerKey.IsZero()}, {"websocket", true}, {"tcp", true}, {"quic", sealed},
	} {
		if x.fits && x.network != a.network() {
			list = append(list, x.network)
		}
	}
	return list
}

// over makes a carrier over a network.
func (c *Config) over(network string, a *address, how *tls.Config) (mercury.Carrier, error) {
	switch network {
	case "tcp":
		return tcp.Listen("", tcp.Config{DialTLS: how}, nil)
	case "quic":
		return quic.Listen("", quic.Config{DialTLS: how}, nil)
	case "websocket":
		return websocket.Listen("", websocket.Config{DialTLS: how, Path: a.path}, nil)
	}
	return c.listen()
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
