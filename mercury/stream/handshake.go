package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

const (
	// dialPause is the first pause before a dial is tried again; it doubles up to maxDialPause.
	// mercury's own channels ask again about as often.
	dialPause    = 50 * time.Millisecond
	maxDialPause = time.Second
)

// Accept takes over a connection that a peer made from a place. It may be called from any
// goroutine, and returns at once.
func (t *Transport) Accept(c Conn, from netip.AddrPort) {
	l := newLink(t)
	l.conn, l.from = c, canonical(from)
	if !t.admit(l) {
		_ = c.Close()
		return
	}
	go l.serve()
}

// admit puts an accepted link among the pending ones. When there are too many the oldest must go:
// an honest one needs a round trip, so that whoever wants to keep others out has to fill the whole
// table within that time, again and again.
func (t *Transport) admit(l *link) bool {
	t.mu.Lock()
	if t.stopped {
		t.mu.Unlock()
		return false
	}
	var oldest *link
	if len(t.pending) >= t.cfg.MaxPending {
		oldest = t.pending[0]
		t.pending = append(t.pending[:0], t.pending[1:]...)
		t.unopened[Crowded]++
	}
	t.pending = append(t.pending, l)
	t.links[l] = true
	t.wg.Add(1)
	t.mu.Unlock()
	if oldest != nil {
		oldest.shut()
	}
	return true
}

// settle takes l out of the pending ones; false when it was pushed out before.
func (t *Transport) settle(l *link) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.pending, l)
	if i >= 0 {
		t.pending = slices.Delete(t.pending, i, i+1)
	}
	return i >= 0
}

// leave is the end of a link's reading goroutine.
func (t *Transport) leave(l *link) {
	t.mu.Lock()
	delete(t.links, l)
	t.mu.Unlock()
	t.wg.Done()
}

// serve is the goroutine of an accepted connection: hello, answer, then reading.
func (l *link) serve() {
	t := l.t
	defer t.leave(l)
	bound := time.AfterFunc(t.cfg.HelloTimeout, l.shut)
	why, accepted := l.answer()
	inTime, settled := bound.Stop(), t.settle(l)
	if accepted && inTime && settled {
		l.establish(l.salt)
		l.readOn()
		return
	}
	if accepted {
		t.freeSlot()
	}
	if !inTime && (accepted || why == HungUp) {
		why = Silent
	}
	if settled && why != judged { // else it is counted already, as Crowded or by judge
		t.CountUnopened(why)
	}
	l.shut()
}

// readOn reads until the end, both lanes.
func (l *link) readOn() {
	if l.lane != nil {
		done := make(chan struct{})
		go func() {
			defer close(done)
			l.readLoose()
		}()
		defer func() {
			<-done // returns once the owner has shut the connection
		}()
	}
	l.read()
}

// answer reads a hello and answers it. When it was accepted a slot is taken, else it says why not. A
// refused dialler is given time to read that, until it hangs up or the hello's time is over: to close
// with something unread would take the answer from it.
func (l *link) answer() (why Fate, accepted bool) {
	k, body, err := l.first()
	switch {
	case errors.Is(err, errHello) || err == nil && k != frameHello:
		return Strange, false
	case err != nil:
		return FateOf(l.conn), false
	}
	var h hello
	spoken, err := h.parse(body)
	if err != nil {
		return Strange, false
	}
	salt, refused := l.t.judge(spoken, h)
	if refused != 0 {
		if _, err := l.conn.Write(appendRefuse(nil, salt, refused)); err == nil {
			l.drain()
		}
		return judged, false
	}
	if _, err := l.conn.Write(appendAccept(nil, salt)); err != nil {
		l.t.freeSlot()
		return HungUp, false
	}
	l.salt = h.salt
	if h.port != 0 {
		l.from = netip.AddrPortFrom(l.from.Addr(), h.port)
	}
	return 0, true
}

// judge decides on a hello, and takes a slot for one that it lets in. salt is that of this start.
func (t *Transport) judge(spoken bool, h hello) (salt uint32, why refusal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	salt = t.self.Salt
	switch {
	case !spoken:
		why = refuseVersion
	case h.want != 0 && h.want != salt:
		why = refuseSalt
	case t.slots >= t.cfg.MaxChannels || t.stopped:
		why = refuseFull
	default:
		t.slots++
		return salt, 0
	}
	t.unopened[why.fate()]++
	return salt, why
}

// first reads the first frame. What came behind it stays in the buffer.
func (l *link) first() (k kind, body []byte, err error) {
	for {
		k, size, err := peekHello(l.buf[:l.have])
		if err != nil {
			return 0, nil, err
		}
		if size > 0 && size <= l.have {
			body = slices.Clone(l.buf[headerSize:size])
			l.have = copy(l.buf, l.buf[size:l.have])
			return k, body, nil
		}
		if n, err := l.fill(); n == 0 && err != nil {
			return 0, nil, err
		}
	}
}

// drain reads until the peer hangs up.
func (l *link) drain() {
	for {
		l.have = 0
		if n, err := l.fill(); n == 0 && err != nil {
			return
		}
	}
}

// startDial begins the goroutine of a dialled link.
func (l *link) startDial(to mercury.Address) {
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel, l.self = cancel, l.t.self
	l.t.mu.Lock()
	l.t.links[l] = true
	l.t.wg.Add(1)
	l.t.mu.Unlock()
	go l.dial(ctx, to)
}

// dial is the goroutine of a dialled connection: it tries until it is answered or the owner has
// lost patience, then reads.
func (l *link) dial(ctx context.Context, to mercury.Address) {
	defer l.t.leave(l)
	for pause := dialPause; ; pause = min(2*pause, maxDialPause) {
		err := l.attempt(ctx, to)
		if err == nil {
			l.readOn()
			return
		}
		if !l.t.place.IsValid() && nobodyListens(err) {
			err = fmt.Errorf("%w: nobody listens at %v", mercury.ErrPeerAborted, to.At)
			l.finish(err)
			return
		}
		if final(err) {
			l.finish(err)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// attempt dials once, and greets.
func (l *link) attempt(ctx context.Context, to mercury.Address) error {
	conn, err := l.t.net.Dial(ctx, to.At)
	if err != nil {
		l.detach(err)
		return err
	}
	if !l.attach(conn) {
		_ = conn.Close()
		return net.ErrClosed // shut cancels ctx, perhaps in a moment only
	}
	salt, err := l.greet(to.Salt)
	if err != nil {
		_ = conn.Close()
		l.detach(err)
		return err
	}
	l.establish(salt)
	return nil
}

// greet says hello and reads the answer.
func (l *link) greet(want uint32) (salt uint32, err error) {
	t := l.t
	conn := l.conn
	bound := time.AfterFunc(t.cfg.HelloTimeout, func() { _ = conn.Close() })
	defer bound.Stop()
	self := l.self
	h := hello{salt: self.Salt, want: want, port: self.At.Port()}
	if _, err := conn.Write(h.append(nil)); err != nil {
		return 0, fmt.Errorf("%s: saying hello: %w", t.net.Name, err)
	}
	k, body, err := l.first()
	switch {
	case errors.Is(err, errHello):
		return 0, fmt.Errorf("%w: the answer is %w", mercury.ErrProtocol, err)
	case errors.Is(err, io.EOF):
		return 0, fmt.Errorf("%s: the peer hung up instead of answering a hello", t.net.Name)
	case err != nil:
		return 0, fmt.Errorf("%s: waiting for the answer to a hello: %w", t.net.Name, err)
	}
	if salt, err = parseAnswer(k, body, want); err != nil {
		return 0, err
	}
	if !bound.Stop() {
		return 0, fmt.Errorf("%s: the answer to a hello took too long", t.net.Name)
	}
	return salt, nil
}

// nobodyListens reports whether a host has answered that nobody listens there. A process waits for another
// to start, so it dials on. One that does not listen is a client's, which knows other doors to try, and
// when to come back to this one: it is told at once.
func nobodyListens(err error) bool {
	const windows = syscall.Errno(10061) // WSAECONNREFUSED
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, windows)
}

// final reports whether to dial again is no use.
func final(err error) bool {
	for _, f := range []error{mercury.ErrPeerRestarted, mercury.ErrTooManyChannels, mercury.ErrKey, mercury.ErrProtocol, mercury.ErrAddress} {
		if errors.Is(err, f) {
			return true
		}
	}
	return false
}
