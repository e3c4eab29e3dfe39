package session

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
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

// dialTLS returns the TLS configuration, with the name by which the LoginApp was dialled: the
// BaseApps have it, too. It is nil without TLS.
func (c *Config) dialTLS(a *address) *tls.Config {
	if !a.byTLS() && (!c.AnyNetwork || c.ServerKey.IsZero()) {
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
	fault(c.TLS != nil && !a.byTLS() && (!c.AnyNetwork || c.ServerKey.IsZero()), "TLS is given, but %s has none: leave it out, or dial wss, quic or tls", a.scheme)
	fault(!c.ServerKey.IsZero() && !datagrams && (!c.AnyNetwork || !a.byTLS()), "ServerKey is given, but seals only udp: leave it out, or dial udp")
	fault(c.Listen != "" && !datagrams, "Listen is given, but only udp listens: leave it out")
	fault(inPage && a.network() != "websocket", "LoginApp is %s, and a page has only WebSockets: dial wss, or ws in the clear", a.scheme)
	fault(inPage && c.TLS != nil, "TLS is given, but in a page the browser decides whom to trust: leave it out")
	return faults
}

// inClear reports whether nothing would seal the session although it leaves this machine and Clear
// does not allow that.
func (c *Config) inClear(a *address, to netip.AddrPort) bool {
	sealed := a.byTLS() || a.network() == "udp" && !c.ServerKey.IsZero()
	return !sealed && !c.Clear && !to.Addr().IsLoopback()
}
