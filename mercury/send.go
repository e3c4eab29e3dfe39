package mercury

import (
	"fmt"
)

// MaxUnreliable implements Transport. It is at most what fits into the shortest packet of any
// channel.
func (e *Endpoint) MaxUnreliable(ch ChannelID) int {
	c, err := e.sendable(ch)
	if err != nil {
		return 0
	}
	return max(0, min(e.maxUnreliable(), maxUnreliableQueued-unreliableOverhead-int(c.out.unreliableBytes)))
}

// maxUnreliable is what fits into the shortest packet of any channel, since a waiting message must
// fit whatever happens to the path.
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
	return e.send(c, laneGame, msg)
}

// send queues a message of one of the streams.
func (e *Endpoint) send(c *channel, lane int, msg []byte) error {
	if len(msg) > e.cfg.MaxMessage {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrMessageTooLong, len(msg), e.cfg.MaxMessage)
	}
	s := &c.out.streams[lane]
	if s.queued+len(msg) > e.cfg.MaxQueued {
		e.stats.Full++
		c.trouble().full++
		s.refused = true
		return ErrFull
	}
	s.write(e, c.segmentLimit(e), msg)
	e.stats.MessagesOut++
	if c.sends() {
		e.touch(c)
	}
	return nil
}

// SendBulk queues a bulk message, which is reliable and ordered among bulk messages. Bulk uses the
// room that everything else leaves, and arrives at a BulkHandler. If MaxQueued bytes of bulk
// already wait, it fails with ErrFull, like Send.
func (e *Endpoint) SendBulk(ch ChannelID, msg []byte) error {
	c, err := e.sendable(ch)
	if err != nil {
		return err
	}
	return e.send(c, laneBulk, msg)
}

// Queued implements Transport.
func (e *Endpoint) Queued(ch ChannelID) (bytes, limit int) {
	unsent, _ := e.Backlog(ch)
	return unsent, e.cfg.MaxQueued
}

// Backlog returns how many bytes wait for a first sending, reliable and bulk; 0 for an unknown
// channel.
func (e *Endpoint) Backlog(ch ChannelID) (unsent, bulkUnsent int) {
	c := e.channel(ch)
	if c == nil {
		return 0, 0
	}
	return c.out.streams[laneGame].queued, c.out.streams[laneBulk].queued
}

// SendUnreliable implements Transport. The message leaves with the next Flush, whatever the window.
// If too much waits for one Flush, the oldest messages are dropped and counted, in ChannelStats,
// too.
func (e *Endpoint) SendUnreliable(ch ChannelID, msg []byte) (dropped int, err error) {
	c, err := e.sendable(ch)
	if err != nil {
		return 0, err
	}
	if most := e.maxUnreliable(); len(msg) > most {
		return 0, fmt.Errorf("%w: %d bytes unreliable, at most %d", ErrMessageTooLong, len(msg), most)
	}
	out := &c.out
	size := int32(len(msg) + unreliableOverhead)
	for ; out.unreliableBytes+size > maxUnreliableQueued && out.unreliable.len() > 0; dropped++ {
		old := out.unreliable.at(0).buf
		out.unreliableBytes -= int32(len(old) + unreliableOverhead)
		out.unreliable.pop()
		e.release(old)
	}
	e.stats.UnreliableDropped += uint64(dropped)
	if dropped > 0 {
		c.trouble().dropped += uint64(dropped)
	}
	game := &out.streams[laneGame]
	*out.unreliable.push() = unreliableMessage{append(e.buffer(len(msg)), msg...), game.first + uint64(game.segments.len())}
	out.unreliableBytes += size
	e.stats.MessagesOut++
	if c.sends() {
		e.touch(c)
	}
	return dropped, nil
}

// sendable returns a channel if it takes messages.
func (e *Endpoint) sendable(ch ChannelID) (*channel, error) {
	c := e.channel(ch)
	switch {
	case c == nil || c.condemned:
		return nil, ErrNoChannel
	case c.failing:
		return nil, e.reasonFor(c)
	}
	return c, nil
}
