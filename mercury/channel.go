package mercury

import (
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury/internal/wheel"
)

// channelState is the stage of a channel's life.
//
//	Dial ──> dialling ──accept──> open ──> dead
//	              │                 ^        ^
//	              └─────────────────┼────────┘  refused, silent, aborted, closed
//	first packet from outside ──────┘
//
// Being condemned is independent of this: a condemned channel may still be dialling. A dialling
// channel with a ticket already sends.
type channelState uint8

const (
	dialling channelState = iota
	open
	dead
)

// channel is one end of one channel. It belongs to its Endpoint.
type channel struct {
	id     ChannelID
	state  channelState
	dirty  bool      // is in Endpoint.dirty
	roomy  bool      // is in Endpoint.roomy
	held   bool      // counts in Endpoint.held
	remote ChannelID // 0 while unknown: packets are then firsts

	dialled    bool
	told       bool // the app has heard of Opened
	introduced bool // of an accepted one: the dialler is known to know our channel
	condemned  bool
	ping       bool    // a packet that asks for an ack must go
	closeSent  bool    // a close is under way
	copyDue    bool    // copyAt has come
	failing    bool    // is in Endpoint.failing, and closed by the next Advance
	key        uint64  // of the checksum, without a Guard
	sealer     Sealer  // nil without a Guard
	peer       Address // the salt is 0 while it is unknown

	heard    time.Duration // awake time of the last sound packet
	lastSent time.Duration
	paceAt   time.Duration // when the pace allows more; 0 if it holds nothing back
	copyAt   time.Duration // when copies need no longer wait for a packet to ride in; 0 for never
	closeBy  time.Duration // awake time at which a condemned channel is given up

	timer wheel.Node[channel]

	// What each packet needs is above and here, close together.
	in      receiver
	out     sender
	copying copyPolicy
	riders  *riders // nil while nothing was ever copied
	path    path

	sibling *channel // next channel with the same peer.At

	*dialState           // of a dialled channel, until its peer is known; nil afterwards, unless Dial finds it
	guest      *guest    // of an accepted one, while there is something to keep
	troubles   *troubles // nil while all went well
}

// guest is what an acceptor keeps only while a channel is young, or after its dialler has moved.
type guest struct {
	ticket []byte         // for the dialler's next dial, until it has arrived
	due    bool           // the ticket goes out once the dialler knows our channel
	origin netip.AddrPort // where the dialler was before it moved
}

// troubles count what most of thousands of channels never see.
type troubles struct {
	resent, copied, lost, spurious uint64
	full                           uint64 // messages refused with ErrFull
	dropped                        uint64 // unreliable messages
}

// trouble is for counting.
func (c *channel) trouble() *troubles {
	if c.troubles == nil {
		c.troubles = new(troubles)
	}
	return c.troubles
}

// counted is for reading.
func (c *channel) counted() troubles {
	if c.troubles == nil {
		return troubles{}
	}
	return *c.troubles
}

// dialState is what only the dialler of a channel has. An acceptor has thousands of channels.
type dialState struct {
	target    Address // what Dial was given
	dialling  Dialling
	pass      []byte        // shown in firsts; nil while there is none
	early     bool          // pass is a ticket
	firstAt   time.Duration // when the first packet with the pass was sent
	flights   int           // 2 when more were sent later
	cookie    [cookieSize]byte
	openTries int
	openDue   bool // an open must be sent with the next Flush
	openAt    time.Duration
	openSent  time.Duration
	opens     int // sent since the last challenge
}

// sends reports whether c may send data packets.
func (c *channel) sends() bool { return c.state == open || c.state == dialling && c.pass != nil }

// deadline is when to look at c if nothing arrives. What already waits for a Flush has none.
func (c *channel) deadline(e *Endpoint) time.Duration {
	d := e.now + max(0, c.heard+e.cfg.Inactivity-e.awake)
	if c.condemned {
		d = min(d, e.now+max(0, c.closeBy-e.awake))
	}
	if !c.sends() {
		if !c.openDue {
			d = min(d, c.openAt)
		}
		return d
	}
	out := &c.out
	if c.in.ackPending && !c.in.ackNow {
		d = min(d, c.in.ackAt)
	}
	if out.late.lossAt > 0 {
		d = min(d, out.late.lossAt)
	}
	if out.inFlight > 0 {
		if out.probes == 0 {
			d = min(d, out.timeoutAt(e))
		}
		if e.awake-c.heard < e.cfg.Inactivity/2 {
			d = min(d, e.now+max(0, out.progressAt+e.cfg.Inactivity-e.awake))
		}
	}
	if c.paceAt > 0 {
		d = min(d, c.paceAt)
	}
	if c.copyAt > 0 {
		d = min(d, c.copyAt)
	}
	if c.path.goal > 0 && (c.dialled && c.remote != 0 || c.introduced) {
		d = min(d, max(e.now, c.path.searchAt))
	}
	if !c.ping {
		d = min(d, c.lastSent+e.cfg.KeepAlive)
	}
	return d
}

// fire does what is due at e.now. It may end c.
func (c *channel) fire(e *Endpoint) {
	if e.awake-c.heard >= e.cfg.Inactivity {
		e.end(c, ErrTimeout, true)
		return
	}
	if c.condemned && e.awake >= c.closeBy {
		e.end(c, nil, true)
		return
	}
	if !c.sends() {
		if c.openAt <= e.now {
			c.openDue = true
			e.touch(c)
		}
		return
	}
	out := &c.out
	if out.inFlight > 0 && e.awake-out.progressAt >= e.cfg.Inactivity && e.awake-c.heard < e.cfg.Inactivity/2 {
		e.end(c, ErrUnacked, true)
		return
	}
	if c.in.ackPending && c.in.ackAt <= e.now {
		c.in.ackNow = true
		e.touch(c)
	}
	if out.late.lossAt > 0 && out.late.lossAt <= e.now {
		c.detectLoss(e)
		e.touch(c)
	}
	c.checkPath(e)
	if out.inFlight > 0 && out.probes == 0 && out.timeoutAt(e) <= e.now {
		c.probe(e)
		e.touch(c)
	}
	if c.paceAt > 0 && c.paceAt <= e.now {
		c.paceAt = 0
		e.touch(c)
	}
	if c.copyAt > 0 && c.copyAt <= e.now {
		c.copyAt, c.copyDue = 0, true
		e.touch(c)
	}
	if c.path.searching(e.now) {
		e.touch(c)
	}
	if c.lastSent+e.cfg.KeepAlive <= e.now {
		c.keepAlive(e)
	}
}

// keepAlive sends something. An ack that is owed says as much as a ping, and asks for no answer: the
// peer has just shown that it is there. (A ping went instead, or with it. So both ends of an idle
// channel pinged each other all the time, since the ack of a ping is sent just before the next one
// comes.)
func (c *channel) keepAlive(e *Endpoint) {
	if c.in.ackPending {
		c.in.ackNow = true
	} else {
		c.ping = true
	}
	e.touch(c)
}

// segmentLimit is the longest piece of a reliable stream that fits in a packet now.
func (c *channel) segmentLimit(e *Endpoint) int {
	head := maxHeader
	if c.dialled && c.remote == 0 {
		head = firstFixed + max(len(c.pass), cookieSize)
		if e.cfg.Guard != nil {
			head = firstFixed + MaxPass
		}
	}
	if !c.dialled && !c.introduced {
		head += channelFrameSize
	}
	return int(c.path.mtu) - head - e.trailer - ackReserve - segmentOverhead
}

// bind returns what the packets of c's handshake say in the clear.
func (c *channel) bind(e *Endpoint) bind {
	return bind{Salt: e.self.Salt, Dial: c.id, Want: c.target.Salt, Window: uint32(e.cfg.Window)}
}
