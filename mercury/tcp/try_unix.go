//go:build unix

package tcp

import (
	"net"
	"syscall"
)

// tryConn writes without waiting, through the descriptor that the runtime has made non-blocking.
type tryConn struct {
	raw  syscall.RawConn
	once func(fd uintptr) bool // as a value, so that a write allocates nothing
	p    []byte                // scratch: what is to be written
	n    int                   // scratch: how much was
	err  error
}

func (c *tryConn) init(conn *net.TCPConn) {
	c.raw, _ = conn.SyscallConn() // fails for a closed connection only, whose every write fails too
	c.once = c.attempt
}

func (c *tryConn) attempt(fd uintptr) bool {
	for {
		c.n, c.err = syscall.Write(int(fd), c.p)
		if c.err != syscall.EINTR {
			return true
		}
	}
}

// TryWrite implements stream.TryWriter.
func (c *tryConn) TryWrite(p []byte) (int, error) {
	if c.raw == nil {
		return 0, net.ErrClosed
	}
	c.p, c.n, c.err = p, 0, nil
	err := c.raw.Write(c.once)
	c.p = nil
	if err == nil && c.err != nil && c.err != syscall.EAGAIN {
		err = c.err
	}
	return max(c.n, 0), err
}
