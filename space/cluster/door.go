package cluster

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"syscall"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/faults"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/quic"
	"github.com/cellscape/cellscape/mercury/tcp"
	"github.com/cellscape/cellscape/mercury/udp"
	"github.com/cellscape/cellscape/mercury/websocket"
)

// Networks of a Door.
const (
	UDP       = "udp"       // mercury's own datagrams, sealed by Config.Key: the fastest when packets are lost
	TCP       = "tcp"       // for networks that block everything else
	QUIC      = "quic"      // where a standard is required
	WebSocket = "websocket" // for web pages
)

// maxDoors leaves one of a process's carriers for the inside.
const maxDoors = host.MaxCarriers - 1

// Door is one way in for players, at which all LoginApps and BaseApps listen. A player logs in by
// any door, is told of all doors of its BaseApp, and goes on over the same network.
//
// A door understands only the client protocol. Apps talk to each other at Config.Listen, which
// players need not reach.
type Door struct {
	// Network is UDP, TCP, QUIC or WebSocket. Required.
	Network string
	// Listen is an address of this machine, the name of one of its network interfaces ("eth1"), or
	// "0.0.0.0" or "::" for all, with Advertise. Default: Config.Listen.
	Listen string
	// Advertise is the address that players are told if it is not that of Listen: behind an address
	// translation, which must leave the ports as they are. Default: the address of Listen.
	Advertise netip.Addr
	// Name is the host name that players are told beside the address. Web pages must dial by it,
	// since certificates have names. Programs verify the name that they logged in by.
	Name string
	// LoginPort is the LoginApp's port. 0 takes a free one.
	LoginPort uint16
	// Ports are the ports of the BaseApps. Each BaseApp takes the first free one. Default: any.
	Ports Ports
	// Clear allows a door that nothing seals. Passwords and everything else can then be read and
	// changed on the way, unless a proxy in front of the door ends TLS. Without Clear such a door
	// is refused, except on the loopback of a world without Key.
	Clear bool
	// Origins lists the hosts whose pages may come in by WebSocket ("example.com",
	// "*.example.com"), beside the door's own host.
	Origins []string
}

// Ports is a range of ports from First to Last, both included. The zero value means any port.
type Ports struct{ First, Last uint16 }

// one is the range of a single port; 0 means any.
func one(port uint16) Ports { return Ports{port, port} }

// try calls listen with ports of the range until one is free, and returns its last error.
func (p Ports) try(host string, listen func(addr string) (mercury.Carrier, error)) (c mercury.Carrier, err error) {
	for port := int(p.First); port <= int(p.Last); port++ {
		c, err = listen(net.JoinHostPort(host, strconv.Itoa(port)))
		if !errors.Is(err, syscall.EADDRINUSE) {
			return c, err
		}
	}
	if p.First != p.Last {
		err = fmt.Errorf("ports %d to %d are all in use: make the range wider: %w", p.First, p.Last, err)
	}
	return c, err
}

// byTLS reports whether Config.TLS is what would seal the door.
func (d *Door) byTLS() bool { return d.Network != UDP && !d.Clear }

// open opens the door for one process.
func (c *Config) open(d Door, ports Ports) (mercury.Carrier, error) {
	var server *tls.Config
	if d.byTLS() {
		server = c.TLS
	}
	listen, err := addressOf(d.Listen)
	if err != nil {
		return nil, err
	}
	return ports.try(listen, func(addr string) (mercury.Carrier, error) {
		switch d.Network {
		case UDP:
			return listenUDP(addr)
		case TCP:
			return carrierOf(tcp.Listen(addr, tcp.Config{TLS: server}, nil))
		case QUIC:
			return carrierOf(quic.Listen(addr, quic.Config{TLS: server}, nil))
		}
		return carrierOf(websocket.Listen(addr, websocket.Config{TLS: server, Origins: d.Origins}, nil))
	})
}

func listenUDP(addr string) (mercury.Carrier, error) {
	s, err := udp.Listen(addr)
	if err != nil {
		return nil, err
	}
	return udp.NewCarrier(s, mercury.Config{}), nil
}

// carrierOf returns a plain nil beside an error, not a nil of c's type.
func carrierOf[C mercury.Carrier](c C, err error) (mercury.Carrier, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}

// addressOf returns the address for a Listen, which may name a network interface.
func addressOf(listen string) (string, error) {
	if _, err := netip.ParseAddr(listen); err == nil {
		return listen, nil
	}
	i, err := net.InterfaceByName(listen)
	if err != nil {
		return listen, nil // a host name, which listening resolves
	}
	all, err := i.Addrs()
	if err != nil {
		return "", fmt.Errorf("cluster: network interface %s: %w", listen, err)
	}
	addrs := make([]netip.Addr, 0, len(all))
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil && !p.Addr().IsLinkLocalUnicast() {
			addrs = append(addrs, p.Addr())
		}
	}
	if len(addrs) == 0 {
		return "", fmt.Errorf("cluster: network interface %s has no address: give it one, or name another", listen)
	}
	return slices.MinFunc(addrs, netip.Addr.Compare).String(), nil // IPv4 comes first
}

// loopback reports whether only this machine can reach what listens there.
func loopback(listen string) bool {
	at, err := addressOf(listen)
	if err != nil {
		return false
	}
	a, err := netip.ParseAddr(at)
	return err == nil && a.IsLoopback() || at == "localhost"
}

// unspecified reports whether a Listen means all addresses of the machine.
func unspecified(listen string) bool {
	a, err := netip.ParseAddr(listen)
	return err == nil && a.IsUnspecified() || listen == ""
}

// validateDoors reports faults of Doors and TLS. c has its defaults.
func (c *Config) validateDoors() error {
	var faults []error
	tlsUsed := false
	for i, d := range c.Doors {
		tlsUsed = tlsUsed || d.byTLS()
		if err := c.validateDoor(d); err != nil {
			faults = append(faults, fmt.Errorf("cluster: Config.Doors[%d]: %w", i, err))
		}
		for j, other := range c.Doors[:i] {
			if d.Network == other.Network && d.Listen == other.Listen && d.LoginPort == other.LoginPort && d.LoginPort != 0 {
				faults = append(faults, fmt.Errorf("cluster: Config.Doors[%d] is at the same place as Doors[%d]: give it another LoginPort or Listen", i, j))
			}
		}
	}
	if len(c.Doors) > maxDoors {
		faults = append(faults, fmt.Errorf("cluster: Config.Doors has %d: take at most %d", len(c.Doors), maxDoors))
	}
	if c.TLS != nil && !tlsUsed {
		faults = append(faults, errors.New("cluster: Config.TLS is given and no door uses it: leave it out, or open a door over TCP, QUIC or WebSocket that is not Clear"))
	}
	if c.TLS != nil && len(c.TLS.Certificates) == 0 && c.TLS.GetCertificate == nil && c.TLS.GetConfigForClient == nil {
		faults = append(faults, errors.New("cluster: Config.TLS has no certificate: set Certificates, for example by tls.LoadX509KeyPair, or GetCertificate"))
	}
	return errors.Join(faults...)
}

func (c *Config) validateDoor(d Door) error {
	all := faults.In("")
	fault := all.If
	fault(!slices.Contains([]string{UDP, TCP, QUIC, WebSocket}, d.Network), "Network is %q: take UDP, TCP, QUIC or WebSocket", d.Network)
	fault(unspecified(d.Listen) && !d.Advertise.IsValid(), "Listen is all addresses, which leaves open where players reach it: set Advertise, or name one address")
	_, err := addressOf(d.Listen)
	fault(err != nil, "Listen: %w", err)
	fault(d.Advertise.IsValid() && d.Advertise.IsUnspecified(), "Advertise is %v, where nobody is reached: give the address that players dial", d.Advertise)
	fault(len(d.Name) > protocol.MaxHostName, "Name has %d bytes: take at most %d", len(d.Name), protocol.MaxHostName)
	fault(len(d.Origins) > 0 && d.Network != WebSocket, "Origins are given, but pages come only by WebSocket: leave them out")
	fault(d.Ports.First > d.Ports.Last || d.Ports.First == 0 && d.Ports.Last != 0, "Ports are %d to %d: give the lower first, or leave both out for any", d.Ports.First, d.Ports.Last)
	fault(d.LoginPort != 0 && d.Ports.First <= d.LoginPort && d.LoginPort <= d.Ports.Last, "LoginPort %d lies within Ports, so a BaseApp may take it: choose another", d.LoginPort)
	if d.Clear {
		fault(d.Network == QUIC, "Clear is set, but QUIC is always sealed: leave it out")
		fault(d.Network == UDP && c.sealed(), "Clear is set, but Key seals UDP: leave one of them out")
		return all.Err()
	}
	local := loopback(d.Listen) && !d.Advertise.IsValid() && !c.sealed()
	fault(d.Network == QUIC && c.TLS == nil, "QUIC needs a certificate: set Config.TLS")
	fault((d.Network == TCP || d.Network == WebSocket) && c.TLS == nil && !local, "nothing seals it: set Config.TLS, or Clear if everything may be read on the way or a proxy ends TLS")
	fault(d.Network == UDP && !c.sealed() && !local, "nothing seals it: set Config.Key, or Clear if everything may be read on the way")
	return all.Err()
}
