package mercury

import (
	"encoding/binary"
	"time"
)

// ackEvery is how many packets that ask for an ack may come before one is sent without delay: a sender in full
// flight must hear soon enough to keep going.
const ackEvery = 8

// keepAssembly is the largest buffer for long messages that a channel holds on to; most channels see one such message in their life.
const keepAssembly = 64 << 10

// receiver is the inward half of a channel.
//
// Reliable messages travel as one stream of bytes, each message behind its length, cut into numbered segments of at most
// one packet. next is the first segment not received; held keeps those beyond it.
type receiver struct {
	numbers    numberSet
	ackPending bool
	ackNow     bool
	ackAt      time.Duration
	ackCount   int           // packets since the last ack
	largestAt  time.Duration // when the packet with the largest number came: the delay reported in acks is counted from it

	next uint64
	held ring[[]byte] // held.at(i) is segment next+i, nil where it is missing

	assembly []byte // the beginning of a message longer than what was there of it
	want     int    // its full length; 0 when none is under way
}

// wantAck notes that a packet asking for an ack has come.
func (c *channel) wantAck(e *Endpoint, outOfOrder bool) {
	in := &c.in
	in.ackCount++
	if !in.ackPending {
		in.ackPending = true
		in.ackAt = e.now + e.cfg.AckDelay
	}
	if outOfOrder || in.ackCount >= ackEvery {
		in.ackNow = true
	}
	if in.ackNow {
		e.touch(c)
	}
}

// onSegment takes segment seq in. Its bytes alias the datagram.
func (c *channel) onSegment(e *Endpoint, seq uint64, p []byte) error {
	in := &c.in
	switch {
	case len(p) == 0 || len(p) > e.maxSegment():
		return ErrProtocol
	case seq < in.next:
		return nil
	case seq-in.next >= uint64(e.cfg.Window):
		return ErrProtocol // the window was agreed on when the channel opened
	case seq > in.next:
		i := int(seq - in.next)
		for in.held.len() <= i {
			in.held.push()
		}
		if slot := in.held.at(i); *slot == nil {
			*slot = append(e.buffer(), p...)
		}
		return nil
	}
	if err := c.advanceStream(e, p); err != nil {
		return err
	}
	for c.state == open && in.held.len() > 0 && *in.held.at(0) != nil {
		p := *in.held.at(0)
		err := c.advanceStream(e, p)
		e.release(p)
		if err != nil {
			return err
		}
	}
	return nil
}

// advanceStream delivers what segment next completes.
func (c *channel) advanceStream(e *Endpoint, p []byte) error {
	c.in.next++
	if c.in.held.len() > 0 {
		c.in.held.pop()
	}
	for len(p) > 0 && c.state == open {
		var err error
		if p, err = c.takeMessage(e, p); err != nil {
			return err
		}
	}
	return nil
}

// takeMessage takes one message or a part of one from p and returns what follows.
func (c *channel) takeMessage(e *Endpoint, p []byte) ([]byte, error) {
	in := &c.in
	if in.want > 0 {
		n := min(in.want-len(in.assembly), len(p))
		in.assembly = append(in.assembly, p[:n]...)
		if len(in.assembly) == in.want {
			msg := in.assembly
			in.want = 0
			if in.assembly = in.assembly[:0]; cap(msg) > keepAssembly {
				in.assembly = nil
			}
			c.deliver(e, true, msg)
		}
		return p[n:], nil
	}
	length, n := binary.Uvarint(p)
	if n <= 0 {
		return nil, ErrProtocol // a length is never cut by the sender
	}
	if length > uint64(e.cfg.MaxMessage) {
		return nil, ErrMessageTooLong
	}
	p = p[n:]
	if length > uint64(len(p)) {
		in.want = int(length)
		in.assembly = append(in.assembly[:0], p...)
		return nil, nil
	}
	c.deliver(e, true, p[:length:length])
	return p[length:], nil
}

// deliver hands one message to the app, unless it has closed the channel.
func (c *channel) deliver(e *Endpoint, reliable bool, msg []byte) {
	if c.condemned || c.state != open {
		return
	}
	e.stats.MessagesIn++
	e.handler.Message(e.now, c.id, reliable, msg)
}
