package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/cellscape/cellscape/space/cluster"
)

const (
	// farIP is where bots that live far away find the servers: another address of the loopback, which
	// Linux has without any setting.
	farIP = "127.0.0.2"
	// farPort is the first port of the BaseApps of such a world.
	farPort = 20100
	// underWay is how many datagrams one way between a bot and a server holds; those behind wait in
	// the socket.
	underWay = 1024
	// farBuffer is what a socket of a distance holds, in bytes: all bots may speak at once.
	farBuffer = 4 << 20
)

// distance lies between the bots and the servers of one OS process, and delays each datagram by half
// of a round trip. The servers tell players an address of its own, as behind an address translation.
type distance struct {
	half time.Duration
	log  *slog.Logger

	mu     sync.Mutex
	closed bool
	conns  []*net.UDPConn
	ended  sync.WaitGroup
}

// openFar readies the doors of a world for a distance.
func openFar(cfg *cluster.Config, f *flags) {
	d := &cfg.Doors[0]
	d.Advertise = netip.MustParseAddr(farIP)
	if f.ports == "" {
		d.Ports = cluster.Ports{First: farPort, Last: farPort + uint16(f.baseApps) - 1}
	}
}

// startDistance lays a distance before the LoginApp and the BaseApps of a world.
func startDistance(rtt time.Duration, login netip.AddrPort, ports cluster.Ports, log *slog.Logger) (*distance, error) {
	d := &distance{half: rtt / 2, log: log}
	all := []uint16{login.Port()}
	for port := int(ports.First); port <= int(ports.Last); port++ {
		all = append(all, uint16(port))
	}
	for _, port := range all {
		at, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(farIP), port)))
		if err == nil {
			err = d.keep(at)
		}
		if err != nil {
			d.close()
			return nil, fmt.Errorf("-rtt: %w", err)
		}
		d.run(func() error { return d.serve(at, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)) })
	}
	return d, nil
}

// keep notes a socket to be closed with the distance.
func (d *distance) keep(c *net.UDPConn) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return errors.Join(net.ErrClosed, c.Close())
	}
	d.conns = append(d.conns, c)
	return errors.Join(c.SetReadBuffer(farBuffer), c.SetWriteBuffer(farBuffer))
}

// run runs f until it fails, which it does at the latest when the distance is closed.
func (d *distance) run(f func() error) {
	d.ended.Go(func() {
		if err := f(); !errors.Is(err, net.ErrClosed) {
			d.log.Error("the distance between bots and servers is broken", "error", err)
		}
	})
}

// serve passes on what comes at a far port to the server's own, with a socket for each bot.
func (d *distance) serve(at *net.UDPConn, server netip.AddrPort) error {
	bots := make(map[netip.AddrPort]chan<- late)
	defer func() {
		// order does not show: each way ends by itself
		for _, up := range bots {
			close(up)
		}
	}()
	return d.read(at, func(p late, from netip.AddrPort) error {
		up := bots[from]
		if up == nil {
			out, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(server))
			if err == nil {
				err = d.keep(out)
			}
			if err != nil {
				return err
			}
			up = d.way(func(p []byte) error { _, err := out.Write(p); return err })
			bots[from] = up
			down := d.way(func(p []byte) error { _, err := at.WriteToUDPAddrPort(p, from); return err })
			d.run(func() error {
				defer close(down)
				return d.read(out, func(p late, _ netip.AddrPort) error { down <- p; return nil })
			})
		}
		up <- p
		return nil
	})
}

// late is a datagram that is under way.
type late struct {
	due   time.Time
	bytes []byte
}

// read calls f with each datagram that comes to a socket.
func (d *distance) read(c *net.UDPConn, f func(p late, from netip.AddrPort) error) error {
	buf := make([]byte, 1<<16)
	for {
		n, from, err := c.ReadFromUDPAddrPort(buf)
		if err == nil {
			err = f(late{time.Now().Add(d.half), slices.Clone(buf[:n])}, from)
		}
		if err != nil {
			return err
		}
	}
}

// way passes on what it is given when it is due, in order, until it is closed.
func (d *distance) way(pass func(p []byte) error) chan<- late {
	ch := make(chan late, underWay)
	d.run(func() error {
		failed := error(nil)
		for p := range ch {
			time.Sleep(time.Until(p.due))
			if failed == nil {
				failed = pass(p.bytes)
			}
		}
		if failed == nil {
			failed = net.ErrClosed
		}
		return failed
	})
	return ch
}

// close ends the distance. A nil one is none.
func (d *distance) close() error {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	d.closed = true
	var err error
	for _, c := range d.conns {
		err = errors.Join(err, c.Close())
	}
	d.mu.Unlock()
	d.ended.Wait()
	return err
}
