package stream

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

const (
	// awakeStep is the most that one turn adds to the time the owner was awake: a longer gap
	// between turns means that the process itself slept, and then its peers are not to blame for
	// the silence.
	awakeStep = time.Second
	// awakeSteps such steps fit into Config.Inactivity at least, however short it is: one nap alone
	// never ends a channel.
	awakeSteps = 4
	// sweepsPerKeepAlive is how often within Config.KeepAlive all channels are looked at for pings
	// and silence. 65536 idle channels take under a millisecond four times a second.
	sweepsPerKeepAlive = 4
	// maxChannelID is the last: a Transport that got there opens no more channels, rather than use
	// an ID twice.
	maxChannelID = 1<<32 - 1
)

// Transport is one end of any number of channels over connections: a mercury.Carrier. Its methods
// belong to one goroutine, the owner's, except where they say otherwise. Make it with New, or with
// Listen of an adapter.
type Transport struct {
	cfg      Config
	net      Network
	place    netip.AddrPort  // where it listens
	self     mercury.Address // the salt is read under mu on other goroutines
	lim      limits
	clock    func() time.Duration
	handler  mercury.Handler
	standing mercury.Standing
	stats    Stats

	now     time.Duration
	step    time.Duration // awakeStep, or less when Inactivity is short
	awake   time.Duration // time since the start without the gaps in which the process slept
	started bool
	sweepAt time.Duration

	lastID   mercury.ChannelID
	channels map[mercury.ChannelID]*channel
	order    []*channel // channels in the order of their IDs, and dead ones until the next sweep
	byTarget map[mercury.Address]*channel
	dirty    []*channel // have something for the next Flush
	failing  []*channel // to be closed at the next Receive
	full     []*channel // have refused a message; the owner is told of their room
	timer    *time.Timer
	wake     chan struct{} // holds a token when something has come, or Wake was called
	gone     Info          // what the connections told that are no more
	watched  bool          // the owner waits elsewhere
	wrote    atomic.Bool   // a writing goroutine got on

	// What the goroutines of connections share with the owner; mu is never held together with a
	// link's.
	mu       sync.Mutex
	ready    []*link        // have something for the owner
	links    map[*link]bool // all whose goroutines run
	pending  []*link        // accepted, without a hello; oldest first
	slots    int            // channels, with accepted ones that the owner has not seen
	unopened fates
	fault    error  // why no more can be accepted
	stopped  bool   // nobody is let in: before Begin, and from CloseAll on
	tell     func() // the owner that there is something for it: Wake, or what Watch was given

	taken     []*link    // scratch of deliver
	fullSpare []*channel // scratch of tellRoom
	wg        sync.WaitGroup

	laneRefused atomic.Uint64 // messages that unreliable lanes did not take
}

var (
	_ mercury.Carrier  = (*Transport)(nil)
	_ mercury.Surveyor = (*Transport)(nil)
)

// New makes a Transport that listens at a place; self may be the zero place for one that only
// dials. With a Config.Salt it begins at once, else with Begin. h may be nil until SetHandler.
func New(cfg Config, self netip.AddrPort, n Network, h mercury.Handler) (*Transport, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.WithDefaults()
	t := &Transport{
		cfg:     cfg,
		net:     n,
		place:   self,
		lim:     limits{reliable: cfg.MaxMessage, unreliable: n.MaxUnreliable},
		step:    min(awakeStep, cfg.Inactivity/awakeSteps, cfg.KeepAlive/sweepsPerKeepAlive),
		links:   make(map[*link]bool),
		wake:    make(chan struct{}, 1),
		timer:   time.NewTimer(time.Hour),
		stopped: true,
	}
	t.timer.Stop()
	t.tell = t.Wake
	t.SetHandler(h)
	start := time.Now()
	clock := func() time.Duration { return time.Since(start) }
	if cfg.Salt == 0 {
		t.clock = clock
		return t, nil
	}
	return t, t.Begin(mercury.Start{Salt: cfg.Salt, Standing: mercury.Trusted, Clock: clock, Handler: h})
}

// canonical strips the IPv6 clothes from an IPv4 place, so that one place is one map key.
func canonical(at netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// SetHandler sets what the Transport delivers to.
func (t *Transport) SetHandler(h mercury.Handler) {
	if h == nil {
		h = nobody{}
	}
	t.handler = h
}

// nobody is the Handler of a Transport that has none.
type nobody struct{}

func (nobody) Opened(time.Duration, mercury.ChannelID, mercury.Address)     {}
func (nobody) Message(time.Duration, mercury.ChannelID, bool, []byte)       {}
func (nobody) Closed(now time.Duration, ch mercury.ChannelID, reason error) {}

// Self implements mercury.Transport. A Transport that does not listen has a salt and no place.
func (t *Transport) Self() mercury.Address { return t.self }

// Standing implements mercury.Transport: who is connected has proved nothing of itself here.
func (t *Transport) Standing(ch mercury.ChannelID) mercury.Standing {
	if c := t.channels[ch]; c == nil || c.state != open {
		return mercury.Stranger
	}
	return t.standing
}

// Now is the time by the clock of the start, or before Begin since New. It may be called from any
// goroutine.
func (t *Transport) Now() time.Duration { return t.clock() }

// MaxUnreliable implements mercury.Transport.
func (t *Transport) MaxUnreliable(ch mercury.ChannelID) int {
	c, err := t.sendable(ch)
	if err != nil {
		return 0
	}
	return max(0, min(t.lim.unreliable, t.cfg.UnreliableQueued-headerSize-len(c.loose)))
}

// Dial implements mercury.Transport. A dial that cannot be made is reported by Closed at the next
// Receive. Before Begin and after CloseAll it returns 0.
func (t *Transport) Dial(to mercury.Address) mercury.ChannelID {
	to.At = canonical(to.At)
	if c := t.byTarget[to]; c != nil {
		return c.id
	}
	l := newLink(t)
	t.mu.Lock()
	full := t.slots >= t.cfg.MaxChannels
	if t.stopped || t.lastID >= maxChannelID {
		t.mu.Unlock()
		return 0
	}
	t.slots++
	t.mu.Unlock()
	c := t.addChannel(l, to)
	c.dialled, c.target = true, to
	t.byTarget[to] = c
	switch {
	case !to.At.IsValid() || to.At.Port() == 0 || to.At.Addr().IsUnspecified():
		t.fail(c, mercury.ErrAddress)
	case t.net.Dial == nil:
		t.fail(c, fmt.Errorf("%w: this transport cannot dial", mercury.ErrAddress))
	case full:
		t.fail(c, mercury.ErrTooManyChannels)
	default:
		l.startDial(to)
	}
	return c.id
}

// Send implements mercury.Transport.
func (t *Transport) Send(ch mercury.ChannelID, msg []byte) error {
	c, err := t.sendable(ch)
	if err != nil {
		return err
	}
	if len(msg) > t.lim.reliable {
		return fmt.Errorf("%w: %d bytes, at most %d", mercury.ErrMessageTooLong, len(msg), t.lim.reliable)
	}
	if c.backlog()+headerSize+len(msg) > t.cfg.MaxQueued {
		t.stats.Full++
		t.waitForRoom(c)
		return mercury.ErrFull
	}
	t.stats.MessagesOut++
	t.put(c, frameReliable, msg)
	return nil
}

// SendUnreliable implements mercury.Transport. It overtakes reliable messages that wait for a peer
// which does not keep up. When more than Config.UnreliableQueued waits, messages are dropped and
// counted.
func (t *Transport) SendUnreliable(ch mercury.ChannelID, msg []byte) (dropped int, err error) {
	c, err := t.sendable(ch)
	if err != nil {
		return 0, err
	}
	if len(msg) > t.lim.unreliable {
		return 0, fmt.Errorf("%w: %d bytes unreliable, at most %d", mercury.ErrMessageTooLong, len(msg), t.lim.unreliable)
	}
	dropped, c.stale = c.stale, 0
	switch {
	case len(c.loose)+headerSize+len(msg) > t.cfg.UnreliableQueued:
		t.stats.UnreliableDropped++
		c.dropped++
		return dropped + 1, nil
	case c.state == open && c.link.lane == nil && c.link.idle():
		t.put(c, frameUnreliable, msg)
	default:
		c.loose = append(appendHeader(c.loose, frameUnreliable, len(msg)), msg...)
		t.touch(c)
	}
	t.stats.MessagesOut++
	return dropped, nil
}

// sendable finds a channel that takes messages.
func (t *Transport) sendable(ch mercury.ChannelID) (*channel, error) {
	c := t.channels[ch]
	switch {
	case c == nil || c.condemned:
		return nil, mercury.ErrNoChannel
	case c.failing != nil:
		return nil, c.failing
	}
	return c, nil
}

// Close implements mercury.Transport.
func (t *Transport) Close(ch mercury.ChannelID) {
	c := t.channels[ch]
	switch {
	case c == nil || c.condemned:
	case c.failing != nil || c.state == dialling && len(c.pending) == 0:
		t.end(c, nil)
	default:
		t.Resume(ch) // the peer's own end must be read
		t.put(c, frameClose, nil)
		c.condemned = true
		c.closeBy = t.awake + t.cfg.CloseWait
		t.forgetTarget(c)
		t.sweepAt = min(t.sweepAt, t.now+t.cfg.CloseWait)
	}
}

// Abort implements mercury.Transport.
func (t *Transport) Abort(ch mercury.ChannelID) {
	if c := t.channels[ch]; c != nil {
		t.end(c, nil)
	}
}

// Peer implements mercury.Transport.
func (t *Transport) Peer(ch mercury.ChannelID) (mercury.Address, bool) {
	c := t.channels[ch]
	if c == nil || c.condemned {
		return mercury.Address{}, false
	}
	return c.peer, true
}

// Queued implements mercury.Transport.
func (t *Transport) Queued(ch mercury.ChannelID) (bytes, limit int) {
	if c := t.channels[ch]; c != nil {
		bytes = c.backlog()
	}
	return bytes, t.cfg.MaxQueued
}
