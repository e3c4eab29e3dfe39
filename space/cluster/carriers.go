package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/tcp"
	"github.com/cellscape/cellscape/mercury/udp"
	"github.com/cellscape/cellscape/space/cellapp"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// A process has an inner carrier, over which apps talk to each other and Dial goes, and then one
// carrier for each door.

// innerCarrier is how apps talk to each other over UDP: a tick of a crowd goes at once, to a peer
// that may be in its own, and in datagrams as long as the path carries, since most apps are on one
// machine or in one rack.
func innerCarrier(s *udp.Socket) mercury.Carrier {
	return udp.NewCarrier(s, mercury.Config{LeastFlight: mercury.ServerFlight, MTU: mercury.JumboMTU})
}

func listenInnerUDP(addr string) (mercury.Carrier, error) {
	s, err := udp.Listen(addr)
	if err != nil {
		return nil, err
	}
	return innerCarrier(s), nil
}

// innerCarriers opens the carriers of a process without doors.
func (c *Config) innerCarriers() ([]host.Option, error) { return c.carriers(nil) }

// cellCarriers opens the carriers of a CellApp. While much comes to it, it wakes for its turns alone,
// unless it has more to say than its channels take at once. What waits a turn longer is what cells and
// bases say to each other, 25 ms at most.
func (c *Config) cellCarriers() ([]host.Option, error) {
	opts, err := c.innerCarriers()
	tick := min(cmp.Or(c.Tick, cellapp.DefaultTick), cellapp.DefaultTick)
	return append(opts, host.SlowPace(tick/cellapp.Turns)), err
}

// loginCarriers and baseCarriers open the carriers of a LoginApp and of a BaseApp.
func (c *Config) loginCarriers() ([]host.Option, error) {
	return c.carriers(func(d *Door) Ports { return one(d.LoginPort) })
}
func (c *Config) baseCarriers() ([]host.Option, error) {
	return c.carriers(func(d *Door) Ports { return d.Ports })
}

// carriers opens the carriers of one process. ports returns the ports that it may take at a door;
// nil means no doors.
func (c *Config) carriers(ports func(*Door) Ports) ([]host.Option, error) {
	first, line, err := c.listenLined(c.InnerPorts)
	if err != nil {
		return nil, err
	}
	opened := []mercury.Carrier{first}
	opts := []host.Option{host.Carriers(first)}
	if line != nil {
		opts = append(opts, host.Lifeline(line))
	}
	for i := range c.Doors {
		if ports == nil {
			break
		}
		d := &c.Doors[i]
		carrier, err := c.open(*d, ports(d))
		if err != nil {
			for _, o := range opened {
				err = errors.Join(err, o.Release())
			}
			if line != nil {
				err = errors.Join(err, line.Close())
			}
			return nil, err
		}
		opened = append(opened, carrier)
		if d.Clear {
			opts = append(opts, host.UnsealedCarriers(carrier))
		} else {
			opts = append(opts, host.Doors(carrier))
		}
		if d.Advertise.IsValid() {
			opts = append(opts, host.Advertise(d.Advertise, carrier))
		}
	}
	return opts, nil
}

// listenLined opens the inner carrier and, over UDP, a lifeline at the same port. Over TCP the carrier
// itself is one. If no port is free over both, the process goes without: it can be paused for as long
// as one of the others, and takes as long to be found dead.
func (c *Config) listenLined(ports Ports) (first mercury.Carrier, line *net.TCPListener, err error) {
	if c.Inner != UDP {
		first, err = c.listenInner(ports)
		return first, nil, err
	}
	listen, err := addressOf(c.Listen)
	if err != nil {
		return nil, nil, err
	}
	both := func(addr string) (mercury.Carrier, error) {
		s, err := udp.Listen(addr)
		if err != nil {
			return nil, err
		}
		l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(s.Addr()))
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		line = l
		return innerCarrier(s), nil
	}
	for range portTries {
		if first, err = ports.try(listen, both); err == nil {
			return first, line, nil
		}
		if ports.First != 0 || !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	why := err
	if first, err = c.listenInner(ports); err == nil {
		c.Log.Warn("no port is free over UDP and TCP: the death of this process will be known by its silence alone", "error", why)
	}
	return first, nil, err
}

// listenInner opens the inner carrier.
func (c *Config) listenInner(ports Ports) (mercury.Carrier, error) {
	listen, err := addressOf(c.Listen)
	if err != nil {
		return nil, err
	}
	if c.Inner == UDP {
		return ports.try(listen, listenInnerUDP)
	}
	return ports.try(listen, c.listenTCP)
}

// listenTCP opens an inner carrier over TCP.
func (c *Config) listenTCP(addr string) (mercury.Carrier, error) {
	seal := c.innerTLS()
	cfg := tcp.Config{TLS: seal, DialTLS: seal}
	if seal != nil {
		cfg.Standing = mercury.Member // proved by its certificate
	}
	return carrierOf(tcp.Listen(addr, cfg, nil))
}

// portTries is how many free UDP ports are tried for one that is free over TCP, too.
const portTries = 16

// managerCarriers opens the carriers of the CellAppMgr, one option each. With TCP inside, it also
// listens over UDP at the same port, for observers.
func (c *Config) managerCarriers() ([]host.Option, error) {
	ports := one(c.ManagerPort)
	if c.ManagerPort == 0 {
		ports = c.InnerPorts
	}
	if c.Inner == UDP {
		first, err := c.listenInner(ports)
		return []host.Option{host.Carriers(first)}, err
	}
	listen, err := addressOf(c.Listen)
	if err != nil {
		return nil, err
	}
	var observers *udp.Socket
	both := func(addr string) (mercury.Carrier, error) {
		if observers, err = udp.Listen(addr); err != nil {
			return nil, err
		}
		first, err := c.listenTCP(observers.Addr().String())
		if err != nil {
			err = errors.Join(err, observers.Close())
		}
		return first, err
	}
	for range portTries {
		first, err := ports.try(listen, both)
		switch {
		case err == nil:
			return []host.Option{host.Carriers(first), host.Carriers(udp.NewCarrier(observers, mercury.Config{}))}, nil
		case ports.First != 0 || !errors.Is(err, syscall.EADDRINUSE):
			return nil, err
		}
	}
	return nil, fmt.Errorf("cluster: no port at %s is free over TCP and UDP: set ManagerPort", listen)
}

// door returns the door of a channel, or nil for a channel between apps.
func (c *Config) door(e *host.Env, ch mercury.ChannelID) *Door {
	i, _, ok := e.Net.Carrier(ch)
	if !ok || i == 0 || i > len(c.Doors) {
		return nil
	}
	return &c.Doors[i-1]
}

// network tells the LoginApp over which door's network a channel came in.
func (c *Config) network(e *host.Env) func(mercury.ChannelID) string {
	return func(ch mercury.ChannelID) string {
		if d := c.door(e, ch); d != nil {
			return d.Network
		}
		return ""
	}
}

// outside tells the BaseApp whether a channel came in by a door.
func (c *Config) outside(e *host.Env) func(mercury.ChannelID) bool {
	return func(ch mercury.ChannelID) bool { return c.door(e, ch) != nil }
}

// told returns the doors of a process as players are told of them.
func (c *Config) told(e *host.Env) (doors []protocol.Door) {
	for i, p := range e.Places[1:] {
		doors = append(doors, protocol.Door{Network: p.Network, Address: p.Self, Name: c.Doors[i].Name})
	}
	return doors
}

// meters are what an app of a process measures itself with. own is how many of its carriers are not
// doors.
func (c *Config) meters(e *host.Env, own int) status.Meters {
	return status.Meters{Clock: e.Clock, CPU: e.CPU, ProcessCPU: e.ProcessCPU, Carriers: c.describe(e, own)}
}

// counted is what a carrier counts beyond the figures that every carrier has. Those of mercury.Stats
// that are fields of status.Carrier are left out: a status of a thousand processes has no room to say
// them twice.
func counted(s *host.CarrierStats) status.Counts {
	counts := make(status.Counts)
	counts.Take("mercury", s.Endpoint)
	for _, name := range [...]string{"Channels", "MessagesIn", "MessagesOut", "BytesIn", "BytesOut", "Resends", "Lost", "Full", "UnreliableDropped"} {
		delete(counts, "mercury."+name)
	}
	counts.Take("udp", s.Socket)
	counts.Take("unopened", s.Unopened)
	counts.Take("secure", s.Seal)
	return counts
}

// describe returns the figures of a process's carriers for the managers.
func (c *Config) describe(e *host.Env, own int) func() []status.Carrier {
	return func() (all []status.Carrier) {
		for i, s := range e.Carriers() {
			d := status.Carrier{
				Network: s.Network, Outer: i >= own, Sealed: e.Net.Carriers()[i].Sealed(), Address: s.Self.String(),
				Channels: uint64(s.Channels), Queued: uint64(s.Queued), RTT: float64(s.RTT) / float64(time.Millisecond), Loss: s.Loss,
				MessagesIn: s.MessagesIn, MessagesOut: s.MessagesOut, BytesIn: s.BytesIn, BytesOut: s.BytesOut,
				Resends: s.Resends, Lost: s.Lost, Refused: s.Refused,
				Dropped: s.Dropped, Full: s.Full, Counts: counted(&s),
			}
			if d.Outer {
				d.Name = c.Doors[i-own].Name
			}
			all = append(all, d)
		}
		return all
	}
}
