package tcp

import (
	"net"

	"github.com/cellscape/cellscape/mercury/stream"
)

// Conn is a stream.Conn over a TCP connection.
type Conn struct {
	*net.TCPConn
	tryConn
}

func newConn(c *net.TCPConn) *Conn {
	conn := &Conn{TCPConn: c}
	// A bundle leaves when the owner flushes it; to wait for the peer's ack would hold back what is meant for now.
	_ = c.SetNoDelay(true)
	// Silence is measured by the channel; probes of the system would say nothing more.
	_ = c.SetKeepAlive(false)
	conn.init(c)
	return conn
}

// Info implements stream.Informer, where the system tells.
func (c *Conn) Info() (stream.Info, bool) { return stream.SocketInfo(c.TCPConn) }
