package mercury

import (
	"encoding/binary"
	"fmt"
	"hash"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury/internal/wheel"
)

const (
	// awakeStep is the most that one call adds to the time for which this Endpoint was awake. A
	// longer gap between calls means that the process itself slept, and its peers are not to blame
	// for the silence. While there are channels the Endpoint asks to be called at least this often.
	awakeStep = time.Second
	// awakeSteps is how many such steps fit at least into Config.Inactivity, however short it is,
	// so that a single nap never ends a channel.
	awakeSteps = 4
	// maxReplies bounds the answers to handshakes that wait for one Flush, so that a flood of opens
	// cannot grow them.
	maxReplies = 1024
	// resetsPerSecond and resetBurst bound the answers to packets of unknown channels. After a
	// restart each of a few hundred peers needs one.
	resetsPerSecond = 1000
	resetBurst      = 256
	// maxPerPlace bounds the accepted channels to one place. An honest app has one, or a few while
	// it restarts again and again.
	maxPerPlace = 32
	// maxChannelID is the last. An Endpoint that has reached it opens no more channels, since no ID
	// may be used twice. Dial then returns 0.
	maxChannelID = 1<<32 - 1
)

// Endpoint is one end of any number of channels over datagrams: a plain struct that is told what
// arrived and what time it is. The package comment has its caller's duties. It is not safe for
// concurrent use.
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
	timing  bool // Advance is firing timers

	lastID   ChannelID
	channels map[ChannelID]*channel
	near     near                        // finds most of them sooner
	byTarget map[Address]*channel        // dialled and not condemned
	byPlace  map[netip.AddrPort]*channel // newest channel with a peer there; the others follow as siblings
	accepted map[dialKey]*channel        // nil if it has ended and must not be opened again
	tombs    ring[tomb]
	timers   wheel.Wheel[channel]
	dirty    []*channel // have something for the next Flush, in the order in which they got it
	failing  []failure  // channels to be closed at the next Advance
	resumed  []*channel // deliver what they have held at the next Advance
	held     int        // channels that hold something back
	roomy    []*channel // the app is told of their room at the next Advance
	buried   []*channel // ended; their buffers may still be in the hands of a callback

	trailer   int // of a packet of data: a checksum, or what the Guard adds
	mac       hash.Hash
	macIn     []byte // scratch of mac's input
	macOut    []byte // scratch of its output
	resets    bucket
	answers   bucket // hellos of strangers
	proved    bucket // hellos with a cookie
	strangers bucket // packets that name no channel of their sender
	movers    bucket // packets of a channel from another place than its peer's
	resetsIn  bucket // resets to be looked at

	monitor Monitor
	filter  Filter

	replies   ring[reply]
	farewells ring[reply]  // last words of channels: each has one, so that MaxChannels bounds them
	packet    []byte       // scratch: the packet being built
	bindBuf   []byte       // scratch: the bind of a handshake
	replyBuf  []byte       // scratch: a Guard's reply
	ack       ack          // scratch: the ack being read
	segment   segmentFrame // scratch: the segment being read
	buffers   buffers

	assemblies [][]byte // free buffers for long messages
}

// reply is a datagram outside of a channel that waits for Flush.
type reply struct {
	to  netip.AddrPort
	buf []byte
}

// failure is a channel that the next Advance closes.
type failure struct {
	c      *channel
	reason error
}

var _ Transport = (*Endpoint)(nil)

// NewEndpoint makes the Endpoint of an app that listens at self. h may be nil until SetHandler. It
// fails if cfg is not valid (see Config.Validate) or self is not a place.
func NewEndpoint(cfg Config, self netip.AddrPort, h Handler) (*Endpoint, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if !self.IsValid() {
		return nil, fmt.Errorf("mercury: an Endpoint at %v: %w", self, ErrAddress)
	}
	cfg = cfg.withDefaults()
	e := &Endpoint{
		cfg:       cfg,
		self:      Address{At: canonical(self), Salt: cfg.Salt},
		channels:  make(map[ChannelID]*channel),
		byTarget:  make(map[Address]*channel),
		byPlace:   make(map[netip.AddrPort]*channel),
		accepted:  make(map[dialKey]*channel),
		mac:       newMAC(cfg.Secret),
		resets:    bucket{left: resetBurst, burst: resetBurst, perSecond: resetsPerSecond},
		answers:   bucket{left: answersBurst, burst: answersBurst, perSecond: answersPerSecond},
		proved:    bucket{left: answersBurst, burst: answersBurst, perSecond: answersPerSecond},
		strangers: bucket{left: strangersBurst, burst: strangersBurst, perSecond: strangersPerSecond},
		movers:    bucket{left: moversBurst, burst: moversBurst, perSecond: moversPerSecond},
		resetsIn:  bucket{left: resetBurst, burst: resetBurst, perSecond: resetsPerSecond},
		lastID:    firstID(cfg.Salt, cfg.Secret),
		step:      min(awakeStep, cfg.Inactivity/awakeSteps),
		packet:    make([]byte, 0, cfg.MTU+maxSeal),
		buffers:   newBuffers(cfg.MTU),
	}
	if e.trailer = checksumSize; cfg.Guard != nil {
		e.trailer = cfg.Guard.Overhead()
	}
	e.SetHandler(h)
	return e, nil
}

// firstID is the number of a start's first channel. It depends on salt and secret, so packets for a
// channel of an earlier start at the same place mostly meet no channel and are answered by a reset,
// even if both starts drew the same salt. It takes two bytes in a packet.
func firstID(salt uint32, secret [16]byte) ChannelID {
	mix := uint64(salt)<<32 ^ binary.LittleEndian.Uint64(secret[:])
	return ChannelID(mix * 0x9E3779B97F4A7C15 >> 51)
}

// canonical turns an IPv4-mapped IPv6 place into IPv4, so that each place is one map key.
func canonical(at netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// SetHandler sets the Handler. An app is made with the Endpoint as its Transport, and then set as
// its Handler.
func (e *Endpoint) SetHandler(h Handler) {
	if h == nil {
		h = nobody{}
	}
	e.handler = h
}

// nobody is the Handler of an Endpoint that has none.
type nobody struct{}

func (nobody) Opened(time.Duration, ChannelID, Address) {}

func (nobody) Message(time.Duration, ChannelID, bool, []byte) {}

func (nobody) Closed(time.Duration, ChannelID, error) {}

// Self implements Transport.
func (e *Endpoint) Self() Address { return e.self }

// Stats returns the present counters.
func (e *Endpoint) Stats() Stats {
	s := e.stats
	s.Channels = len(e.channels)
	return s
}

// Dial implements Transport. A dial that cannot be made is reported by Closed at the next Advance.
func (e *Endpoint) Dial(to Address) ChannelID {
	to.At = canonical(to.At)
	if c := e.byTarget[to]; c != nil {
		return c.id
	}
	c := e.dial(to)
	if c == nil {
		return 0
	}
	e.byTarget[to] = c
	return c.id
}

// DialApart is Dial, but always makes a new channel, whatever others there are to that address. It
// is for an app that plays many, such as a crowd of bots. An acceptor takes 32 channels from one
// place.
func (e *Endpoint) DialApart(to Address) ChannelID {
	to.At = canonical(to.At)
	if c := e.dial(to); c != nil {
		return c.id
	}
	return 0
}

// dial makes a channel and begins to open it; nil if the channel numbers of this start are used up.
func (e *Endpoint) dial(to Address) *channel {
	if e.lastID >= maxChannelID {
		return nil
	}
	c := e.addChannel(to)
	c.dialled, c.dialState = true, &dialState{target: to}
	e.wake(c)
	switch {
	case !to.At.IsValid() || to.At.Port() == 0 || to.At.Addr().IsUnspecified():
		e.fail(c, ErrAddress)
	case len(e.channels) > e.cfg.MaxChannels:
		e.fail(c, ErrTooManyChannels)
	default:
		if err := c.beginDial(e); err != nil {
			e.fail(c, err)
			break
		}
		c.openDue = c.pass == nil
		e.touch(c)
	}
	return c
}

// Close implements Transport.
func (e *Endpoint) Close(ch ChannelID) {
	c := e.channel(ch)
	switch {
	case c == nil || c.condemned:
	case c.failing || !c.sends() && c.out.empty():
		e.end(c, nil, false)
	default:
		e.Resume(ch) // this drops what is held, so that the peer can close, too
		c.condemned = true
		c.closeBy = e.awake + e.cfg.CloseWait
		e.forgetTarget(c)
		e.wake(c)
		e.touch(c)
	}
}

// CloseAll condemns every channel, oldest first, as Close does.
func (e *Endpoint) CloseAll() {
	for _, ch := range slices.Sorted(maps.Keys(e.channels)) {
		e.Close(ch)
	}
}

// Abort implements Transport.
func (e *Endpoint) Abort(ch ChannelID) {
	if c := e.channel(ch); c != nil {
		c.condemned = true
		e.end(c, nil, true)
	}
}

// Peer implements Transport.
func (e *Endpoint) Peer(ch ChannelID) (Address, bool) {
	c := e.channel(ch)
	if c == nil || c.condemned {
		return Address{}, false
	}
	return c.peer, true
}

// observe moves the Endpoint's time to now. Time never runs back.
func (e *Endpoint) observe(now time.Duration) {
	if !e.started {
		e.started, e.now = true, now
		for _, b := range [...]*bucket{&e.resets, &e.answers, &e.proved, &e.strangers, &e.movers, &e.resetsIn} {
			b.from = now
		}
		return
	}
	passed := max(0, now-e.now)
	if passed > 2*e.step {
		e.jumped = now
	}
	e.awake += min(passed, e.step)
	e.now += passed
}

// Advance does what is due at now: resends, acks, keep-alives, timeouts. The next Flush sends the
// results.
func (e *Endpoint) Advance(now time.Duration) {
	e.observe(now)
	e.reap()
	e.expireTombs()
	for len(e.failing) > 0 {
		f := e.failing[0]
		e.failing = slices.Delete(e.failing, 0, 1)
		if f.c.state != dead {
			e.end(f.c, f.reason, true)
		}
	}
	e.resumeAll()
	e.tellRoom()
	if !e.timing {
		e.timing = true
		e.timers.Advance(e.now, e.onTimer)
		e.timing = false
	}
}

// onTimer looks at a channel whose deadline has come.
func (e *Endpoint) onTimer(c *channel) {
	if c.state == dead {
		return
	}
	c.fire(e)
	if c.state != dead {
		e.wake(c)
	}
}

// wake sets when to look at c. What is already due is done by the next Advance, even one at this
// very moment. But a channel that was just looked at and is still due waits for the clock to move,
// or a runner that asks for the next deadline would spin.
func (e *Endpoint) wake(c *channel) {
	d := c.deadline(e)
	if e.timing {
		d = max(d, e.now+1)
	}
	if d != c.timer.At || !c.timer.Linked() {
		e.timers.Set(&c.timer, d)
	}
}

// NextDeadline is when to call Advance and Flush if nothing arrives before; false if there is
// nothing to wait for. If something waits for a Flush it is the last seen time, that is, now.
func (e *Endpoint) NextDeadline() (time.Duration, bool) {
	if len(e.dirty) > 0 || e.replies.len() > 0 || e.farewells.len() > 0 || len(e.failing)+len(e.resumed)+len(e.roomy) > 0 {
		return e.now, true
	}
	d, ok := e.timers.Next()
	if !ok {
		return 0, false
	}
	return min(d, e.now+e.step), true
}

// fail makes the next Advance close c with reason, because the methods of Transport do not call
// back.
func (e *Endpoint) fail(c *channel, reason error) {
	if !c.failing {
		c.failing = true
		e.failing = append(e.failing, failure{c, reason})
	}
}

// reasonFor is why c, which fails, is to be closed.
func (e *Endpoint) reasonFor(c *channel) error {
	for _, f := range e.failing {
		if f.c == c {
			return f.reason
		}
	}
	return ErrNoChannel // it is being closed
}

// touch lists c for the next Flush.
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
	c.timer.Of, c.in.calm.missing = c, calmAfter
	c.out.rate.Init(e.cfg.SafeMTU, e.cfg.LeastFlight)
	c.path.begin(&e.cfg)
	e.channels[c.id] = c
	e.near.add(c, e.channels)
	e.rememberPlace(c)
	return c
}

func (e *Endpoint) rememberPlace(c *channel) {
	c.sibling = e.byPlace[c.peer.At]
	e.byPlace[c.peer.At] = c
}

// end takes c out of the tables. With tell the peer is told once, unless it ended the channel
// itself. A reason is reported to the Handler, unless this side has closed the channel before.
func (e *Endpoint) end(c *channel, reason error, tell bool) {
	if c.state == dead {
		return
	}
	if tell && c.sends() {
		e.farewell(c, frameAbort)
	}
	c.state = dead
	delete(e.channels, c.id)
	e.near.remove(c)
	e.noteHeld(c, false)
	e.forgetTarget(c)
	e.forgetPlace(c)
	if !c.dialled {
		e.bury(c.acceptedAs())
	}
	e.timers.Remove(&c.timer)
	e.buried = append(e.buried, c)
	if reason != nil && !c.condemned {
		e.handler.Closed(e.now, c.id, reason)
	}
}

func (e *Endpoint) forgetTarget(c *channel) {
	if c.dialState != nil && e.byTarget[c.target] == c {
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
		for lane := range c.out.streams {
			c.out.streams[lane].forget(e)
			c.in.streams[lane].backlog.forget(e)
			c.in.streams[lane].backlog = nil
		}
		for waiting := &c.out.unreliable; waiting.len() > 0; waiting.pop() {
			e.release(waiting.at(0).buf)
		}
		e.buried[i] = nil
	}
	e.buried = e.buried[:0]
}
