package mercury

import (
	"fmt"
)

// MaxUnreliable implements Transport. It is at most what fits in the shortest packet of any
// channel.
func (e *Endpoint) MaxUnreliable(ch ChannelID) int {
	c, err := e.sendable(ch)
	if err != nil {
		return 0
	}
	return max(0, min(e.maxUnreliable(), maxUnreliableQueued-unreliableOverhead-c.out.unreliableBytes))
}

// maxUnreliable is what fits in the shortest packet of any channel: a message that waits must leave
// whatever becomes of the path.
func (e *Endpoint) maxUnreliable() int {
	head, trailer := firstFixed+cookieSize, checksumSize
	if g := e.cfg.Guard; g != nil {
		head, trailer = firstFixed+MaxPass, g.Overhead()
	}
	return e.cfg.SafeMTU - head - trailer - ackReserve - channelFrameSize - unreliableOverhead
}

// Send implements Transport.
func (e *Endpoint) Send(ch ChannelID, msg []byte) error {
	c, err := e.sendable(ch)
	if err != nil {
		return err
	}
	return e.send(c, msg)
}

func (e *Endpoint) send(c *channel, msg []byte) error {
	if len(msg) > e.cfg.MaxMessage {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrMessageTooLong, len(msg), e.cfg.MaxMessage)
	}
	s := &c.out.streams[laneGame]
	if s.queued+len(msg) > e.cfg.MaxQueued {
		return ErrFull
	}
	s.write(e, c.segmentLimit(e), msg)
	e.stats.MessagesOut++
	if c.sends() {
		e.touch(c)
	}
	return nil
}

// SendBulk queues a message of the bulk stream: reliable, and ordered among its like. It takes the
// room that all else leaves, and arrives at a BulkHandler. When MaxQueued bytes of bulk wait
// already it fails with ErrFull, like Send.
func (e *Endpoint) SendBulk(ch ChannelID, msg []byte) error {
	c, err := e.sendable(ch)
	if err != nil {
		return err
	}
	s := &c.out.streams[laneBulk]
	switch {
	case len(msg) > e.cfg.MaxMessage:
		return fmt.Errorf("%w: %d bytes of bulk, at most %d", ErrMessageTooLong, len(msg), e.cfg.MaxMessage)
	case s.queued+len(msg) > e.cfg.MaxQueued:
		return ErrFull
	}
	s.write(e, c.segmentLimit(e), msg)
	e.stats.MessagesOut++
	if c.sends() {
		e.touch(c)
	}
	return nil
}

// Queued implements Transport.
func (e *Endpoint) Queued(ch ChannelID) (bytes, limit int) {
	unsent, _ := e.Backlog(ch)
	return unsent, e.cfg.MaxQueued
}

// Backlog is the number of bytes that wait for a first sending, reliable and bulk. 0 for a channel
// that is not there.
func (e *Endpoint) Backlog(ch ChannelID) (unsent, bulkUnsent int) {
	c := e.channels[ch]
	if c == nil {
		return 0, 0
	}
	return c.out.streams[laneGame].queued, c.out.streams[laneBulk].queued
}

// SendCritical is Send of a message that somebody waits for: a CriticalHandler hears when it, and
// all other critical messages of the channel, have been acked.
func (e *Endpoint) SendCritical(ch ChannelID, msg []byte) error {
	if err := e.Send(ch, msg); err != nil {
		return err
	}
	c := e.channels[ch]
	s := &c.out.streams[laneGame]
	c.out.critical, c.out.criticalAcked = s.first+uint64(s.segments.len()), false
	return nil
}

// Uncritical reports whether all critical messages of a channel have been acked.
func (e *Endpoint) Uncritical(ch ChannelID) bool {
	c := e.channels[ch]
	return c == nil || c.out.criticalAcked
}

// SendUnreliable implements Transport. It leaves with the next Flush whatever the window says.
// Beyond a bounded amount waiting for one Flush the oldest are dropped and counted, in ChannelStats.
func (e *Endpoint) SendUnreliable(ch ChannelID, msg []byte) error {
	c, err := e.sendable(ch)
	if err != nil {
		return err
	}
	if err := e.queueUnreliable(c, &c.out.unreliable, &c.out.unreliableBytes, maxUnreliableQueued, msg); err != nil {
		return err
	}
	if c.sends() {
		e.touch(c)
	}
	return nil
}

// SendPassenger queues an unreliable message that leaves only in a packet that goes anyway. Beyond
// a bounded amount waiting the oldest are dropped and counted.
func (e *Endpoint) SendPassenger(ch ChannelID, msg []byte) error {
	c, err := e.sendable(ch)
	if err != nil {
		return err
	}
	return e.queueUnreliable(c, &c.out.passengers, &c.out.passengerBytes, maxPassengersQueued, msg)
}

func (e *Endpoint) queueUnreliable(c *channel, to *ring[[]byte], bytes *int, limit int, msg []byte) error {
	if most := e.maxUnreliable(); len(msg) > most {
		return fmt.Errorf("%w: %d bytes unreliable, at most %d", ErrMessageTooLong, len(msg), most)
	}
	for *bytes+len(msg)+unreliableOverhead > limit && to.len() > 0 {
		old := *to.at(0)
		*bytes -= len(old) + unreliableOverhead
		to.pop()
		e.release(old)
		e.stats.UnreliableDropped++
		c.dropped++
	}
	*to.push() = append(e.buffer(len(msg)), msg...)
	*bytes += len(msg) + unreliableOverhead
	e.stats.MessagesOut++
	return nil
}

// SendOnce sends one reliable message to an app with which there is no lasting channel. A channel
// that was dialled there carries it; else one is opened for it, which closes itself when all has
// arrived. The app hears nothing of it.
func (e *Endpoint) SendOnce(to Address, msg []byte) error {
	if len(msg) > e.cfg.MaxMessage {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrMessageTooLong, len(msg), e.cfg.MaxMessage)
	}
	to.At = canonical(to.At)
	if c := e.byTarget[to]; c != nil && c.failing == nil {
		return e.send(c, msg)
	}
	ch := e.Dial(to)
	c := e.channels[ch]
	if c == nil || c.failing != nil {
		return ErrAddress
	}
	if err := e.send(c, msg); err != nil {
		return err
	}
	e.Close(ch)
	return nil
}

// sendable finds a channel that takes messages.
func (e *Endpoint) sendable(ch ChannelID) (*channel, error) {
	c := e.channels[ch]
	switch {
	case c == nil || c.condemned:
		return nil, ErrNoChannel
	case c.failing != nil:
		return nil, c.failing
	}
	return c, nil
}
