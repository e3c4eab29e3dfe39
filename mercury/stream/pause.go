package stream

import (
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// Pause implements mercury.Transport. What has been read waits, at most what is read ahead anyway;
// the rest waits at the peer, held back by the connection's own flow control.
func (t *Transport) Pause(ch mercury.ChannelID) {
	if c := t.channels[ch]; c != nil && !c.ending {
		c.paused = true
	}
}

// Resume implements mercury.Transport.
func (t *Transport) Resume(ch mercury.ChannelID) {
	if c := t.channels[ch]; c != nil && c.paused {
		c.paused = false
		c.link.list()
	}
}

// stuck reports whether nothing more is read from a link since its channel is paused, so that its
// silence is not the peer's.
func (l *link) stuck() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ch.paused && len(l.in) >= maxUndelivered && !l.broken.Load()
}

// waitForRoom notes that the owner wants to hear when c takes messages again.
func (t *Transport) waitForRoom(c *channel) {
	c.link.wanted.Store(true)
	if !c.full {
		c.full = true
		t.full = append(t.full, c)
	}
}

// tellRoom tells the owner of the channels that take messages again.
func (t *Transport) tellRoom(now time.Duration) {
	waiting := t.full
	t.full = t.fullSpare[:0]
	for i, c := range waiting {
		waiting[i] = nil
		switch {
		case c.state == dead || c.condemned:
		case c.backlog() > mercury.HighMark(t.cfg.MaxQueued):
			t.full = append(t.full, c)
		default:
			c.full = false
			c.link.wanted.Store(false)
			if h, ok := t.handler.(mercury.RoomHandler); ok {
				h.Room(now, c.id)
			}
		}
	}
	t.fullSpare = waiting[:0]
}
