package main

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
)

// carrier is one end of a transport, which package host runs. All workloads run over it, so that
// what differs between two results is the transport.
//
// It is the only carrier of its process, so that a channel has the same ID here and there, and it
// is used on the goroutine of the process alone.
type carrier interface {
	mercury.Carrier
	// counters tells of all connections, and of the path of one.
	counters(one mercury.ChannelID) counters
}

// crowdFrom is from how many connections on a server keeps the pace of server apps, since each of its
// players acks a tick when it likes. With fewer it answers each packet at once.
const crowdFrom = 64

// start runs an app over a carrier.
func (o options) start(c carrier, r role, app host.App) (*host.Process, error) {
	name, opts := "client", []host.Option{host.Carriers(c), host.Shared(), host.Pace(0)}
	switch {
	case r.server && c.Network() == "udp":
		name, opts = "server", []host.Option{host.Carriers(c), host.PaceFrom(crowdFrom)}
	case r.server:
		name = "server"
	}
	return o.host.Start(name, "", func(host.Env) (host.App, error) { return app, nil }, opts...)
}

// counters are what a carrier tells of its wire, of all its connections together. What it cannot tell is 0.
type counters struct {
	Packets  uint64 `json:"packets"`          // sent
	Bytes    uint64 `json:"bytes"`            // sent, with the headers of IP and above
	Resends  uint64 `json:"resends"`          // sent again because they were taken for lost
	Copies   uint64 `json:"copies"`           // sent again before it was known whether they are lost
	Lost     uint64 `json:"lost_packets"`     // taken for lost
	Spurious uint64 `json:"spurious_packets"` // of those, the ones that had arrived
	Dropped  uint64 `json:"socket_dropped"`   // datagrams that the system did not take
	Overflow uint64 `json:"socket_overflow"`  // datagrams that found the socket's buffer full
	Calls    uint64 `json:"socket_calls"`     // system calls to read and write
	Path     path   `json:"path"`             // of one connection
}

// path is what a connection has found out about its way.
type path struct {
	RTT    ms      `json:"rtt_ms"`
	MinRTT ms      `json:"min_rtt_ms"`
	Loss   float64 `json:"loss"`         // share of packets
	Copies int     `json:"copies_now"`   // how often a message rides again
	Window int     `json:"window_bytes"` // that may be in flight
	Rate   uint64  `json:"rate"`         // bytes a second at which bulk leaves; 0 while it is not paced
	MTU    int     `json:"mtu"`
}

func (c *counters) add(d counters) {
	c.Packets += d.Packets
	c.Bytes += d.Bytes
	c.Resends += d.Resends
	c.Copies += d.Copies
	c.Lost += d.Lost
	c.Spurious += d.Spurious
	c.Dropped += d.Dropped
	c.Overflow += d.Overflow
	c.Calls += d.Calls
	if c.Path == (path{}) {
		c.Path = d.Path
	}
}

// since is what was counted after b.
func (c counters) since(b counters) counters {
	c.Packets -= b.Packets
	c.Bytes -= b.Bytes
	c.Resends -= b.Resends
	c.Copies -= b.Copies
	c.Lost -= b.Lost
	c.Spurious -= b.Spurious
	c.Dropped -= b.Dropped
	c.Overflow -= b.Overflow
	c.Calls -= b.Calls
	return c
}

// options say how a carrier is made. Both ends of a run are given the same protection.
type options struct {
	transport string
	plain     bool   // no encryption, where the transport can do without
	secret    string // from which both ends derive the server's keys
	copies    int    // most early resends of a message; -1 for none, 0 for the transport's default
	mtu       int    // longest datagram; 0 for the transport's default
	host      *host.Host
	clock     func() time.Duration // the host's
}

// role says how a carrier is used.
type role struct {
	server bool
	at     netip.AddrPort // server: where it listens; client: whom it will dial
	small  bool           // one of thousands in its process
}

// transport is one value of -transport.
type transport struct {
	name string
	open func(options, role) (carrier, error)
	// protection is what guards the connections, for the report.
	protection func(options) string
	// wire is what the report says of the counters, "" if they are exact.
	wire string
	// noPlain says that it cannot do without encryption.
	noPlain bool
	// datagrams says that it sends UDP, which a link between the ends can carry.
	datagrams bool
}

// transports lists what can be measured.
func transports() []transport {
	return []transport{mercuryTransport(), tlsTransport(), quicTransport(), websocketTransport(), tcpTransport()}
}

// transportNames are the values of -transport.
func transportNames() string {
	var names []string
	for _, t := range transports() {
		names = append(names, t.name)
	}
	return strings.Join(names, ", ")
}

func findTransport(name string) (transport, error) {
	all := transports()
	if i := slices.IndexFunc(all, func(t transport) bool { return t.name == name }); i >= 0 {
		return all[i], nil
	}
	return transport{}, fmt.Errorf("-transport %q: take one of %s", name, transportNames())
}

// Headers of a packet on the wire.
const (
	ip4Header = 20
	ip6Header = 40
	udpHeader = 8
)

// ipHeader is the size of the IP header of a packet to at.
func ipHeader(at netip.AddrPort) int {
	if at.Addr().Unmap().Is4() {
		return ip4Header
	}
	return ip6Header
}

// localFor is the address of this host that packets to another place leave from: a socket bound to
// it serves one family only and is spared the search.
func localFor(r role) (string, error) {
	if r.server {
		return r.at.String(), nil
	}
	return outgoing(r.at)
}
