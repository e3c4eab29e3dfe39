package mercury

import (
	"fmt"
	"hash"
	"net/netip"
	"time"
)

const (
	// awakeStep is the most that one call adds to the time this Endpoint was awake: a longer gap between calls means that
	// the process itself slept, and then its peers are not to blame for the silence. While there are channels it asks to be
	// called at least this often.
	awakeStep = time.Second
	// awakeSteps such steps fit into Config.Inactivity at least, however short it is: one nap alone never ends a channel.
	awakeSteps = 4
	// maxSpareBuffers bounds the buffers kept for reuse: 2048 of 1400 bytes are 3 MB.
	maxSpareBuffers = 2048
	// maxReplies bounds the answers to handshakes that wait for one Flush, so that a flood of opens cannot grow them.
	maxReplies = 1024
	// resetsPerSecond and resetBurst bound the answers to packets of unknown channels. After a restart each of some
	// hundred peers needs one.
	resetsPerSecond = 1000
	resetBurst      = 256
)

// Endpoint is one end of any number of channels over datagrams: a plain struct that is given what arrived and what time it
// is. See the package comment for its caller's duties. It is not safe for concurrent use.
type Endpoint struct {
	cfg     Config
	self    Address
	handler Handler
	stats   Stats

	now     time.Duration
	step    time.Duration // awakeStep, or less when Inactivity is short
	awake   time.Duration // time since the start without the gaps in which the process slept
	jumped  time.Duration // when the last such gap ended; packets sent before it tell nothing about the round trip
	started bool

	lastID   ChannelID
	channels map[ChannelID]*channel
	byTarget map[Address]*channel        // dialled and not condemned
	byPlace  map[netip.AddrPort]*channel // newest channel with a peer there; the others follow as siblings
	accepted map[openKey]*channel        // nil for one that has ended and must not be opened again
	tombs    ring[tomb]
	queue    wakeQueue
	dirty    []*channel // have something for the next Flush, in the order in which they got it
	failing  []*channel // to be closed at the next Advance
	buried   []*channel // ended; their buffers may still be in the hands of a callback

	mac        hash.Hash
	macIn      []byte // scratch of mac's input
	macOut     []byte // scratch of its output
	resets     int    // left in the bucket
	resetsFrom time.Duration

	replies ring[reply]
	packet  []byte   // scratch: the packet being built
	ack     ack      // scratch: the ack being read
	spare   [][]byte // buffers of MTU bytes
}

// reply is a datagram outside of a channel that waits for Flush.
type reply struct {
	to  netip.AddrPort
	buf []byte
}

var _ Transport = (*Endpoint)(nil)

// NewEndpoint makes the Endpoint of an app that listens at self. h may be nil until SetHandler. It fails when cfg
// does not hold (see Config.Validate) or self is not a place.
func NewEndpoint(cfg Config, self netip.AddrPort, h Handler) (*Endpoint, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if !self.IsValid() {
		return nil, fmt.Errorf("mercury: an Endpoint at %v: %w", self, ErrAddress)
	}
	cfg = cfg.withDefaults()
	e := &Endpoint{
		cfg:      cfg,
		self:     Address{At: canonical(self), Salt: cfg.Salt},
		channels: make(map[ChannelID]*channel),
		byTarget: make(map[Address]*channel),
		byPlace:  make(map[netip.AddrPort]*channel),
		accepted: make(map[openKey]*channel),
		mac:      newMAC(cfg.Secret),
		resets:   resetBurst,
		step:     min(awakeStep, cfg.Inactivity/awakeSteps),
		packet:   make([]byte, 0, cfg.MTU),
	}
	e.SetHandler(h)
	return e, nil
}

// canonical strips the IPv6 clothes from an IPv4 place, so that one place is one map key.
func canonical(at netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// SetHandler sets what the Endpoint delivers to. An app is made with the Endpoint as its Transport, then set as its Handler.
func (e *Endpoint) SetHandler(h Handler) {
	if h == nil {
		h = nobody{}
	}
	e.handler = h
}

// nobody is the Handler of an Endpoint that has none.
type nobody struct{}

func (nobody) Opened(time.Duration, ChannelID, Address)       {}
func (nobody) Message(time.Duration, ChannelID, bool, []byte) {}
func (nobody) Closed(time.Duration, ChannelID, error)         {}

// Self implements Transport.
func (e *Endpoint) Self() Address { return e.self }

// Stats returns the counters as they stand.
func (e *Endpoint) Stats() Stats {
	s := e.stats
	s.Channels = len(e.channels)
	return s
}

// MaxUnreliable is the largest message that SendUnreliable takes.
func (e *Endpoint) MaxUnreliable() int {
	return e.cfg.MTU - headerSize - ackReserve - unreliableOverhead
}

// maxSegment is the largest piece of the reliable stream.
func (e *Endpoint) maxSegment() int {
	return e.cfg.MTU - headerSize - ackReserve - segmentOverhead
}

// Dial implements Transport. A dial that cannot be made is reported by Closed at the next Advance.
func (e *Endpoint) Dial(to Address) ChannelID {
	to.At = canonical(to.At)
	if c := e.byTarget[to]; c != nil {
		return c.id
	}
	if e.lastID >= maxChannelID {
		return 0
	}
	c := e.addChannel(to)
	c.dialled, c.target = true, to
	e.byTarget[to] = c
	switch {
	case !to.At.IsValid() || to.At.Port() == 0 || to.At.Addr().IsUnspecified():
		e.fail(c, ErrAddress)
	case len(e.channels) > e.cfg.MaxChannels:
		e.fail(c, ErrTooManyChannels)
	default:
		c.openDue = true
		e.touch(c)
	}
	return c.id
}

// Send implements Transport.
func (e *Endpoint) Send(ch ChannelID, msg []byte) error {
	c, err := e.sendable(ch)
	if err != nil {
		return err
	}
	if len(msg) > e.cfg.MaxMessage {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrMessageTooLong, len(msg), e.cfg.MaxMessage)
	}
	if c.out.queued+len(msg) > e.cfg.MaxQueued {
		e.fail(c, ErrOverflow)
		return ErrOverflow
	}
	c.queue(e, msg)
	e.stats.MessagesOut++
	if c.state == open {
		e.touch(c)
	}
	return nil
}

// SendUnreliable implements Transport. Beyond a bounded amount waiting for one Flush, messages are dropped and counted.
func (e *Endpoint) SendUnreliable(ch ChannelID, msg []byte) error {
	c, err := e.sendable(ch)
	if err != nil {
		return err
	}
	if len(msg) > e.MaxUnreliable() {
		return fmt.Errorf("%w: %d bytes unreliable, at most %d", ErrMessageTooLong, len(msg), e.MaxUnreliable())
	}
	if c.out.unreliableBytes+len(msg)+unreliableOverhead > maxUnreliableQueued {
		e.stats.UnreliableDropped++
		return nil
	}
	*c.out.unreliable.push() = append(e.buffer(), msg...)
	c.out.unreliableBytes += len(msg) + unreliableOverhead
	e.stats.MessagesOut++
	if c.state == open {
		e.touch(c)
	}
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

// Close implements Transport.
func (e *Endpoint) Close(ch ChannelID) {
	c := e.channels[ch]
	switch {
	case c == nil || c.condemned:
	case c.failing != nil || c.state == dialling && c.out.segments.len() == 0:
		e.end(c, nil, false)
	default:
		c.condemned = true
		c.closeBy = e.awake + e.cfg.CloseWait
		e.forgetTarget(c)
		e.queue.lower(c, c.deadline(e))
		e.touch(c)
	}
}

// Abort implements Transport.
func (e *Endpoint) Abort(ch ChannelID) {
	if c := e.channels[ch]; c != nil {
		c.condemned = true
		e.end(c, nil, true)
	}
}

// Peer implements Transport.
func (e *Endpoint) Peer(ch ChannelID) (Address, bool) {
	c := e.channels[ch]
	if c == nil || c.condemned {
		return Address{}, false
	}
	return c.peer, true
}

// observe moves the Endpoint's time to now. Time never runs back.
func (e *Endpoint) observe(now time.Duration) {
	if !e.started {
		e.started, e.now = true, now
		e.resetsFrom = now
		return
	}
	passed := max(0, now-e.now)
	if passed > 2*e.step {
		e.jumped = now
	}
	e.awake += min(passed, e.step)
	e.now += passed
}

// Advance does what is due at now: resends, acks, keep-alives, timeouts. What it has to say goes out with the next
// Flush.
func (e *Endpoint) Advance(now time.Duration) {
	e.observe(now)
	e.reap()
	e.expireTombs()
	for len(e.failing) > 0 {
		c := e.failing[0]
		e.failing = append(e.failing[:0], e.failing[1:]...)
		if c.state != dead {
			e.end(c, c.failing, true)
		}
	}
	for c := e.queue.first(); c != nil && c.wake <= e.now; c = e.queue.first() {
		c.fire(e)
		if c.place >= 0 {
			// A deadline that is still due would be looked at for ever in this loop.
			e.queue.raise(c, max(c.deadline(e), e.now+time.Microsecond))
		}
	}
}

// NextDeadline is when Advance and Flush should be called if nothing arrives before; false when there is nothing to
// wait for. When something waits for a Flush it is the time last seen, that is at once.
func (e *Endpoint) NextDeadline() (time.Duration, bool) {
	if len(e.dirty) > 0 || e.replies.len() > 0 || len(e.failing) > 0 {
		return e.now, true
	}
	for {
		c := e.queue.first()
		if c == nil {
			return 0, false
		}
		d := c.deadline(e)
		if d <= c.wake {
			return min(c.wake, e.now+e.step), true
		}
		e.queue.raise(c, d)
	}
}

// fail has c closed with reason at the next Advance: the methods of Transport do not call back.
func (e *Endpoint) fail(c *channel, reason error) {
	if c.failing == nil {
		c.failing = reason
		e.failing = append(e.failing, c)
	}
}

// touch puts c down for the next Flush.
func (e *Endpoint) touch(c *channel) {
	if !c.dirty && c.state != dead {
		c.dirty = true
		e.dirty = append(e.dirty, c)
	}
}

// addChannel makes a channel to a peer and puts it into the tables.
func (e *Endpoint) addChannel(peer Address) *channel {
	e.lastID++
	c := &channel{id: e.lastID, peer: peer, heard: e.awake, lastSent: e.now}
	e.channels[c.id] = c
	c.sibling = e.byPlace[peer.At]
	e.byPlace[peer.At] = c
	e.queue.add(c, e.now)
	return c
}

// maxChannelID is the last: an Endpoint that got there opens no more channels, rather than use an ID twice. Dial then gives 0.
const maxChannelID = 1<<32 - 1

// end takes c out of the tables. With tell the peer is told once, unless it ended the channel itself. A
// reason is reported, unless this side has closed the channel before.
func (e *Endpoint) end(c *channel, reason error, tell bool) {
	if c.state == dead {
		return
	}
	if tell && c.state == open {
		e.farewell(c, frameAbort)
	}
	c.state = dead
	delete(e.channels, c.id)
	e.forgetTarget(c)
	e.forgetPlace(c)
	if c.accepted != (openKey{}) {
		e.bury(c.accepted)
	}
	e.queue.remove(c)
	e.buried = append(e.buried, c)
	if reason != nil && !c.condemned {
		e.handler.Closed(e.now, c.id, reason)
	}
}

func (e *Endpoint) forgetTarget(c *channel) {
	if c.dialled && e.byTarget[c.target] == c {
		delete(e.byTarget, c.target)
	}
}

func (e *Endpoint) forgetPlace(c *channel) {
	if e.byPlace[c.peer.At] == c {
		if c.sibling == nil {
			delete(e.byPlace, c.peer.At)
		} else {
			e.byPlace[c.peer.At] = c.sibling
		}
		return
	}
	for d := e.byPlace[c.peer.At]; d != nil; d = d.sibling {
		if d.sibling == c {
			d.sibling = c.sibling
			return
		}
	}
}

// reap takes back the buffers of ended channels, outside of callbacks.
func (e *Endpoint) reap() {
	for i, c := range e.buried {
		for ; c.out.segments.len() > 0; c.out.segments.pop() {
			e.release(c.out.segments.at(0).buf)
		}
		for ; c.out.unreliable.len() > 0; c.out.unreliable.pop() {
			e.release(*c.out.unreliable.at(0))
		}
		for ; c.in.held.len() > 0; c.in.held.pop() {
			e.release(*c.in.held.at(0))
		}
		e.buried[i] = nil
	}
	e.buried = e.buried[:0]
}

// buffer is an empty slice with room for a packet; release takes it back.
func (e *Endpoint) buffer() []byte {
	if n := len(e.spare); n > 0 {
		b := e.spare[n-1]
		e.spare = e.spare[:n-1]
		return b
	}
	return make([]byte, 0, e.cfg.MTU)
}

func (e *Endpoint) release(b []byte) {
	if cap(b) > 0 && len(e.spare) < maxSpareBuffers {
		e.spare = append(e.spare, b[:0])
	}
}
