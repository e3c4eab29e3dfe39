package udp

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

const (
	// DefaultQueue bounds what Do keeps. More waiting than that means that the loop stands still, and then its callers should hear so.
	DefaultQueue = 1024
	// DefaultStopTimeout is how long Run goes on after its context has ended: a few resends over a bad path.
	DefaultStopTimeout = 2 * time.Second
	// maxRead bounds the datagrams that are taken between two turns, so that a flood does not keep the app from its tick and the
	// channels from their acks. 1024 small ones are about a millisecond.
	maxRead = 1024
	// maxWait bounds a wait that has nothing to wait for.
	maxWait = time.Hour
)

var (
	// ErrBusy is returned by Loop.Do when LoopConfig.Queue functions wait already.
	ErrBusy = errors.New("udp: too many functions wait for the loop")
	// ErrStopped is returned by Loop.Do when Run has ended, and by Run when it is called a second time.
	ErrStopped = errors.New("udp: the loop has run")
)

// LoopConfig says how a Loop behaves. Zero values mean the default named beside each field.
type LoopConfig struct {
	// Tick is called at the start of Run and then when it is due, which is when it said itself; a time that has passed means at
	// once after the next look at the socket. nil means that there is none.
	Tick func(now time.Duration) (next time.Duration)
	// Clock is what Now returns: a time that never runs back and goes as fast as real time does. Any goroutine may ask for it. nil
	// counts from NewLoop. Loops that compare times share one.
	Clock func() time.Duration
	// Pace is the least time from one waking to the next look at the socket, unless the tick is due. 0 answers each datagram at once;
	// a millisecond or two let a server with thousands of clients take many at a time. Do waits for it too.
	Pace time.Duration
	// PaceFrom is how many channels the Endpoint must have for Pace to be kept. With fewer, and few acks to take at a time, each
	// datagram is answered at once. 0 keeps it always.
	PaceFrom int
	// Queue is how many functions Do keeps at most (DefaultQueue).
	Queue int
	// StopTimeout is how long Run may take, after its context has ended, to bring over what was sent (DefaultStopTimeout).
	StopTimeout time.Duration
}

// Loop runs one mercury.Endpoint over one Socket on one goroutine, that of Run:
//
//	wait for datagrams, until a deadline or Do
//	  -> Endpoint.Receive all that have come, up to a bound
//	  -> functions of Do -> Tick if due -> Endpoint.Advance -> Endpoint.Flush -> one batched write
//
// It is the smallest runner for an app that wants Mercury alone; package host runs the apps of a whole game.
type Loop struct {
	e    *mercury.Endpoint
	s    *Socket
	cfg  LoopConfig
	born time.Time
	take func(from netip.AddrPort, datagram []byte) // received, made once so that it is not allocated with each read

	// Owned by the goroutine of Run.
	now     time.Duration
	next    time.Duration // tick
	busy    []func()      // inbox being worked off
	got     int           // datagrams of the read under way
	leaving bool          // stop

	mu       sync.Mutex
	inbox    []func()
	waiting  bool          // at the socket, or about to
	set      bool          // the socket has a deadline that has not passed,
	armed    time.Duration // which is this
	stopping bool          // the context has ended
	started  bool
	ended    bool
}

// NewLoop makes a Loop of an Endpoint and the Socket that it is reached at. Both belong to the goroutine of Run from its
// start on; the Socket stays the caller's to close, when Run has returned.
func NewLoop(e *mercury.Endpoint, s *Socket, cfg LoopConfig) *Loop {
	if cfg.Queue <= 0 {
		cfg.Queue = DefaultQueue
	}
	if cfg.StopTimeout <= 0 {
		cfg.StopTimeout = DefaultStopTimeout
	}
	l := &Loop{e: e, s: s, cfg: cfg, born: time.Now()}
	l.take = l.received
	return l
}

// Now is the time on the clock that the Endpoint and Tick see. Any goroutine may call it.
func (l *Loop) Now() time.Duration {
	if l.cfg.Clock != nil {
		return l.cfg.Clock()
	}
	return time.Since(l.born)
}

// Do has f called on the goroutine of Run, soon, and does not wait for it. Any goroutine may call it, also before Run, and f
// itself. It fails with ErrBusy, or with ErrStopped when the context of Run has ended or Run is over; f is not called then. What was
// taken is called, unless the socket breaks.
func (l *Loop) Do(f func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.ended || l.stopping:
		return ErrStopped
	case len(l.inbox) >= l.cfg.Queue:
		return ErrBusy
	}
	l.inbox = append(l.inbox, f)
	l.wake()
	return nil
}

// Run carries datagrams between the socket and the Endpoint until ctx ends or the socket breaks. When ctx ends it closes all
// channels and waits within LoopConfig.StopTimeout until what was sent has come over; the Handler hears nothing any more then, there
// is no Tick, and it returns nil. A broken or closed socket is an error. Run is called once.
func (l *Loop) Run(ctx context.Context) error {
	l.mu.Lock()
	if l.started {
		l.mu.Unlock()
		return ErrStopped
	}
	l.started = true
	l.mu.Unlock()
	defer l.end()
	told := make(chan struct{})
	forget := context.AfterFunc(ctx, func() {
		defer close(told)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.stopping = true
		l.wake()
	})
	defer func() {
		if !forget() {
			<-told
		}
	}()
	for woken := l.Now(); l.runInbox(); woken = l.now {
		if err := l.turn(); err != nil {
			return err
		}
		l.rest(woken)
		if err := l.receive(l.deadline()); err != nil {
			return err
		}
	}
	return l.stop()
}

func (l *Loop) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.inbox = nil
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// wake ends the wait at the socket, if there is one. The caller holds the lock, under which deadlines are set, so that no later
// one hides this.
func (l *Loop) wake() {
	if l.waiting {
		l.waiting, l.set = false, false
		_ = l.s.SetReadDeadline(past) // a closed socket needs no waking
	}
}

// runInbox calls what Do took, and reports whether Run goes on.
func (l *Loop) runInbox() bool {
	l.mu.Lock()
	l.busy, l.inbox = l.inbox, l.busy[:0]
	stopping := l.stopping
	l.mu.Unlock()
	for _, f := range l.busy {
		f()
	}
	clear(l.busy)
	return !stopping
}

// turn does what is due and sends what there is to say.
func (l *Loop) turn() error {
	l.now = l.Now()
	if l.cfg.Tick != nil && l.now >= l.next {
		l.next = l.cfg.Tick(l.now)
		l.now = l.Now()
	}
	l.e.Advance(l.now)
	l.e.Flush(l.now, l.s.Queue)
	return l.s.Flush()
}

// deadline is when the next turn is due if nothing arrives.
func (l *Loop) deadline() time.Duration {
	d := l.now + maxWait
	if l.cfg.Tick != nil {
		d = min(d, l.next)
	}
	if e, ok := l.e.NextDeadline(); ok {
		d = min(d, e)
	}
	return d
}

// rest keeps the pace. What arrives meanwhile is then there all at once.
func (l *Loop) rest(woken time.Duration) {
	if l.cfg.Pace <= 0 || l.e.Stats().Channels < l.cfg.PaceFrom {
		return
	}
	until := woken + l.cfg.Pace
	if l.cfg.Tick != nil {
		until = min(until, l.next)
	}
	if d := until - l.Now(); d > 0 {
		l.mu.Lock()
		l.set = false // the alarm of the nap takes the place of that of the wait
		l.mu.Unlock()
		l.s.nap(d)
	}
}

// receive waits for datagrams until a time or a wake, and hands over those that have come, up to a bound.
func (l *Loop) receive(until time.Duration) error {
	read := l.s.TryRead
	if l.arm(until) {
		read = l.s.ReadBatch
	}
	for total := 0; ; read = l.s.TryRead {
		l.got = 0
		err := read(l.take)
		if total == 0 {
			l.awake(err)
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if total += l.got; l.got == 0 || total >= maxRead || !l.s.More() {
			l.now = l.Now()
			return nil
		}
	}
}

// arm sets the end of a wait, and reports whether there is something to wait for.
func (l *Loop) arm(until time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.Now()
	if until <= now || len(l.inbox) > 0 || l.stopping && !l.leaving {
		return false
	}
	// A deadline that is set already and comes earlier stays: setting one costs more than a turn in vain now and then.
	if !l.set || l.armed <= now || until < l.armed || !tryKeepsDeadline {
		_ = l.s.SetReadDeadline(time.Now().Add(until - now)) // a closed socket tells so when it is read
		l.set, l.armed = true, until
	}
	l.waiting = true
	return true
}

// awake ends the wait at the socket, which ended with err.
func (l *Loop) awake(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = false
	if err != nil {
		l.set = false // it has passed, whatever Now says
	}
}

// received hands over one datagram of a read.
func (l *Loop) received(from netip.AddrPort, datagram []byte) {
	if l.got == 0 {
		l.now = l.Now()
	}
	l.got++
	l.e.Receive(l.now, from, datagram)
}

// stop closes all channels and goes on until the peers have everything, or the time is up.
func (l *Loop) stop() error {
	l.now = l.Now()
	end := l.now + l.cfg.StopTimeout
	l.leaving = true
	l.e.SetHandler(closer{l.e})
	l.e.CloseAll()
	for {
		l.now = l.Now()
		l.e.Advance(l.now)
		l.e.Flush(l.now, l.s.Queue)
		if err := l.s.Flush(); err != nil {
			return fmt.Errorf("udp: closing channels: %w", err)
		}
		if l.e.Stats().Channels == 0 || l.now >= end {
			return nil
		}
		until := end
		if d, ok := l.e.NextDeadline(); ok {
			until = min(until, d)
		}
		if err := l.receive(until); err != nil {
			return fmt.Errorf("udp: closing channels: %w", err)
		}
	}
}

// closer is the Handler of an Endpoint that takes its leave: whoever comes now is sent away.
type closer struct{ e *mercury.Endpoint }

func (c closer) Opened(_ time.Duration, ch mercury.ChannelID, _ mercury.Address) { c.e.Close(ch) }
func (closer) Message(time.Duration, mercury.ChannelID, bool, []byte)            {}
func (closer) Closed(time.Duration, mercury.ChannelID, error)                    {}
