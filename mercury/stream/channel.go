package stream

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

const (
	// flushAt is how much waits at most for the owner's Flush before it leaves: a bulk sender keeps
	// the connection busy while it goes on.
	flushAt = 64 << 10
	// keepBuffer is the largest buffer that an idle channel keeps.
	keepBuffer = 4 << 10
)

// channelState is where a channel stands in its life.
//
//	Dial ──> dialling ──accepted──> open ──> dead
//	              │                   ^        ^
//	              └───────────────────┼────────┘  refused, silent, aborted, closed
//	hello from outside ───────────────┘
//
// Whether it is condemned is apart from that: a condemned channel may still be dialling.
type channelState uint8

const (
	dialling channelState = iota
	open
	dead
)

// channel is the owner's side of one end of one channel; its link is the side of the connection.
type channel struct {
	id    mercury.ChannelID
	state channelState
	peer  mercury.Address
	link  *link

	dialled bool
	target  mercury.Address // what Dial was given

	dirty     bool // is in Transport.dirty
	full      bool // is in Transport.full
	paused    bool
	ending    bool   // the connection has ended: what is held is delivered, whatever the owner says
	rest      []byte // frames that a pause has cut short
	failing   error
	condemned bool
	closeBy   time.Duration // awake time at which a condemned channel is given up

	heard    time.Duration // awake time of the last sweep that found something had come
	lastSent time.Duration
	pending  []byte // whole frames for the next Flush
	loose    []byte // the same, unreliable, where they do not go with pending
	stale    int    // unreliable messages dropped since the last SendUnreliable
	dropped  uint64 // all that were dropped
}

// backlog is what was sent and not taken by the system.
func (c *channel) backlog() int { return len(c.pending) + int(c.link.queued.Load()) }

// addChannel makes a channel and puts it into the tables.
func (t *Transport) addChannel(l *link, peer mercury.Address) *channel {
	t.lastID++
	c := &channel{id: t.lastID, peer: peer, link: l, heard: t.awake, lastSent: t.now}
	l.ch = c
	t.channels[c.id] = c
	t.order = append(t.order, c)
	return c
}

// put queues a frame of c.
func (t *Transport) put(c *channel, k kind, msg []byte) {
	c.pending = append(appendHeader(c.pending, k, len(msg)), msg...)
	t.touch(c)
	if len(c.pending) >= flushAt {
		t.flush(c)
	}
}

// touch puts c down for the next Flush.
func (t *Transport) touch(c *channel) {
	if !c.dirty {
		c.dirty = true
		t.dirty = append(t.dirty, c)
	}
}

// fail has c closed with reason at the next Receive: the methods of mercury.Transport do not call
// back.
func (t *Transport) fail(c *channel, reason error) {
	if c.failing == nil {
		c.failing = reason
		t.failing = append(t.failing, c)
	}
}

// end takes c out of the tables and drops its connection. A reason is reported, unless this side
// has closed the channel before.
func (t *Transport) end(c *channel, reason error) {
	if c.state == dead {
		return
	}
	if i, ok := t.Info(c.id); ok {
		t.gone.add(i)
	}
	c.state = dead
	delete(t.channels, c.id)
	t.forgetTarget(c)
	t.freeSlot()
	c.link.shut()
	if reason != nil && !c.condemned {
		c.condemned = true
		t.handler.Closed(t.now, c.id, reason)
	}
}

func (t *Transport) freeSlot() {
	t.mu.Lock()
	t.slots--
	t.mu.Unlock()
}

func (t *Transport) forgetTarget(c *channel) {
	if c.dialled && t.byTarget[c.target] == c {
		delete(t.byTarget, c.target)
	}
}

// sweep looks at every channel: who was heard, who is silent, who needs a ping, whose buffers are
// too big for its rest.
func (t *Transport) sweep() {
	t.sweepAt = t.now + t.step
	kept := t.order[:0]
	for i := 0; i < len(t.order); i++ { // callbacks may append
		c := t.order[i]
		if c.state != dead {
			t.look(c)
		}
		if c.state != dead {
			kept = append(kept, c)
		}
	}
	clear(t.order[len(kept):])
	t.order = kept
}

// look is sweep for one channel. It may end it.
func (t *Transport) look(c *channel) {
	if c.link.alive.Load() || c.paused && c.link.stuck() {
		c.link.alive.Store(false)
		c.heard = t.awake
	}
	switch {
	case t.awake-c.heard >= t.cfg.Inactivity:
		t.end(c, c.link.silence())
	case c.condemned && t.awake >= c.closeBy:
		t.end(c, nil)
	case c.condemned || c.state != open:
	case t.now-c.lastSent >= t.cfg.KeepAlive && c.backlog() == 0:
		if cap(c.pending) > keepBuffer {
			c.pending = nil
		}
		if len(c.loose) == 0 && cap(c.loose) > keepBuffer {
			c.loose = nil
		}
		c.link.trim()
		t.put(c, framePing, nil)
	}
}

// silence is the reason of a channel whose peer was not heard: with what the last dial met, if that
// is why.
func (l *link) silence() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dialErr != nil {
		return fmt.Errorf("%w: %w", mercury.ErrTimeout, l.dialErr)
	}
	return mercury.ErrTimeout
}
