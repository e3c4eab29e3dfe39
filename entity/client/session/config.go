package session

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/property"
)

// Config says who plays in which world. Zero fields mean the defaults named below.
type Config struct {
	// LoginApp is the door by which the player comes in. host is a name or an address. Required.
	//
	//	udp://host:port, host:port   mercury's own datagrams, sealed by ServerKey
	//	wss://host:port              WebSocket over TLS; ws:// is in the clear
	//	quic://host:port             QUIC, with TLS
	//	tls://host:port              TCP with TLS; tcp:// is in the clear
	//
	// The BaseApp is dialled over the same network or, if it has no such door, over one of the
	// carriers in Options.
	LoginApp string
	// ServerKey is the public key of the world, for UDP. Without it everything is in the clear, the
	// password too, and a sealed world refuses the session with mercury.ErrKey.
	ServerKey secure.PublicKey
	// AnyNetwork lets the session go on over any network on which the world has doors, when its own does not
	// come through: UDP is blocked in many a hotel. The BaseApps' doors over WebSocket, TCP and QUIC are
	// then trusted by TLS, and that over UDP by ServerKey, without which it is not dialled. It costs a few
	// sockets more. Default: LoginApp's network alone, and the carriers in Options. A page has no other.
	AnyNetwork bool
	// TLS says which certificates to trust (RootCAs), for wss, quic and tls. Default: the system's
	// roots. The certificates must have the host name of LoginApp, those of the BaseApps too.
	TLS *tls.Config
	// Clear allows a session in the clear beyond this machine, in which everybody on the way can
	// read the password. Default: such a session is refused.
	Clear bool
	// Schema has the entity definitions. What a client can see and call must be the same as at the
	// server (property.Schema.ClientDigest). Required.
	Schema *property.Schema
	// User and Password are for the LoginApp's Auth, each of at most protocol.MaxName bytes.
	User, Password string
	// Retry tries to log in again, a second after a failure, while the world is not ready: nobody
	// answers, the LoginApp has no BaseApp yet, or it is too busy. Failures that would not go away
	// still end the session: a wrong password, other definitions, another key, a world that is
	// full.
	Retry bool

	// Scripts are the game's Go types for what it sees. Default: none.
	Scripts *client.Scripts
	// EnableLater says that the game calls client.Client.EnableEntities when it is ready to be
	// shown the world. Dial would wait for that, so use Start. Default: the session says so by
	// itself.
	EnableLater bool
	// Events are called on the session's goroutine. Closed is not called for a login that is tried
	// again, nor when Close ends the session.
	Events client.Events
	// Filter makes the filter of an entity that comes into view; see client.Config.Filter. Default:
	// entities have none.
	Filter func(*client.Replica) client.Filter
	// MaxDownload is the longest content, in bytes, that the client takes from the server. Default
	// client.DefaultMaxDownload.
	MaxDownload int
	// Tick is the time between two ticks of the client. Default client.DefaultTick.
	Tick time.Duration

	// Listen is "host:port" for the session's UDP socket. Default: a free port at all addresses of
	// this machine.
	Listen string
	// Host runs the session. Hundreds of bots should share one, which then has their log. Default:
	// one of the session's own.
	Host *host.Host
	// Options are further options for the session's process, such as carriers beside that of
	// LoginApp. Default: none.
	Options []host.Option
	// Log gets a line when a session begins and ends. Default: nothing is logged, or what Host
	// logs.
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
		faults = append(faults, errors.New("session: Config.Log is given, but Host has a log: leave one of them out"))
	}
	// These values stand for what is only known later.
	known := c.client(host.Env{Transport: struct{ mercury.Transport }{}, Net: new(host.Net)}, netip.AddrPortFrom(netip.IPv6Loopback(), 1), nil)
	return errors.Join(append(faults, known.Validate())...)
}

// named is told the host name that a BaseApp has, before it is dialled. It may be nil.
type named func(at netip.AddrPort, name string)

// client returns the Config of the client.
func (c *Config) client(e host.Env, loginApp netip.AddrPort, named named) client.Config {
	var networks []string // the network of LoginApp is that of the first carrier
	for _, carrier := range e.Net.Carriers() {
		networks = append(networks, carrier.Network())
	}
	dial := func(to protocol.Door) (mercury.ChannelID, error) {
		if named != nil && to.Name != "" {
			named(to.Address.At, to.Name)
		}
		return e.Net.DialOver(to.Network, to.Address)
	}
	return client.Config{
		Networks: networks, DialOver: dial,
		Transport: e.Transport, Tickets: e.Guard, LoginApp: loginApp, Schema: c.Schema, User: c.User, Password: c.Password,
		Scripts: c.Scripts, EnableLater: c.EnableLater, Events: c.Events, Filter: c.Filter, MaxDownload: c.MaxDownload, Tick: c.Tick, Log: e.Log,
	}
}
