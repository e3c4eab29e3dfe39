package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/property"
)

// Config says who plays in which world. Zero fields have the defaults named.
type Config struct {
	// LoginApp is "host:port" of the world's LoginApp; host is a name or an address. Required.
	LoginApp string
	// ServerKey is the public key of the world. Default: everything is in the clear, the
	// password too, and a world that is sealed refuses that with mercury.ErrKey.
	ServerKey secure.PublicKey
	// Schema has the entity definitions; what a client can see or call must be the same as at
	// the server (property.Schema.ClientDigest). Required.
	Schema *property.Schema
	// User and Password are what the LoginApp's Auth is asked about; each has at most
	// protocol.MaxName bytes.
	User, Password string
	// Retry asks for the login again, a second after it failed, while there is no world that
	// is ready: nobody answers, the LoginApp has no BaseApp yet, or it is too busy. What a
	// second try would not change ends the session all the same: a wrong password, other
	// definitions, another key, a world that is full.
	Retry bool

	// Scripts are the Go types that the game wrote for what it sees. Default: none.
	Scripts *client.Scripts
	// Events are told what happens, on the session's goroutine. Closed is not told of logins
	// that are asked for again, nor of the session's end by Close.
	Events client.Events
	// Tick is the time between two ticks of the client. Default client.DefaultTick.
	Tick time.Duration

	// Listen is "host:port" for the session's socket. Default: a free port at all addresses of
	// this machine.
	Listen string
	// Host runs the session. Hundreds of bots do well with one that they share; its log is
	// where theirs goes. Default: one of the session's own.
	Host *host.Host
	// Options are further ones for the session's process: limits of its channels, carriers
	// besides UDP and routes over them. Default: none.
	Options []host.Option
	// Log gets a line when a session begins and ends. Default: nothing is logged, or what Host logs.
	Log *slog.Logger
}

// Validate reports all faults of c at once.
func (c *Config) Validate() error {
	var faults []error
	if name, port, err := net.SplitHostPort(c.LoginApp); err != nil || name == "" || port == "" || port == "0" {
		faults = append(faults, fmt.Errorf("session: Config.LoginApp is %q: give host:port of a LoginApp", c.LoginApp))
	}
	if c.Host != nil && c.Log != nil {
		faults = append(faults, errors.New("session: Config.Log is given beside Host, which has a log: leave one of them out"))
	}
	// What is only known later is stood in for.
	known := c.client(host.Env{Transport: struct{ mercury.Transport }{}}, netip.AddrPortFrom(netip.IPv6Loopback(), 1))
	return errors.Join(append(faults, known.Validate())...)
}

// client is the Config of the client.
func (c *Config) client(e host.Env, loginApp netip.AddrPort) client.Config {
	return client.Config{
		Transport: e.Transport, Tickets: e.Guard, LoginApp: loginApp, Schema: c.Schema, User: c.User, Password: c.Password,
		Scripts: c.Scripts, Events: c.Events, Tick: c.Tick, Log: e.Log,
	}
}

// route looks up where the LoginApp is, and which address of this machine leads there.
func (c *Config) route(ctx context.Context) (from netip.Addr, to netip.AddrPort, err error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "udp", c.LoginApp) // a socket of UDP that is dialled sends nothing
	if err != nil {
		return from, to, fmt.Errorf("session: the LoginApp at %s: %w", c.LoginApp, err)
	}
	defer func() { _ = conn.Close() }() // nothing was written to it
	from = conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
	to = conn.RemoteAddr().(*net.UDPAddr).AddrPort()
	return from, netip.AddrPortFrom(to.Addr().Unmap(), to.Port()), nil
}

// place is what host.Start needs to know of the socket.
func (c *Config) place(from netip.Addr) (listen string, opts []host.Option) {
	opts = append(opts, host.Shared())
	if listen = c.Listen; listen == "" {
		// At all addresses, since a BaseApp may be reached by another than the LoginApp.
		listen = ":0"
		opts = append(opts, host.Advertise(from))
	}
	if !c.ServerKey.IsZero() {
		opts = append(opts, host.Secure(secure.Config{ServerKey: c.ServerKey}))
	}
	return listen, append(opts, c.Options...)
}
