//go:build !unix

package tcp

import "net"

// tryConn is nothing where there is no way to write without waiting: a goroutine writes.
type tryConn struct{}

func (*tryConn) init(*net.TCPConn) {}
