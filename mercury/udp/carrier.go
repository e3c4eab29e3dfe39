package udp

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

const (
	// maxRead bounds the datagrams that one Receive takes, so that a flood does not keep the app
	// from its tick and the channels from their acks. 4096 small ones are a few milliseconds.
	maxRead = 4096
	// maxReadBytes bounds their bytes: a peer of a bulk transfer should hear of its first half while
	// the second is read.
	maxReadBytes = 192 << 10
	// maxWait bounds a wait that has nothing to wait for.
	maxWait = time.Hour
)

// Carrier is a mercury.Carrier: a Socket, and for each start a mercury.Endpoint over it. Methods of
// the Endpoint that it does not have itself are the present start's; there is none before Begin.
//
//	socket ── Receive ──> Endpoint.Receive, Advance ──> Handler
//	socket <── Flush ──── Endpoint.Flush <───────────── the app
type Carrier struct {
	*mercury.Endpoint
	socket *Socket
	cfg    mercury.Config
	clock  func() time.Duration
	sealed bool

	// Owned by the goroutine that turns it.
	now   time.Duration
	bytes int                                        // of this turn
	got   int                                        // datagrams of the read under way
	take  func(from netip.AddrPort, datagram []byte) // received, made once
	queue func(to netip.AddrPort, datagram []byte)   // Socket.Queue, the same
	watch *watch                                     // nil: Receive waits itself, unless
	poll  bool                                       // its owner waits in the kernel for it

	mu      sync.Mutex
	woken   bool          // by a Wake that has ended no wait
	waiting bool          // at the socket, or about to
	set     bool          // the socket has a deadline that has not passed,
	armed   time.Duration // which is this
}

var _ mercury.Carrier = (*Carrier)(nil)

// NewCarrier makes a Carrier that owns s. Salt and Secret of cfg are those of each start; a Guard
// of cfg is for all starts, and gives way to one of mercury.Start.
func NewCarrier(s *Socket, cfg mercury.Config) *Carrier {
	c := &Carrier{socket: s, cfg: cfg}
	c.take, c.queue = c.received, s.Queue
	return c
}

// Socket is the socket below, for its Counters.
func (c *Carrier) Socket() *Socket { return c.socket }

// Network implements mercury.Carrier.
func (c *Carrier) Network() string { return "udp" }

// Sealed implements mercury.Carrier: with a Guard.
func (c *Carrier) Sealed() bool { return c.sealed }

// Begin implements mercury.Carrier.
func (c *Carrier) Begin(s mercury.Start) error {
	at := c.socket.Addr()
	if s.IP.IsValid() {
		at = netip.AddrPortFrom(s.IP, at.Port())
	}
	cfg := c.cfg
	cfg.Salt, cfg.Secret = s.Salt, s.Secret
	if s.Guard != nil {
		g, err := s.Guard(mercury.Address{At: at, Salt: s.Salt})
		if err != nil {
			return err
		}
		cfg.Guard = g
	}
	e, err := mercury.NewEndpoint(cfg, at, s.Handler)
	if err != nil {
		return err
	}
	c.Endpoint, c.clock, c.sealed = e, s.Clock, cfg.Guard != nil
	return nil
}

// Receive implements mercury.Carrier.
func (c *Carrier) Receive(until time.Duration) (heard bool, err error) {
	if c.watch != nil {
		heard, err = c.collect()
	} else {
		heard, err = c.read(until)
	}
	if err != nil {
		return heard, fmt.Errorf("udp: receiving: %w", err)
	}
	c.now = c.clock()
	c.Endpoint.Advance(c.now)
	return heard, nil
}

// Flush implements mercury.Carrier.
func (c *Carrier) Flush() error {
	c.Endpoint.Flush(c.clock(), c.queue)
	return c.socket.Flush()
}

// Channels implements mercury.Carrier.
func (c *Carrier) Channels() int { return c.Endpoint.Stats().Channels }

// CarrierStats implements mercury.Carrier. It asks the system what found the read buffer full.
func (c *Carrier) CarrierStats() mercury.CarrierStats {
	s, own := c.Endpoint.CarrierStats(), c.socket.Counters()
	s.Socket = mercury.SocketStats{Dropped: own.Dropped, TooBig: own.TooBig, Cut: own.Cut, Overflow: own.Overflow}
	return s
}

// CloseAll implements mercury.Carrier.
func (c *Carrier) CloseAll() {
	c.Endpoint.SetHandler(closer{c.Endpoint})
	c.Endpoint.CloseAll()
}

// Release implements mercury.Carrier.
func (c *Carrier) Release() error {
	err := c.socket.Close()
	if c.watch != nil {
		c.watch.end()
	}
	return err
}

// Poll is for an owner that waits for input in the kernel itself, which spares the runtime a thread
// that waits and has to pass on what comes. It gives the descriptor to wait at, and Receive does
// not wait from then on. wake is called from another goroutine when the socket is closed there.
// Poll is called once, before the first Receive. It is false where the system has no such wait
// (anything but Linux), and changes nothing then.
func (c *Carrier) Poll(wake func()) (fd int, ok bool) {
	fd, c.poll = c.socket.detach(wake)
	return fd, c.poll
}

// Nap sleeps as exactly as a deadline ends a wait. Wake does not end it.
func (c *Carrier) Nap(d time.Duration) {
	c.mu.Lock()
	c.set = false // the alarm of the nap takes the place of that of the wait
	c.mu.Unlock()
	c.socket.nap(d)
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// Wake implements mercury.Carrier. Deadlines are set under the lock, so that no later one hides
// this.
func (c *Carrier) Wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting {
		c.waiting, c.set = false, false
		_ = c.socket.SetReadDeadline(past) // a closed socket needs no waking
		return
	}
	c.woken = true
}

// read waits for datagrams until a time or a Wake, and hands over those that have come, up to a
// bound.
func (c *Carrier) read(until time.Duration) (heard bool, err error) {
	read := c.socket.TryRead
	if !c.poll && c.arm(until) {
		read = c.socket.ReadBatch
	}
	c.bytes = 0
	for total := 0; ; read = c.socket.TryRead {
		c.got = 0
		err := read(c.take)
		if total == 0 {
			c.awake(err)
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return total > 0, err
		}
		if total += c.got; c.got == 0 || total >= maxRead || c.bytes >= maxReadBytes || !c.socket.More() {
			return total > 0, nil
		}
	}
}

// arm sets the end of a wait, and reports whether there is something to wait for.
func (c *Carrier) arm(until time.Duration) bool {
	if d, ok := c.NextDeadline(); ok {
		until = min(until, d)
	}
	now := c.clock()
	until = min(until, now+maxWait)
	c.mu.Lock()
	defer c.mu.Unlock()
	if until <= now || c.woken {
		c.woken = false
		return false
	}
	// A deadline that is set already and comes earlier stays: setting one costs more than a turn in
	// vain now and then.
	if !c.set || c.armed <= now || until < c.armed || !tryKeepsDeadline {
		// A closed socket tells so when it is read.
		_ = c.socket.SetReadDeadline(time.Now().Add(until - now))
		c.set, c.armed = true, until
	}
	c.waiting = true
	return true
}

// awake ends the wait at the socket, which ended with err.
func (c *Carrier) awake(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = false
	if err != nil {
		c.set = false // it has passed, whatever the clock says
	}
}

// received hands over one datagram of a read.
func (c *Carrier) received(from netip.AddrPort, datagram []byte) {
	if c.got == 0 {
		c.now = c.clock()
	}
	c.got++
	c.bytes += len(datagram)
	c.Endpoint.Receive(c.now, from, datagram)
}

// closer is the Handler of an Endpoint that takes its leave: whoever comes now is sent away.
type closer struct{ e *mercury.Endpoint }

func (c closer) Opened(_ time.Duration, ch mercury.ChannelID, _ mercury.Address) { c.e.Close(ch) }
func (closer) Message(time.Duration, mercury.ChannelID, bool, []byte)            {}
func (closer) Closed(time.Duration, mercury.ChannelID, error)                    {}
