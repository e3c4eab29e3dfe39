package udp

import (
	"net"
	"net/netip"
)

// reader takes datagrams from the system one by one.
type reader struct {
	conn *net.UDPConn
	buf  []byte
}

func (r *reader) init(conn *net.UDPConn) {
	r.conn, r.buf = conn, make([]byte, MaxDatagram)
}

// read waits for one datagram.
func (r *reader) read(f func(netip.AddrPort, []byte)) error {
	n, from, err := r.conn.ReadFromUDPAddrPort(r.buf)
	if err != nil {
		return err
	}
	f(netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), r.buf[:n])
	return nil
}

// writer gives datagrams to the system one by one.
type writer struct{ conn *net.UDPConn }

func (w *writer) init(conn *net.UDPConn) { w.conn = conn }

// write writes datagrams up to the first error and tells how many were taken.
func (w *writer) write(queue []outgoing, slab []byte) (int, error) {
	for i, o := range queue {
		if _, err := w.conn.WriteToUDPAddrPort(slab[o.start:o.end], o.to); err != nil {
			return i, err
		}
	}
	return len(queue), nil
}
