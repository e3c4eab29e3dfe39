package tcp

import (
	"crypto/tls"
	"net"

	"github.com/cellscape/cellscape/mercury/stream"
)

// Conn is a stream.Conn over a TCP connection.
type Conn struct {
	*net.TCPConn
	tryConn
}

func newConn(c *net.TCPConn) *Conn {
	conn := &Conn{TCPConn: prepared(c)}
	conn.init(c)
	return conn
}

func prepared(c *net.TCPConn) *net.TCPConn {
	// A bundle leaves when the owner flushes it. To wait for the peer's ack would delay it.
	_ = c.SetNoDelay(true)
	// The channel measures silence, so probes of the system would add nothing.
	_ = c.SetKeepAlive(false)
	return c
}

// Info implements stream.Informer, where the system tells.
func (c *Conn) Info() (stream.Info, bool) { return stream.SocketInfo(c.TCPConn) }

// sealed is a stream.Conn over TLS. A goroutine writes, since TLS cannot stop halfway through a
// write.
type sealed struct{ *tls.Conn }

// Close implements stream.Conn. It skips TLS's own close message: a frame has already told the
// peer, and sending it could block.
func (c sealed) Close() error { return c.NetConn().Close() }

// Info implements stream.Informer if the system has the figures: those of TCP, below TLS.
func (c sealed) Info() (stream.Info, bool) { return stream.SocketInfo(c.NetConn().(*net.TCPConn)) }
