package session

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/quic"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/mercury/tcp"
	"github.com/cellscape/cellscape/mercury/udp"
	"github.com/cellscape/cellscape/mercury/websocket"
)

// address is Config.LoginApp after parsing.
type address struct {
	scheme string // "udp" if none is given
	host   string
	place  string // host:port
	path   string // of a WebSocket; "" for the usual one
}

func parseAddress(s string) (a address, err error) {
	if !strings.Contains(s, "://") {
		s = "udp://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		return a, err
	}
	a = address{scheme: u.Scheme, host: u.Hostname(), place: u.Host, path: u.Path}
	switch {
	case a.network() == "":
		return a, fmt.Errorf("no network is called %q: take udp, wss, quic or tls, or in the clear ws or tcp", a.scheme)
	case a.host == "" || u.Port() == "" || u.Port() == "0":
		return a, errors.New("give host:port of a LoginApp")
	case a.path != "" && a.network() != "websocket" || u.RawQuery != "" || u.User != nil:
		return a, errors.New("give a scheme, a host and a port, and for a WebSocket a path, and nothing else")
	}
	return a, nil
}

// network returns the network of the carrier; "" for an unknown scheme.
func (a *address) network() string {
	switch a.scheme {
	case "udp", "quic", "tcp":
		return a.scheme
	case "tls":
		return "tcp"
	case "ws", "wss":
		return "websocket"
	}
	return ""
}

// byTLS reports whether TLS seals the session.
func (a *address) byTLS() bool { return a.scheme == "wss" || a.scheme == "quic" || a.scheme == "tls" }

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

// carrier makes the carrier that the session dials over. from is the address of this machine that
// leads to the LoginApp.
func (c *Config) carrier(a *address, from netip.Addr) (mercury.Carrier, []host.Option, error) {
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
		return nil, nil, err
	}
	return made, opts, nil
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

// dialTLS returns the TLS configuration, with the name by which the LoginApp was dialled: the
// BaseApps have it, too. It is nil without TLS.
func (c *Config) dialTLS(a *address) *tls.Config {
	if !a.byTLS() {
		return nil
	}
	how := new(tls.Config)
	if c.TLS != nil {
		how = c.TLS.Clone()
	}
	if _, err := netip.ParseAddr(a.host); err != nil && how.ServerName == "" {
		how.ServerName = a.host
	}
	return how
}

// validateAddress reports faults of the address together with the rest of c.
func (c *Config) validateAddress(a *address) []error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("session: Config."+format, args...))
		}
	}
	datagrams := a.network() == "udp"
	fault(c.TLS != nil && !a.byTLS(), "TLS is given, but %s has none: leave it out, or dial wss, quic or tls", a.scheme)
	fault(!c.ServerKey.IsZero() && !datagrams, "ServerKey is given, but seals only udp: leave it out, or dial udp")
	fault(c.Listen != "" && !datagrams, "Listen is given, but only udp listens: leave it out")
	return faults
}

// inClear reports whether nothing would seal the session although it leaves this machine and Clear
// does not allow that.
func (c *Config) inClear(a *address, to netip.AddrPort) bool {
	sealed := a.byTLS() || a.network() == "udp" && !c.ServerKey.IsZero()
	return !sealed && !c.Clear && !to.Addr().IsLoopback()
}
