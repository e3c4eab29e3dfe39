package stream

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// Receive implements mercury.Carrier. A sign of life is anything that a connection brought, took or
// ended with.
func (t *Transport) Receive(until time.Duration) (heard bool, err error) {
	if !t.watched {
		t.wait(until)
	}
	heard = t.deliver(t.Now())
	t.mu.Lock()
	defer t.mu.Unlock()
	return heard, t.fault
}

// deliver calls the Handler with all that has come and does what is due at now.
func (t *Transport) deliver(now time.Duration) (heard bool) {
	t.observe(now)
	t.mu.Lock()
	t.ready, t.taken = t.taken[:0], t.ready
	t.mu.Unlock()
	t.closeFailing()
	for i, l := range t.taken {
		t.take(l)
		t.taken[i] = nil
	}
	if len(t.full) > 0 {
		t.tellRoom(t.now)
	}
	if t.now >= t.sweepAt {
		t.sweep()
	}
	return len(t.taken) > 0 || t.wrote.Swap(false)
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
	c := l.ch
	if c != nil && !t.takeRest(c) {
		return
	}
	l.mu.Lock()
	in, end, opened := l.in, l.end, l.opened
	l.in, l.looseIn, l.listed = nil, 0, false
	l.room.Signal()
	l.mu.Unlock()
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
	t.stats.BytesIn += uint64(len(in))
	if left := t.hand(c, in); len(left) > 0 {
		c.rest = slices.Clone(left)
	}
	if end != nil {
		c.paused, c.ending = false, true
		c.rest = t.hand(c, c.rest)
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

// takeRest delivers what a pause has left of what was taken before. It reports whether more may be
// taken: not while c is paused and its connection lives.
func (t *Transport) takeRest(c *channel) bool {
	l := c.link
	l.mu.Lock()
	l.listed = false
	ended := l.end != nil || l.closing
	l.mu.Unlock()
	if c.paused && ended {
		c.paused, c.ending = false, true
	}
	c.rest = t.hand(c, c.rest)
	return !c.paused
}

// hand hands over the frames of in, which the reading goroutine has checked, until c is closed or
// paused, and returns what is left.
func (t *Transport) hand(c *channel, in []byte) (left []byte) {
	for len(in) > 0 && c.state == open && !c.paused {
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
	return in
}

// Flush implements mercury.Carrier: it hands on what was sent since the last Flush, in one write
// for each channel. It never fails, and may be called from inside a callback, for a message that
// must not wait for the end of the turn.
func (t *Transport) Flush() error {
	for i, c := range t.dirty {
		c.dirty = false
		t.flush(c)
		t.dirty[i] = nil
	}
	t.dirty = t.dirty[:0]
	return nil
}

// NextDeadline implements mercury.Carrier.
func (t *Transport) NextDeadline() (time.Duration, bool) {
	switch {
	case len(t.dirty) > 0 || len(t.failing) > 0:
		return t.now, true
	case len(t.order) == 0:
		return 0, false
	}
	return t.sweepAt, true
}

// wait blocks until something has come, until NextDeadline, or until a time by Now(), whatever is
// first.
func (t *Transport) wait(until time.Duration) {
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

// Wake implements mercury.Carrier.
func (t *Transport) Wake() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Watch implements mercury.Carrier.
func (t *Transport) Watch(f func()) {
	t.watched = true
	t.mu.Lock()
	t.tell = f
	t.mu.Unlock()
	f() // for what has come before
}

// poke tells the owner that there is something for it.
func (t *Transport) poke() {
	t.mu.Lock()
	tell := t.tell
	t.mu.Unlock()
	tell()
}

// Fail tells that no more can be accepted, and why. Receive returns it. Any goroutine may call it.
func (t *Transport) Fail(err error) {
	t.mu.Lock()
	if t.fault == nil {
		t.fault = err
	}
	t.mu.Unlock()
	t.poke()
}
