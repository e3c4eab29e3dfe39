package host

import (
	"errors"
	"net"
	"sync"
	"time"
)

const (
	// maxLines bounds the connections to one lifeline: one manager holds one, and others come and go
	// within a moment. A further one is closed at once; its owner sees that the place answers.
	maxLines = 64
	// linePause is how long a lifeline waits when the system has no descriptor left.
	linePause = 20 * time.Millisecond
)

// Lifeline lets the Lookouts of other processes see whether this one is there: by a TCP listener at
// the place of its first carrier, which belongs to the process from Start on and is closed when the
// process ends, however it ends. Nothing is said over its connections. A process whose first carrier
// listens over TCP itself needs none.
func Lifeline(at *net.TCPListener) Option {
	return func(o *options) { o.lifeline = at }
}

// lifeline takes connections until it is closed.
type lifeline struct {
	ln      *net.TCPListener
	running sync.WaitGroup

	mu     sync.Mutex
	lines  map[*net.TCPConn]struct{}
	closed bool
}

func newLifeline(ln *net.TCPListener) *lifeline {
	l := &lifeline{ln: ln, lines: make(map[*net.TCPConn]struct{})}
	l.running.Go(l.accept)
	return l
}

func (l *lifeline) accept() {
	for {
		c, err := l.ln.AcceptTCP()
		switch {
		case err == nil:
			l.take(c)
		case errors.Is(err, net.ErrClosed):
			return
		default:
			time.Sleep(linePause) // the port stays open, which is all that it is for
		}
	}
}

// take keeps a connection until its other end closes it, or says something.
func (l *lifeline) take(c *net.TCPConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.lines) >= maxLines {
		_ = c.Close()
		return
	}
	l.lines[c] = struct{}{}
	l.running.Go(func() {
		_, _ = c.Read(make([]byte, 1))
		l.mu.Lock()
		defer l.mu.Unlock()
		_ = c.Close()
		delete(l.lines, c)
	})
}

func (l *lifeline) close() error {
	err := l.ln.Close()
	l.mu.Lock()
	l.closed = true
	for c := range l.lines { // order does not show: all are closed
		_ = c.Close()
	}
	l.mu.Unlock()
	l.running.Wait()
	return err
}
