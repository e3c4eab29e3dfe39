//go:build !linux

package udp

import (
	"net"
	"net/netip"
	"syscall"
	"time"
)

// tryKeepsDeadline tells whether TryRead leaves the read deadline alone.
const tryKeepsDeadline = false

// reader takes datagrams from the system one by one.
type reader struct {
	s    *Socket
	buf  []byte
	more bool // a read says nothing about what is left
}

func (r *reader) init(s *Socket, _ Config, _ options) { r.s, r.buf = s, make([]byte, MaxDatagram+1) }

func (r *reader) read(f func(netip.AddrPort, []byte)) error {
	err := r.s.readSingly(r.buf, f)
	r.more = err == nil
	return err
}

func (r *reader) try(f func(netip.AddrPort, []byte)) error {
	err := r.s.trySingly(r.buf, f)
	r.more = err == nil
	return err
}

// writer gives datagrams to the system one by one.
type writer struct{ s *Socket }

func (w *writer) init(s *Socket, _ Config, _ options) { w.s = s }

func (w *writer) write(q *queue, _ bool) error { return w.s.writeSingly(q) }

// alarm is for systems whose deadlines are late otherwise.
type alarm struct{}

func (*alarm) init()             {}
func (*alarm) set(time.Duration) {}
func (*alarm) at(time.Time)      {}
func (*alarm) close()            {}

// plain is a socket outside of the runtime's poller, of which there is none here.
type plain struct{ deadline time.Time }

func (*plain) close() error { return nil }

func (*Socket) detach(func()) (fd int, ok bool) { return 0, false }

func setOptions(conn *net.UDPConn, _ syscall.RawConn, c Config) options {
	// A smaller buffer loses more in bursts, which is no reason not to start.
	_ = conn.SetReadBuffer(c.ReadBuffer)
	_ = conn.SetWriteBuffer(c.WriteBuffer)
	return options{}
}

func overflow(syscall.RawConn) uint64 { return 0 }
