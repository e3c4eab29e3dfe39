package host

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

const (
	// lookWait is how long one try to reach a place waits for its kernel, and lookTries how often a
	// look tries: packets that are lost must not make a place silent. Where a third of them are, one
	// look in ten finds nothing, and one verdict in a thousand of a manager and two witnesses is
	// wrong. Within a data centre an answer takes a millisecond, however busy the process is.
	lookWait  = 40 * time.Millisecond
	lookTries = 4

	// lookLate is how much later than it should a try may end and still count. If it ends later, this
	// machine itself stood still, and an answer may have come meanwhile.
	lookLate = 25 * time.Millisecond

	// lingerFirst and lingerMost are the pauses between looks at a port that is still open after its
	// line has ended: a process with much memory takes some time to end.
	lingerFirst, lingerMost = 2 * time.Millisecond, 64 * time.Millisecond

	// lineWait bounds the opening of a line.
	lineWait = time.Second

	// maxLooks bounds the lines and looks of one process that are under way, each with a goroutine and
	// a descriptor. What is beyond finds mercury.ReachUnknown.
	maxLooks = 8192
)

// Watcher is an App that looks at the places of other processes.
type Watcher interface {
	// Reached takes what a Lookout has found for a token.
	Reached(now time.Duration, token uint64, found mercury.Reach)
}

// Lookout finds out whether other processes are there, by their Lifelines. It asks kernels, not
// processes: a TCP connection to the place is taken or refused whatever the process does. Its methods
// are for the goroutine of its app, which must be a Watcher; no token may be used twice.
//
// What it finds can be believed as far as the network can. Somebody who is not on the way between the
// two machines cannot forge a refusal: the answer must name the number that the question has drawn,
// one of four billion. Whoever is on the way, or on the machine itself, can, as they can also cut the
// cable.
type Lookout struct{ p *Process }

// Probe looks once: for 160 ms at most.
func (l Lookout) Probe(token uint64, at netip.AddrPort) {
	l.run(token, func(ctx context.Context, _ func(mercury.Reach)) mercury.Reach { return look(ctx, at) })
}

// Hold opens a connection to a place and keeps it. It says mercury.ReachOpen when the connection
// stands. When it has ended, or cannot be opened, it looks and says what it has found; that is the last
// that is heard of it. While the connection stands this costs nothing, and the end of the process at
// its other end is known at once.
func (l Lookout) Hold(token uint64, at netip.AddrPort) {
	l.run(token, func(ctx context.Context, say func(mercury.Reach)) mercury.Reach {
		c, err := dialPlace(ctx, at, lineWait)
		if err != nil {
			return found(err)
		}
		say(mercury.ReachOpen)
		stop := context.AfterFunc(ctx, func() { _ = c.Close() })
		_, _ = c.Read(make([]byte, 1)) // whatever comes is not a lifeline's word, and ends it too
		stop()
		_ = c.Close()
		return lookAfter(ctx, at)
	})
}

// lookAfter looks after a line has ended. The kernel closes what a killed process had one by one: the
// port may be open for a moment longer than the line.
func lookAfter(ctx context.Context, at netip.AddrPort) mercury.Reach {
	for wait := lingerFirst; ; wait *= 2 {
		r := look(ctx, at)
		if r != mercury.ReachOpen || wait > lingerMost {
			return r
		}
		select {
		case <-ctx.Done():
			return mercury.ReachUnknown
		case <-time.After(wait):
		}
	}
}

// Release ends a line: nothing more is heard of its token.
func (l Lookout) Release(token uint64) {
	w := &l.p.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	key := lookKey{l.p.net, token}
	if cancel := w.under[key]; cancel != nil {
		cancel()
		delete(w.under, key)
	}
}

// watch is what a process's Lookout has under way.
type watch struct {
	mu    sync.Mutex
	under map[lookKey]context.CancelFunc
}

// lookKey is a token of one start of the app.
type lookKey struct {
	start *Net
	token uint64
}

// run runs a look on a goroutine of its own.
func (l Lookout) run(token uint64, f func(ctx context.Context, say func(mercury.Reach)) mercury.Reach) {
	p, w := l.p, &l.p.watch
	key := lookKey{p.net, token}
	say := func(found mercury.Reach) {
		p.post(func() {
			if app, ok := p.app.(Watcher); ok && p.net == key.start { // it has asked, not a start after it
				app.Reached(p.now, token, found)
			}
		})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.under) >= maxLooks {
		say(mercury.ReachUnknown)
		return
	}
	if w.under == nil {
		w.under = make(map[lookKey]context.CancelFunc)
	}
	ctx, cancel := context.WithCancel(p.ctx)
	w.under[key] = cancel
	p.host.running.Go(func() {
		defer cancel()
		found := f(ctx, say)
		w.mu.Lock()
		_, wanted := w.under[key]
		delete(w.under, key)
		w.mu.Unlock()
		if wanted && ctx.Err() == nil {
			say(found)
		}
	})
}

// look finds out whether something has a port.
func look(ctx context.Context, at netip.AddrPort) mercury.Reach {
	late := false
	for range lookTries {
		began := time.Now()
		c, err := dialPlace(ctx, at, lookWait)
		if err == nil {
			_ = c.SetLinger(0) // no port of this machine waits for the last packets
			_ = c.Close()
			return mercury.ReachOpen
		}
		if r := found(err); r != mercury.ReachSilent {
			return r
		}
		late = late || time.Since(began) > lookWait+lookLate
	}
	if late {
		return mercury.ReachUnknown
	}
	return mercury.ReachSilent
}

func dialPlace(ctx context.Context, at netip.AddrPort, wait time.Duration) (*net.TCPConn, error) {
	d := net.Dialer{Timeout: wait}
	c, err := d.DialContext(ctx, "tcp", at.String())
	if err != nil {
		return nil, err
	}
	return c.(*net.TCPConn), nil
}

// found says what an error of a dial tells of the place. What went wrong on this machine tells nothing.
func found(err error) mercury.Reach {
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return mercury.ReachClosed
	case errors.Is(err, context.Canceled):
		return mercury.ReachUnknown
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, syscall.EHOSTUNREACH):
		return mercury.ReachSilent
	}
	return mercury.ReachUnknown
}
