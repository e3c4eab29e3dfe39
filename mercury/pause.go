package mercury

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/internal/codec"
)

// A receiver that has paused a channel acks and holds what comes. To stop the sender, each ack then
// has a pause frame before it in the same packet, which says how much of each stream has been
// delivered. The sender counts its window from there. The window moves only by acks, so in no order
// of packets can the sender exceed the receiver's room.
//
//	receiver                        sender
//	Pause                             │
//	  │ <──────────── segments 0..9 ──┤
//	  ├── pause 1: 0 delivered, ack ─>│ sends up to segment Window-1, then waits
//	Resume                            │
//	  ├── resume 2 ──────────────────>│ is sent until it is acked; the window moves by acks again
//
// Pauses are numbered, so that a late frame of an earlier one changes nothing.

// pauseFrameSize is the most that a pause takes: kind, number and both streams.
const pauseFrameSize = 1 + 7 + 7 + 7

// hold is a receiver's state of a channel's pauses.
type hold struct {
	number    uint64 // of the present pause, or of the end of the last one
	paused    bool   // the app wants nothing more
	holding   bool   // what comes is held, from a Pause until all of it was delivered
	told      bool   // the peer may have heard of a pause
	resumeDue bool   // the peer must hear of its end
	listed    bool   // is in Endpoint.resumed
	ending    bool   // the channel ends with what is held, and can no longer be paused
}

// Pause implements Transport.
func (e *Endpoint) Pause(ch ChannelID) {
	c := e.channel(ch)
	if c == nil || c.in.hold.ending {
		return
	}
	h := &c.in.hold
	h.paused = true
	if !h.holding {
		h.holding, h.resumeDue = true, false
		h.number++
	}
}

// Resume implements Transport. What was held is delivered by the next Advance.
func (e *Endpoint) Resume(ch ChannelID) {
	c := e.channel(ch)
	if c == nil || !c.in.hold.paused {
		return
	}
	c.in.hold.paused = false
	if !c.in.hold.listed {
		c.in.hold.listed = true
		e.resumed = append(e.resumed, c)
	}
}

// resumeAll delivers what resumed channels have held.
func (e *Endpoint) resumeAll() {
	for len(e.resumed) > 0 {
		c := e.resumed[0]
		e.resumed = append(e.resumed[:0], e.resumed[1:]...)
		c.in.hold.listed = false
		if c.state == dead {
			continue
		}
		if err := c.unhold(e); err != nil {
			e.breach(c, err)
		}
		if c.state != dead {
			e.wake(c)
		}
	}
}

// unhold delivers what c has held, until the app pauses it again.
func (c *channel) unhold(e *Endpoint) error {
	h := &c.in.hold
	for lane := range c.in.streams {
		s := &c.in.streams[lane]
		if b := s.backlog; b != nil && b.rest != nil {
			rest := b.rest
			b.rest = nil
			err := c.takeMessages(e, lane, rest)
			e.release(rest)
			if err != nil {
				return err
			}
		}
		if err := c.advanceHeld(e, lane); err != nil {
			return err
		}
	}
	if h.paused || !h.holding || c.state == dead {
		return nil
	}
	h.holding = false
	h.number++
	if h.told {
		h.resumeDue = true
		e.touch(c)
	}
	return nil
}

// endHold delivers all that c has held, since its peer has closed it.
func (c *channel) endHold(e *Endpoint) error {
	c.in.hold.paused, c.in.hold.ending = false, true
	return c.unhold(e)
}

// appendPause appends a pause frame.
func (c *channel) appendPause(b []byte) []byte {
	c.in.hold.told = true
	b = binary.AppendUvarint(append(b, byte(framePause)), c.in.hold.number)
	for lane := range c.in.streams {
		b = binary.AppendUvarint(b, c.in.streams[lane].next)
	}
	return b
}

// onPause notes that the peer holds what comes.
func (c *channel) onPause(r *codec.Reader) error {
	number := r.Uvarint()
	var delivered [lanes]uint64
	for lane := range delivered {
		delivered[lane] = r.Uvarint()
		if r.Err() == nil && delivered[lane] > c.out.streams[lane].end() {
			return ErrFutureAck
		}
	}
	if r.Err() != nil || number < c.out.pause {
		return nil
	}
	c.out.pause = number
	for lane := range delivered {
		s := &c.out.streams[lane]
		s.limit = max(s.limit, delivered[lane]+uint64(c.out.window))
	}
	return nil
}

// onResume notes that the peer no longer holds anything.
func (c *channel) onResume(e *Endpoint, r *codec.Reader) {
	number := r.Uvarint()
	if r.Err() != nil || number <= c.out.pause {
		return
	}
	c.out.pause = number
	for lane := range c.out.streams {
		c.out.streams[lane].limit = 0
	}
	e.touch(c)
}
