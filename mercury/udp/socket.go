package udp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	// MaxDatagram is the largest datagram taken or given: the jumbo frame of an Ethernet. An
	// Endpoint's MTU must not be above it.
	MaxDatagram = 9000
	// writePatience is how long one Flush waits for room in a full buffer. An app's tick stands
	// still meanwhile.
	writePatience = 10 * time.Millisecond
	// noBufferTries is how often a write is repeated, noBufferPause apart, when the system is out
	// of buffers at a level that cannot be waited for.
	noBufferTries = 4
	noBufferPause = time.Millisecond
)

// Socket is a UDP socket that reads and writes datagrams in batches. See the package comment for
// who may call what.
type Socket struct {
	conn   *net.UDPConn
	addr   netip.AddrPort
	in     reader
	out    writer
	alarm  alarm
	queue  queue
	counts counts

	mu    sync.Mutex      // held by the owner to change what follows, and by others to look
	raw   syscall.RawConn // of conn, or plain
	plain *plain          // nil: the socket is in the runtime's poller
}

// Addr is the address that the socket is bound to, with the port that was taken. It names no host
// when the socket listens at all of them.
func (s *Socket) Addr() netip.AddrPort { return s.addr }

// Close closes the socket; a ReadBatch that waits returns net.ErrClosed.
func (s *Socket) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plain != nil {
		return s.plain.close()
	}
	s.alarm.close()
	return s.conn.Close()
}

// SetReadDeadline bounds the wait of ReadBatch, which then returns os.ErrDeadlineExceeded. The zero
// time means no bound. A time that has passed ends a wait under way, from any goroutine.
func (s *Socket) SetReadDeadline(t time.Time) error {
	if err := s.conn.SetReadDeadline(t); err != nil {
		return err
	}
	s.alarm.at(t)
	return nil
}

// ReadBatch waits until a datagram has come and hands it to f, with others that have come too, all
// of one system call. datagram is f's during the call, and f may write over it. ReadBatch returns
// net.ErrClosed (wrapped) when the socket is closed, and os.ErrDeadlineExceeded (wrapped) without a
// look at the socket when the deadline has passed already. Errors that concern one datagram only
// are passed over.
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

// nap sleeps, as exactly as a deadline ends a wait. The deadline that is set may be late after it.
func (s *Socket) nap(d time.Duration) {
	s.alarm.set(d)
	time.Sleep(d)
}

// TryRead is ReadBatch for datagrams that are there already: it does not wait, whatever the
// deadline, and returns nil when there are none. On systems other than Linux the deadline must be
// set anew after it.
func (s *Socket) TryRead(f func(from netip.AddrPort, datagram []byte)) error {
	err := s.in.try(f)
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) || passing(err) {
		return nil
	}
	return fmt.Errorf("udp: reading at %v: %w", s.addr, err)
}

// More reports whether the last read took as much as it could, so that there may be more. A socket
// whose Config.Batch is 1 says so of a datagram that it did not have to wait for. It is for the
// goroutine that reads.
func (s *Socket) More() bool { return s.in.more }

// wsaMsgSize is what Windows says of a datagram that is longer than the buffer for it; package
// syscall has no name for it.
const wsaMsgSize = syscall.Errno(10040)

// passing reports whether err says something about one datagram and nothing about the socket.
func passing(err error) bool {
	var no syscall.Errno
	if !errors.As(err, &no) {
		return false
	}
	switch no {
	case syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ENETDOWN, syscall.EHOSTDOWN,
		syscall.EPERM, syscall.EACCES, syscall.EMSGSIZE, syscall.EINVAL, syscall.EINTR, syscall.EAFNOSUPPORT, syscall.EADDRNOTAVAIL,
		wsaMsgSize:
		return true
	}
	return false
}

// Queue puts a datagram down for the next Flush; it is copied. It fits mercury.Endpoint.Flush. What
// cannot be sent or finds no room is dropped and counted.
func (s *Socket) Queue(to netip.AddrPort, datagram []byte) {
	if !s.queue.add(to, datagram) {
		s.counts.dropped.Add(1)
	}
	if len(s.queue.slab) >= s.queue.stuck+spillBytes {
		s.spill()
	}
}

// spill writes what is queued as far as there is room, and leaves the rest to Flush. So the peer of
// a bulk transfer has something to do before all of it was queued, and the memory of the queue stays
// in the processor's cache.
func (s *Socket) spill() {
	q := &s.queue
	for len(q.runs) > q.done {
		if err := s.out.write(q, false); err != nil {
			q.stuck = len(q.slab)
			return
		}
	}
	q.reset()
}

// Flush writes what is queued. Datagrams to one peer stay in their order. When the system's buffer
// is full it waits for a moment, then drops the rest. It fails only when the socket is closed or
// broken.
func (s *Socket) Flush() error {
	q := &s.queue
	if len(q.runs) == 0 {
		return nil
	}
	defer q.reset()
	waiting := false // for room, until the write deadline
	defer func() {
		if waiting {
			_ = s.setWriteDeadline(time.Time{}) // the next Flush would find it passed
		}
	}()
	tries := 0
	for len(q.runs) > q.done {
		err := s.out.write(q, waiting)
		if err == nil {
			tries = 0
			continue
		}
		switch {
		case errors.Is(err, syscall.EAGAIN):
			// A deadline costs, so that it is set for a wait and no earlier.
			if err := s.setWriteDeadline(time.Now().Add(writePatience)); err != nil {
				return s.failed(err)
			}
			waiting = true
		case errors.Is(err, syscall.ENOBUFS) && tries < noBufferTries:
			tries++
			time.Sleep(noBufferPause)
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, syscall.ENOBUFS):
			s.counts.dropped.Add(q.left())
			return nil
		case passing(err), errors.Is(err, syscall.EIO) && q.runs[q.done].count > 1:
			s.refused(err)
		default:
			return s.failed(err)
		}
	}
	return nil
}

// setWriteDeadline bounds the waits of a Flush for room.
func (s *Socket) setWriteDeadline(t time.Time) error {
	if s.plain != nil {
		s.plain.deadline = t
		return nil
	}
	return s.conn.SetWriteDeadline(t)
}

// failed is the end of a Flush that cannot go on.
func (s *Socket) failed(err error) error {
	s.counts.dropped.Add(s.queue.left())
	return fmt.Errorf("udp: writing at %v: %w", s.addr, err)
}

// refused deals with the first run that is left, which the system refused. Datagrams that went to
// it together are tried singly, since it may be for their being together, or for one of them.
func (s *Socket) refused(err error) {
	q := &s.queue
	if q.runs[q.done].count > 1 {
		q.gsoRefused(errors.Is(err, syscall.EIO), errors.Is(err, syscall.EINVAL))
		return
	}
	q.done++
	s.counts.dropped.Add(1)
	if errors.Is(err, syscall.EMSGSIZE) {
		s.counts.tooBig.Add(1)
		q.refusals = max(0, q.refusals-1) // so it was not for being together that a run with it was refused
	}
}
