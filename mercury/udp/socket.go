package udp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// MaxDatagram is the largest datagram taken or given: the jumbo frame of an Ethernet. An Endpoint's MTU must not be above it.
	MaxDatagram = 9000
	// socketBuffer is what is asked of the system for each direction: 4 MiB hold what a few hundred peers send in one
	// tick. The system may give less (on Linux net.core.rmem_max and wmem_max).
	socketBuffer = 4 << 20
	// maxQueued bounds the datagrams between two calls of Flush; further ones are dropped. It is more than the windows of
	// a few channels and keeps the queue below 100 MB.
	maxQueued = 65536
	// writePatience is how long one Flush waits for room in a full buffer. An app's tick stands still meanwhile.
	writePatience = 10 * time.Millisecond
	// noBufferTries is how often a write is repeated, noBufferPause apart, when the system is out of buffers at a level that
	// cannot be waited for.
	noBufferTries = 4
	noBufferPause = time.Millisecond
)

// Socket is a UDP socket that reads and writes datagrams in batches.
type Socket struct {
	conn *net.UDPConn
	addr netip.AddrPort
	in   reader
	out  writer

	queue []outgoing
	slab  []byte // the bytes of queue

	sent, dropped atomic.Uint64
}

// outgoing is a queued datagram: where to, and its place in the slab.
type outgoing struct {
	to         netip.AddrPort
	start, end int
}

// ListenError says why an address cannot be listened at, and what to do. It wraps the system's error.
type ListenError struct {
	Addr string
	Err  error
}

func (e *ListenError) Unwrap() error { return e.Err }

func (e *ListenError) Error() string {
	switch {
	case errors.Is(e.Err, syscall.EADDRINUSE):
		return fmt.Sprintf("udp: %s is in use: stop the process that listens there, or give another port (0 takes a free one)", e.Addr)
	case errors.Is(e.Err, syscall.EADDRNOTAVAIL):
		return fmt.Sprintf("udp: %s is no address of this host: give one of its own, or leave the host out to listen at all", e.Addr)
	case errors.Is(e.Err, os.ErrPermission):
		return fmt.Sprintf("udp: no right to listen at %s: give a port of 1024 or above", e.Addr)
	}
	return fmt.Sprintf("udp: cannot listen at %s: %v", e.Addr, e.Err)
}

// Listen opens a socket at addr, "host:port". Port 0 takes a free one. With the host left out it listens at all
// addresses, and Addr tells the port only. The error is a *ListenError.
func Listen(addr string) (*Socket, error) {
	at, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, &ListenError{Addr: addr, Err: err}
	}
	conn, err := net.ListenUDP("udp", at)
	if err != nil {
		return nil, &ListenError{Addr: addr, Err: err}
	}
	// A smaller buffer loses more in bursts, which is no reason not to start.
	_ = conn.SetReadBuffer(socketBuffer)
	_ = conn.SetWriteBuffer(socketBuffer)
	local := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	s := &Socket{conn: conn, addr: netip.AddrPortFrom(local.Addr().Unmap(), local.Port())}
	s.in.init(conn)
	s.out.init(conn)
	return s, nil
}

// Addr is the address that the socket is bound to, with the port that was taken. It names no host when the
// socket listens at all of them.
func (s *Socket) Addr() netip.AddrPort { return s.addr }

// Sent and Dropped count datagrams that the system took and those it did not. They may be read by any goroutine.
func (s *Socket) Sent() uint64    { return s.sent.Load() }
func (s *Socket) Dropped() uint64 { return s.dropped.Load() }

// Close closes the socket; a ReadBatch that waits returns net.ErrClosed.
func (s *Socket) Close() error { return s.conn.Close() }

// SetReadDeadline bounds the wait of ReadBatch, which then returns os.ErrDeadlineExceeded. The zero time means no bound.
func (s *Socket) SetReadDeadline(t time.Time) error { return s.conn.SetReadDeadline(t) }

// ReadBatch waits until a datagram has come and hands it to f, with others that have come too. datagram is valid only during
// the call of f. It returns net.ErrClosed (wrapped) when the socket is closed; errors that concern one
// datagram only are passed over.
func (s *Socket) ReadBatch(f func(from netip.AddrPort, datagram []byte)) error {
	for {
		err := s.in.read(f)
		if err == nil || errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		// Some systems report here that an earlier datagram of ours found nobody.
		if !passing(err) {
			return fmt.Errorf("udp: reading at %v: %w", s.addr, err)
		}
	}
}

// passing reports whether err says something about one datagram and nothing about the socket.
func passing(err error) bool {
	for _, e := range [...]error{
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ENETDOWN, syscall.EHOSTDOWN,
		syscall.EPERM, syscall.EACCES, syscall.EMSGSIZE, syscall.EINVAL, syscall.EINTR, syscall.EAFNOSUPPORT, syscall.EADDRNOTAVAIL,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// Queue puts a datagram down for the next Flush; it is copied. It fits mercury.Endpoint.Flush.
func (s *Socket) Queue(to netip.AddrPort, datagram []byte) {
	if len(datagram) == 0 || len(datagram) > MaxDatagram || len(s.queue) >= maxQueued || !to.IsValid() {
		s.dropped.Add(1)
		return
	}
	start := len(s.slab)
	s.slab = append(s.slab, datagram...)
	s.queue = append(s.queue, outgoing{to: to, start: start, end: len(s.slab)})
}

// Flush writes what is queued. When the system's buffer is full it waits for a moment, then drops the rest. It
// fails only when the socket is closed or broken.
func (s *Socket) Flush() error {
	if len(s.queue) == 0 {
		return nil
	}
	defer func() { s.queue, s.slab = s.queue[:0], s.slab[:0] }()
	if err := s.conn.SetWriteDeadline(time.Now().Add(writePatience)); err != nil {
		return fmt.Errorf("udp: writing at %v: %w", s.addr, err)
	}
	rest, tries := s.queue, 0
	for len(rest) > 0 {
		n, err := s.out.write(rest, s.slab)
		s.sent.Add(uint64(n))
		rest = rest[n:]
		switch {
		case err == nil:
			tries = 0
		case errors.Is(err, syscall.ENOBUFS) && tries < noBufferTries:
			tries++
			time.Sleep(noBufferPause)
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, syscall.ENOBUFS):
			s.dropped.Add(uint64(len(rest)))
			return nil
		case passing(err):
			s.dropped.Add(1)
			rest = rest[1:]
		default:
			s.dropped.Add(uint64(len(rest)))
			return fmt.Errorf("udp: writing at %v: %w", s.addr, err)
		}
	}
	return nil
}
