package stream

import (
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// Deliver calls the Handler with all that has come, runs what Do was given and does what is due at now, which is best
// Now(). It must not be called from inside a callback.
func (t *Transport) Deliver(now time.Duration) {
	t.observe(now)
	t.mu.Lock()
	t.ready, t.taken = t.taken[:0], t.ready
	t.calls, t.running = t.running[:0], t.calls
	t.mu.Unlock()
	for i, f := range t.running {
		f()
		t.running[i] = nil
	}
	t.closeFailing()
	for i, l := range t.taken {
		t.take(l)
		t.taken[i] = nil
	}
	if t.now >= t.sweepAt {
		t.sweep()
	}
}

// observe moves the owner's time to now. Time never runs back.
func (t *Transport) observe(now time.Duration) {
	if !t.started {
		t.started, t.now = true, now
		t.sweepAt = now + t.step
		return
	}
	passed := max(0, now-t.now)
	t.awake += min(passed, t.step)
	t.now += passed
}

func (t *Transport) closeFailing() {
	for len(t.failing) > 0 {
		c := t.failing[0]
		t.failing = append(t.failing[:0], t.failing[1:]...)
		t.end(c, c.failing)
	}
}

// take delivers what a link has.
func (t *Transport) take(l *link) {
	l.mu.Lock()
	in, end, opened := l.in, l.end, l.opened
	l.in, l.looseIn, l.listed = nil, 0, false
	l.room.Signal()
	l.mu.Unlock()
	c := l.ch
	switch {
	case c == nil && !opened:
		return
	case c == nil:
		c = t.addChannel(l, l.peer())
		c.state = open
		t.handler.Opened(t.now, c.id, c.peer)
	case c.state == dialling && opened:
		c.state, c.peer.Salt = open, l.salt
		t.touch(c)
		if !c.condemned {
			t.handler.Opened(t.now, c.id, c.peer)
		}
	}
	t.deliver(c, in)
	if end != nil {
		t.end(c, end)
	}
	if cap(in) == 0 {
		return
	}
	l.mu.Lock()
	if l.spare == nil {
		l.spare = in[:0]
	}
	l.mu.Unlock()
}

// deliver hands over the frames of in, which the reading goroutine has checked, until c is closed.
func (t *Transport) deliver(c *channel, in []byte) {
	t.stats.BytesIn += uint64(len(in))
	for len(in) > 0 && c.state == open {
		k, size, err := peek(in, t.lim)
		if err != nil || size == 0 || size > len(in) {
			panic("stream: frames that were checked do not hold")
		}
		body := in[headerSize:size:size]
		in = in[size:]
		switch {
		case k == frameClose:
			t.end(c, mercury.ErrPeerClosed)
		case k == framePing || c.condemned:
		default:
			t.stats.MessagesIn++
			t.handler.Message(t.now, c.id, k == frameReliable, body)
		}
	}
}

// Flush hands on what was sent since the last Flush, in one write for each channel. The owner calls it at the end of its turn, or
// after a message that must not wait for that.
func (t *Transport) Flush() {
	for i, c := range t.dirty {
		c.dirty = false
		t.flush(c)
		t.dirty[i] = nil
	}
	t.dirty = t.dirty[:0]
}

// NextDeadline is when Deliver and Flush should be called if nothing arrives before; false when there is nothing to wait for.
// When something waits for a Flush it is the time last seen, that is at once.
func (t *Transport) NextDeadline() (time.Duration, bool) {
	switch {
	case len(t.dirty) > 0 || len(t.failing) > 0:
		return t.now, true
	case len(t.order) == 0:
		return 0, false
	}
	return t.sweepAt, true
}

// Wait blocks until something has come, until NextDeadline, or until a time by Now(), whatever is first. Deliver follows.
func (t *Transport) Wait(until time.Duration) {
	select {
	case <-t.wake:
		return
	default:
	}
	if d, ok := t.NextDeadline(); ok {
		until = min(until, d)
	}
	d := until - t.Now()
	if d <= 0 {
		return
	}
	t.timer.Reset(d)
	select {
	case <-t.wake:
	case <-t.timer.C:
	}
	t.timer.Stop()
}

// poke wakes the owner.
func (t *Transport) poke() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Do has f run on the owner's goroutine, by the next Deliver. Any goroutine may call it. It fails with ErrBusy when too many wait
// already, and with ErrStopped after Shutdown; then f is not called.
func (t *Transport) Do(f func()) error {
	t.mu.Lock()
	switch {
	case t.stopped:
		t.mu.Unlock()
		return ErrStopped
	case len(t.calls) >= t.maxCalls:
		t.mu.Unlock()
		return ErrBusy
	}
	t.calls = append(t.calls, f)
	t.mu.Unlock()
	t.poke()
	return nil
}
