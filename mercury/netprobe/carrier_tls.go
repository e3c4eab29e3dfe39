package main

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/stream"
)

// tlsTransport is the peer to compare with: what a Go program is that sends messages over
// crypto/tls by hand. Before each message stands its length; what is sent is gathered in a
// bufio.Writer, which is flushed when there is nothing more to send; a goroutine for each
// connection reads. Nothing of Mercury is in it but the interface, and the reading of TCP_INFO.
func tlsTransport() transport {
	return transport{
		name:       "tls",
		open:       openTLS,
		protection: func(options) string { return "TLS 1.3" },
		wire:       tcpNote,
		noPlain:    true,
	}
}

// tlsCarrier is one end. The app belongs to whoever has the turn: its owner, but while that waits
// in Receive the goroutine of a connection that has read something. So a message takes no way from
// one goroutine to another.
type tlsCarrier struct {
	config   *tls.Config
	listener net.Listener // nil at a client
	at       netip.AddrPort
	ipHeader int
	clock    func() time.Duration
	handler  mercury.Handler
	wake     chan struct{}
	timer    *time.Timer
	heard    atomic.Bool

	turn    sync.Mutex // guards what follows, and the app
	conns   map[mercury.ChannelID]*tlsConn
	last    *tlsConn // the one that was looked up last: a flood is of one
	lastID  mercury.ChannelID
	dirty   []*tlsConn // have something for the next Flush
	gone    stream.Info
	stopped bool
}

func openTLS(o options, r role) (carrier, error) {
	server, client, err := o.certificates()
	if err != nil {
		return nil, err
	}
	c := &tlsCarrier{
		config: client, at: r.at, ipHeader: ipHeader(r.at), wake: make(chan struct{}, 1), timer: time.NewTimer(time.Hour),
		conns: make(map[mercury.ChannelID]*tlsConn),
	}
	c.timer.Stop()
	if !r.server {
		return c, nil
	}
	if c.listener, err = net.Listen("tcp", r.at.String()); err != nil {
		return nil, err
	}
	c.config, c.at = server, c.listener.Addr().(*net.TCPAddr).AddrPort()
	return c, nil
}

func (c *tlsCarrier) Network() string { return "tls" }
func (c *tlsCarrier) Sealed() bool    { return true }

func (c *tlsCarrier) Self() mercury.Address { return mercury.Address{At: c.at} }

// Begin implements mercury.Carrier. The caller has the turn from here on.
func (c *tlsCarrier) Begin(s mercury.Start) error {
	c.turn.Lock()
	c.clock, c.handler = s.Clock, s.Handler
	if c.listener != nil {
		go c.accept()
	}
	return nil
}

func (c *tlsCarrier) accept() {
	for {
		conn, err := c.listener.Accept()
		if err != nil {
			return // it was closed
		}
		go func() {
			n := newTLSConn(c, tls.Server(conn, c.config))
			if n.conn.Handshake() != nil {
				_ = conn.Close()
				return
			}
			c.turn.Lock()
			stopped := c.stopped
			if !stopped {
				c.add(n)
				n.open()
			}
			c.turn.Unlock()
			if stopped {
				_ = conn.Close()
				return
			}
			n.readOn()
		}()
	}
}

// add gives a connection an ID.
func (c *tlsCarrier) add(n *tlsConn) {
	c.lastID++
	n.id = c.lastID
	c.conns[n.id] = n
}

// Dial implements mercury.Transport.
func (c *tlsCarrier) Dial(to mercury.Address) mercury.ChannelID {
	n := &tlsConn{carrier: c}
	c.add(n)
	go func() {
		conn, err := (&tls.Dialer{Config: c.config}).DialContext(context.Background(), "tcp", to.At.String())
		c.turn.Lock()
		if err != nil {
			c.end(n, errors.Join(mercury.ErrTimeout, err))
			c.turn.Unlock()
			return
		}
		n.attach(conn.(*tls.Conn))
		alive := c.conns[n.id] == n
		if alive {
			n.open()
		}
		c.turn.Unlock()
		if !alive {
			_ = conn.Close()
			return
		}
		n.readOn()
	}()
	return n.id
}

func (c *tlsCarrier) find(ch mercury.ChannelID) *tlsConn {
	if c.last == nil || c.last.id != ch {
		c.last = c.conns[ch]
	}
	return c.last
}

// Send implements mercury.Transport.
func (c *tlsCarrier) Send(ch mercury.ChannelID, msg []byte) error {
	n := c.find(ch)
	if n == nil {
		return mercury.ErrNoChannel
	}
	return n.send(msg)
}

// SendUnreliable implements mercury.Transport: TCP has nothing of the kind.
func (c *tlsCarrier) SendUnreliable(ch mercury.ChannelID, msg []byte) (int, error) {
	return 0, c.Send(ch, msg)
}

// Receive implements mercury.Carrier: it gives the turn away for as long as it waits.
func (c *tlsCarrier) Receive(until time.Duration) (bool, error) {
	wait := until - c.clock()
	c.turn.Unlock()
	if wait > 0 {
		c.timer.Reset(wait)
		select {
		case <-c.wake:
		case <-c.timer.C:
		}
	}
	c.turn.Lock()
	return c.heard.Swap(false), nil
}

// Flush implements mercury.Carrier.
func (c *tlsCarrier) Flush() error {
	c.flushAll()
	return nil
}

func (c *tlsCarrier) flushAll() {
	for i, n := range c.dirty {
		c.dirty[i] = nil
		n.flush()
	}
	c.dirty = c.dirty[:0]
}

// Wake implements mercury.Carrier.
func (c *tlsCarrier) Wake() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// end forgets a connection, and tells the app if that did not end it.
func (c *tlsCarrier) end(n *tlsConn, reason error) {
	if c.conns[n.id] != n {
		return
	}
	delete(c.conns, n.id)
	c.last = nil
	if n.conn != nil {
		info, _ := stream.SocketInfo(n.tcp())
		c.gone.PacketsOut += info.PacketsOut
		c.gone.BytesOut += info.BytesOut
		c.gone.Resends += info.Resends
		c.gone.Lost += info.Lost
	}
	if reason != nil && !c.stopped {
		c.handler.Closed(c.clock(), n.id, reason)
	}
}

// Close implements mercury.Transport. What was sent leaves before.
func (c *tlsCarrier) Close(ch mercury.ChannelID) {
	n := c.conns[ch]
	if n == nil {
		return
	}
	n.flush()
	c.end(n, nil)
	if n.conn != nil {
		_ = n.conn.Close()
	}
}

// CloseAll implements mercury.Carrier.
func (c *tlsCarrier) CloseAll() {
	c.stopped = true
	for ch := range c.conns {
		c.Close(ch)
	}
}

// Release implements mercury.Carrier.
func (c *tlsCarrier) Release() error {
	if c.listener == nil {
		return nil
	}
	return c.listener.Close()
}

func (c *tlsCarrier) counters(one mercury.ChannelID) counters {
	all := c.gone
	var way path
	for ch, n := range c.conns {
		if n.conn == nil {
			continue
		}
		info, _ := stream.SocketInfo(n.tcp())
		all.PacketsOut += info.PacketsOut
		all.BytesOut += info.BytesOut
		all.Resends += info.Resends
		all.Lost += info.Lost
		if ch == one {
			way = path{RTT: toMS(info.RTT), MinRTT: toMS(info.MinRTT)}
		}
	}
	return counters{
		Packets: all.PacketsOut, Bytes: all.BytesOut + uint64(c.ipHeader)*all.PacketsOut, Resends: all.Resends, Lost: all.Lost, Path: way,
	}
}

// What follows netprobe does not use.

func (c *tlsCarrier) Abort(ch mercury.ChannelID)          { c.Close(ch) }
func (c *tlsCarrier) Pause(mercury.ChannelID)             {}
func (c *tlsCarrier) Resume(mercury.ChannelID)            {}
func (c *tlsCarrier) Queued(mercury.ChannelID) (int, int) { return 0, maxFrame }
func (c *tlsCarrier) MaxUnreliable(mercury.ChannelID) int { return maxFrame }
func (c *tlsCarrier) Watch(func())                        {}
func (c *tlsCarrier) Channels() int                       { return len(c.conns) }
func (c *tlsCarrier) CarrierStats() mercury.CarrierStats {
	return mercury.CarrierStats{Channels: len(c.conns)}
}
func (c *tlsCarrier) NextDeadline() (time.Duration, bool) { return 0, false }
func (c *tlsCarrier) Standing(mercury.ChannelID) mercury.Standing {
	return mercury.Stranger
}

// Peer implements mercury.Transport.
func (c *tlsCarrier) Peer(ch mercury.ChannelID) (mercury.Address, bool) {
	n := c.conns[ch]
	if n == nil || n.conn == nil {
		return mercury.Address{}, false
	}
	return n.peer(), true
}
