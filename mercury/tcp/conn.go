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
	// A bundle leaves when the owner flushes it; to wait for the peer's ack would hold back what is meant for now.
	_ = c.SetNoDelay(true)
	// Silence is measured by the channel; probes of the system would say nothing more.
	_ = c.SetKeepAlive(false)
	return c
}

// Info implements stream.Informer, where the system tells.
func (c *Conn) Info() (stream.Info, bool) { return stream.SocketInfo(c.TCPConn) }

// sealed is a stream.Conn over TLS. A goroutine writes: what TLS has begun it cannot leave half done.
type sealed struct{ *tls.Conn }

// Close implements stream.Conn. TLS's own good-bye is left out: the frame for it was sent before, and to say it may take long.
func (c sealed) Close() error { return c.NetConn().Close() }

// Info implements stream.Informer, where the system tells: the figures of TCP, below TLS.
func (c sealed) Info() (stream.Info, bool) { return stream.SocketInfo(c.NetConn().(*net.TCPConn)) }
