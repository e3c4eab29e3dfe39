package udp

import (
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// plain is a socket that the runtime's poller does not know: nothing that comes wakes a thread of
// the runtime, which would have to pass it on. Its owner waits in the kernel itself. It takes the
// place of the net package's syscall.RawConn.
type plain struct {
	wake func() // the owner, when another goroutine closes the socket

	mu       sync.RWMutex // held by calls, so that none meets another file under the same number
	fd       int
	closed   bool
	deadline time.Time // of writes; the owner's
}

// detach takes the socket out of the runtime's poller and returns its descriptor, false if it
// stays there. It is for the goroutine that owns the socket, before it reads.
func (s *Socket) detach(wake func()) (fd int, ok bool) {
	var dup int
	var err error
	if s.raw.Control(func(u uintptr) { dup, err = unix.FcntlInt(u, unix.F_DUPFD_CLOEXEC, 0) }) != nil || err != nil {
		return 0, false
	}
	// The original leaves the poller with this; the socket lives on in the duplicate.
	_ = s.conn.Close()
	s.alarm.close()
	p := &plain{wake: wake, fd: dup}
	s.mu.Lock()
	s.raw, s.plain = p, p
	s.mu.Unlock()
	return dup, true
}

// Control implements syscall.RawConn.
func (p *plain) Control(f func(fd uintptr)) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return net.ErrClosed
	}
	f(uintptr(p.fd))
	return nil
}

// Read implements syscall.RawConn. It does not wait: the owner has.
func (p *plain) Read(f func(fd uintptr) bool) error {
	return p.Control(func(fd uintptr) { f(fd) })
}

// Write implements syscall.RawConn. It waits for room until the deadline.
func (p *plain) Write(f func(fd uintptr) bool) error {
	done := false
	try := func(fd uintptr) { done = f(fd) }
	for {
		if err := p.Control(try); err != nil || done {
			return err
		}
		left := time.Until(p.deadline)
		if left <= 0 {
			return os.ErrDeadlineExceeded
		}
		room := [1]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLOUT}}
		_, _ = unix.Poll(room[:], int(left.Milliseconds())+1)
	}
}

func (p *plain) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return net.ErrClosed
	}
	p.closed = true
	err := unix.Close(p.fd)
	p.wake()
	return err
}

var _ syscall.RawConn = (*plain)(nil)
