//go:build !unix

package tcp

import "net"

// tryConn is empty on systems that cannot write without waiting; a goroutine writes there.
type tryConn struct{}

func (*tryConn) init(*net.TCPConn) {}
