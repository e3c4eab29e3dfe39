package stream

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/mercury"
)

const (
	// minRead is the read buffer of a connection at rest, of which a BaseApp has thousands.
	minRead = 2 << 10
	// maxRead is that of a busy one: some 600 messages of 100 bytes a system call. Only a longer
	// message makes it grow further.
	maxRead = 64 << 10
	// maxUndelivered is how much is read ahead of the owner. Beyond it the peer is held back by the
	// connection's own flow control.
	maxUndelivered = 256 << 10
	// shrinkAfter so many reads of less than a quarter of the buffer it is halved.
	shrinkAfter = 16
)

// read hands over whole frames until the connection ends.
func (l *link) read() {
	l.finish(l.readAll())
}

func (l *link) readAll() error {
	for {
		whole, closes, err := scan(l.buf[:l.have], l.t.lim)
		if whole > 0 && !l.hand(whole, closes) {
			return nil
		}
		if err != nil {
			return err
		}
		n, err := l.fill()
		if n == 0 && err != nil {
			return ending(err)
		}
	}
}

// ending is the reason of a channel whose connection broke: an adapter may know better than that
// the peer is gone.
func ending(err error) error {
	if errors.Is(err, mercury.ErrProtocol) || errors.Is(err, mercury.ErrMessageTooLong) {
		return err
	}
	return fmt.Errorf("%w: %w", mercury.ErrPeerAborted, err)
}

// fill reads once, into what is left of the buffer, whose size follows the need.
func (l *link) fill() (int, error) {
	if l.have == len(l.buf) {
		grown := make([]byte, max(2*len(l.buf), minRead))
		copy(grown, l.buf)
		l.buf = grown
	}
	n, err := l.conn.Read(l.buf[l.have:])
	if n > 0 {
		l.alive.Store(true)
	}
	l.have += n
	switch {
	case l.have == len(l.buf):
		if len(l.buf) < maxRead {
			l.resize(2 * len(l.buf))
		}
		l.small = 0
	case l.have >= len(l.buf)/4:
		l.small = 0
	case len(l.buf) > minRead:
		if l.small++; l.small >= shrinkAfter {
			l.resize(len(l.buf) / 2)
			l.small = 0
		}
	}
	return n, err
}

func (l *link) resize(n int) {
	buf := make([]byte, n)
	copy(buf, l.buf[:l.have])
	l.buf = buf
}

// hand gives the first whole bytes of the buffer to the owner: the buffer itself when it is well
// filled and the owner is up to date, else a copy. It waits while the owner is far behind; false
// when the link was shut.
func (l *link) hand(whole int, closes bool) bool {
	if closes {
		l.mu.Lock()
		l.closing = true
		l.mu.Unlock()
		l.list() // a pause ends
	}
	l.mu.Lock()
	for len(l.in) >= maxUndelivered && !l.gone {
		l.room.Wait()
	}
	if l.gone {
		l.mu.Unlock()
		return false
	}
	rest := l.buf[whole:l.have]
	if len(l.in) == 0 && whole >= len(l.buf)/4 {
		next := l.spare
		if cap(next) < len(l.buf) {
			next = make([]byte, len(l.buf))
		}
		next = next[:len(l.buf)]
		l.in, l.spare = l.buf[:whole], nil
		copy(next, rest)
		l.buf = next
	} else {
		if l.in == nil {
			l.in, l.spare = l.spare[:0], nil
		}
		l.in = append(l.in, l.buf[:whole]...)
		copy(l.buf, rest)
	}
	l.have = len(rest)
	l.mu.Unlock()
	l.list()
	return true
}

// readLoose hands over datagrams until the connection ends. One that is too long is the peer's
// fault and dropped, as are those that the owner is too slow for. What waits of the stream does not
// count: a long message must not cost the datagrams beside it.
func (l *link) readLoose() {
	for {
		msg, err := l.lane.ReceiveDatagram()
		if err != nil {
			return
		}
		l.alive.Store(true)
		if len(msg) > l.t.lim.unreliable {
			continue
		}
		l.mu.Lock()
		drop := l.gone || l.looseIn+headerSize+len(msg) > l.t.cfg.UnreliableQueued
		if !drop {
			l.looseIn += headerSize + len(msg)
			if l.in == nil {
				l.in, l.spare = l.spare[:0], nil
			}
			l.in = append(appendHeader(l.in, frameUnreliable, len(msg)), msg...)
		}
		l.mu.Unlock()
		if !drop {
			l.list()
		}
	}
}
