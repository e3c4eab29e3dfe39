package stream

import (
	"context"
	"time"
)

const (
	// DefaultQueue bounds what Do keeps. More waiting than that means that the owner stands still, and then its callers
	// should hear so.
	DefaultQueue = 1024
	// DefaultStopTimeout is how long Run goes on after its context has ended.
	DefaultStopTimeout = 2 * time.Second
	// idleWait bounds one wait of a loop that waits for nothing.
	idleWait = time.Minute
)

// LoopConfig says how a Loop behaves, in the words of udp.LoopConfig. Zero values mean the default named beside each field.
type LoopConfig struct {
	// Tick is called on the owner's goroutine at the start of Run and then when it is due, which is when it said itself. nil
	// means that there is none.
	Tick func(now time.Duration) (next time.Duration)
	// Clock is what Now returns: a monotonic time that any goroutine may ask for. nil counts from New. Loops that compare
	// times share one.
	Clock func() time.Duration
	// Queue is how many functions Do keeps at most (DefaultQueue).
	Queue int
	// StopTimeout is how long Run may take, after its context has ended, to bring over what was sent (DefaultStopTimeout).
	StopTimeout time.Duration
}

// Loop is an owner of a Transport: whoever has no loop of his own lets this one turn.
type Loop struct {
	t    *Transport
	cfg  LoopConfig
	next time.Duration // tick
}

// NewLoop makes a Loop. The Transport belongs to the goroutine of Run from its start on; until then it must not have been used
// except to set its Handler and to dial.
func NewLoop(t *Transport, cfg LoopConfig) *Loop {
	if cfg.StopTimeout <= 0 {
		cfg.StopTimeout = DefaultStopTimeout
	}
	if cfg.Queue > 0 {
		t.maxCalls = cfg.Queue
	}
	if cfg.Clock != nil {
		t.clock = cfg.Clock
	}
	return &Loop{t: t, cfg: cfg}
}

// Now is the time on the clock that Handler and Tick see. Any goroutine may call it.
func (l *Loop) Now() time.Duration { return l.t.Now() }

// Do is the Transport's.
func (l *Loop) Do(f func()) error { return l.t.Do(f) }

// Run delivers what comes, ticks, flushes after each turn and waits, until ctx ends or the listener breaks. Then it shuts the
// Transport down, within LoopConfig.StopTimeout. The error is the listener's; nil when ctx ended. Run is called once; after
// Shutdown it returns ErrStopped.
func (l *Loop) Run(ctx context.Context) error {
	t := l.t
	unhook := context.AfterFunc(ctx, t.poke)
	defer unhook()
	err := t.broken()
	for ctx.Err() == nil && err == nil {
		l.turn()
		err = t.broken()
	}
	end, cancel := context.WithTimeout(context.Background(), l.cfg.StopTimeout)
	defer cancel()
	_ = t.Shutdown(end) // what was not brought over in time is lost, as ctx's owner knew
	return err
}

// turn is one turn of the owner, and the wait for the next.
func (l *Loop) turn() {
	t := l.t
	now := t.Now()
	t.Deliver(now)
	if l.cfg.Tick != nil && now >= l.next {
		l.next = l.cfg.Tick(now)
	}
	t.Flush()
	until := now + idleWait
	if l.cfg.Tick != nil {
		until = min(until, l.next)
	}
	t.Wait(until)
}

// Fail tells that no more can be accepted, and why. Run returns it. Any goroutine may call it.
func (t *Transport) Fail(err error) {
	t.mu.Lock()
	if t.fault == nil {
		t.fault = err
	}
	t.mu.Unlock()
	t.poke()
}

// broken is why a loop should end.
func (t *Transport) broken() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fault == nil && t.stopped {
		return ErrStopped
	}
	return t.fault
}
