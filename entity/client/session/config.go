package session

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
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
	// LoginApp says by which door the player comes in; host is a name or an address. Required.
	//
	//	udp://host:port, host:port   mercury's own datagrams, sealed by ServerKey
	//	wss://host:port              WebSocket over TLS; ws:// is in the clear
	//	quic://host:port             QUIC, with TLS
	//	tls://host:port              TCP with TLS; tcp:// is in the clear
	//
	// The BaseApp is dialled over the same network, or, if it has no such door, over one of the
	// carriers in Options.
	LoginApp string
	// ServerKey is the public key of the world, for UDP. Without it everything is in the clear,
	// the password too; a world that is sealed refuses that with mercury.ErrKey.
	ServerKey secure.PublicKey
	// TLS says whom to believe (RootCAs), for wss, quic and tls. Default: the system's roots. The
	// certificate must be good for the host of LoginApp, at the BaseApps too.
	TLS *tls.Config
	// Clear lets the session leave this machine in the clear: everybody on the way can read
	// the password. Default: it is refused.
	Clear bool
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

	// Listen is "host:port" for the session's socket of UDP. Default: a free port at all addresses of
	// this machine.
	Listen string
	// Host runs the session. Hundreds of bots do well with one that they share; its log is
	// where theirs goes. Default: one of the session's own.
	Host *host.Host
	// Options are further ones for the session's process, such as carriers beside that of
	// LoginApp. Default: none.
	Options []host.Option
	// Log gets a line when a session begins and ends. Default: nothing is logged, or what Host logs.
	Log *slog.Logger
}

// Validate reports all faults of c at once.
func (c *Config) Validate() error {
	var faults []error
	if a, err := parseAddress(c.LoginApp); err != nil {
		faults = append(faults, fmt.Errorf("session: Config.LoginApp is %q: %w", c.LoginApp, err))
	} else {
		faults = append(faults, c.validateAddress(&a)...)
	}
	if c.Host != nil && c.Log != nil {
		faults = append(faults, errors.New("session: Config.Log is given beside Host, which has a log: leave one of them out"))
	}
	// What is only known later is stood in for.
	known := c.client(host.Env{Transport: struct{ mercury.Transport }{}, Net: new(host.Net)}, netip.AddrPortFrom(netip.IPv6Loopback(), 1))
	return errors.Join(append(faults, known.Validate())...)
}

// client is the Config of the client.
func (c *Config) client(e host.Env, loginApp netip.AddrPort) client.Config {
	var networks []string // that of LoginApp is the first carrier's
	for _, carrier := range e.Net.Carriers() {
		networks = append(networks, carrier.Network())
	}
	return client.Config{
		Networks: networks, DialOver: e.Net.DialOver,
		Transport: e.Transport, Tickets: e.Guard, LoginApp: loginApp, Schema: c.Schema, User: c.User, Password: c.Password,
		Scripts: c.Scripts, Events: c.Events, Tick: c.Tick, Log: e.Log,
	}
}
